import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  causeOf,
  type CauseName,
  commonStep,
  describeRefusal,
  isOnCommonStep,
  REFUSAL_CAUSES,
  type RefusableTerms,
} from '../../src/execution/refusal-causes.ts'
import { madeInstrument } from '../support/market-moment.ts'

const ORDER: RefusableTerms = { action: 'openLong', lots: 10, ticks: 1000, force: 'post_only' }

const order = (change: Partial<RefusableTerms>): RefusableTerms => ({ ...ORDER, ...change })

interface Row {
  readonly refused?: RefusableTerms
  /** What waits because of it, and what does not. */
  readonly concerns: RefusableTerms
  readonly leaves?: RefusableTerms
  /** The acceptance that ends it, and the one that does not. */
  readonly ends?: RefusableTerms
  readonly keeps?: RefusableTerms
}

const EXITS = { takeProfitTicks: 1100 }

/** Each cause by example. Where a grid was missed, the steps decide: below. */
const ROWS: Readonly<Record<CauseName, Row>> = {
  priceStep: { concerns: ORDER, leaves: order({ ticks: undefined }) },
  sizeStep: { concerns: ORDER },
  sizeMin: {
    concerns: order({ lots: 9 }),
    leaves: order({ lots: 11 }),
    ends: order({ lots: 10 }),
    keeps: order({ lots: 11 }),
  },
  sizeMax: {
    concerns: order({ lots: 11 }),
    leaves: order({ lots: 9 }),
    ends: order({ lots: 10 }),
    keeps: order({ lots: 9 }),
  },
  notionalMin: {
    concerns: order({ lots: 5, ticks: 2000 }),
    leaves: order({ ticks: 1001 }),
    ends: ORDER,
    keeps: order({ lots: 11 }),
  },
  size: { concerns: order({ lots: 3 }), ends: order({ ticks: 1001 }), keeps: order({ lots: 3 }) },
  priceHigh: {
    concerns: order({ ticks: 1001 }),
    leaves: order({ ticks: 999 }),
    ends: order({ ticks: 1001 }),
    keeps: order({ ticks: 999 }),
  },
  priceLow: {
    concerns: order({ ticks: 999 }),
    leaves: order({ ticks: 1001 }),
    ends: order({ ticks: 999 }),
    keeps: order({ ticks: 1001 }),
  },
  wouldTake: {
    concerns: order({ ticks: 1001 }),
    leaves: order({ ticks: 999 }),
    ends: order({ ticks: 1000, lots: 1 }),
    keeps: order({ action: 'openShort', ticks: 900 }),
  },
  exitPrice: {
    refused: order(EXITS),
    concerns: order({ stopLossTicks: 900 }),
    leaves: ORDER,
    ends: order({ ...EXITS, lots: 1 }),
    keeps: order({ takeProfitTicks: 1200 }),
  },
  price: {
    concerns: order({ ticks: 3 }),
    leaves: order({ action: 'openShort' }),
    ends: ORDER,
    keeps: order({ ticks: 3 }),
  },
  balance: {
    concerns: order({ lots: 1 }),
    ends: order({ lots: 10, ticks: 3 }),
    keeps: order({ lots: 9 }),
  },
  openOrders: {
    concerns: order({ ticks: 3 }),
    leaves: order({ ticks: undefined, force: 'ioc' }),
    ends: order({ lots: 1 }),
    keeps: order({ force: 'ioc' }),
  },
  noPosition: {
    concerns: order({ lots: 1 }),
    ends: order({ lots: 11 }),
    keeps: order({ lots: 9 }),
  },
  instrument: { concerns: order({ lots: 1 }), ends: order({ lots: 1 }) },
  marginMode: { concerns: order({ lots: 1 }), ends: order({ lots: 1 }) },
  leverage: { concerns: order({ lots: 1 }), ends: order({ lots: 1 }) },
  positionMode: { concerns: order({ lots: 1 }), ends: order({ lots: 1 }) },
  accountRisk: { concerns: order({ lots: 1 }), ends: order({ lots: 1 }) },
  auth: { concerns: order({ lots: 1 }), ends: order({ lots: 1 }) },
  parameter: {
    concerns: order({ lots: 1 }),
    leaves: order({ force: 'ioc' }),
    ends: ORDER,
    keeps: order({ lots: 1 }),
  },
  dryRun: {
    concerns: order({ ticks: 3 }),
    leaves: order({ lots: 3 }),
    keeps: ORDER,
  },
  other: { concerns: order({ force: 'ioc' }), ends: ORDER, keeps: order({ ticks: 3 }) },
}

