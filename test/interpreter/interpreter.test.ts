import { describe, expect, test } from 'vitest'
import { Interpreter } from '../../src/interpreter/interpreter.ts'
import { Retreat } from '../../src/interpreter/retreat.ts'
import { madeInstrument, MOMENT_AT } from '../support/market-moment.ts'
import {
  batchEffect,
  CANCEL_ALL,
  InterpreterBench,
  NOTHING,
  recordEffect,
  STRATEGY,
} from './interpreter-bench.ts'

describe('[ORD1] behind a record whose commit takes time', () => {
  test('a batch does not leave before it', () => {
    const bench = new InterpreterBench()

    bench.step('started', [recordEffect('send'), batchEffect('a')])
    expect(bench.done).toEqual(['append send'])

    bench.commits[0]?.()
    expect(bench.done).toEqual(['append send', 'batch a'])
  })

  test('a record that need not be durable holds nothing up', () => {
    const bench = new InterpreterBench()

    bench.step('started', [recordEffect('prune', false), batchEffect('a')])

    expect(bench.done).toEqual(['append prune', 'batch a'])
  })

  test('a batch of a later event waits behind the first, and for its own', () => {
    const bench = new InterpreterBench()
    bench.step('started', [recordEffect('send'), batchEffect('a')])
    bench.step('timePassed', [recordEffect('send'), batchEffect('b')])
    expect(bench.done.filter((what) => what !== 'flush')).toEqual(['append send', 'append send'])

    bench.commits[0]?.()
    expect(bench.done.at(-1)).toBe('batch a')

    bench.commits[1]?.()
    expect(bench.done.at(-1)).toBe('batch b')
  })

  test('one commit done stands for all before it: what is durable is a prefix', () => {
    const bench = new InterpreterBench()
    bench.step('started', [
      recordEffect('send'),
      batchEffect('a'),
      recordEffect('send'),
      batchEffect('b'),
    ])

    bench.commits[1]?.()

    expect(bench.done).toEqual(['append send', 'append send', 'batch a', 'batch b'])
  })

  test('everything keeps its order, also what a later event wants that records nothing', () => {
    const bench = new InterpreterBench()
    bench.step('started', [
      recordEffect('send'),
      { kind: 'announce', level: 'info', event: 'batch.sent', fields: {} },
      batchEffect('a'),
    ])
    bench.step('timePassed', [
      { kind: 'killState', state: 'seen' },
      { kind: 'stopped', clean: true },
    ])
    const before = bench.done.filter((what) => what !== 'flush')

    bench.commits[0]?.()

    expect(before).toEqual(['append send'])
    expect(bench.done.slice(-4)).toEqual(['batch.sent', 'batch a', 'kill seen', 'stopped true'])
  })

  test('events go on being stepped', () => {
    const bench = new InterpreterBench()
    bench.step('started', [recordEffect('send'), batchEffect('a')])

    bench.interpreter.dispatch({ kind: 'timePassed' })

    expect(bench.events.map(({ kind }) => kind)).toEqual(['started', 'timePassed'])
  })

  test('[MKT2] a decision does not wait: its prices stand in a table that is filled again', () => {
    const bench = new InterpreterBench()

    bench.step('started', [
      recordEffect('send'),
      { kind: 'decide', strategyId: STRATEGY, snapshot: { sequence: 5 } as never },
    ])

    expect(bench.events).toMatchObject([{ kind: 'started' }, { kind: 'decided', sequence: 5 }])
  })

  test('reads and a cancel-all do not wait', () => {
    const bench = new InterpreterBench()

    bench.step('started', [
      recordEffect('send'),
      batchEffect('a'),
      { kind: 'readFills', sinceAt: 7 },
      { kind: 'readPosition', symbol: 'BTCUSDT' },
      recordEffect('cancel'),
      CANCEL_ALL,
    ])

    expect(bench.done).toEqual([
      'append send',
      'fills since 7',
      'position BTCUSDT',
      'append cancel',
      'note',
      'cancelAll all',
    ])
  })

  test('what waited too long is looked at once more before its first byte', () => {
    const bench = new InterpreterBench()
    bench.step('started', [recordEffect('send'), batchEffect('a')])
    bench.time.setClock(MOMENT_AT + 1)

    bench.commits[0]?.()

    expect(bench.calls[0]?.options.beforeWrite?.()).toBe(
      'the data it was decided on has become stale',
    )
  })

  test('a batch is known to follow from its tickers, and one of another cause is not', () => {
    const bench = new InterpreterBench()
    bench.script = { timePassed: [recordEffect('send'), batchEffect('a')] }
    bench.interpreter.dispatch({ kind: 'timePassed' }, 42)
    bench.step('started', [recordEffect('send'), batchEffect('b')])

    for (const done of bench.commits) done()

    bench.writeCalls()
    expect(bench.leaving).toEqual([42, undefined])
  })

  test('so is one whose grant is asked for after the commit of another', () => {
    const bench = new InterpreterBench()
    bench.grantsAtOnce = true
    bench.step('started', [recordEffect('send')])
    bench.script = {
      timePassed: [{ kind: 'askGrant', endpoint: 'batchPlaceOrder', priority: 'add' }],
      granted: [recordEffect('send'), batchEffect('a')],
    }
    bench.interpreter.dispatch({ kind: 'timePassed' }, 42)
    expect(bench.asked).toEqual([])

    bench.commits[0]?.()
    bench.commits[1]?.()

    bench.writeCalls()
    expect(bench.leaving).toEqual([42])
  })

  test('but one that waited for the limiter is not', () => {
    const bench = new InterpreterBench()
    bench.commitsAtOnce = true
    bench.script = {
      timePassed: [{ kind: 'askGrant', endpoint: 'batchPlaceOrder', priority: 'add' }],
      granted: [recordEffect('send'), batchEffect('a')],
    }
    bench.interpreter.dispatch({ kind: 'timePassed' }, 42)
    bench.granted[0]?.({
      endpoint: 'batchPlaceOrder',
      release: () => undefined,
      unused: () => undefined,
    })

    bench.writeCalls()
    expect(bench.leaving).toEqual([undefined])
  })

  test('a journal that does not keep up ends the run', () => {
    const bench = new InterpreterBench()
    const announcement = {
      kind: 'announce',
      level: 'info',
      event: 'order.sent',
      fields: {},
    } as const

    bench.step('started', [
      recordEffect('send'),
      ...Array.from({ length: 10_001 }, () => announcement),
    ])

    expect(bench.broken).toEqual([
      new Error('the journal does not keep up: 10000 effects wait for it'),
    ])
  })
})

