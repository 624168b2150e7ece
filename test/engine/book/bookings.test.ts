import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type Booking } from '../../../src/journal/booking.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

/** By kind of record: what each record has booked. */
function bookingsOf(bench: EngineBench): readonly (readonly [string, readonly Booking[]])[] {
  return bench.effects.flatMap((effect) =>
    effect.kind === 'record' && effect.bookings
      ? [[effect.record.kind, effect.bookings] as const]
      : [],
  )
}

function read(bench: EngineBench, ...fills: readonly Fill[]): void {
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills })
}

describe('[ORD5] a fill is booked', () => {
  test('with its order and strategy, and its price and size as decimals', () => {
    const bench = new EngineBench().start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    const batch = bench.grantBatch()
    bench.accept(batch)
    const otherFees = [
      { coin: 'BNB', amount: '0.2' },
      { coin: 'BGB', amount: '0.011' },
    ]
    const fill = bench.fill({ lots: 4, ticks: 99_990, fee: '-0.01', profit: '1.5' })
    read(bench, { ...fill, fillKind: 'liquidation', otherFees })

    const [clientOid] = batch.clientOids
    expect(bookingsOf(bench)).toEqual([
      [
        'fills',
        [
          expect.objectContaining({
            kind: 'fill',
            owner: 'strategy',
            clientOid,
            strategyId: 's',
            orderId: '1001',
            symbol: SYMBOL,
            price: '9999',
            size: '0.004',
            fee: '-0.01',
            profit: '1.5',
            coin: 'USDT',
            scope: 'maker',
            fillKind: 'liquidation',
            otherFees: 'BGB 0.011;BNB 0.2',
          }),
        ],
      ],
    ])
  })

  test('as waiting while nothing names its order, and as its own once the answer does', () => {
    const bench = new EngineBench().start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    const batch = bench.grantBatch()
    const fill = bench.fill({ lots: 4 })
    read(bench, fill)
    bench.accept(batch)

    const { tradeId, orderId } = fill
    const [clientOid] = batch.clientOids
    expect(bookingsOf(bench)).toEqual([
      [
        'fills',
        [expect.objectContaining({ tradeId, owner: 'waiting', clientOid: '', strategyId: '' })],
      ],
      [
        'outcome',
        [
          {
            kind: 'owner',
            tradeId,
            orderId,
            owner: 'strategy',
            clientOid,
            strategyId: 's',
            reason: '',
            tag: '',
          },
        ],
      ],
    ])
  })

  test("as nobody's where the exchange made it, and once no order of ours can have made it", () => {
    const bench = new EngineBench().start()
    const [own, other] = [bench.fill({ source: 'SYS' }), bench.fill({ orderId: toOrderId('777') })]
    read(bench, own, other)
    bench.pass(40_000, { fills: [own, other], holding: { longLots: 8, shortLots: 0 } })
    read(bench, own, other)

    expect(bookingsOf(bench)).toMatchObject([
      [
        'fills',
        [
          { tradeId: own.tradeId, owner: 'nobody', source: 'SYS' },
          { tradeId: other.tradeId, owner: 'waiting' },
        ],
      ],
      ['foreign', [{ kind: 'owner', tradeId: other.tradeId, owner: 'nobody', clientOid: '' }]],
    ])
  })
})

test('a funding payment is booked when the counter moves, and not when it begins anew', () => {
  const bench = new EngineBench().start()
  bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
  bench.accept(bench.grantBatch())
  const opened = bench.fill({ lots: 10 })
  read(bench, opened)
  for (const fundingFee of ['', '-0.5', '-0.7', undefined]) {
    bench.now += 1000
    const held =
      fundingFee === undefined ? {} : { holding: { longLots: 10, shortLots: 0 }, fundingFee }
    for (const what of ['fills', 'positions', 'fills'] as const) {
      bench.step({ kind: 'pollDue', what })
      bench.read({ fills: [opened], ...held })
      bench.now += 1000
    }
  }

  const booked = bookingsOf(bench).filter(([kind]) => kind === 'funding')
  expect(booked.flatMap(([, bookings]) => bookings)).toMatchObject([
    { kind: 'funding', symbol: SYMBOL, side: 'long', amount: '-0.5', coin: 'USDT' },
    { kind: 'funding', symbol: SYMBOL, side: 'long', amount: '-0.2' },
  ])
})
