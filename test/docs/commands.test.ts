import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { VERBS } from '../../src/cli/main.ts'
import { VERB_POWERS } from '../../src/control/powers.ts'
import { buildCommandDocs } from './command-docs.ts'
import { buildConfigDocs } from './config-docs.ts'

const read = (path: string): string =>
  readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

test('docs/commands.md is what `npm run docs` writes, with every command', async () => {
  const page = await buildCommandDocs()

  expect(read('docs/commands.md')).toBe(page)
  for (const name of VERBS.flatMap(({ names }) => names))
    expect(page).toMatch(new RegExp(`\n(?:### |Another name: \`)intentd ${name}(?:\n|\`)`))
})

test('docs/configuration.md is what `npm run docs` writes', () => {
  expect(read('docs/configuration.md')).toBe(buildConfigDocs())
})

test('every name with a power is a command', () => {
  const names = VERBS.flatMap((verbs): readonly string[] => verbs.names)

  expect(
    Object.keys(VERB_POWERS).filter((name) => !names.includes(name)),
    'add a row to VERBS in src/cli/main.ts, or take the name out of VERB_POWERS',
  ).toEqual([])
})

test('ARCHITECTURE.md lists every command in the row of `cli`', () => {
  const names = VERBS.flatMap((verbs): readonly string[] => verbs.names)
  const [, text = ''] = /^\| `cli` \| `([^`]+)`/m.exec(read('ARCHITECTURE.md')) ?? []
  const listed = text.split(' ')

  expect(
    names.filter((name) => !listed.includes(name)),
    'add these to the list of commands in ARCHITECTURE.md',
  ).toEqual([])
  expect(
    listed.filter((name) => !names.includes(name)),
    'take these out of the list of commands in ARCHITECTURE.md',
  ).toEqual([])
})

test('every command that the README names is one', () => {
  const commands = VERBS.flatMap(({ names }): readonly string[] => names)
  const named = [...read('README.md').matchAll(/node bin\/intentd\.mjs ([a-z-]+)/g)]

  expect(named.length).toBeGreaterThan(5)
  expect(named.flatMap(([, name = '']) => (commands.includes(name) ? [] : name))).toEqual([])
})
