import { describe, expect, test } from 'vitest'
import { type Answer } from '../../../src/domain/answer.ts'
import { type BatchResult } from '../../../src/protocol/values.ts'
import { EngineBench, refused, SYMBOL, TIMED_OUT } from '../engine-bench.ts'
import { manyInstruments, SYMBOLS } from '../many-instruments.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const EMPTY = refused('22001', 'definite')
const ORDER = { reason: 'the market is mad', by: 'anna@office' } as const

/** What a cancel-all finds: orders of ours, or of nobody's that we know. */
function found(...clientOids: readonly string[]): Answer<BatchResult> {
  const successList = clientOids.map((clientOid) => ({ clientOid, orderId: '1001' }))
  return { kind: 'accepted', data: { successList, failureList: [] }, receivedAt: 0 }
}

function kill(bench: EngineBench): void {
  bench.step({ kind: 'commanded', command: { kind: 'kill', ...ORDER } })
}

function release(bench: EngineBench): void {
  bench.step({
    kind: 'commanded',
    command: { kind: 'releaseKill', reason: 'calm again', by: 'anna@office' },
  })
}

function resting(): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(BID)
  bench.accept(bench.grantBatch())
  return bench
}

/** Grants every cancel-all that is asked for, and answers it; polls and time go on. */
function bringIn(bench: EngineBench, ms: number, answer: Answer<BatchResult> = EMPTY): number {
  let cancels = 0
  for (let passed = 0; passed < ms; passed += 100) {
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.step({ kind: 'pollDue', what: 'positions' })
    bench.pass(100)
    if (!bench.take('askGrant').some(({ endpoint }) => endpoint === 'cancelAllOrders')) continue
    bench.step({ kind: 'granted', endpoint: 'cancelAllOrders' })
    for (const { cancelId } of bench.take('sendCancelAll')) {
      cancels += 1
      bench.answerCancel(cancelId, answer)
    }
  }
  return cancels
}

function states(bench: EngineBench): readonly string[] {
  return bench.take('killState').map(({ state }) => state)
}

function phases(bench: EngineBench): readonly unknown[] {
  return bench.effects.flatMap((effect) =>
    effect.kind === 'announce' && effect.event === 'kill.phase' ? [effect.fields['phase']] : [],
  )
}

describe('[RSK2] from a kill on', () => {
  test('everything of the product type is cancelled at once, with a batch still on the wire', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.grantBatch()
    kill(bench)

    const cut = bench.grantCancel()
    expect(JSON.parse(cut.body)).not.toHaveProperty('symbol')
    expect(JSON.parse(cut.body)).toMatchObject({ productType: 'USDT-FUTURES', marginCoin: 'USDT' })
  })

  test('the order to kill is durable before anybody hears of it', () => {
    const bench = resting()
    const effects = bench.step({ kind: 'commanded', command: { kind: 'kill', ...ORDER } })
    const kinds = effects.map((effect) =>
      effect.kind === 'record' ? effect.record.kind : effect.kind,
    )

    expect(effects[0]).toMatchObject({
      kind: 'record',
      durable: true,
      record: { kind: 'restricted', scope: '*', mode: 'killed', ...ORDER },
    })
    expect(kinds.indexOf('restricted')).toBeLessThan(kinds.indexOf('killState'))
  })

  test('nothing that creates leaves, whatever is granted or decided', () => {
    const bench = resting()
    bench.quote(BID, { side: 'buy', ticks: 99_980, lots: 10 })
    kill(bench)
    bench.take('decide')
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 5 })
    bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
    bringIn(bench, 60_000)

    expect([bench.take('sendBatch'), bench.take('decide')]).toEqual([[], []])
    expect(bench.engine.isTrading).toBe(false)
  })

  test('a restart changes nothing, a second kill neither', () => {
    const bench = resting()
    kill(bench)
    kill(bench)
    expect(bench.records.filter((record) => record.kind === 'restricted')).toHaveLength(1)

    bench.restart().start()
    bench.quote(BID)
    expect(bench.engine.isTrading).toBe(false)
    expect([states(bench), bench.take('sendBatch')]).toEqual([['seen'], []])
    expect(JSON.parse(bench.grantCancel().body)).not.toHaveProperty('symbol')
  })

  test('strategies trade again after a release, and only on what they decide then', () => {
    const bench = resting()
    kill(bench)
    bringIn(bench, 60_000)
    release(bench)
    bench.pass(100)
    expect([bench.engine.phase, bench.take('askGrant').filter(isBatch)]).toEqual(['running', []])

    bench.price()
    bench.quote(BID)
    expect(bench.take('askGrant').filter(isBatch)).toHaveLength(1)
    expect(bench.records.at(-1)).not.toMatchObject({ kind: 'kill', isOn: true })
  })
})

