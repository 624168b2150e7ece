import { describe, expect, test } from 'vitest'
import { type ContractRules } from '../../src/domain/contract-rules.ts'
import { type TickerColumn, TickerTable } from '../../src/domain/ticker-table.ts'
import {
  isUniverseDue,
  NO_UNIVERSE,
  UNIVERSE_MEASURES,
  type UniverseChoice,
  type UniverseMember,
  type UniverseMemory,
  type UniverseRule,
} from '../../src/domain/universe.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'
import {
  chooseUniverse,
  matchesPattern,
  type UniverseInput,
} from '../../src/market/choose-universe.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const AT = 1_704_067_200_000
const RULES: ContractRules = {
  tickSize: '0.1',
  lotSize: '0.001',
  minSize: '0.001',
  minNotional: '5',
  status: 'normal',
  launchedAt: AT - 100 * DAY,
}
const RULE: UniverseRule = {
  everyMs: HOUR,
  include: [],
  exclude: [],
  top: { count: 2, by: 'volume', order: 'highest' },
  stickyMs: 0,
  leaving: 'close',
}

type Row = Partial<Record<TickerColumn, number>>

/** Rows of the tickers in the order in which they are named. */
function tickersOf(rows: Readonly<Record<string, Row>>): TickerTable {
  const table = new TickerTable(1024)
  for (const [symbol, columns] of Object.entries(rows)) {
    const row = table.claimRow(symbol)
    const usual = { lastPr: 100, bidPr: 99.9, askPr: 100.1, high24h: 110, low24h: 90, change24h: 0 }
    for (const [column, value] of Object.entries({ ...usual, ...columns }))
      table.columns[column as TickerColumn][row] = value
  }
  return table
}

interface Change {
  readonly rule?: Partial<UniverseRule>
  readonly contracts?: Readonly<Record<string, Partial<ContractRules> | undefined>>
  readonly memory?: Partial<UniverseMemory>
  readonly at?: number
  readonly fixed?: readonly string[]
  readonly readMax?: number
  readonly read?: readonly string[]
}

function inputOf(rows: Readonly<Record<string, Row>>, change: Change = {}): UniverseInput {
  const { contracts = {}, read = [], readMax = 100, fixed = [], at = AT } = change
  const listed = Object.keys({ ...rows, ...contracts }).filter(
    (symbol) => !(symbol in contracts && contracts[symbol] === undefined),
  )
  return {
    rule: { ...RULE, ...change.rule },
    tickers: tickersOf(rows),
    contracts: new Map(listed.map((symbol) => [symbol, { ...RULES, ...contracts[symbol] }])),
    memory: { ...NO_UNIVERSE, ...change.memory },
    at,
    fixed: new Set(fixed),
    room: { read: new Set(read), readMax },
  }
}

function choose(rows: Readonly<Record<string, Row>>, change: Change = {}): UniverseChoice {
  return chooseUniverse(inputOf(rows, change))
}

/** The evaluation before has said the same of all members. */
function chooseAgain(rows: Readonly<Record<string, Row>>, change: Change = {}): UniverseChoice {
  const unconfirmed = new Set(change.memory?.members?.keys())
  return choose(rows, { ...change, memory: { ...change.memory, unconfirmed } })
}

function member(since: number, change: Partial<UniverseMember> = {}): UniverseMember {
  return { since, rules: RULES, ...change }
}

const THREE = {
  AUSDT: { usdtVolume: 3 },
  BUSDT: { usdtVolume: 2 },
  CUSDT: { usdtVolume: 1 },
}

