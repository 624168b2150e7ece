import { describe, expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type Intent } from '../../../src/domain/intent.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { readIntents } from '../../../src/strategy/read-intents.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const PAIR = `${STRATEGY}|${SYMBOL}`
const target = (lots: number, tag?: string): Intent => ({
  kind: 'target',
  symbol: SYMBOL,
  lots,
  ...(tag !== undefined && { tag }),
})

/** The terms of the orders in the next batch, and of what was booked of a fill of the first. */
function sendNext(bench: EngineBench) {
  const batch = bench.grantBatch()
  bench.accept(batch)
  return { batch, terms: batch.clientOids.map((id) => bench.book.orders.get(id)?.terms) }
}

function fillFirst(bench: EngineBench, batchId: number, side: 'buy' | 'sell', held: number): void {
  const orderId = toOrderId(`${batchId}001`)
  const fill = bench.fill({ orderId, side, lots: 10, ticks: 100_000, scope: 'taker' })
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills: [fill], holding: { longLots: held, shortLots: 0 } })
}

const bookedBy = (bench: EngineBench) =>
  bench
    .take('record')
    .flatMap(({ bookings = [] }) => bookings)
    .flatMap((row) => (row.kind === 'fill' ? [[row.reason, row.tag]] : []))

describe('the tag of an intent', () => {
  test('stands on the orders that lead to a target, and on their fills', () => {
    const bench = new EngineBench().start()
    bench.decide(target(10, 'breakout'))

    const { batch, terms } = sendNext(bench)
    expect(terms).toMatchObject([{ purpose: 'target', tag: 'breakout' }])
    bench.take('record')
    fillFirst(bench, batch.batchId, 'buy', 10)

    expect(bookedBy(bench)).toEqual([['', 'breakout']])
  })

  test('[DET2] outlives a restart with its target, and ends with the next one', () => {
    const bench = new EngineBench().start()
    bench.decide(target(10, 'breakout'))
    const rows = toBookRows(bench.book)
    expect([...fromBookRows(rows).targetTags]).toEqual([[PAIR, 'breakout']])
    expect(toBookRows(fromBookRows(rows))).toEqual(rows)

    bench.decide(target(10, 'another'))
    expect(bench.recordsOf('decision')).toHaveLength(1)
    bench.decide(target(5))

    expect([...bench.book.targetTags]).toEqual([])
  })

  test('stands on a place intent and on each level of a ladder', () => {
    const bench = new EngineBench().start()
    bench.decide(
      { kind: 'place', symbol: SYMBOL, key: 'a', action: 'openLong', lots: 5, tag: 'first' },
      {
        kind: 'quote',
        symbol: SYMBOL,
        levels: [
          { side: 'buy', ticks: 99_990, lots: 10, tag: 'near' },
          { side: 'buy', ticks: 99_980, lots: 10 },
        ],
      },
    )

    const tags = new Map(sendNext(bench).terms.map((terms) => [terms?.ticks, terms?.tag]))
    expect(tags).toEqual(
      new Map([
        [undefined, 'first'],
        [99_990, 'near'],
        [99_980, undefined],
      ]),
    )
  })

  test('gives way to the reason of an exit', () => {
    const stop = { stop: { kind: 'share', millionths: 20_000 } } as const
    const plain = new EngineBench().settings.strategies
    const strategies: EngineSettings['strategies'] = new Map(
      [...plain].map(([id, settings]) => [id, { ...settings, exits: stop }]),
    )
    const bench = new EngineBench({ strategies }).start()
    bench.decide(target(10, 'breakout'))
    fillFirst(bench, sendNext(bench).batch.batchId, 'buy', 10)
    bench.take('askGrant')
    for (let answer = 0; answer < 2; answer++) {
      bench.now += 1000
      bench.price(9800)
      bench.decide(target(10, 'breakout'))
    }

    const { batch, terms } = sendNext(bench)
    expect(terms[0]).toMatchObject({ exit: 'stop' })
    expect(terms[0]).not.toHaveProperty('tag')
    bench.take('record')
    fillFirst(bench, batch.batchId, 'sell', 0)

    expect(bookedBy(bench)).toEqual([['stop', '']])
  })

  test.each([
    ['longer than 40 characters', 'x'.repeat(41)],
    ['not a text', 5],
    ['not a text', ''],
    ['a control character in it', 'a\nb'],
  ])('is refused with its intent where it is %s', (what, tag) => {
    const { intents, denials } = readIntents(STRATEGY, [{ ...target(1), tag }])

    expect([intents, denials.map(({ detail }) => detail)]).toEqual([
      [],
      [expect.stringMatching(new RegExp(`^tag: .*${what}`))],
    ])
  })

  test('that is another one makes another intent', () => {
    const before = readIntents(STRATEGY, [target(1, 'a')]).intents

    expect(readIntents(STRATEGY, [target(1, 'a')], before).intents).toBe(before)
    expect(readIntents(STRATEGY, [target(1, 'b')], before).intents).toEqual([target(1, 'b')])
  })
})