const isBatch = ({ endpoint }: { readonly endpoint: string }): boolean =>
  endpoint === 'batchPlaceOrder'

describe('[RSK3] a kill is called clean', () => {
  test('after the acceptance deadline of the last batch, a cancel-all that finds nothing, and readings that agree', () => {
    const bench = resting()
    const { acceptanceWindowMs } = bench.settings.execution
    kill(bench)
    const [clientOid = ''] = bench.book.orders.keys()
    bench.answerCancel(bench.grantCancel().cancelId, found(clientOid))
    bringIn(bench, acceptanceWindowMs - 1_000)
    expect(states(bench)).toEqual(['seen'])

    expect(bringIn(bench, 12_000)).toBeGreaterThan(0)
    expect([states(bench), bench.states()]).toEqual([['clean'], ['done']])
  })

  test('not while a cancel-all after the acceptance deadline still finds something', () => {
    const bench = resting()
    const { acceptanceWindowMs } = bench.settings.execution
    kill(bench)
    bringIn(bench, acceptanceWindowMs - 1_000)
    bringIn(bench, 20_000, found('of nobody'))
    expect(states(bench)).toEqual(['seen'])

    bringIn(bench, 20_000)
    expect(states(bench)).toEqual(['clean'])
  })

  test('not by the readings that end the resolution of its last cancel-all, after an answer that nobody can read', () => {
    const bench = new EngineBench().start()
    kill(bench)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(100)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.step({ kind: 'readFailed', what: 'fills', reason: 'an error', status: 200 })
    expect(phases(bench).at(-1)).toBe('confirming')

    bringIn(bench, 10_000)
    expect(states(bench)).toEqual(['seen', 'clean'])
  })

  test('not before a batch whose answer was lost is proved absent or cancelled', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    const batch = bench.grantBatch()
    kill(bench)
    bench.step({ kind: 'batchAnswered', batchId: batch.batchId, answer: TIMED_OUT })
    bringIn(bench, bench.settings.execution.acceptanceWindowMs - 1_000)
    expect([states(bench), bench.states()]).toEqual([['seen'], ['unknown']])

    bringIn(bench, 30_000)
    expect([states(bench), bench.states()]).toEqual([['clean'], ['absent']])
  })

  test('a release that comes before waits for it', () => {
    const bench = resting()
    kill(bench)
    release(bench)
    expect(bench.engine.isTrading).toBe(false)

    bringIn(bench, 60_000)
    expect([bench.engine.phase, states(bench)]).toEqual(['running', ['seen', 'clean', 'released']])
  })

  test('an orderly stop waits for it, and ends all the same when it takes too long', () => {
    const [clean, late] = [resting(), resting()]
    for (const bench of [clean, late]) {
      kill(bench)
      bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'leave' } })
    }
    bringIn(clean, 60_000)
    bringIn(late, late.settings.execution.stopTimeoutMs + 20_000, TIMED_OUT)

    expect(clean.take('stopped')).toEqual([{ kind: 'stopped', clean: true }])
    expect(late.take('stopped')).toEqual([{ kind: 'stopped', clean: false }])
  })

  test('a stop that goes on is overtaken by it', () => {
    const bench = resting()
    bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'leave' } })
    kill(bench)
    expect(bench.engine.isTrading).toBe(false)

    bringIn(bench, 60_000)
    expect([bench.engine.phase, bench.states()]).toEqual(['stopped', ['done']])
  })
})