describe('a rule', () => {
  test('chooses the first by its measure, and says of each why', () => {
    const { joined, verdicts } = choose(THREE)

    expect(joined).toEqual(['AUSDT', 'BUSDT'])
    expect(Object.fromEntries(verdicts)).toEqual({
      AUSDT: { isIn: true, reason: 'ranked', value: 1, limit: 2 },
      BUSDT: { isIn: true, reason: 'ranked', value: 2, limit: 2 },
      CUSDT: { isIn: false, reason: 'outranked', value: 3, limit: 2 },
    })
  })

  test('breaks ties by name', () => {
    const rows = { CUSDT: { usdtVolume: 1 }, BUSDT: { usdtVolume: 1 }, AUSDT: { usdtVolume: 1 } }
    expect(choose(rows).joined).toEqual(['AUSDT', 'BUSDT'])
  })

  test.each([
    ['change', { change24h: 0.1 }, { change24h: -0.5 }],
    ['volatility', { high24h: 150 }, { high24h: 111 }],
    ['spread', { bidPr: 99.99, askPr: 100.01 }, { bidPr: 99 }],
  ] as const)('ranks by %s', (by, first, second) => {
    const order = by === 'spread' ? ('lowest' as const) : ('highest' as const)
    const rule = { top: { count: 1, by, order } }
    expect(choose({ AUSDT: second, BUSDT: first }, { rule }).joined).toEqual(['BUSDT'])
  })

  test.each([
    ['volume below', { volumeMin: 5 }, { usdtVolume: 4 }, 'volumeLow'],
    ['no volume stated', { volumeMin: 5 }, {}, 'noVolume'],
    ['no volume to rank by', {}, {}, 'noMeasure'],
    ['a wide spread', { spreadMax: 0.001 }, { usdtVolume: 9, askPr: 101 }, 'spreadWide'],
    ['no bid', { spreadMax: 0.001 }, { usdtVolume: 9, bidPr: Number.NaN }, 'noSpread'],
    ['a bid above the ask', { spreadMax: 0.1 }, { usdtVolume: 9, bidPr: 102 }, 'noSpread'],
    ['a calm market', { volatility: { min: 0.3 } }, { usdtVolume: 9 }, 'volatilityLow'],
    ['a wild one', { volatility: { max: 0.1 } }, { usdtVolume: 9 }, 'volatilityHigh'],
    ['no range', { volatility: { min: 0.1 } }, { usdtVolume: 9, low24h: Number.NaN }, 'noRange'],
    ['a low price', { price: { min: 101 } }, { usdtVolume: 9 }, 'priceLow'],
    ['a high price', { price: { max: 99 } }, { usdtVolume: 9 }, 'priceHigh'],
    ['no price', {}, { usdtVolume: 9, lastPr: Number.NaN }, 'noPrice'],
    ['a zero price', {}, { usdtVolume: 9, lastPr: 0 }, 'noPrice'],
    ['a delivery', {}, { usdtVolume: 9, deliveryTime: AT }, 'delivery'],
    ['its exclusion', { exclude: ['A*'] }, { usdtVolume: 9 }, 'excluded'],
    ['another quote coin', { quote: 'USDC' }, { usdtVolume: 9 }, 'otherQuote'],
  ] as const)('[MON2] keeps out for %s', (_, rule, row, reason) => {
    const { joined, verdicts } = choose({ AUSDT: row }, { rule })

    expect(joined).toEqual([])
    expect(verdicts.get('AUSDT')).toMatchObject({ isIn: false, reason })
  })

  test('compares at the limits themselves', () => {
    const rule = { volumeMin: 5, volatility: { min: 0.2, max: 0.2 }, price: { min: 100, max: 100 } }
    expect(choose({ AUSDT: { usdtVolume: 5 } }, { rule }).joined).toEqual(['AUSDT'])
  })

  test('counts the age from the listing, or from when it was first seen, and says so', () => {
    const rule = { ageMinMs: 10 * DAY }
    const contracts = {
      AUSDT: { launchedAt: AT - 9 * DAY },
      BUSDT: { launchedAt: AT - 11 * DAY },
      CUSDT: { launchedAt: undefined as never },
    }
    const first = choose(THREE, { rule, contracts })
    expect(first.joined).toEqual(['BUSDT'])
    expect(first.seen).toEqual(['CUSDT'])
    expect(first.verdicts.get('AUSDT')).toMatchObject({ reason: 'young', value: 9 * DAY })
    expect(first.verdicts.get('CUSDT')).toMatchObject({ reason: 'young', isSeenOnly: true })

    const firstSeen = new Map([
      ['CUSDT', AT],
      ['GONE', AT],
    ])
    const later = choose(THREE, { rule, contracts, memory: { firstSeen }, at: AT + 11 * DAY })
    expect(later.joined).toEqual(['AUSDT', 'BUSDT'])
    expect(later.verdicts.get('CUSDT')).toMatchObject({ reason: 'outranked' })
    expect(later.forgotten).toEqual(['GONE'])
  })

  test('includes by name whatever the filters say, but none that cannot be traded', () => {
    const rule = { include: ['C*', 'BUSDT'], volumeMin: 3 }
    const contracts = { BUSDT: { status: 'maintain' } }
    const { joined, verdicts } = choose(THREE, { rule, contracts })

    expect(joined).toEqual(['AUSDT', 'CUSDT'])
    expect(verdicts.get('CUSDT')).toMatchObject({ reason: 'included', value: 1 })
    expect(verdicts.get('BUSDT')).toMatchObject({ reason: 'notTradable', text: 'maintain' })
  })

  test('never chooses what the strategy trades in any case, or what no contract is known of', () => {
    const { joined, verdicts } = choose(THREE, {
      fixed: ['AUSDT'],
      contracts: { BUSDT: undefined },
    })
    expect(joined).toEqual(['CUSDT'])
    expect(verdicts.get('AUSDT')?.reason).toBe('fixed')
    expect(verdicts.get('BUSDT')?.reason).toBe('noContract')
  })

  test('takes in no more than can be read; those that are read already need no room', () => {
    const { joined, verdicts } = choose(THREE, { read: ['BUSDT', 'X', 'Y'], readMax: 3 })
    expect(joined).toEqual(['BUSDT'])
    expect(verdicts.get('AUSDT')).toEqual({ isIn: false, reason: 'noRoom', value: 3, limit: 3 })
  })
})

