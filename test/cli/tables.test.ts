import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { describeUncounted } from '../../src/domain/fill-money.ts'
import { formatFills } from '../../src/cli/control/fills.ts'
import { formatOrders } from '../../src/cli/control/orders.ts'
import { formatPositions } from '../../src/cli/control/position-table.ts'
import { formatProfit } from '../../src/cli/control/profit.ts'
import { formatStatus } from '../../src/cli/control/status.ts'
import { formatWhatIf } from '../../src/cli/control/what-if.ts'
import { describeProfitRows } from '../../src/cli/process/journal-words.ts'
import { formatTable } from '../../src/cli/process/table.ts'
import {
  type AccountStatusView,
  type PositionView,
  type ProfitView,
} from '../../src/control/views.ts'
import { type WhatIfView } from '../../src/control/what-if-view.ts'
import { viewRestriction } from '../../src/views/restriction-view.ts'
import type { Restriction } from '../../src/domain/trading-mode.ts'
import { type BookedFill } from '../../src/journal/booking.ts'
import { makeOrderView } from '../support/made-order-view.ts'

const AT = Date.UTC(2025, 5, 2)
const ID = 'strategy-with-a-name-of-'.padEnd(40, 'x')
const SYMBOL = '1000000MOGUSDT'
const LARGE = '-123456789012345.123456789'

const JOURNAL = { run: 3, sequence: 1234 }

const POSITION: PositionView = {
  journal: JOURNAL,
  symbol: SYMBOL,
  side: 'short',
  size: LARGE.slice(1),
  entryPrice: 123456.789012,
  markPrice: 1.234567e-7,
  coin: 'USDT',
  unrealisedProfit: LARGE,
  liquidationPrice: null,
  keptByExchange: null,
  liquidation: null,
  readAgeMs: 119e3,
  entryFrom: 'fills',
  strategies: {
    [ID]: LARGE,
    other: LARGE,
  },
}
const ORDER = makeOrderView({
  clientOid: 'x'.repeat(32),
  strategy: ID,
  symbol: SYMBOL,
  action: 'closeShort',
  state: 'partiallyFilled',
  price: LARGE.slice(1),
  size: LARGE.slice(1),
  filled: LARGE.slice(1),
  force: 'gtc',
  tag: 'a tag of forty characters, no more of it',
})
const FILL: BookedFill = {
  kind: 'fill',
  tradeId: '9',
  at: AT,
  orderId: '1',
  clientOid: 'a',
  strategyId: ID,
  owner: 'strategy',
  symbol: SYMBOL,
  side: 'sell',
  tradeSide: 'close',
  price: LARGE.slice(1),
  size: LARGE.slice(1),
  profit: LARGE,
  fee: LARGE,
  coin: 'USDT',
  scope: 'taker',
  source: 'liquidation',
  fillKind: 'trade',
  otherFees: '',
  reason: '',
  tag: '',
}
const PROFIT: ProfitView = {
  fills: 9007199254,
  realised: LARGE,
  fees: LARGE,
  funding: LARGE,
  unrealised: LARGE,
  net: LARGE,
  netWithUnrealised: LARGE,
  uncounted: {
    coins: { BGB: LARGE },
    feesMissing: 9007199254,
    profitsMissing: 1,
    profitsOurs: 2,
  },
}
const ACCOUNT: AccountStatusView = {
  name: ID,
  journal: JOURNAL,
  coin: 'USDT',
  phase: 'running',
  mode: 'reducing',
  isTrading: true,
  unattended: [
    {
      strategy: null,
      symbol: SYMBOL,
      side: 'long',
      size: LARGE,
      why: 'nobody trades it '.repeat(9),
    },
  ],
  hindrances: [`the prices of ${SYMBOL} are stale `.repeat(5)],
  warnings: [],
  waits: [],
  pauses: [],
  kill: {
    phase: 'proving',
    isReleaseAsked: true,
  },
  restrictions: [
    {
      scope: `strategy:${ID}`,
      mode: 'halted',
      code: 'operator',
      reason: 'odd '.repeat(80),
      by: ID,
      at: AT,
      isClosing: false,
      releasableAt: null,
      ends: 'a release',
      command: `intentd release 'strategy:${ID}' --reason TEXT`,
    },
  ],
  ages: {
    tickersMs: { [SYMBOL]: 0xe8d4a51000 },
    positionsMs: { [SYMBOL]: null },
    fillsMs: 0xe8d4a51000,
  },
  limits: {
    dataAgeMaxMs: 5e3,
    accountAgeMaxMs: 3e4,
  },
  clock: {
    isSynchronised: false,
    offsetMs: -123456789,
    publicMs: -123456789,
    machineMs: -123456789,
  },
  positions: [POSITION],
  openOrders: {
    live: 12345678,
    unknown: 12345678,
    partiallyFilled: 12345678,
    sent: 12345678,
  },
  unknownSince: AT,
  profit: {
    today: PROFIT,
    week: PROFIT,
    total: PROFIT,
    strategies: { [ID]: PROFIT },
    instruments: { [SYMBOL]: PROFIT },
  },
  equity: LARGE,
  peak: LARGE,
  drawdown: LARGE,
  equityBefore: { day: LARGE, week: LARGE },
  disputes: [],
  losses: [
    {
      scope: ID,
      limit: 'daily',
      used: 0x38d7ea4c68000,
      max: 0x38d7ea4c68000,
      peak: null,
      level: null,
    },
    {
      scope: '*',
      limit: 'drawdown.warn',
      used: 0.123,
      max: 0.2,
      peak: null,
      level: null,
    },
  ],
  isLossLimited: false,
  worstCase: {
    scenario: `${SYMBOL} down 12.34 %`,
    need: LARGE,
    left: LARGE,
    used: 12345,
  },
  limiter: [
    {
      endpoint: 'anEndpointWithAVeryLongNameThatNobodyHasYet',
      limit: '1000/s',
      made: 9e15,
      usedShare: 1e6,
      waiting: 1,
      waitedMsP99: 1e9,
      rateLimited: 9e15,
    },
  ],
  strategies: [
    {
      id: ID,
      mode: 'reducing',
      symbols: [SYMBOL, `${SYMBOL}2`],
      openOrders: 12345678,
      wants: [SYMBOL, `${SYMBOL}2`].map((symbol) => ({ symbol, what: LARGE, since: AT })),
    },
  ],
}
const FRAME = { configOption: ' -c live.yaml', isToClose: () => false, coolDownMs: 0 }