describe('[RSK3] a kill while the exchange has removed an instrument', () => {
  const [GONE, KNOWN] = SYMBOLS

  /** When a cancel-all of the instrument was refused. */
  const refusedAt: number[] = []

  function restingOn(symbol: string): EngineBench {
    const bench = manyInstruments()
    bench.decide({ kind: 'quote', symbol, levels: [BID] })
    bench.accept(bench.grantBatch())
    return bench
  }

  /** Time passes; whatever names the instrument is refused. Returns of which instruments a cancel-all was answered. */
  function passWithout(bench: EngineBench, ms: number, gone: string | undefined = GONE): string[] {
    const cancelled: string[] = []
    for (const endAt = bench.now + ms; bench.now < endAt;) {
      bench.now += 100
      bench.price()
      bench.step({ kind: 'timePassed' })
      for (const what of ['fills', 'positions'] as const) bench.step({ kind: 'pollDue', what })
      for (const { symbol } of bench.take('readPosition')) {
        if (symbol === gone) refuseRead(bench, symbol)
        else bench.step({ kind: 'positionRead', reading: flat(bench, symbol) })
      }
      bench.read()
      if (!bench.take('askGrant').some(({ endpoint }) => endpoint === 'cancelAllOrders')) continue
      bench.step({ kind: 'granted', endpoint: 'cancelAllOrders' })
      for (const { cancelId, body } of bench.take('sendCancelAll')) {
        const { symbol = '*' } = JSON.parse(body) as { readonly symbol?: string }
        const isGone = symbol === gone
        if (isGone) refusedAt.push(bench.now)
        else cancelled.push(symbol)
        bench.answerCancel(cancelId, isGone ? refused('40309', 'definite') : EMPTY)
      }
    }
    return cancelled
  }

  function flat(bench: EngineBench, symbol: string) {
    const times = { requestedAt: bench.now, exchangeTime: bench.now }
    return { symbol, rows: [], isSilent: false, ...times }
  }

  function refuseRead(bench: EngineBench, symbol: string): void {
    bench.step({
      kind: 'readFailed',
      what: `position ${symbol}`,
      reason: 'refused 40309: The symbol has been removed',
      status: 400,
      isRefused: true,
      isRemoved: true,
    })
  }

  const unproved = (bench: EngineBench) =>
    bench.take('announce').filter(({ event }) => event === 'kill.unproved')

  test('is proved where nothing of ours is left on it', () => {
    const bench = restingOn(KNOWN)
    kill(bench)
    passWithout(bench, 60_000)

    expect(states(bench)).toEqual(['seen', 'clean'])
    expect(unproved(bench)).toEqual([])
  })

  test('proves the others, and names it with the reason once they are, where orders may rest on it', () => {
    const bench = restingOn(GONE)
    kill(bench)
    const cancelled = passWithout(bench, 65_000)

    expect(states(bench)).toEqual(['seen'])
    // The first takes all, the second is its own.
    expect(cancelled.filter((symbol) => symbol === KNOWN || symbol === '*')).toHaveLength(2)
    expect(phases(bench).at(-1)).toBe('proving')
    expect(unproved(bench)).toMatchObject([
      {
        fields: {
          phase: 'proving',
          unproved: [GONE],
          reason: `${GONE}: refused 40309: The symbol has been removed`,
        },
      },
    ])
    expect(bench.engine.endings).toEqual([
      {
        kind: 'kill',
        phase: 'proving',
        unproved: new Map([[GONE, 'refused 40309: The symbol has been removed']]),
      },
    ])
    passWithout(bench, 600_000)
    // After 1, 3 and 7 minutes.
    expect(unproved(bench)).toMatchObject([2, 3, 4].map((times) => ({ fields: { times } })))
  })

  test('asks for it ever more rarely, every 30 s at least, and soon where it is known again', () => {
    const bench = manyInstruments()
    bench.decide({ kind: 'quote', symbol: GONE, levels: [BID] })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    kill(bench)
    passWithout(bench, 100_000)
    refusedAt.length = 0
    passWithout(bench, 300_000)
    expect(refusedAt.length).toBeGreaterThanOrEqual(9)
    expect(refusedAt.length).toBeLessThanOrEqual(11)
    expect(passWithout(bench, 3000, '')).toContain(GONE)
  })

  test('lets a stop end there, which is not clean', () => {
    const bench = restingOn(GONE)
    kill(bench)
    passWithout(bench, 65_000)
    bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'cancel' } })
    passWithout(bench, 10_000)

    expect(bench.take('stopped')).toMatchObject([{ clean: false }])
  })

  test('goes on where it is known again, with a second cancel-all there', () => {
    const bench = restingOn(GONE)
    kill(bench)
    passWithout(bench, 65_000)

    const cancelled = passWithout(bench, 60_000, '')

    expect(bench.engine.endings).toEqual([])
    expect(phases(bench).slice(-5)).toEqual([
      'clearing',
      'waiting',
      'confirming',
      'proving',
      'clean',
    ])
    expect(cancelled.filter((symbol) => symbol === GONE || symbol === '*')).toHaveLength(1)
    expect(states(bench)).toEqual(['seen', 'clean'])
  })

  test('can be released once it is clean of all that is configured', () => {
    const bench = restingOn(KNOWN)
    kill(bench)
    release(bench)
    passWithout(bench, 60_000)

    expect(states(bench)).toEqual(['seen', 'clean', 'released'])
  })
})

