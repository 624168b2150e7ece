import { describe, expect, test } from 'vitest'
import { toTradeId } from '../../../src/domain/ids.ts'
import { type EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'
import { OTHER, TradedAccount, twoStrategies } from '../traded-account.ts'
import { holdingOf, pairKey, unclaimedHolding } from '../../../src/engine/book/book.ts'
import { judgeScope } from '../../../src/daemon/account/listen-to-operator.ts'
import { describeDropped, describeUnclaimed } from '../../../src/engine/lifecycle/flatten.ts'
import { type ReleaseCommand } from '../../../src/engine/state/trading-mode.ts'
import {
  type CommandAnswer,
  describeRefusedRelease,
} from '../../../src/daemon/account/command-inbox.ts'

const BY_ANNA = { reason: 'looked at', by: 'anna' } as const
const FLAT = { longLots: 0, shortLots: 0 }

/** Somebody has bought by hand what no strategy holds. */
function tradedByHand(lots = 10): TradedAccount {
  const account = new TradedAccount(twoStrategies())
  account.trade(lots > 0 ? 'buy' : 'sell', Math.abs(lots), { source: 'WEB' })
  account.pass(6000)
  account.look()
  return account
}

function adopt({ bench }: TradedAccount, strategyId: string): string | undefined {
  const command = { kind: 'adopt', symbol: SYMBOL, strategyId, ...BY_ANNA } as const
  const why = bench.engine.objectToAdoption(command)
  bench.step({ kind: 'commanded', command })
  return why
}

function release({ bench }: TradedAccount, change: Partial<ReleaseCommand> = {}): void {
  bench.step({
    kind: 'commanded',
    command: { kind: 'release', scope: SYMBOL, ...BY_ANNA, ...change },
  })
}

function restrict({ bench }: TradedAccount, scope: string, mode: 'reducing' | 'halted'): void {
  bench.step({ kind: 'commanded', command: { kind: 'restrict', scope, mode, ...BY_ANNA } })
}

const assigned = ({ bench }: TradedAccount) =>
  bench
    .take('announce')
    .flatMap(({ event, fields }) => (event === 'position.assigned' ? [fields] : []))
const held = (bench: EngineBench, id: string) => holdingOf(bench.book, id, SYMBOL)
const unclaimed = (bench: EngineBench) => unclaimedHolding(bench.book, SYMBOL)

describe('what no strategy holds, handed to one by an operator', () => {
  test('is held by it at the price that the account has paid, also after a restart', () => {
    const account = tradedByHand()
    const { bench } = account
    expect(describeUnclaimed(bench, SYMBOL)).toEqual({ [SYMBOL]: 'long 0.01' })

    expect(adopt(account, OTHER)).toBeUndefined()

    expect(bench.recordsOf('assigned')).toMatchObject([
      {
        strategyId: OTHER,
        holding: { longLots: 10, shortLots: 0 },
        longTicks: 100_000,
        ...BY_ANNA,
      },
    ])
    bench.restart().start({ holding: account.holding, fills: account.fills })
    expect([held(bench, STRATEGY), held(bench, OTHER)]).toEqual([
      FLAT,
      { longLots: 10, shortLots: 0 },
    ])
    expect(unclaimed(bench)).toEqual(FLAT)
    expect(bench.book.ownTrades.get(pairKey(OTHER, SYMBOL))?.entry).toMatchObject({
      longLots: 10,
      longTicks: 100_000,
    })
  })

  test('is traded by it once it has looked again, and closed when it wants nothing', () => {
    const account = tradedByHand()
    adopt(account, OTHER)
    release(account)
    account.bench.price()
    account.bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots: 0 })

    expect(account.fillNext()).toMatchObject([{ strategyId: OTHER, action: 'closeLong', lots: 10 }])
    expect([account.net, held(account.bench, OTHER)]).toEqual([0, FLAT])
  })

  test('[RSK1] beyond its positionMax is handed over with a word, and can only be reduced', () => {
    const limits = new Map([[SYMBOL, { positionMax: 6, orderSizeMax: 6, openOrdersMax: 100 }]])
    const own = { id: OTHER, symbols: [SYMBOL], limits, feeds: new Map() }
    const account = new TradedAccount(
      twoStrategies({ strategies: new Map([[OTHER, own]]), foreignFills: 'adopt' }),
    )
    const { bench } = account
    account.trade('buy', 10, { source: 'WEB' })
    account.pass(6000)
    account.look()

    expect(adopt(account, OTHER)).toBeUndefined()

    const words =
      'other holds long 0.01 of BTCUSDT with it, beyond its risk.positionMax of 0.006: it can only reduce that until it is within'
    expect(assigned(account)).toMatchObject([{ beyondLimit: words }])
    const command = { kind: 'adopt', symbol: SYMBOL, strategyId: OTHER, ...BY_ANNA } as const
    expect(
      judgeScope(command, { book: bench.book, settings: bench.settings, now: bench.now }),
    ).toMatchObject({
      beyondLimit: words,
    })
    bench.price()
    bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots: 11 })
    expect(account.sent()).toEqual([])
    expect(account.events()).toContain('intent.denied')
    bench.price()
    bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots: 4 })
    expect(account.fillNext()).toMatchObject([{ strategyId: OTHER, action: 'closeLong', lots: 6 }])
    expect(held(bench, OTHER)).toEqual({ longLots: 4, shortLots: 0 })
  })

  test('within its positionMax says nothing of it', () => {
    const account = tradedByHand()
    adopt(account, OTHER)
    expect(assigned(account)).not.toHaveProperty([0, 'beyondLimit'])
  })

  test('nets with what a strategy holds on paper, and nothing is traded for that', () => {
    const account = new TradedAccount(twoStrategies({ foreignFills: 'adopt' }))
    account.trade('buy', 10, { source: 'WEB' })
    account.look()
    account.reach(STRATEGY, -10)
    const { bench } = account
    expect([account.net, held(bench, STRATEGY), unclaimed(bench)]).toEqual([
      0,
      { longLots: 0, shortLots: 10 },
      { longLots: 10, shortLots: 0 },
    ])

    expect(adopt(account, STRATEGY)).toBeUndefined()

    expect([held(bench, STRATEGY), unclaimed(bench)]).toEqual([FLAT, FLAT])
    expect(bench.book.ownTrades.get(pairKey(STRATEGY, SYMBOL))?.entry).toMatchObject(FLAT)
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
    expect(account.sent()).toEqual([])
  })

  test.each([
    [
      'a strategy that is not there',
      'third',
      /third does not trade BTCUSDT; these strategies do: .*other/,
    ],
    ['what strategies hold already', STRATEGY, /nothing of BTCUSDT is without a strategy/],
  ])('is refused for %s, with the reason', (what, id, why) => {
    const account = what.startsWith('a strategy')
      ? tradedByHand()
      : new TradedAccount(twoStrategies())
    account.pass(6000)

    expect(adopt(account, id)).toMatch(why)

    expect(account.bench.recordsOf('assigned')).toEqual([])
    expect(account.events()).toContain('position.notAssigned')
  })

  test('is refused while the position was not read since the last fill', () => {
    const account = new TradedAccount(twoStrategies())
    account.trade('buy', 10, { source: 'WEB' })

    expect(adopt(account, OTHER)).toMatch(/has not been read since its last fill/)
    expect(account.bench.recordsOf('assigned')).toEqual([])
  })
})