describe('members', () => {
  const members = new Map([
    ['BUSDT', member(AT - HOUR)],
    ['CUSDT', member(AT - 3 * HOUR)],
  ])

  test('leave when others have passed them, and free their place', () => {
    const { joined, left } = chooseAgain(THREE, { memory: { members } })
    expect([joined, left]).toEqual([['AUSDT'], ['CUSDT']])
  })

  test('stay until the next evaluation says so too', () => {
    const { joined, left, verdicts } = choose(THREE, { memory: { members } })
    expect([joined, left]).toEqual([[], []])
    expect(verdicts.get('CUSDT')).toEqual({
      isIn: true,
      reason: 'unconfirmed',
      objection: 'outranked',
      value: 3,
      limit: 2,
    })
    expect(verdicts.get('AUSDT')).toMatchObject({ isIn: false, reason: 'waitsForPlace' })
  })

  test('stay for their time, unless they are excluded or cannot be traded', () => {
    const rule = { stickyMs: 6 * HOUR }
    const { joined, left, verdicts } = choose(THREE, { rule, memory: { members } })
    expect([joined, left]).toEqual([[], []])
    expect(verdicts.get('CUSDT')).toEqual({
      isIn: true,
      reason: 'sticky',
      limit: AT + 3 * HOUR,
    })
    expect(verdicts.get('AUSDT')).toMatchObject({ isIn: false, reason: 'waitsForPlace' })

    const excluded = choose(THREE, { rule: { ...rule, exclude: ['BUSDT'] }, memory: { members } })
    expect(excluded.left).toEqual(['BUSDT'])
  })

  test('that are gone from tickers and contracts leave at once; from one of both they do not', () => {
    const rule = { stickyMs: 6 * HOUR, changesPerDay: 0 }
    const rows = { AUSDT: { usdtVolume: 3 }, BUSDT: { usdtVolume: 2 } }
    const both = chooseAgain(rows, { rule, memory: { members } })
    expect(both.left).toEqual(['CUSDT'])
    expect(both.verdicts.get('CUSDT')?.reason).toBe('notListed')

    const listed = chooseAgain(rows, { rule, memory: { members }, contracts: { CUSDT: {} } })
    expect(listed.left).toEqual([])
    const shown = chooseAgain(THREE, { rule, memory: { members }, contracts: { CUSDT: undefined } })
    expect(shown.left).toEqual([])
  })

  test('leave no more often in a day than they may, those that fail a filter first', () => {
    const four = new Map(['AUSDT', 'BUSDT', 'CUSDT', 'DUSDT'].map((one) => [one, member(0)]))
    const rows = {
      ...THREE,
      DUSDT: { usdtVolume: 9, askPr: 120 },
      EUSDT: { usdtVolume: 8 },
      FUSDT: { usdtVolume: 7 },
    }
    const rule = { spreadMax: 0.01, changesPerDay: 2 }
    const departures = [AT - 25 * HOUR, AT - HOUR]
    const { left, verdicts } = chooseAgain(rows, { rule, memory: { members: four, departures } })

    expect(left).toEqual(['DUSDT'])
    expect(verdicts.get('CUSDT')).toMatchObject({ isIn: true, reason: 'changesUsed', limit: 2 })
  })

  test('that are leaving and chosen again stay, and need no place of their own', () => {
    const leaving = new Map([['AUSDT', member(0, { leavingSince: AT - HOUR })]])
    expect(choose(THREE, { memory: { members: leaving } }).joined).toEqual(['AUSDT', 'BUSDT'])
  })

  test('[BND1] are never more than twice the count, leaving ones included', () => {
    const leaving = new Map(
      ['W', 'X', 'Y', 'Z'].map((one) => [one, member(0, { leavingSince: AT - HOUR })]),
    )
    const { joined, verdicts } = choose(THREE, { memory: { members: leaving } })
    expect(joined).toEqual([])
    expect(verdicts.get('AUSDT')?.reason).toBe('waitsForPlace')
  })
})

