import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { endingOf, exitOf, exitOfAll } from '../../src/cli/process/exit-codes.ts'
import { ConfigError } from '../../src/config/yaml/problem.ts'
import { Failure } from '../../src/lib/failure.ts'

const SOURCES = join(import.meta.dirname, '../../src')

/** Codes of what is no Failure (Node's own, a denial, a request that was not written), or never ends the process: `call` returns its own. */
const OTHER =
  /^(?:CALL_|CERT_|CONNECT_|ERR_|KEY_REUSED$|INTENT_EXPIRED$|PLACES_TOO_MANY$|PATH_PARAMETER_MISSING$|LEASE_OVER$)/

/** Every code in the sources that a Failure is made with, or that stands in a table of them. */
function codesInSources(): string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  const codes = files.flatMap((path) => {
    const text = readFileSync(join(SOURCES, path), 'utf8')
    if (!/Failure\(/.test(text)) return []
    const named = text.matchAll(
      /(?:code:|Failure\()\s*(?:\w+ \? )?'([A-Z]+(?:_[A-Z]+)+)'(?: : '([A-Z_]+)')?/g,
    )
    const listed = text.matchAll(/^ {2}([A-Z]+(?:_[A-Z]+)+): '/gm)
    return [...named, ...listed].flatMap(([, one, other]) => [one, other])
  })
  return [...new Set(codes)]
    .filter((code) => code !== undefined)
    .filter((code) => !OTHER.test(code))
}

test('every failure of the program says how it ends the process', () => {
  const codes = codesInSources()

  expect(codes.length).toBeGreaterThan(50)
  expect(codes.filter((code) => endingOf(code) === undefined)).toEqual([])
})

test.each([
  ['STATE_HELD', 75],
  ['ACCOUNT_HELD', 75],
  ['JOURNAL_HELD', 75],
  ['JOURNAL_UNREADABLE', 75],
  ['STATE_UNWRITABLE', 75],
  ['LOCK_DAMAGED', 65],
  ['JOURNAL_CORRUPT', 70],
  ['JOURNAL_POISONED', 70],
  ['JOURNAL_FOREIGN', 78],
  ['CREDENTIALS_UNUSABLE', 78],
  ['RECORDING_GZIP_DAMAGED', 65],
  ['JOURNAL_NOT_FOUND', 66],
])('%s ends with %d', (code, exit) => {
  expect(exitOf(new Failure({ code, sentence: 'what is wrong' }))).toBe(exit)
})

test('the configuration ends with 78, and what nobody expected with 70', () => {
  expect(exitOf(new ConfigError([]))).toBe(78)
  expect(exitOf(new TypeError('x is undefined'))).toBe(70)
  expect(exitOf(new Failure({ code: 'NEVER_LISTED', sentence: 'a defect' }))).toBe(70)
})

test('of several accounts one that a start may help decides: a supervisor goes by it', () => {
  const keys = new Failure({ code: 'CREDENTIALS_REFUSED', sentence: 'what is wrong' })
  const defect = new TypeError('x is undefined')

  expect(exitOfAll([keys, keys])).toBe(78)
  expect([exitOfAll([keys, defect]), exitOfAll([defect, keys])]).toEqual([70, 70])
})
