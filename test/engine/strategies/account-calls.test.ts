import { describe, expect, test } from 'vitest'
import { type Answer } from '../../../src/domain/answer.ts'
import { type AccountCallIntent } from '../../../src/domain/intent.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { EngineBench, refused, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const MODIFY = {
  kind: 'modifyTrigger',
  symbol: SYMBOL,
  orderId: '77',
  key: 'm',
  triggerTicks: 99_990,
} as const
const CANCEL = { kind: 'cancelMargin', symbol: SYMBOL, key: 'c' } as const
const COPY = { kind: 'copySettings', symbol: SYMBOL, key: 's', change: 'ADD' } as const

const ACCEPTED: Answer<unknown> = { kind: 'accepted', data: 'success', receivedAt: 0 }
/** How long a call is wanted, and how long a failed one waits. */
const TTL_MS = 60_000
const REPEAT_MS = 1000

function running(): EngineBench {
  return new EngineBench().start()
}

function answer(bench: EngineBench, callId: number, given: Answer<unknown>): void {
  bench.step({ kind: 'callAnswered', callId, answer: given })
}

/** The one call that has left since the last look. */
function sentCall(bench: EngineBench) {
  const [effect, ...others] = bench.take('sendCall')
  if (!effect || others.length > 0)
    throw new Error(`${others.length + (effect ? 1 : 0)} calls were sent`)
  return effect.call
}

function loggedOf(bench: EngineBench, event: string) {
  return bench
    .take('announce')
    .filter((line) => line.event === event)
    .map(({ fields }) => fields)
}

function halt(bench: EngineBench): void {
  bench.step({
    kind: 'commanded',
    command: { kind: 'restrict', scope: SYMBOL, mode: 'halted', reason: 'by hand', by: 'a test' },
  })
}

describe('what a strategy asks of the account', () => {
  const CALLS: readonly [AccountCallIntent, string, unknown][] = [
    [
      { ...MODIFY, takeProfitTicks: 100_500, stopLossTicks: null },
      'modifyPlanOrder',
      {
        orderId: '77',
        productType: 'USDT-FUTURES',
        symbol: SYMBOL,
        newTriggerPrice: '9999',
        newStopSurplusTriggerPrice: '10050',
        newStopSurplusTriggerType: 'fill_price',
        newStopLossTriggerPrice: '0',
        newStopLossTriggerType: 'fill_price',
        newSurplusTriggerPrice: '10050',
      },
    ],
    [CANCEL, 'isolatedBatchCancelOrders', { symbol: SYMBOL }],
    [
      { ...CANCEL, orders: [{ orderId: '5' }, { clientOid: 'mine' }] },
      'isolatedBatchCancelOrders',
      { symbol: SYMBOL, orderIdList: [{ orderId: '5' }, { clientOid: 'mine', clientId: 'mine' }] },
    ],
    [
      { ...COPY, change: 'UPDATE', takeProfitRatio: 400, stopLossRatio: null },
      'copyConfigSettingSymbols',
      {
        settingList: [
          {
            symbol: SYMBOL,
            productType: 'USDT-FUTURES',
            settingType: 'UPDATE',
            stopSurplusRatio: '400',
            stopLossRatio: '0',
          },
        ],
      },
    ],
  ]

  test.each(CALLS)('leaves as exactly this body: %j', (intent, endpoint, body) => {
    const bench = running()
    bench.decide(intent)

    const validUntilAt = bench.now + TTL_MS
    expect(sentCall(bench)).toEqual({
      callId: 1,
      endpoint,
      body: JSON.stringify(body),
      validUntilAt,
    })
  })

  test.each<[AccountCallIntent, string]>([
    [{ ...MODIFY, orderId: 'x y' }, 'digits'],
    [{ ...CANCEL, orders: [{}] }, 'one of orderId and clientOid is required'],
    [{ ...COPY, takeProfitRatio: 401 }, 'a ratio is an integer from 1 to 400 in a string'],
    [{ ...COPY, stopLossRatio: null }, '0 cancels an earlier setting and is for UPDATE only'],
    [
      { ...COPY, change: 'UPDATE' },
      'UPDATE needs at least one of stopSurplusRatio and stopLossRatio',
    ],
  ])('that breaks a rule of the document is denied with it: %j', (intent, rule) => {
    const bench = running()
    bench.decide(intent)

    expect(bench.engine.denied.get('INTENT_MALFORMED')).toBe(1)
    expect(JSON.stringify(bench.take('announce'))).toContain(rule)
    expect([bench.take('sendCall'), bench.book.calls.size]).toEqual([[], 0])
  })

  test('of an instrument that the strategy does not list is denied', () => {
    const bench = running()
    bench.decide({ ...CANCEL, symbol: 'XRPUSDT' })

    expect(bench.engine.denied.get('INSTRUMENT_NOT_BOUND')).toBe(1)
    expect(bench.take('sendCall')).toEqual([])
  })
})

