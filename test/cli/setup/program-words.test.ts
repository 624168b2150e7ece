import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LAUNCHER, programWords } from '../../../src/cli/process/program-words.ts'
import { buildInitFiles } from '../../../src/cli/setup/init-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'program-words-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a program that the shell finds has its name, any other the file that starts it', () => {
  const [own, foreign] = ['own', 'foreign'].map((name) => join(folder, name)) as [string, string]
  for (const place of [own, foreign]) mkdirSync(place)
  symlinkSync(LAUNCHER, join(own, 'intentd'))
  writeFileSync(join(foreign, 'intentd'), '')
  const checkout = dirname(dirname(LAUNCHER))

  expect(programWords(folder, { PATH: [foreign, own].join(delimiter) })).toBe('intentd')
  expect(programWords(folder, { PATH: foreign })).toBe(`node ${LAUNCHER}`)
  expect(programWords(checkout, { PATH: '' })).toBe('node bin/intentd.mjs')
  expect(programWords(join(checkout, 'config'), {})).toBe(`node ${LAUNCHER}`)
})

test('npm test in a new folder runs what works there', () => {
  const written = buildInitFiles(folder).get('package.json') ?? ''

  expect(JSON.parse(written)).toMatchObject({
    scripts: { test: `${programWords(folder)} test` },
  })
})