describe('[RSK2] a release that would let a strategy order again what no strategy holds', () => {
  const MISSING = {
    [SYMBOL]: 'no strategy holds long 0.01, and other wants long 0.01 and has none',
  }

  /** The strategy wants the lots that somebody has bought by hand, and the instrument is halted for these. */
  function wanted(lots = 10, byHand = 10): TradedAccount {
    const account = tradedByHand(byHand)
    account.bench.price()
    account.bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots })
    account.bench.take('announce')
    return account
  }

  const isHalted = ({ bench }: TradedAccount) => bench.book.restrictions.size > 0

  test.each([SYMBOL, '*', `strategy:${OTHER}`])('of %s is refused, and nothing leaves', (scope) => {
    const account = wanted()
    const { bench } = account
    if (scope !== SYMBOL) restrict(account, scope, 'reducing')
    const before = [...bench.book.restrictions.keys()]
    bench.take('announce')

    release(account, { scope })

    expect([...bench.book.restrictions.keys()]).toEqual(before)
    const refused = bench.take('announce').filter(({ event }) => event === 'trading.notReleased')
    expect(refused).toMatchObject([{ fields: { scope, by: 'anna', orderedAgain: MISSING } }])
    bench.price()
    bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots: 10 })
    expect(account.sent()).toEqual([])
  })

  test('is done where it says that the lots stay without a strategy, and the strategy orders its target', () => {
    const account = wanted()
    release(account, { unclaimed: true })
    account.bench.price()
    account.bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots: 10 })

    expect(account.fillNext()).toMatchObject([{ strategyId: OTHER, action: 'openLong', lots: 10 }])
    expect(account.net).toBe(20)
  })

  test('is done once the lots were handed over, and the strategy has what it wants', () => {
    const account = wanted()
    adopt(account, OTHER)
    release(account)
    account.bench.price()
    account.bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots: 10 })

    expect([isHalted(account), account.sent()]).toEqual([false, []])
  })

  test('is done once they were closed', () => {
    const account = wanted()
    const { bench } = account
    bench.step({ kind: 'commanded', command: { kind: 'flatten', scope: SYMBOL, ...BY_ANNA } })
    account.pass(6000)
    account.fillNext()
    account.pass(6000)
    release(account)

    expect([isHalted(account), account.net]).toEqual([false, 0])
  })

  test.each([
    ['wants nothing', 0, 10],
    ['wants the other side', -10, 10],
    ['wants long, and others sold', 10, -10],
  ])('is none where the strategy %s', (_, lots, byHand) => {
    const account = wanted(lots, byHand)
    release(account)

    expect(isHalted(account)).toBe(false)
  })

  test('is none where the strategy has what it wants', () => {
    const account = new TradedAccount(twoStrategies())
    account.reach(OTHER, 10)
    account.trade('buy', 5, { source: 'WEB' })
    account.pass(6000)
    account.look()
    release(account)

    expect(isHalted(account)).toBe(false)
  })

  test('ends nothing of a scope that nothing holds, and is not refused there', () => {
    const account = wanted()
    release(account, { scope: `strategy:${OTHER}` })

    expect(account.events()).toEqual(['trading.notRestricted'])
  })

  test('is refused in words that say what to do first', () => {
    const { bench } = wanted()
    const missing = bench.engine.findOrderedAgain({ scope: SYMBOL, ...BY_ANNA })
    const answer: CommandAnswer = {
      held: [],
      lifted: [],
      killFiles: [],
      stillHeld: {},
      unclosable: {},
      isScopeUnknown: false,
      ...(missing && { orderedAgain: missing }),
    }

    expect(missing).toEqual(MISSING)
    expect(describeRefusedRelease(SYMBOL, [answer], ' -c live.yaml')).toBe(
      `not done: released now, a strategy would order again what the account holds already: of ${SYMBOL}, no strategy holds long 0.01, and other wants long 0.01 and has none. First \`intentd adopt ${SYMBOL} --to ID -c live.yaml --reason ...\` hands it to a strategy, \`intentd flatten ${SYMBOL} -c live.yaml --reason ...\` closes it with everything else there; then release ${SYMBOL}, or at once with --unclaimed, if it is to stay with no strategy and be held beside the whole target`,
    )
  })
})