const STATUS = {
  name: ID,
  version: '1.2.3',
  environment: 'live',
  speed: 1,
  isReadOnly: false,
  exchange: `https://${'x'.repeat(50)}.example`,
  pid: 4194304,
  processStartedAt: 0,
  startedAt: 0,
  now: AT,
  configOption: '',
  accounts: [ACCOUNT],
  off: [
    {
      name: ID,
      file: `/${ID}.yaml`,
      reason: `CODE: ${ID}`,
    },
  ],
}
const ROW = {
  name: ID,
  coin: 'USDT',
  ...PROFIT,
  funding: LARGE,
  uncounted: describeUncounted(PROFIT.uncounted),
}

const OUTCOME = {
  equity: LARGE,
  change: LARGE,
  need: LARGE,
  free: LARGE,
  marginRatio: 123.4,
  isLiquidated: true,
}
const WHAT_IF: WhatIfView = {
  name: ID,
  coin: 'BTC',
  equity: LARGE,
  prices: {
    [SYMBOL]: {
      price: 1,
      at: AT,
    },
  },
  notCounted: [`${SYMBOL}: its maintenance margin (instruments.${SYMBOL}.maintenance)`],
  rows: [
    {
      move: -0.2,
      ...OUTCOME,
    },
  ],
  scenario: {
    moves: {
      [SYMBOL]: -0.2,
      OTHER: 0.1,
    },
    fill: 'all',
    filled: 1e3,
    ...OUTCOME,
    realised: LARGE,
    fees: LARGE,
    funding: LARGE,
    liquidation: {
      moves: {
        [SYMBOL]: -0.1,
        OTHER: 0.05,
      },
      prices: { [SYMBOL]: 12345678e-12 },
    },
    positions: [
      {
        symbol: SYMBOL,
        side: 'short',
        size: 123456789.123,
        entryPrice: 123456.789,
        price: 12345678e-12,
        worth: LARGE,
        profit: LARGE,
        need: LARGE,
      },
    ],
  },
  curve: {
    moves: [],
    none: [],
    reached: [],
    liquidations: {
      none: [],
      reached: [],
    },
  },
}