test('a place that waits is taken away by a kill, and does not come back with its release', () => {
  const bench = new EngineBench().start()
  bench.decide({
    kind: 'place',
    symbol: SYMBOL,
    key: 'a',
    action: 'openLong',
    lots: 5,
    ttlMs: 3_600_000,
  })
  kill(bench)

  expect(bench.book.places.size).toBe(0)
})

test('a stop that was asked for before the release that waited is a stop', () => {
  const bench = resting()
  kill(bench)
  release(bench)
  bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'leave' } })
  bringIn(bench, 60_000)

  expect(states(bench)).toEqual(['seen', 'clean', 'released'])
  expect(bench.engine.phase).toBe('stopped')
})

test('a kill that is ordered while a release waits is the last word', () => {
  const bench = resting()
  kill(bench)
  release(bench)
  kill(bench)
  bringIn(bench, 60_000)

  expect(states(bench)).toEqual(['seen', 'clean'])
  expect(bench.engine.isTrading).toBe(false)
})

test('a stop that would flatten ends a start under a kill without closing anything', () => {
  const bench = new EngineBench().start()
  kill(bench)
  bench.restart()
  bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'flatten' } })
  bringIn(bench, 20_000)

  expect([bench.engine.phase, bench.take('sendBatch')]).toEqual(['stopped', []])
  expect(bench.take('announce').find(({ event }) => event === 'daemon.stopping')).toMatchObject({
    fields: { policy: 'flatten' },
  })
})

test('[RSK3] a kill waits until the last copy of an order can be accepted no more, not only the first', () => {
  const bench = new EngineBench().start()
  const { acceptanceWindowMs } = bench.settings.execution
  bench.decide({
    kind: 'place',
    symbol: SYMBOL,
    key: 'a',
    action: 'openLong',
    lots: 10,
    ticks: 100_010,
    force: 'ioc',
    ttlMs: 3_600_000,
  })
  bench.answer(bench.grantBatch().batchId, TIMED_OUT)
  // It is proved absent, and leaves once more.
  bench.pass(acceptanceWindowMs + 8000)
  bench.accept(bench.grantBatch())
  kill(bench)

  bringIn(bench, acceptanceWindowMs - 200)
  expect(states(bench)).not.toContain('clean')
  bringIn(bench, 10_000)
  expect(states(bench)).toContain('clean')
})