const NAMES = Object.keys(REFUSAL_CAUSES) as CauseName[]

describe('the causes of refusals', () => {
  test.each(NAMES)('%s: what waits because of it, and which acceptance ends it', (name) => {
    const { concerns, disprovedBy, step } = REFUSAL_CAUSES[name]
    const { refused = ORDER, ...row } = ROWS[name]

    expect(concerns(refused, refused)).toBe(true)
    expect(concerns(row.concerns, refused)).toBe(true)
    if (row.leaves) expect(concerns(row.leaves, refused)).toBe(false)
    expect(disprovedBy === undefined).toBe(step !== undefined)
    if (row.ends) expect(disprovedBy?.(row.ends, refused)).toBe(true)
    if (row.keeps) expect(disprovedBy?.(row.keeps, refused)).toBe(false)
  })

  test.each(NAMES)('%s says what a person can do, or a halt says it', (name) => {
    const { setting, advice, isLogged } = REFUSAL_CAUSES[name]
    const isAdvised = setting !== undefined || advice !== undefined

    expect(isAdvised || isLogged === 'byTheHalt' || name === 'other').toBe(true)
  })

  test.each(NAMES)('%s stands in docs/orders.md', (name) => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/orders.md'), 'utf8')

    expect(
      text.includes(`\`${name}\``),
      `write a row for ${name} in the table of causes in docs/orders.md`,
    ).toBe(true)
  })

  test('accepted steps prove those that their common step divides, and no others', () => {
    expect(isOnCommonStep(0, [10])).toBe(false)
    expect(commonStep(0, [650_010, 650_020])).toBe(10)
    expect(isOnCommonStep(10, [650_030])).toBe(true)
    expect(isOnCommonStep(10, [650_030, 650_035])).toBe(false)
    expect(commonStep(10, [650_003])).toBe(1)
  })

  test.each([
    ['45115', 'The price you enter should be a multiple of 1', 'priceStep'],
    [
      '40808',
      'Parameter verification exception size checkBDScale error value=0.015 checkScale=2',
      'sizeStep',
    ],
    [
      '40808',
      'Parameter verification exception delegatePrice checkBDScale error value=1.05',
      'priceStep',
    ],
    ['40808', 'Parameter verification exception delegate count 0 > 0', 'parameter'],
    ['40309', 'The contract has been removed', 'instrument'],
    ['22039', 'Limit open position when delivery is approaching.', 'instrument'],
    ['40109', 'no data', 'other'],
    [undefined, undefined, 'other'],
  ] as const)('%s %s is %s', (code, message, cause) => {
    expect(causeOf(code, message)).toBe(cause)
  })
})

describe('the sentence', () => {
  const found = { code: '45115', orders: 9, withinMs: 59_100, cause: 'priceStep' } as const

  test.each([
    ['The price you enter should be a multiple of 1', 'the exchange takes multiples of 1'],
    ['您输入的价格应为 0.5 的倍数', 'the exchange takes multiples of 0.5'],
    ['Price step mismatch', 'the exchange says "Price step mismatch"'],
    ['1 to 2', 'the exchange says "1 to 2"'],
  ])('of "%s" says that %s', (message, said) => {
    expect(describeRefusal({ ...found, message }, madeInstrument())).toBe(
      `refused 45115 9 times in 60 s: tickSize 0.1 of the configuration, ${said}; change instruments.BTCUSDT.tickSize`,
    )
  })

  test('without a setting says what to look at', () => {
    const message = 'Insufficient balance'
    const balance = { cause: 'balance', code: '43012', message, orders: 1, withinMs: 0 } as const

    expect(describeRefusal(balance, madeInstrument())).toMatch(
      /^refused 43012 once: the exchange says "Insufficient balance"; pay in USDT, or /,
    )
  })
})