const own = (['isTTY', 'columns'] as const).map(
  (name) => [name, Object.getOwnPropertyDescriptor(process.stdout, name)] as const,
)

/** @param columns undefined for a pipe */
function setTerminal(columns: number | undefined): void {
  const isTTY = columns !== undefined
  Object.defineProperty(process.stdout, 'isTTY', { value: isTTY, configurable: true })
  Object.defineProperty(process.stdout, 'columns', { value: columns, configurable: true })
}

beforeEach(() => setTerminal(80))
afterEach(() => {
  for (const [name, before] of own) {
    if (before) Object.defineProperty(process.stdout, name, before)
    else Reflect.deleteProperty(process.stdout, name)
  }
})

test('a fill that the exchange made by itself is its own, and not of nobody', () => {
  setTerminal(undefined)
  const [exit, stranger] = ['SYS', 'WEB'].map((source) =>
    formatFills([{ ...FILL, strategyId: '', owner: 'nobody', source, fillKind: 'stopLoss' }], {}),
  )
  expect(exit).toMatch(/\(exchange\)[^]*stop loss/)
  expect(stranger).toContain('(nobody)')
})

test.each([
  ['status', () => formatStatus(STATUS, true)],
  ['status without a daemon', () => formatStatus(STATUS, false)],
  ['positions', () => formatPositions([POSITION])],
  ['whatif', () => formatWhatIf(WHAT_IF, true)],
  ['orders', () => formatOrders([ORDER, { ...ORDER, price: null }])],
  ['fills', () => formatFills([FILL], {})],
  [
    'profit',
    () =>
      formatProfit([ROW, { ...ROW, name: 'other', funding: '' }], {
        by: 'strategy',
        journal: JOURNAL,
      }),
  ],
])(
  '%s fits the 80 columns of a terminal, however long the names and large the numbers',
  (_, format) => {
    const text = format()
    const lines = text.split('\n')
    expect(lines.length).toBeGreaterThan(2)
    // Of words alone that are longer than a line is, the line is longer too; a command is pasted whole.
    expect(lines.filter((line) => line.length > 80 && !/^ +intentd /.test(line))).toEqual([])
  },
)

test('in a pipe every value of a table is whole, and on a wide terminal as much as fits', () => {
  const table = () => formatOrders([ORDER])

  expect(table()).not.toContain(ID)
  setTerminal(200)
  expect(table()).toContain(ID)
  setTerminal(undefined)
  expect(table()).toMatch(new RegExp(`${ID} +${SYMBOL} .*${LARGE.slice(1)}/${LARGE.slice(1)}`))
})

test('status shows what a strategy uses of its capital, and that its equity is not known', () => {
  const statusOf = (capital: AccountStatusView['strategies'][number]['capital']) => {
    const strategies = ACCOUNT.strategies.map((one) => ({ ...one, capital }))
    const text = formatStatus({ ...STATUS, accounts: [{ ...ACCOUNT, strategies }] }, true)
    return text.replaceAll(/\s+/g, ' ')
  }

  expect(statusOf({ set: '40 %', max: 4000, used: 1200 })).toContain(
    'uses 1,200.00 of 4,000.00 USDT (40 %)',
  )
  expect(statusOf({ set: '4000', max: 4000, used: null })).toContain(
    'uses an unknown amount of 4,000.00 USDT',
  )
  expect(statusOf(undefined)).not.toContain('uses')
})