test('events that come faster than they are handled end the run', () => {
  const bench = new InterpreterBench()
  const interruptions = {
    isStill: true,
    beforeEffect: () => undefined,
    afterEffect: () => undefined,
    isHeardAgain: () => false,
  }
  const interpreter = new Interpreter(bench.engine, { ...bench.ports, interruptions })

  for (let count = 0; count < 10_000; count++) interpreter.dispatch({ kind: 'timePassed' })
  expect(bench.broken).toEqual([])
  for (let count = 0; count < 2; count++) interpreter.dispatch({ kind: 'timePassed' })

  expect(bench.broken).toEqual([new Error('events come faster than they are handled: 10000 wait')])
})

describe('[ORD5] a cancel-all that goes ahead of its record', () => {
  test('is noted before, once, so that a next run does not believe its book', () => {
    const bench = new InterpreterBench()

    bench.step('started', [recordEffect('cancel'), CANCEL_ALL, recordEffect('cancel'), CANCEL_ALL])

    expect(bench.done).toEqual([
      'append cancel',
      'note',
      'cancelAll all',
      'append cancel',
      'cancelAll all',
    ])
  })

  test('leaves the note of the run before in place as long as its own may be needed', () => {
    const [bench, leaving] = [new InterpreterBench(), new InterpreterBench()]
    leaving.step('started', [recordEffect('cancel'), CANCEL_ALL])
    for (const one of [bench, leaving]) {
      one.isRetreatSettled = true
      one.step('timePassed', [])
      one.step('timePassed', [])
    }

    expect(bench.done.filter((what) => what.startsWith('note'))).toEqual(['note removed'])
    expect(leaving.done.filter((what) => what.startsWith('note'))).toEqual(['note'])
  })

  test('waits as all others where no note can be left', () => {
    const bench = new InterpreterBench()
    bench.hasRoomForNote = false

    bench.step('started', [recordEffect('cancel'), CANCEL_ALL])
    expect(bench.done).toEqual(['append cancel'])

    bench.commits[0]?.()
    expect(bench.done.at(-1)).toBe('cancelAll all')
  })

  test('gets its grant while the commit hangs; one for a batch waits', () => {
    const bench = new InterpreterBench()

    bench.step('started', [
      recordEffect('send'),
      { kind: 'askGrant', endpoint: 'batchPlaceOrder', priority: 'add' },
      { kind: 'askGrant', endpoint: 'cancelAllOrders', priority: 'reduce' },
    ])
    expect(bench.asked).toEqual(['cancelAllOrders'])

    bench.commits[0]?.()
    expect(bench.asked).toEqual(['cancelAllOrders', 'batchPlaceOrder'])
  })

  test('needs no note where the commit is done when the call returns', () => {
    const bench = new InterpreterBench()
    bench.commitsAtOnce = true

    bench.step('started', [recordEffect('cancel'), CANCEL_ALL])

    expect(bench.done).toEqual(['append cancel', 'cancelAll all'])
  })
})

