import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { VERBS } from '../../src/cli/main.ts'

test('every command of the help is in the table of the README, and no other', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  const rows = readme.split('\n').filter((row) => row.startsWith('| `node bin/intentd.mjs '))
  const named = rows.flatMap((row) => [
    ...row.matchAll(/`(?:node bin\/intentd\.mjs )?([a-z-]+)[^`]*`/g),
  ])
  const commands = VERBS.flatMap(({ names }) => names)

  const found = new Set(named.flatMap(([, name = '']) => name))
  expect(commands.filter((name) => !found.has(name))).toEqual([])
  const leading = rows.flatMap(
    (row) => /^\| `node bin\/intentd\.mjs ([a-z-]+)/.exec(row)?.[1] ?? [],
  )
  expect(leading.filter((name) => !commands.includes(name))).toEqual([])
})