test('a drawdown says from when on it may be released, other limits may be at any time', () => {
  const of = (code: Restriction['code']): Restriction => ({
    scope: '*',
    mode: 'reducing',
    code,
    by: 'intentd',
    at: AT,
    reason: 'lost',
  })
  const coolDownMs = 3_600_000
  const restrictions = [of('drawdown'), of('dailyLoss')].map((one) =>
    viewRestriction(one, { ...FRAME, coolDownMs }),
  )

  expect(restrictions.map(({ releasableAt }) => releasableAt)).toEqual([AT + coolDownMs, null])
  const accounts = [{ ...ACCOUNT, restrictions, unattended: [] }]
  expect(formatStatus({ ...STATUS, accounts }, true).replaceAll(/\s+/g, ' ')).toContain(
    ', from 2025-06-02 01:00:00 UTC on. To release it:',
  )
})

test('what restricts before the first event of a run does so since the account was opened', () => {
  const restriction: Restriction = {
    scope: '*',
    mode: 'halted',
    code: 'clockUnsynchronised',
    reason: "the exchange's clock was never measured",
    by: 'intentd',
    at: 0,
  }

  expect(viewRestriction(restriction, { ...FRAME, openedAt: AT }).at).toBe(AT)
})

test('a strategy says what it wants on each instrument, and since when', () => {
  const wants = [
    { symbol: 'BTCUSDT', what: '0', since: AT },
    { symbol: 'ETHUSDT', what: 'a ladder of 4', since: null },
  ]
  const [strategy] = ACCOUNT.strategies
  const strategies = strategy ? [{ ...strategy, wants }] : []
  const text = formatStatus({ ...STATUS, accounts: [{ ...ACCOUNT, strategies }] }, true)

  expect(text.replaceAll(/\s+/g, ' ')).toMatch(
    /BTCUSDT wants 0 since 2025-06-02 \d\d:\d\d:\d\d UTC, ETHUSDT wants a ladder of 4[;,]? /,
  )
})

test('the equity says how it has changed in a day and a week, as far as that is known', () => {
  const account: AccountStatusView = {
    ...ACCOUNT,
    equity: '1010',
    peak: '1010',
    drawdown: '0',
    equityBefore: { day: '1020.1', week: '1000' },
  }
  const shown = (equityBefore: AccountStatusView['equityBefore']): string =>
    formatStatus({ ...STATUS, accounts: [{ ...account, equityBefore }] }, true).replaceAll(
      /\s+/g,
      ' ',
    )

  expect(shown(account.equityBefore)).toContain(', -0.99 % in 24 hours, +1.00 % in 7 days ')
  expect(shown({ day: null, week: null })).not.toContain('24 hours')
})

test.each([
  '',
  " -c live.yaml --set state.directory='/var/lib/of two/words' --set log.level=debug",
])(
  'the command that ends a restriction is a line of its own, and never wrapped: options %s',
  (configOption) => {
    const held: Restriction = {
      scope: '*',
      mode: 'reducing',
      code: 'dailyLoss',
      by: 'intentd',
      at: AT,
      reason: 'lost 250.00 of 200',
    }
    const restrictions = [
      viewRestriction(held, { configOption, isToClose: () => false, coolDownMs: 0 }),
    ]

    const text = formatStatus(
      { ...STATUS, accounts: [{ ...ACCOUNT, restrictions, unattended: [] }] },
      true,
    )

    expect(text).toContain(
      [
        '            ! * reducing since 2025-06-02 00:00:00 UTC by intentd (dailyLoss):',
        '            lost 250.00 of 200; ends when an operator releases it; losses count',
        '            from then on. To release it:',
        `              intentd release${configOption} '*' --reason "…"`,
        '',
      ].join('\n'),
    )
  },
)

