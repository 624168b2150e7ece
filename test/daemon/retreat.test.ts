import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Answer } from '../../src/domain/answer.ts'
import { type DaemonLogger } from '../../src/daemon/reporting/logger.ts'
import {
  forgetRetreat,
  hasRetreated,
  retreat,
  type RetreatOptions,
} from '../../src/daemon/account/retreat.ts'
import { type BatchResult } from '../../src/protocol/values.ts'
import { accepted, TIMED_OUT } from '../engine/engine-bench.ts'
import { madeInstrument } from '../support/market-moment.ts'

const SILENT: DaemonLogger = { isTerminal: false, log: () => undefined, hide: () => undefined }
const ONE = accepted({ successList: [{ orderId: '1', clientOid: 'a' }], failureList: [] })
const NONE = accepted({ successList: [], failureList: [] })
const GONE: Answer<BatchResult> = {
  kind: 'refused',
  class: 'definite',
  code: '22001',
  topic: 'orderGone',
  message: '',
  status: 400,
  receivedAt: 0,
}

let directory: string
let sent: string[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'retreat-'))
  sent = []
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** The clock moves by a second with each wait; the exchange answers as listed, the last answer for ever. */
function retreatWith(
  answers: readonly Answer<BatchResult>[],
  change: Partial<RetreatOptions> = {},
): ReturnType<typeof retreat> {
  let now = 0
  return retreat({
    directory,
    policy: 'cancel',
    onRestart: 'adopt',
    instruments: [madeInstrument()],
    client: { send: (async () => answers[Math.min(sent.push('cancel'), answers.length) - 1]) as never },
    logger: SILENT,
    clock: { now: () => now, monotonic: () => now },
    timers: {
      after(ms, callback) {
        now += ms
        queueMicrotask(callback)
        return () => undefined
      },
    },
    idle: async () => void sent.push('idle'),
    patienceMs: 10_000,
    ...change,
  })
}

describe('[RSK3] a retreat without a journal', () => {
  test.each([
    ['finds nothing', [ONE, NONE]],
    ['is told that nothing is there', [ONE, GONE]],
  ])('cancels at once, and again when all is answered, until a round %s', async (_, answers) => {
    expect(await retreatWith(answers)).toBe('cancelled')

    expect(sent).toEqual(['cancel', 'idle', 'cancel'])
  })

  test('goes on where an answer is lost or orders are left', async () => {
    expect(await retreatWith([TIMED_OUT, TIMED_OUT, ONE, NONE])).toBe('cancelled')
  })

  test('ends unproved when its time is over', async () => {
    expect(await retreatWith([TIMED_OUT])).toBe('unproved')
  })

  test('leaves everything where the operator wants that', async () => {
    expect(await retreatWith([ONE], { policy: 'leave' })).toBe('left')

    expect([sent, hasRetreated(directory)]).toEqual([[], false])
  })

  test('is noted, so that the next life does not believe its book', async () => {
    await retreatWith([NONE])
    expect(hasRetreated(directory)).toBe(true)

    forgetRetreat(directory)
    expect(hasRetreated(directory)).toBe(false)
  })

  test('cancels without a note only where the next life looks anyway', async () => {
    rmSync(directory, { recursive: true })

    expect(await retreatWith([NONE], { onRestart: 'adopt' })).toBe('left')
    expect(await retreatWith([NONE], { onRestart: 'cancel' })).toBe('cancelled')
  })
})