describe('the key of a call', () => {
  test('is good for one call: again in the same decision, later and after its end it is denied', () => {
    const bench = running()
    bench.decide(COPY, { ...COPY, change: 'DELETE' })
    const { callId } = sentCall(bench)
    bench.price()
    bench.decide(COPY)
    answer(bench, callId, ACCEPTED)
    bench.price()
    bench.decide(COPY)

    expect(bench.engine.denied.get('KEY_REUSED')).toBe(3)
    expect(bench.take('sendCall')).toEqual([])
  })

  test('is still used after a restart, by the word of the journal', () => {
    const bench = running()
    bench.decide(COPY)
    answer(bench, sentCall(bench).callId, ACCEPTED)
    bench.restart().start()
    bench.decide(COPY)

    expect(bench.engine.denied.get('KEY_REUSED')).toBe(1)
    expect(bench.take('sendCall')).toEqual([])
  })

  test.each(['', 'a|b'])('cannot be %j', (key) => {
    const bench = running()
    bench.decide({ ...COPY, key })

    expect(bench.engine.denied.get('KEY_MISSING')).toBe(1)
  })
})

describe('a call', () => {
  test('[ORD1] is durably recorded, decision and departure, before it is sent', () => {
    const bench = running()
    bench.effects = []
    bench.decide(COPY)

    const steps = bench.effects.flatMap((effect: Effect) => {
      if (effect.kind === 'record')
        return [`${effect.record.kind} ${effect.durable ? 'durable' : 'in time'}`]
      return effect.kind === 'sendCall' ? ['sent'] : []
    })
    expect(steps).toEqual(['decision in time', 'call durable', 'sent'])
  })

  test('that was accepted is over', () => {
    const bench = running()
    bench.decide(COPY)
    answer(bench, sentCall(bench).callId, ACCEPTED)
    bench.pass(3 * REPEAT_MS)

    expect(bench.recordsOf('callEnded')).toMatchObject([{ key: 's', outcome: 'accepted' }])
    expect(loggedOf(bench, 'call.accepted')).toMatchObject([{ strategy: STRATEGY, key: 's' }])
    expect([bench.take('sendCall'), bench.book.calls.size]).toEqual([[], 0])
  })

  test('that was refused for good is over, and logged with the reason', () => {
    const bench = running()
    bench.decide(COPY)
    answer(bench, sentCall(bench).callId, refused('40035', 'definite'))
    bench.pass(3 * REPEAT_MS)

    expect(bench.recordsOf('callEnded')).toMatchObject([{ outcome: 'rejected', reason: '40035' }])
    expect(loggedOf(bench, 'call.rejected')).toMatchObject([{ key: 's', reason: '40035' }])
    expect(bench.take('sendCall')).toEqual([])
  })

  test.each<[string, Answer<unknown>, string]>([
    ['429', refused('429', 'retry'), '429'],
    ['not sent', refused('LIMITER_FULL', 'notSent'), 'LIMITER_FULL'],
    ['no answer', TIMED_OUT, 'timeout'],
  ])('is repeated with the same bytes a second after: %s', (_, given, reason) => {
    const bench = running()
    bench.decide(COPY)
    const first = sentCall(bench)
    answer(bench, first.callId, given)
    bench.pass(REPEAT_MS - 50)
    expect(bench.take('sendCall')).toEqual([])

    bench.pass(50)
    const second = sentCall(bench)
    expect(second).toMatchObject({ endpoint: first.endpoint, body: first.body })
    expect(second.callId).not.toBe(first.callId)
    expect(loggedOf(bench, 'call.repeated')).toMatchObject([{ key: 's', reason }])
    expect(bench.recordsOf('call')).toHaveLength(2)
  })

  test('whose answer never came before the process died is made again by the next run', () => {
    const bench = running()
    bench.decide(COPY)
    const { body } = sentCall(bench)
    bench.restart().start()

    expect(sentCall(bench).body).toBe(body)
  })

  test('that was not done within its time expires, and is logged', () => {
    const bench = running()
    bench.decide(COPY)
    for (const endAt = bench.now + TTL_MS; bench.now <= endAt; bench.pass(REPEAT_MS)) {
      for (const { call } of bench.take('sendCall')) answer(bench, call.callId, TIMED_OUT)
    }

    expect(bench.recordsOf('callEnded')).toMatchObject([{ outcome: 'expired' }])
    expect(loggedOf(bench, 'call.expired')).toHaveLength(1)
    expect([bench.take('sendCall'), bench.book.calls.size]).toEqual([[], 0])
  })

  test('an answer that comes twice, or to nobody, changes nothing', () => {
    const bench = running()
    bench.decide(COPY)
    const { callId } = sentCall(bench)
    answer(bench, callId, ACCEPTED)
    answer(bench, callId, refused('40035', 'definite'))
    answer(bench, 99, ACCEPTED)

    expect(bench.recordsOf('callEnded')).toMatchObject([{ outcome: 'accepted' }])
  })
})