test('a strategy that waits is said calmly, and a trouble stays the first line', () => {
  const waitOf = (strategy: string, what: string) => ({ strategy, symbol: 'BTCUSDT', what })
  const warmUp = waitOf('trend-btc', '240 s of prices, 60 s so far')
  const calm: AccountStatusView = {
    ...ACCOUNT,
    mode: 'active',
    hindrances: [],
    restrictions: [],
    unattended: [],
  }
  const begin = (account: AccountStatusView): string =>
    formatStatus({ ...STATUS, accounts: [account] }, true).replaceAll(/\s+/g, ' ')
  const line = 'waits trend-btc on BTCUSDT for 240 s of prices, 60 s so far'

  expect(begin({ ...calm, waits: [warmUp] })).toContain(
    `mode active, running: nothing is in the way; trend-btc waits ${line}`,
  )
  const both = begin({ ...calm, waits: [warmUp, waitOf('rsi-btc', 'candles')] })
  expect(both).toContain('way; trend-btc and rsi-btc wait waits trend-btc on')
  const many = ['a', 'b', 'c'].map((strategy) => waitOf(strategy, 'candles'))
  expect(begin({ ...calm, waits: many })).toContain('in the way; 3 strategies wait waits a on')
  expect(begin({ ...calm, hindrances: ['odd'], waits: [warmUp] })).toContain(
    `mode active, running ! odd ${line}`,
  )
})

test('a reason begins no line of a status, also one of an earlier version', () => {
  const forged = 'odd\nmode        active, running\u2028mode        active'
  const [held] = ACCOUNT.restrictions
  const restrictions = held === undefined ? [] : [{ ...held, reason: forged, by: forged }]
  const hindrances = [forged]
  const accounts = [{ ...ACCOUNT, restrictions, hindrances, unattended: [] }]
  const lines = formatStatus({ ...STATUS, accounts }, true).split(/[\n\u2028]/)
  expect(lines.filter((line) => line.startsWith('mode  '))).toHaveLength(1)
  const viewed = viewRestriction(
    { scope: '*', mode: 'reducing', code: 'operator', reason: forged, by: forged, at: AT },
    { configOption: '', isToClose: () => false, coolDownMs: 0 },
  )
  expect(`${viewed.reason}${viewed.by}`).not.toMatch(/[\n\u2028]/)
})

describe('what status says before a release', () => {
  const held = (more: Partial<Restriction>): string => {
    const restriction: Restriction = {
      scope: 'BTCUSDT',
      mode: 'halted',
      code: 'contradiction',
      by: 'intentd',
      at: AT,
      reason: 'odd',
      ...more,
    }
    const restrictions = [viewRestriction(restriction, FRAME)]
    const left = {
      strategy: null,
      symbol: 'BTCUSDT',
      side: 'long',
      size: '0.5',
      why: 'odd',
    } as const
    const gone = { ...left, symbol: 'GONEUSDT' }
    const ages = { ...ACCOUNT.ages, tickersMs: { BTCUSDT: 0, ETHUSDT: 0 } }
    const account: AccountStatusView = { ...ACCOUNT, ages, restrictions, unattended: [left, gone] }
    return formatStatus({ ...STATUS, accounts: [account] }, true).replaceAll(/\s+/g, ' ')
  }

  test('what no strategy holds is given to one first, or closed', () => {
    for (const scope of ['BTCUSDT', '*']) {
      expect(held({ scope, mode: 'reducing', code: 'operator' })).toContain('BEFORE a release')
      expect(held({ scope })).toContain(
        'BEFORE a release give the rest to one that trades it (`intentd adopt BTCUSDT --to ID`) or flatten it',
      )
    }
    expect(held({ scope: 'ETHUSDT' })).not.toContain('BEFORE a release')
    // Nothing can be handed over on an instrument that is not configured any more.
    expect(held({ scope: 'GONEUSDT' })).not.toContain('BEFORE a release')
    expect(held({ scope: '*' })).not.toContain('adopt GONEUSDT')
  })

  test('an older copy is repaired, not released', () => {
    const text = held({ scope: '*', code: 'olderState' })

    expect(text).toContain('repair it first: intentd repair --from-exchange -c live.yaml ')
    expect(text).not.toContain('intentd release')
  })
})