describe('[ORD1] a commit that fails', () => {
  const failure = new Error('the disk is gone')

  test('ends the run: nothing that waited is performed, and no event is stepped', () => {
    const bench = new InterpreterBench()
    bench.step('started', [recordEffect('send'), batchEffect('a')])
    bench.step('timePassed', [recordEffect('send'), batchEffect('b')])
    const before = [...bench.done]

    bench.commits[0]?.(failure)
    bench.commits[1]?.()
    bench.interpreter.dispatch({ kind: 'timePassed' })

    expect(bench.broken).toEqual([failure])
    expect(bench.done).toEqual(before)
    expect(bench.events).toHaveLength(2)
  })

  test('while the call is made ends it too', () => {
    const bench = new InterpreterBench()
    const { journal } = bench.ports
    journal.commit = (done) => done(failure)

    bench.step('started', [recordEffect('send'), batchEffect('a')])

    expect([bench.broken, bench.done]).toEqual([[failure], ['append send']])
  })

  test('[RSK3] is followed by the retreat, in which no batch leaves any more', async () => {
    const bench = new InterpreterBench()
    bench.commitsAtOnce = true
    bench.step('started', [recordEffect('send'), batchEffect('a')])
    bench.commitsAtOnce = false
    bench.step('timePassed', [recordEffect('send'), batchEffect('b')])
    bench.commits[0]?.(failure)
    bench.interpreter.close()
    const ends: string[] = []

    new Retreat({
      ports: bench.ports,
      policy: 'cancel',
      onRestart: 'adopt',
      instruments: [madeInstrument()],
      isSending: () => bench.interpreter.isSending,
      patienceMs: 1000,
      onEnd: (end) => ends.push(end),
    }).start()
    bench.calls.at(-1)?.answer(NOTHING)
    await bench.time.pass(50)
    expect(bench.calls).toHaveLength(2)
    expect(bench.calls[0]?.options.beforeWrite?.()).toBe('the run is over')
    bench.calls[0]?.answer(NOTHING)
    await bench.time.pass(50)
    bench.calls.at(-1)?.answer(NOTHING)

    expect(bench.calls.map(({ what }) => what.split(' ')[0])).toEqual([
      'batch',
      'cancelAll',
      'cancelAll',
    ])
    expect(ends).toEqual(['cancelled'])
  })
})

describe('between two steps', () => {
  test('what nothing waits for is made durable now and then', async () => {
    const bench = new InterpreterBench()
    bench.step('timePassed', [recordEffect('prune', false)])
    await bench.time.pass(100)
    bench.step('timePassed', [recordEffect('prune', false)])
    bench.step('timePassed', [])

    expect(bench.done).toEqual(['append prune', 'append prune', 'flush'])
  })
})
