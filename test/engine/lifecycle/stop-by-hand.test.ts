import { describe, expect, test } from 'vitest'
import { MANUAL } from '../../../src/domain/hand-order.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { restrictionOf } from '../../../src/engine/book/book.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'
import { TradedAccount } from '../traded-account.ts'

const LIMITS = new Map([[SYMBOL, { positionMax: 1000, orderSizeMax: 100, openOrdersMax: 100 }]])
const COMMON = { symbols: [SYMBOL], feeds: new Map(), limits: LIMITS }
const STRATEGIES = new Map([
  [STRATEGY, { id: STRATEGY, ...COMMON }],
  [MANUAL, { id: MANUAL, isByHand: true as const, ...COMMON }],
])

/** A long of 10 lots by hand, whose stop the exchange keeps at 9800. */
function trading(): TradedAccount {
  const bench = new EngineBench({ strategies: STRATEGIES, foreignFills: 'halt' })
  return new TradedAccount(bench.start())
}

function order({ bench }: TradedAccount): void {
  const own = { symbol: SYMBOL, side: 'buy', size: '0.01', stopLoss: '9800', key: 'key-0001' }
  const author = { reason: 'a chance', by: 'anna' }
  bench.step({ kind: 'commanded', command: { kind: 'order', ...own, ...author } as never })
}

/** The exchange closes everything, below the stop. */
function fire(account: TradedAccount, ticks = 97_990): void {
  account.bench.take('announce')
  const lots = account.net
  const close = { tradeSide: 'close', source: 'SYS', ticks, profit: '-2', fee: '0.1' } as const
  account.trade('sell', lots, close)
}

const reasonOf = ({ bench }: TradedAccount) =>
  restrictionOf(bench.book, SYMBOL, 'foreignFills')?.reason

describe('a stop of an order by hand, when the exchange fires it', () => {
  test('[ORD5] is an exit of `manual` and halts nothing', () => {
    const account = trading()
    order(account)
    account.fillNext()
    fire(account)

    expect(reasonOf(account)).toBeUndefined()
    const said = account.bench.take('announce')
    expect(said.filter(({ event }) => event.startsWith('fill.'))).toMatchObject([
      { event: 'fill.exit', fields: { kind: 'stopLoss', set: '9800', strategy: MANUAL } },
    ])
  })

  test('halts where it also closes what a strategy holds, which is named', () => {
    const account = trading()
    order(account)
    account.fillNext()
    account.reach(STRATEGY, 5)
    fire(account)

    expect(reasonOf(account)).toMatch(
      new RegExp(`the stop-loss at 9800, .* also closed what ${STRATEGY} held`),
    )
  })

  test('halts where its price was not reached: that close is not explained', () => {
    const account = trading()
    order(account)
    account.fillNext()
    fire(account, 100_000)

    expect(reasonOf(account)).toContain('does not say why')
  })

  test('is known also if the fill was read before the answer that names its order', () => {
    const account = trading()
    order(account)
    const batch = account.bench.grantBatch()
    account.trade('buy', 10, { orderId: toOrderId(`${batch.batchId}001`) })
    account.bench.accept(batch)
    account.look()
    fire(account)

    expect(reasonOf(account)).toBeUndefined()
    const exits = account.bench.take('announce').filter(({ event }) => event === 'fill.exit')
    expect(exits).toMatchObject([{ fields: { kind: 'stopLoss', strategy: MANUAL } }])
  })
})