test('who holds a position is never cut: what has no room beside it stands below', () => {
  const strategies = {
    'grid-btc': '0.004',
    'market-maker-btc': '-0.01',
    'trend-btc-of-the-hour': '0.02',
  }
  const held: PositionView = {
    ...POSITION,
    symbol: 'BTCUSDT',
    size: '0.014',
    markPrice: 60041.4,
    entryPrice: 60036.3,
    unrealisedProfit: '-0.01',
    readAgeMs: 1e3,
  }

  expect(formatPositions([{ ...held, strategies }])).toBe(
    [
      'position        size    entry     mark  by the exchange   read',
      'BTCUSDT short  0.014  60036.3  60041.4            -0.01  1.0 s',
      '  held by grid-btc 0.004, market-maker-btc -0.01, trend-btc-of-the-hour 0.02',
      '',
    ].join('\n'),
  )
  expect(formatPositions([{ ...held, strategies: { 'grid-btc': '0.014' } }])).toContain(
    '1.0 s  grid-btc 0.014\n',
  )
})

test('positions say once what a strategy may use, and what it uses', () => {
  const capital = { set: '40 %', max: 4000, used: 1200.5 }
  const view = { ...POSITION, symbol: 'BTCUSDT', strategies: { a: '1' }, capitals: { a: capital } }
  const text = formatPositions([view, { ...view, symbol: 'ETHUSDT' }])

  expect(text.split('a uses 1,200.50 of 4,000.00 USDT (40 %)')).toHaveLength(2)
})

test('the side of a position is never cut', () => {
  const held: PositionView = {
    ...POSITION,
    symbol: '1000PEPEUSDT',
    size: '1234567.8',
    markPrice: 60041.41,
    entryPrice: 60036.31,
    entryFrom: 'exchange',
    unrealisedProfit: '-12345.01',
    strategies: {},
    liquidationPrice: 66123.45,
  }

  const lines = formatPositions([held, { ...held, side: 'long' }]).split('\n')

  expect(lines.slice(1, 3).map((line) => line.slice(0, line.indexOf('  ')))).toEqual([
    expect.stringMatching(/^1\S*… short$/),
    expect.stringMatching(/^1\S*… +long$/),
  ])
})

/** A position that no price liquidates. */
const NO_LIQUIDATION = { ourPrice: null, distance: null, trust: 'ours' } as const

test('a position that can be liquidated has the price, and how far it is', () => {
  const held: PositionView = {
    ...POSITION,
    symbol: 'BTCUSDT',
    size: '0.014',
    markPrice: 60041.4,
    entryPrice: 60036.3,
    unrealisedProfit: '-0.01',
    readAgeMs: 1e3,
    strategies: {},
    liquidationPrice: 66123.45,
    liquidation: {
      ourPrice: 66120.3,
      distance: 0.1013,
      moves: null,
      trust: 'agreed',
      ratio: 0.04341,
      statedRatio: 0.0434,
      ratioTrust: 'agreed',
    },
  }
  const ours: PositionView = { ...held, liquidationPrice: null }
  const shownAs = (liquidation: Partial<NonNullable<PositionView['liquidation']>>): string =>
    formatPositions([
      { ...held, liquidation: held.liquidation && { ...held.liquidation, ...liquidation } },
    ])

  expect(formatPositions([held])).toContain('66123.45, 10.1 % ')
  expect(formatPositions([held])).toContain(
    '\n\n%  from the mark price to that of the liquidation, in % of the mark price\nBTCUSDT short: its maintenance margin ratio is 4.3 %\n',
  )
  expect(formatPositions([ours])).toContain('66120.3, 10.1 % ')
  expect(shownAs({ moves: 12.34 })).toContain(
    'BTCUSDT short: its liquidation is 12.3 typical moves of an hour away; its maintenance margin ratio is',
  )
  expect(shownAs({ ourPrice: 80_000, trust: 'disputed' })).toContain('66123.45, 10.1 %?')
  // The distance is that of the nearer price, and stands beside it.
  expect(shownAs({ ourPrice: 63_000, distance: 0.0493, trust: 'disputed' })).toContain(
    '63000, 4.9 %?',
  )
  expect(
    formatPositions([
      { ...ours, liquidation: ours.liquidation && { ...ours.liquidation, ...NO_LIQUIDATION } },
    ]),
  ).toMatch(/none(?![^]*\n% )/)
  expect(shownAs({ ourPrice: 80_000, trust: 'alone' })).toContain('80000, 10.1 %?')
  const [disputed, alone] = [shownAs({ trust: 'disputed' }), shownAs({ trust: 'alone' })]
  expect(disputed).toContain(
    '\n?  our figure of the liquidation and the exchange’s differ: the nearer',
  )
  expect(alone).toContain(
    '\n?  the two figures of the liquidation have differed for long: ours alone',
  )
  expect(formatPositions([held])).not.toContain('?')
  for (const text of [disputed, alone])
    expect(text.split('\n').filter(({ length }) => length > 80)).toEqual([])
  expect(shownAs({ statedRatio: 0.9, ratioTrust: 'disputed' })).toContain(
    'ratio is 4.3 % (by the exchange 90.0 %)\n',
  )
  expect(shownAs({ ratio: null, ratioTrust: 'stated' })).toContain(
    'maintenance margin ratio is 4.3 %',
  )
  expect(shownAs({ ratio: 0.0004, statedRatio: 0.0004 })).not.toContain('margin ratio')
  expect(formatPositions([{ ...held, liquidationPrice: null, liquidation: null }])).not.toContain(
    'margin',
  )
})

