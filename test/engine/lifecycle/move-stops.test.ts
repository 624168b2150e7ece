import { describe, expect, test } from 'vitest'
import { type ExitRules } from '../../../src/domain/exits.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type ListedExit } from '../../../src/domain/position.ts'
import { type OutgoingCall } from '../../../src/engine/effect.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { accepted, EngineBench, SYMBOL } from '../engine-bench.ts'

const BY_ANNA = { reason: 'enough', by: 'anna' } as const
const HELD = { longLots: 10, shortLots: 0 }
const STOP = { kind: 'stopLoss', orderId: '1500', ticks: 97_500 } as const
/** A stop 2 % away, a trailing one 1 % below the best price, and 2.5 % at the exchange. */
const RULES: ExitRules = {
  stop: { kind: 'share', millionths: 20_000 },
  stopAtExchange: 25_000,
  trailing: { after: 10_000, distance: { kind: 'share', millionths: 10_000 } },
}

/** Ten lots long at 10,000, with a stop at the exchange at 9,750. */
function holding(change: Partial<EngineSettings> = { listsExits: true }): EngineBench {
  const plain = new EngineBench().settings.strategies
  const strategies = new Map([...plain].map(([id, one]) => [id, { ...one, exits: RULES }]))
  const bench = new EngineBench({ strategies, ...change }).start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const fill = bench.fill({ orderId: toOrderId(`${batch.batchId}001`), lots: 10, ticks: 100_000 })
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills: [fill], holding: HELD })
  return bench
}

function list(bench: EngineBench, ...long: ListedExit[]): number {
  const asked = bench.take('listExits')
  for (const { symbol } of asked)
    bench.step({ kind: 'exitsListed', listed: { symbol, long, short: [] } })
  return asked.length
}

function moveTo(bench: EngineBench, price: number, times = 2): void {
  for (let answer = 0; answer < times; answer++) {
    bench.now += 1000
    bench.price(price)
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  }
}

function callsOf(bench: EngineBench): readonly OutgoingCall[] {
  return bench.take('sendCall').map(({ call }) => call)
}

const NONE = { successList: [], failureList: [] }
const stopOf = (bench: EngineBench) => bench.book.exits.get(`${SYMBOL}|long`)
const eventsOf = (bench: EngineBench) =>
  bench.take('announce').flatMap(({ event }) => (event.startsWith('exit.') ? [event] : []))

describe('a stop that the exchange keeps', () => {
  test('is not listed without leave, and stays', () => {
    const bench = holding({})
    moveTo(bench, 11_000, 4)
    expect(bench.take('listExits')).toEqual([])
    expect(callsOf(bench)).toEqual([])
    expect(stopOf(bench)).toMatchObject({ stopLossTicks: 97_500 })
  })

  test('is moved after the trailing stop, at the same distance', () => {
    const bench = holding()
    moveTo(bench, 10_000)
    expect(list(bench, STOP)).toBe(1)
    moveTo(bench, 10_000)
    expect(callsOf(bench)).toEqual([])

    // The best price 11,000 puts the trailing stop at 10,890; half a per cent of the entry below.
    moveTo(bench, 11_000)
    const [call] = callsOf(bench)
    expect(call?.endpoint).toBe('modifyTpslOrder')
    expect(JSON.parse(call?.body ?? '')).toEqual({
      orderId: '1500',
      marginCoin: 'USDT',
      productType: 'USDT-FUTURES',
      symbol: SYMBOL,
      triggerPrice: '10840',
      triggerType: 'fill_price',
      size: '',
    })
    // Recorded before it leaves, so that its fill is known as ours whatever the answer.
    expect(stopOf(bench)).toMatchObject({ stopLossTicks: 108_400 })
    bench.step({ kind: 'callAnswered', callId: call?.callId ?? 0, answer: accepted(NONE) })
    moveTo(bench, 11_000)
    expect(list(bench, { ...STOP, ticks: 108_400 })).toBe(1)
    moveTo(bench, 11_000, 10)
    expect(callsOf(bench)).toEqual([])
    expect(eventsOf(bench)).toEqual(['exit.moved'])
  })

  test('counts where it stands if it was not moved, and that is said once', () => {
    const bench = holding()
    moveTo(bench, 11_000)
    list(bench, STOP)
    for (let tries = 0; tries < 2; tries++) {
      moveTo(bench, 11_000, 40)
      const [call] = callsOf(bench)
      const refused = {
        kind: 'refused',
        class: 'definite',
        code: '40034',
        topic: 'order',
        message: 'no such order',
        status: 200,
        receivedAt: bench.now,
      } as const
      bench.step({ kind: 'callAnswered', callId: call?.callId ?? 0, answer: refused })
      moveTo(bench, 11_000)
      list(bench, STOP)
      expect(stopOf(bench)).toMatchObject({ stopLossTicks: 97_500, listed: [STOP] })
      moveTo(bench, 11_000, 5)
      expect(callsOf(bench)).toEqual([])
    }
    expect(eventsOf(bench)).toEqual(['exit.notMoved'])
  })

  test('[RSK2] waits while a person has halted the instrument, also at its first byte', () => {
    const bench = holding()
    moveTo(bench, 11_000)
    list(bench, STOP)
    moveTo(bench, 11_000)
    const [call] = callsOf(bench)
    const restrict = { kind: 'restrict', scope: SYMBOL, mode: 'halted', ...BY_ANNA } as const
    expect(bench.engine.isCallHeldBack(call?.callId ?? 0)).toBe(false)
    bench.step({ kind: 'commanded', command: restrict })
    expect(bench.engine.isCallHeldBack(call?.callId ?? 0)).toBe(true)
    bench.step({ kind: 'callAnswered', callId: call?.callId ?? 0, answer: accepted(NONE) })
    moveTo(bench, 11_000)
    list(bench, { ...STOP, ticks: 108_400 })
    moveTo(bench, 11_500, 20)
    expect(callsOf(bench)).toEqual([])
  })

  test('is never put where the price has been, and not while an exit is due', () => {
    const bench = holding()
    moveTo(bench, 10_000)
    list(bench, { ...STOP, ticks: 90_000 })
    moveTo(bench, 9700)
    expect(callsOf(bench)).toEqual([])
  })

  test('is listed anew for another position, and said to be missing once', () => {
    const bench = holding()
    for (let seconds = 0; seconds < 30; seconds++) {
      moveTo(bench, 10_000, 1)
      list(bench)
    }
    expect(eventsOf(bench)).toEqual(['exit.notListed'])
    moveTo(bench, 10_000, 31)
    expect(list(bench, STOP)).toBe(1)
    expect(stopOf(bench)?.listed).toEqual([STOP])
  })

  test('that cannot be listed is said once, and asked for seldom', () => {
    const bench = holding()
    let asked = 0
    for (let seconds = 0; seconds < 100; seconds++) {
      moveTo(bench, 10_000, 1)
      for (const { symbol } of bench.take('listExits')) {
        asked += 1
        bench.step({ kind: 'exitsUnlisted', symbol, problem: '404 no such path' })
      }
    }
    expect(asked).toBe(4)
    expect(eventsOf(bench)).toEqual(['exit.notRead'])
  })
})

test('a strategy sees the id that modifyTrigger takes', () => {
  const bench = holding()
  moveTo(bench, 10_000)
  list(bench, STOP)
  bench.take('decide')
  moveTo(bench, 10_000, 1)
  const [moment] = bench.take('decide').at(-1)?.snapshot.instruments ?? []
  expect(moment?.exchangeExits).toEqual([{ ...STOP, holdSide: 'long' }])
})
