import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer } from '../../src/domain/answer.ts'
import { Retreat, type RetreatEnd, type RetreatOptions } from '../../src/interpreter/retreat.ts'
import { type BatchResult } from '../../src/protocol/values.ts'
import { accepted, TIMED_OUT } from '../engine/engine-bench.ts'
import { madeInstrument } from '../support/market-moment.ts'
import { InterpreterBench, NOTHING } from './interpreter-bench.ts'

const ONE = accepted({ successList: [{ orderId: '1', clientOid: 'a' }], failureList: [] })
const GONE: Answer<BatchResult> = {
  kind: 'refused',
  class: 'definite',
  code: '22001',
  topic: 'orderGone',
  message: '',
  status: 400,
  receivedAt: 0,
}

const NO_GRANT: Answer<BatchResult> = {
  ...GONE,
  class: 'notSent',
  code: 'LIMITER_TIMEOUT',
  topic: 'ours',
}

let bench: InterpreterBench

beforeEach(() => {
  bench = new InterpreterBench()
})

/** The exchange answers as listed, the last answer for ever; a minute passes. */
async function retreatWith(
  answers: readonly Answer<BatchResult>[],
  change: Partial<RetreatOptions> = {},
): Promise<RetreatEnd | undefined> {
  let end: RetreatEnd | undefined
  new Retreat({
    ports: bench.ports,
    policy: 'cancel',
    onRestart: 'adopt',
    instruments: [madeInstrument()],
    isSending: () => false,
    patienceMs: 10_000,
    onEnd: (how) => {
      end = how
    },
    ...change,
  }).start()
  let answered = 0
  for (let second = 0; second < 60; second++) {
    for (; answered < bench.calls.length; answered++) {
      const answer = answers[Math.min(answered, answers.length - 1)]
      if (answer) bench.calls[answered]?.answer(answer)
    }
    await bench.time.pass(1000)
  }
  return end
}

const cancelAlls = (): number => bench.done.filter((what) => what.startsWith('cancelAll')).length

describe('[RSK3] a retreat without a journal', () => {
  test.each([
    ['finds nothing', [ONE, NOTHING]],
    ['is told that nothing is there', [ONE, GONE]],
  ])('cancels at once, and again when all is answered, until a round %s', async (_, answers) => {
    expect(await retreatWith(answers)).toBe('cancelled')

    expect(cancelAlls()).toBe(2)
  })

  test('waits with its second round until everything is answered that left before', async () => {
    let looks = 0

    await retreatWith([NOTHING], { isSending: () => (looks += 1) < 5 })

    expect([looks, cancelAlls()]).toEqual([5, 2])
  })

  test('goes on where an answer is lost or orders are left, with a cancel-all each time', async () => {
    expect(await retreatWith([TIMED_OUT, TIMED_OUT, ONE, NOTHING])).toBe('cancelled')

    expect(cancelAlls()).toBe(4)
  })

  test('ends unproved when its time is over', async () => {
    expect(await retreatWith([TIMED_OUT])).toBe('unproved')
  })

  test('leaves everything where the operator wants that', async () => {
    expect(await retreatWith([ONE], { policy: 'leave' })).toBe('left')

    expect(bench.done).toEqual(['retreat.ended'])
  })

  test('is noted first, so that the next run does not believe its book', async () => {
    await retreatWith([NOTHING])

    expect(bench.done[0]).toBe('note')
  })

  test('cancels without a note only where the next run looks anyway', async () => {
    bench.hasRoomForNote = false

    expect(await retreatWith([NOTHING], { onRestart: 'adopt' })).toBe('left')
    expect(await retreatWith([NOTHING], { onRestart: 'cancel' })).toBe('cancelled')
  })

  test('that gets no grant in time asks again for the same instrument before it goes on to the next', async () => {
    const instruments = [madeInstrument({ symbol: 'ONE' }), madeInstrument({ symbol: 'TWO' })]
    const answers = [ONE, NO_GRANT, NO_GRANT, NOTHING, NOTHING, NO_GRANT, NOTHING]

    expect(await retreatWith(answers, { instruments })).toBe('cancelled')
  })

  test('ends unproved as soon as nothing may be sent any more', async () => {
    expect(await retreatWith([NO_GRANT], { isBarred: () => true })).toBe('unproved')
    expect(cancelAlls()).toBeLessThan(4)
  })
})