test('a strategy names the instruments on which more is held than on the others', () => {
  const held = (scope: string, mode: 'reducing' | 'halted') => ({
    scope,
    mode,
    code: 'operator',
    reason: 'drill',
    by: 'me',
    at: AT,
    isClosing: false,
    releasableAt: null,
    ends: 'a release',
    command: null,
  })
  const strategy = (id: string, mode: AccountStatusView['mode'], symbols: string[]) => ({
    id,
    mode,
    symbols,
    openOrders: 0,
    wants: [],
  })
  const account: AccountStatusView = {
    ...ACCOUNT,
    mode: 'active',
    positions: [],
    restrictions: [held('BTCUSDT', 'halted'), held('ETHUSDT', 'reducing')],
    strategies: [
      strategy('one', 'halted', ['BTCUSDT']),
      strategy('two', 'active', ['BTCUSDT', 'SOLUSDT']),
      strategy('three', 'reducing', ['BTCUSDT', 'ETHUSDT']),
      strategy('four', 'active', ['SOLUSDT']),
    ],
  }
  const lines = formatStatus({ ...STATUS, accounts: [account] }, true).split('\n')
  const modes = lines.flatMap((line) => /^(?:one|two|three|four) .*?(?= +0 )/.exec(line)?.[0] ?? [])

  expect(lines).toContain('mode        active but for BTCUSDT, ETHUSDT, running')
  expect(modes.map((line) => line.replace(/ +/, ' '))).toEqual([
    'one halted',
    'two active but for BTCUSDT',
    'three reducing but for BTCUSDT',
    'four active',
  ])
})

test('today and all runs count the same, with and without a daemon; what is held now is beside them', () => {
  const total: ProfitView = {
    fills: 38,
    realised: '1.5',
    fees: '1',
    funding: '-0.25',
    unrealised: '0.09',
    net: '0.25',
    netWithUnrealised: '0.34',
    uncounted: null,
  }
  const unheld = { ...total, unrealised: null, netWithUnrealised: null }
  const profit = { ...ACCOUNT.profit, today: unheld, total }
  const linesOf = (account: Partial<AccountStatusView>, isLive: boolean) =>
    formatStatus({ ...STATUS, accounts: [{ ...ACCOUNT, profit, ...account }] }, isLive)
      .split('\n')
      .filter((line) => /^(?:today|all runs|unrealised)/.test(line))
  const closed = '0.25 net: 1.50 realised, 1.00 fees, -0.25 funding; 38 fills'
  const lines = (unrealised: string) => [
    `today       ${closed}`,
    `all runs    ${closed}`,
    `unrealised  ${unrealised}`,
  ]

  expect(linesOf({}, true)).toEqual(
    lines('0.09 of what is held now, not counted above; all runs with it: 0.34'),
  )
  const unread = { profit: { ...profit, total: unheld } }
  expect(linesOf(unread, true)).toEqual(lines('not known: no position, price or entry of it yet'))
  expect(linesOf(unread, false)).toEqual(
    lines('not known while no daemon reads the positions; not counted above'),
  )
  expect(linesOf({ positions: [] }, false)).toEqual(lines('none: nothing is held'))
})