test.each([
  ['BTC*', 'BTCUSDT', true],
  ['*USDT', 'BTCUSDT', true],
  ['*', 'BTCUSDT', true],
  ['B*U*T', 'BTCUSDT', true],
  ['BTC', 'BTCUSDT', false],
  ['BTCUSDT', 'BTCUSDT', true],
  ['AB*BA', 'ABA', false],
  ['1000*', '1000PEPEUSDT', true],
  ['*X*', 'BTCUSDT', false],
])('the pattern %s on %s: %s', (pattern, symbol, isMatch) => {
  expect(matchesPattern(pattern, symbol)).toBe(isMatch)
})

test('evaluations are due at multiples of the interval', () => {
  const settled = { hasUnconfirmed: false }
  expect(isUniverseDue(RULE, { ...settled, evaluatedAt: AT }, AT + HOUR - 1)).toBe(false)
  expect(isUniverseDue(RULE, { ...settled, evaluatedAt: AT + HOUR - 1 }, AT + HOUR)).toBe(true)
})

test('what is unconfirmed is judged again in the next minute, or as often as the rule is', () => {
  const open = { evaluatedAt: AT + 500, hasUnconfirmed: true }
  expect(isUniverseDue(RULE, open, AT + 59_999)).toBe(false)
  expect(isUniverseDue(RULE, open, AT + 60_000)).toBe(true)
  expect(isUniverseDue({ ...RULE, everyMs: 1000 }, open, AT + 1000)).toBe(true)
})

/** Some days of a market with listings and removals, missing values, and a rule that is drawn. */
function between(random: Random, least: number, most: number): number {
  return least + random.integer(most - least + 1)
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[random.integer(values.length)] as Value
}

