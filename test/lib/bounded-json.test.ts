import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseBoundedJson } from '../../src/lib/text/bounded-json.ts'

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

test.each([
  [nested(65)],
  [`{"a":${'{"b":'.repeat(64)}1${'}'.repeat(65)}`],
  // Never closed, closed twice, and behind a text with an escaped quote.
  ['['.repeat(4_000_000)],
  [`["\\"]", ${nested(65)}]`],
  [`{"a]]]]]": ${nested(65)}}`],
])('JSON nested deeper than 64 levels is refused before it is parsed: %#', (text) => {
  expect(() => parseBoundedJson(text)).toThrow('nested deeper than 64 levels')
})

test('what is not too deep is parsed as ever', () => {
  const brackets = '[{'.repeat(100)
  const value = {
    a: [brackets, `\\"${brackets}`, { 'b]': JSON.parse(nested(60)) as unknown }],
    c: 1.5,
  }

  expect(parseBoundedJson(JSON.stringify(value))).toEqual(value)
  expect(parseBoundedJson(nested(64))).toEqual(JSON.parse(nested(64)))
  expect(() => parseBoundedJson(`"${'['.repeat(100)}`)).toThrow(SyntaxError)
})

/** What they parse was written by this process, or by the journal under its digests, and never deeper than it may be. */
const PARSED_UNBOUNDED = [
  'backtest/backtest.ts',
  'backtest/direct-exchange.ts',
  'cli/control/fills.ts',
  'cli/main.ts',
  'cli/replay/replay-segments.ts',
  'engine/book/book-rows.ts',
  'journal/journal-reader.ts',
  'journal/repair-journal.ts',
  'journal/verified-prefix.ts',
  'lib/text/bounded-json.ts',
  'logging/logger.ts',
  'report/page/page.ts',
  'simulator/store/stored-rows.ts',
  'strategy/strategy-runner.ts',
  'sweep-run/trial-pool.ts',
  'sweep/landscape.ts',
  'sweep/sweep-report.ts',
  'views/profit-sums.ts',
]

test('JSON is parsed without a bound only where the process itself or its journal wrote it', () => {
  const found = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .filter((path) =>
      /\bJSON\.parse\(|(?<!\bz)\.json\(\)/.test(readFileSync(`src/${path}`, 'utf8')),
    )
    .toSorted()

  expect(found).toEqual(PARSED_UNBOUNDED)
})