test('each age in the status stands beside its own limit', () => {
  const ages = { tickersMs: { [SYMBOL]: 4500 }, fillsMs: 400, positionsMs: { [SYMBOL]: 800 } }
  const limits = { dataAgeMaxMs: 5000, accountAgeMaxMs: 3000 }
  const accounts = [{ ...ACCOUNT, ages, limits }]

  expect(formatStatus({ ...STATUS, accounts }, true).replaceAll(/\s+/g, ' ')).toContain(
    'ages prices 4.5 s (5.0 s at most), fills 0.4 s, positions 0.8 s (3.0 s at most);',
  )
})

test('in the status a number stays in the line of its unit', () => {
  const heads = Array.from({ length: 40 }, (_, length) => {
    const status = {
      ...STATUS,
      name: 'a',
      exchange: 'x'.repeat(length),
      processStartedAt: AT - 5000,
      startedAt: AT - 2000,
    }
    return formatStatus(status, true).split('\nmode')[0]
  })

  expect(heads.filter((head) => !/up\s+5\.0 s/.test(head ?? ''))).toEqual([])
})

test('a number that does not fit keeps its size, and text gives way first', () => {
  const text = formatTable(
    [
      { title: 'name', of: ({ name }) => name },
      { title: 'sum', of: ({ sum }) => sum, isNumber: true },
    ],
    [
      { name: 'a'.repeat(90), sum: '12,345.67' },
      { name: 'b', sum: '1' },
    ],
  )
  expect(text).toBe(
    `name${' '.repeat(73)}sum\n` + `${'a'.repeat(68)}…  12,345.67\n` + `b${' '.repeat(78)}1\n`,
  )
  const whole = formatTable(
    [
      { title: 'name', of: ({ name }) => name },
      { title: 'clientOid', of: ({ id }) => id, isWhole: true },
    ],
    [{ name: 'a'.repeat(90), id: 'c'.repeat(70) }],
  )
  expect(whole.split('\n')[1]).toBe(`${'a'.repeat(7)}…  ${'c'.repeat(70)}`)
  const wide = formatTable(
    Array.from({ length: 10 }, () => ({ title: 'sum', of: (row: string) => row, isNumber: true })),
    ['-123,456,789,012,345.12'],
  )
  expect(wide.split('\n')[1]).toMatch(/^( *-1e\+14){10}$/)
})

test('a file of profits has exact numbers, under the name of what they are by', () => {
  expect(
    formatProfit([{ ...ROW, name: 'USDT' }], { by: 'coin', csv: true, journal: JOURNAL }),
  ).toMatch(/^coin,fills,net,realised,fees,funding,uncounted\nUSDT,9007199254,/)
  for (const by of ['day', 'strategy', 'instrument'] as const) {
    expect(formatProfit([{ ...ROW, name: 'a,b' }], { by, csv: true, journal: JOURNAL })).toBe(
      `${by},coin,fills,net,realised,fees,funding,uncounted\n"a,b",USDT,9007199254,${LARGE},${LARGE},${LARGE},${LARGE},"'${ROW.uncounted}"\n`,
    )
  }
})

test('profit by strategy names whose figure it is, and where the own one is', () => {
  expect(describeProfitRows(JOURNAL, 'strategy')).toMatch(
    /realised is what each strategy has made of its own lots, at its own average price; .* `--by instrument`/,
  )
  expect(describeProfitRows(JOURNAL, 'day')).toBe(
    'journal record 1234 of run 3; net is realised less fees, with funding: unrealised profit is in `intentd status`\n',
  )
})