describe('over drawn days', () => {
  const COUNT = 600
  const names = Array.from(
    { length: COUNT },
    (_, index) => `C${String(index).padStart(3, '0')}USDT`,
  )

  function drawRule(random: Random): UniverseRule {
    return {
      ...RULE,
      top: {
        count: between(random, 1, 20),
        by: pick(random, UNIVERSE_MEASURES),
        order: pick(random, ['highest', 'lowest'] as const),
      },
      stickyMs: between(random, 0, 12) * HOUR,
      changesPerDay: between(random, 0, 10),
      volumeMin: between(random, 0, 500),
      ageMinMs: between(random, 0, 3) * DAY,
      include: [pick(random, names)],
      exclude: [pick(random, names)],
    }
  }

  function drawRows(random: Random, listed: ReadonlySet<string>): Record<string, Row> {
    const orNothing = (value: number): number => (between(random, 0, 50) === 0 ? Number.NaN : value)
    return Object.fromEntries(
      [...listed].map((symbol) => [
        symbol,
        {
          usdtVolume: orNothing(between(random, 0, 1000)),
          change24h: orNothing(between(random, -50, 50) / 100),
          high24h: orNothing(between(random, 101, 150)),
          bidPr: orNothing(100 - between(random, 0, 5) / 10),
        },
      ]),
    )
  }

  function apply(memory: UniverseMemory, choice: UniverseChoice, at: number): UniverseMemory {
    const members = new Map(memory.members)
    for (const symbol of choice.joined)
      members.set(symbol, { since: members.get(symbol)?.since ?? at, rules: RULES })
    for (const symbol of choice.left) members.delete(symbol)
    const firstSeen = new Map(memory.firstSeen)
    for (const symbol of choice.forgotten) firstSeen.delete(symbol)
    for (const symbol of choice.seen) firstSeen.set(symbol, at)
    const departures = [...memory.departures, ...choice.left.map(() => at)]
    const unconfirmed = new Set(
      [...choice.verdicts].flatMap(([one, { reason }]) => (reason === 'unconfirmed' ? one : [])),
    )
    return { evaluatedAt: at, members, firstSeen, departures, unconfirmed }
  }

  test.each([1, 2, 3, 4, 5, 6])(
    'seed %i: the order of rows does not matter, and limits hold',
    (seed) => {
      const random = createRandom(`universe ${seed}`)
      const rule = drawRule(random)
      const listed = new Set(names.slice(0, 500))
      let memory = NO_UNIVERSE
      let left = 0
      for (let at = AT; at < AT + 2 * DAY; at += 2 * HOUR) {
        for (let change = 0; change < 5; change++) {
          const symbol = pick(random, names)
          if (!listed.delete(symbol)) listed.add(symbol)
        }
        const rows = drawRows(random, listed)
        const input = inputOf(rows, {
          rule,
          memory,
          at,
          readMax: 15,
          read: [...memory.members.keys()],
        })
        const choice = chooseUniverse(input)

        const reversed = Object.fromEntries(Object.entries(rows).toReversed())
        const contracts = new Map([...input.contracts].toReversed())
        const again = chooseUniverse({ ...input, tickers: tickersOf(reversed), contracts })
        expect([...again.verdicts]).toEqual([...choice.verdicts])
        expect(again).toEqual(choice)

        for (const symbol of choice.left) {
          const isExcluded = choice.verdicts.get(symbol)?.reason === 'excluded'
          if (!isExcluded) expect(memory.unconfirmed).toContain(symbol)
          left += 1
          const isSticky = at - (memory.members.get(symbol)?.since ?? 0) < rule.stickyMs
          if (isSticky) expect(choice.verdicts.get(symbol)?.reason).toBe('notListed')
        }
        const soft = choice.left.filter((one) => choice.verdicts.get(one)?.reason !== 'notListed')
        const recent = memory.departures.filter((one) => at - one < DAY).length
        if (soft.length > 0)
          expect(recent + choice.left.length).toBeLessThanOrEqual(rule.changesPerDay ?? 0)
        memory = apply(memory, choice, at)
        expect(memory.members.size).toBeLessThanOrEqual(Math.min(rule.top.count, 15))
        for (const symbol of memory.members.keys())
          expect(choice.verdicts.get(symbol)).toMatchObject({ isIn: true })
        expect([...choice.verdicts.values()].filter(({ isIn }) => isIn)).toHaveLength(
          memory.members.size,
        )
      }
      // The rule that seed 1 draws lets none go in two days.
      expect(left > 0).toBe(seed !== 1)
    },
  )
})