const LOOKED = { reason: 'looked', by: 'operator' }

describe('[RSK2] while trading is halted', () => {
  test('a change waits until somebody resumes; what takes orders away goes', () => {
    const bench = running()
    halt(bench)
    bench.decide(COPY, MODIFY, CANCEL)
    expect(sentCall(bench).endpoint).toBe('isolatedBatchCancelOrders')

    bench.step({ kind: 'commanded', command: { kind: 'release', scope: SYMBOL, ...LOOKED } })
    expect(bench.take('sendCall').map(({ call }) => call.endpoint)).toEqual([
      'copyConfigSettingSymbols',
      'modifyPlanOrder',
    ])
  })

  test('a change that nobody resumes for expires', () => {
    const bench = running()
    halt(bench)
    bench.decide(COPY)
    bench.pass(TTL_MS + 100)

    expect(bench.recordsOf('callEnded')).toMatchObject([{ outcome: 'expired' }])
    expect(bench.take('sendCall')).toEqual([])
  })
})

describe('[STR1] a strategy that failed ten times in a row', () => {
  test('wants none of the calls any more that wait; one on the wire is answered', () => {
    const bench = running()
    bench.decide(COPY)
    const { callId } = sentCall(bench)
    halt(bench)
    bench.decide(MODIFY)
    for (let times = 0; times < 10; times++) {
      bench.step({ kind: 'decisionFailed', strategyId: STRATEGY, reason: 'it threw' })
    }

    expect(bench.recordsOf('callEnded')).toMatchObject([{ key: 'm', outcome: 'expired' }])
    answer(bench, callId, ACCEPTED)
    expect(bench.book.calls.size).toBe(0)
  })
})

describe('a stop', () => {
  test('waits for a call on the wire, and makes none again', () => {
    const bench = running()
    bench.decide(COPY)
    const { callId } = sentCall(bench)
    bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'leave' } })
    bench.pass(5000)
    expect(bench.take('stopped')).toEqual([])

    answer(bench, callId, TIMED_OUT)
    bench.pass(5000)
    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
    expect(bench.take('sendCall')).toEqual([])
  })
})

test('[ORD2] a key is one call for ever, though the book has forgotten it', () => {
  const bench = running()
  bench.decide(COPY)
  answer(bench, sentCall(bench).callId, ACCEPTED)
  for (let hours = 0; hours < 2; hours++) {
    bench.now += 3_600_000
    bench.step({ kind: 'timePassed' })
  }
  bench.price()
  expect(bench.book.callKeys.size).toBe(0)

  bench.decide(COPY)

  expect(bench.engine.denied.get('KEY_REUSED')).toBe(1)
  expect(bench.take('sendCall')).toEqual([])
})

describe('[DET2] the book as JSON', () => {
  test('keeps calls that wait and keys that are used', () => {
    const bench = running()
    bench.decide(COPY)
    answer(bench, sentCall(bench).callId, ACCEPTED)
    bench.decide(MODIFY)

    const text = JSON.stringify(toBookRows(bench.book))
    const again = fromBookRows(JSON.parse(text))
    expect([...again.calls.values()]).toEqual([...bench.book.calls.values()])
    expect([...again.callKeys.keys()]).toEqual(['s|s', 's|m'])
    expect(JSON.stringify(toBookRows(again))).toBe(text)
  })
})
