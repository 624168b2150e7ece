import { expect, test } from 'vitest'
import {
  adviseCapital,
  type CapitalAccount,
  closesAll,
  describeCapitalChange,
  findCapitalChange,
  lastNotedOf,
} from '../../src/assembly/settings/changed-capital.ts'
import type { Deposit } from '../../src/domain/deposit.ts'
import { ACCOUNT } from '../../src/domain/trading-mode.ts'
import {
  ACCOUNT_SERIES,
  type AccountMark,
  type CurvePoint,
  type CurveQuery,
  MARK_SERIES,
  toAccountValue,
  toMarkValue,
} from '../../src/journal/curves.ts'
import { decimal, sumDecimals } from '../../src/lib/decimal.ts'

const HOUR_MS = 3_600_000
const AT = 100 * HOUR_MS
const MARK: AccountMark = { at: AT, capital: '10000', made: '-500', unrealised: '-100' }

interface Scene {
  readonly capital: string
  readonly deposits?: readonly Pick<Deposit, 'amount' | 'enteredAt'>[]
  readonly mark?: Partial<AccountMark>
  readonly peak?: number
  readonly flatten?: number
}

function judge({ capital, deposits = [], mark = {}, peak = 0, flatten = 0.1 }: Scene) {
  const deposited = sumDecimals(deposits.map(({ amount }) => decimal(amount))).toString()
  const account = {
    book: {
      deposits: new Map(deposits.map((one, id) => [`${id}`, { ...one, isCapital: true }])),
      deposited,
      watermarks: new Map([[ACCOUNT, { peak }]]),
    },
    settings: {
      capital: decimal(capital),
      losses: { limits: new Map([[ACCOUNT, { drawdown: { flatten } }]]) },
    },
  } as unknown as CapitalAccount
  const noted = { ...MARK, ...mark }
  const net = decimal(noted.made).plus(decimal(noted.unrealised))
  const change = findCapitalChange(account, { mark: noted, net })
  return change && { ...change, closes: closesAll(change, account.settings), account }
}

test('the same capital is no change, also with deposits before and after the last mark', () => {
  const deposits = [
    { amount: '500', enteredAt: AT - 5 * HOUR_MS },
    { amount: '-3000', enteredAt: AT + HOUR_MS },
  ]

  expect(judge({ capital: '10000' })).toBeUndefined()
  expect(judge({ capital: '10000', deposits, mark: { capital: '10500' } })).toBeUndefined()
})

test('a deposit of the moment of the mark is no change, whether the mark counts it or not', () => {
  const deposits = [{ amount: '-3000', enteredAt: AT + 1000 }]
  const earlier = [{ amount: '-3000', enteredAt: AT - 1000 }]

  expect(judge({ capital: '10000', deposits, mark: { capital: '7000' } })).toBeUndefined()
  expect(judge({ capital: '10000', deposits })).toBeUndefined()
  expect(judge({ capital: '10000', deposits: earlier })).toBeUndefined()
  expect(judge({ capital: '10000', deposits: earlier, mark: { capital: '7000' } })).toBeUndefined()
})

test('a lower capital that leaves the drawdown above its last step is a change that closes nothing', () => {
  const found = judge({ capital: '8000' })

  expect(found).toMatchObject({ closes: false })
  expect(found && describeCapitalChange(found, found.account.settings.losses)).toBe(
    'the last run counted from a capital of 10000, this one from 8000: with it an equity of 9400 is 7400, its fall from the peak is 7.50 % instead of 6.00 %, everything is closed at 10.00 %',
  )
})

test('[MON1] a lower capital that alone reaches the last step would close everything, and the advice names the way out', () => {
  const found = judge({ capital: '6000' })

  expect(found).toMatchObject({ closes: true, drawdown: { was: 0.06, is: 0.1 } })
  expect(found && adviseCapital(found, 'found')).toMatch(
    /^found, .*Write 10000 again.*intentd withdrawal.*--new-peak/,
  )
})

test('a capital that leaves no equity would close everything, also at the peak', () => {
  const mark = { made: '-5000', unrealised: '0' }

  expect(judge({ capital: '5000', mark, peak: -5000 })).toMatchObject({ closes: true })
})

test('an account that was bust before starts, with any capital', () => {
  const mark = { made: '-10100' }

  expect(judge({ capital: '10000', mark })).toBeUndefined()
  expect(judge({ capital: '9000', mark })).toMatchObject({ closes: false })
  expect(judge({ capital: '20000', mark })).toMatchObject({ closes: false })
})

test('a drawdown that was beyond its last step before is no matter of the capital', () => {
  expect(judge({ capital: '9000', mark: { made: '-1000' } })).toMatchObject({ closes: false })
})

test('without a limit on the drawdown nothing is closed', () => {
  expect(judge({ capital: '6000', flatten: Number.POSITIVE_INFINITY })).toMatchObject({
    closes: false,
  })
})

test('a capital that was not noted, or is not configured, is compared with nothing', () => {
  expect(judge({ capital: '6000', mark: { capital: null } })).toBeUndefined()
})

function createCurves(points: readonly CurvePoint[]) {
  return {
    curve: ({ series, since = 0 }: CurveQuery) =>
      points.filter((point) => point.series === series && point.at >= since),
  }
}

const markAt = (at: number): CurvePoint => ({ series: MARK_SERIES, at, value: toMarkValue(MARK) })

test('the last mark is found however long the daemon has not run', () => {
  const journal = createCurves([AT, AT + HOUR_MS].map(markAt))

  for (const hours of [1, 30, 24 * 400])
    expect(lastNotedOf(journal, AT + hours * HOUR_MS + HOUR_MS)).toEqual({
      mark: { ...MARK, at: AT + HOUR_MS },
      net: decimal('-600'),
    })
  expect(lastNotedOf(createCurves([]), AT)).toBeUndefined()
})

test('[MON1] a loss since the last mark counts, by the newest point of the curve that knows it', () => {
  const pointAt = (at: number, netWithUnrealised: string | null): CurvePoint => ({
    series: ACCOUNT_SERIES,
    at,
    value: toAccountValue({ equity: null, netWithUnrealised, peak: '0' }),
  })
  const netAfter = (...points: readonly CurvePoint[]): string | undefined =>
    lastNotedOf(createCurves([markAt(AT + 5000), ...points]), AT + HOUR_MS)?.net.toString()

  expect(netAfter(pointAt(AT - 60_000, '-1'))).toBe('-600')
  expect(netAfter(pointAt(AT, '-900'))).toBe('-900')
  expect(
    netAfter(pointAt(AT, '-900'), pointAt(AT + 60_000, '-950'), pointAt(AT + 120_000, null)),
  ).toBe('-950')
})