describe('[RSK2] what no strategy holds, under a flatten', () => {
  test.each(['*', SYMBOL])(
    'of %s is closed as well, by the first strategy of the instrument',
    (scope) => {
      const account = tradedByHand()
      const { bench } = account
      bench.step({ kind: 'commanded', command: { kind: 'flatten', scope, ...BY_ANNA } })
      account.pass(6000)

      expect(bench.recordsOf('assigned')).toMatchObject([{ strategyId: STRATEGY, ...BY_ANNA }])
      expect(account.fillNext()).toMatchObject([
        { purpose: 'flatten', action: 'closeLong', lots: 10 },
      ])
      account.pass(6000)

      expect([account.net, unclaimed(bench)]).toEqual([0, FLAT])
      expect(account.events()).toContain('flatten.done')
    },
  )

  test('is taken over only when the position was read since the last fill', () => {
    const account = tradedByHand()
    const { bench } = account
    account.trade('sell', 3, { source: 'WEB' })
    bench.step({ kind: 'commanded', command: { kind: 'flatten', scope: '*', ...BY_ANNA } })
    bench.price()
    expect(bench.recordsOf('assigned')).toEqual([])

    account.look()
    bench.price()
    expect(bench.recordsOf('assigned')).toMatchObject([{ holding: { longLots: 7 } }])
  })

  test('closes both without an order where a strategy holds the other side', () => {
    const account = new TradedAccount(twoStrategies({ foreignFills: 'adopt' }))
    account.trade('buy', 12, { source: 'WEB' })
    account.look()
    account.reach(OTHER, -10)
    const { bench } = account
    bench.step({ kind: 'commanded', command: { kind: 'flatten', scope: '*', ...BY_ANNA } })
    account.pass(100)

    expect([held(bench, OTHER), held(bench, STRATEGY)]).toEqual([
      FLAT,
      { longLots: 2, shortLots: 0 },
    ])
    expect(account.fillNext()).toMatchObject([
      { strategyId: STRATEGY, action: 'closeLong', lots: 2 },
    ])
    account.pass(6000)
    expect(account.events()).toContain('flatten.done')
  })

  test('of a strategy stays, since it is not the strategy that holds it', () => {
    const account = tradedByHand()
    const { bench } = account
    bench.step({
      kind: 'commanded',
      command: { kind: 'flatten', scope: `strategy:${STRATEGY}`, ...BY_ANNA },
    })
    account.pass(6000)

    expect(bench.recordsOf('assigned')).toEqual([])
    expect(unclaimed(bench)).toEqual({ longLots: 10, shortLots: 0 })
  })

  test('is named when the flatten is lifted before it was closed', () => {
    const account = tradedByHand()
    const { bench } = account
    const lifted = { scope: SYMBOL, mode: 'halted', code: 'flatten', ...BY_ANNA, at: 0 } as const

    expect(describeDropped(bench, [lifted])).toEqual({ [`no strategy ${SYMBOL}`]: 'long 0.01' })
  })

  test('is closed by a stop that flattens, before it ends', () => {
    const account = tradedByHand()
    const { bench } = account
    bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'flatten' } })
    account.pass(100)

    expect(account.fillNext()).toMatchObject([
      { purpose: 'flatten', action: 'closeLong', lots: 10 },
    ])
    account.pass(10_000)

    expect(bench.take('stopped')).toEqual([{ kind: 'stopped', clean: true }])
  })
})

test('in hedge mode both sides that no strategy holds are taken over at once', () => {
  const bench = twoStrategies({}, 'hedge_mode')
  const fills = [
    bench.fill({
      source: 'WEB',
      side: 'buy',
      tradeSide: 'open',
      lots: 4,
      ticks: 100_000,
      tradeId: toTradeId('1'),
    }),
    bench.fill({
      source: 'WEB',
      side: 'sell',
      tradeSide: 'open',
      lots: 3,
      ticks: 99_000,
      tradeId: toTradeId('2'),
    }),
  ]
  const holding = { longLots: 4, shortLots: 3 }
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills, holding })
  bench.pass(6000)
  bench.step({ kind: 'pollDue', what: 'positions' })
  bench.read({ fills, holding })
  const command = { kind: 'adopt', symbol: SYMBOL, strategyId: OTHER, ...BY_ANNA } as const

  expect(bench.engine.objectToAdoption(command)).toBeUndefined()
  bench.step({ kind: 'commanded', command })

  expect([held(bench, OTHER), unclaimed(bench)]).toEqual([holding, FLAT])
  expect(bench.recordsOf('assigned')).toMatchObject([
    { holding, longTicks: 100_000, shortTicks: 99_000 },
  ])
})
