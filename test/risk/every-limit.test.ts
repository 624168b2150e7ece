import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { riskSchema } from '../../src/config/schema/risk-schema.ts'
import { strategyFileSchema } from '../../src/config/schema/strategy-schema.ts'
import { DENIAL_CODES } from '../../src/domain/denial.ts'
import { parseSource } from '../support/source-text.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/risk.md'), 'utf8')

function readFolders(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
  )
}

const CORE = readFolders(['src/risk', 'src/engine', 'src/strategy'])
const CODE = CORE.map((source) => parseSource(source).code).join('\n')

/** Sections with a reader of their own, and what is no limit of orders. */
const OTHERS = [
  'foreignFills',
  'disputeToleranceRatio',
  'disputeToleranceMin',
  'disputeMsMax',
  'indexBandRatio',
  'losses',
  'liquidation',
  'survives',
  'instruments',
]

/** With the names in `pace`, which reach the core beside the others. */
function limitsOf(shape: object, pace: object): readonly string[] {
  return [...Object.keys(shape), ...Object.keys(pace)].filter(
    (name) => name !== 'pace' && !OTHERS.includes(name),
  )
}

const { shape: account } = riskSchema
const { shape: strategy } = strategyFileSchema.shape.risk
const LIMITS = [
  ...limitsOf(account, account.pace.unwrap().shape).map((name) => ['account', name] as const),
  ...limitsOf(strategy, strategy.pace.unwrap().shape).map((name) => ['strategy', name] as const),
]

/** `account.name`, or `{ name } = core.settings.limits`; of a strategy `strategy.name` or `?.name`. */
function readsLimit(scope: 'account' | 'strategy', name: string): boolean {
  const owner = scope === 'account' ? '(?:account|settings\\.limits)' : '(?:strategy\\b|\\?)'
  const direct = new RegExp(`${owner}\\.${name}\\b`)
  const taken = new RegExp(`\\{[^{}]*\\b${name}\\b[^{}]*\\} = (?:\\w+\\.)*${owner}`)
  return direct.test(CODE) || taken.test(CODE)
}

describe.each(LIMITS)('the limit %s %s', (scope, name) => {
  test('is obeyed', () => {
    expect(
      readsLimit(scope, name),
      `no code in src/risk or src/engine reads ${scope}.${name}: nothing obeys the limit`,
    ).toBe(true)
  })

  test('stands in docs/risk.md', () => {
    expect(
      new RegExp(`\\b${name}\\b`).test(PAGE),
      `write a row for ${name} in the table "Other limits" of docs/risk.md`,
    ).toBe(true)
  })
})

test.each(Object.keys(DENIAL_CODES))('something is denied with %s', (code) => {
  // A line with the code alone is one of a list of codes.
  const denies = new RegExp(`\\S.*'${code}'|'${code}'\\S*[^,\\s]`)
  expect(
    CORE.some((source) => denies.test(source)),
    `no check denies with ${code}: use it in src/risk/checks.ts, or take it out of DENIAL_CODES`,
  ).toBe(true)
})
