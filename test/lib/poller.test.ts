import { describe, expect, it } from 'vitest'
import { Poller } from '../../src/lib/poller.ts'
import { ManualTime } from '../support/manual-time.ts'

/** A poller of 1000 ms on a clock that begins 300 ms into a slot, with polls that take `tookMs`. */
function createPolling(tookMs = 0) {
  const time = new ManualTime(50_300)
  const polled: number[] = []
  const began: number[] = []
  const errors: unknown[] = []
  const polling = {
    time,
    polled,
    began,
    errors,
    tookMs,
    failWith: undefined as Error | undefined,
    poller: new Poller({
      intervalMs: 1000,
      clock: time,
      timers: time,
      onError: (error) => errors.push(error),
      poll: async (slotAt) => {
        polled.push(slotAt)
        began.push(time.now())
        if (polling.failWith) throw polling.failWith
        if (polling.tookMs > 0) await new Promise<void>((done) => time.after(polling.tookMs, done))
      },
    }),
  }
  return polling
}

describe('the poller', () => {
  it('polls at the multiples of its interval on the clock', async () => {
    const { poller, time, polled } = createPolling(120)

    poller.start()
    await time.pass(3000)

    expect(polled).toEqual([51_000, 52_000, 53_000])
    expect(poller.stats.polls).toBe(3)
    expect(poller.stats.lateness.maxMs).toBeCloseTo(0)
    await poller.stop()
  })

  it('begins at once when it is started on a slot', async () => {
    const { poller, time, polled } = createPolling()
    time.setClock(51_000)

    poller.start()
    await time.pass(0)

    expect(polled).toEqual([51_000])
    await poller.stop()
  })

  it('never overlaps itself: slots that pass during a poll are skipped', async () => {
    const { poller, time, polled, began } = createPolling(2500)

    poller.start()
    await time.pass(8000)

    expect(polled).toEqual([51_000, 54_000, 57_000])
    expect(began).toEqual(polled)
    await Promise.all([poller.stop(), time.pass(3000)])
  })

  it('polls only the youngest slot after the process was held up, and says how late it was', async () => {
    const { poller, time, polled, began } = createPolling()

    poller.start()
    await time.block(3900)
    await time.pass(1000)

    expect(polled).toEqual([54_000, 55_000])
    expect(began).toEqual([54_200, 55_000])
    expect(poller.stats.lateness.maxMs).toBeCloseTo(3200, -2)
    await poller.stop()
  })

  it('waits for the rest when a timer fires too early', async () => {
    const { poller, time, polled, began } = createPolling()

    poller.start()
    time.setClock(50_299.5)
    await time.pass(702)

    expect(polled).toEqual([51_000])
    expect(began).toEqual([51_000])
    await poller.stop()
  })

  it('goes on within one interval when the clock is set back', async () => {
    const { poller, time, polled } = createPolling()
    poller.start()
    await time.pass(700)

    time.setClock(10_000)
    await time.pass(2000)

    expect(polled).toEqual([51_000, 11_000, 12_000])
    await poller.stop()
  })

  it('reports a poll that throws and polls the next slot all the same', async () => {
    const polling = createPolling()
    const { poller, time, polled, errors } = polling
    polling.failWith = new Error('connection lost')

    poller.start()
    await time.pass(2000)

    expect(polled).toEqual([51_000, 52_000])
    expect(errors).toEqual([polling.failWith, polling.failWith])
    await poller.stop()
  })

  it('survives a poll that throws before it returns a promise', async () => {
    const time = new ManualTime(50_300)
    const errors: unknown[] = []
    const poller = new Poller({
      intervalMs: 1000,
      clock: time,
      timers: time,
      onError: (error) => errors.push(error),
      poll: () => {
        throw new Error('at once')
      },
    })

    poller.start()
    await time.pass(2000)
    await poller.stop()
    poller.start()
    await time.pass(1000)

    expect(errors).toHaveLength(3)
    await poller.stop()
  })

  it('awaits the poll under way when it is stopped, and leaves no timer behind', async () => {
    const { poller, time, polled } = createPolling(500)
    poller.start()
    await time.pass(800)

    let isStopped = false
    const stopping = poller.stop().then(() => {
      isStopped = true
    })
    await time.pass(300)
    expect(isStopped).toBe(false)
    await time.pass(5000)
    await stopping

    expect(isStopped).toBe(true)
    expect(polled).toEqual([51_000])
    expect(time.timersWaiting).toBe(0)
  })

  it('cancels its wait when it is stopped between polls', async () => {
    const { poller, time, polled } = createPolling()
    poller.start()

    await poller.stop()
    await time.pass(5000)

    expect(polled).toEqual([])
    expect(time.timersWaiting).toBe(0)
  })

  it('starts once, however often it is told to, and again during the last poll of before', async () => {
    const { poller, time, polled } = createPolling(500)
    poller.start()
    poller.start()
    await time.pass(800)

    const stopping = poller.stop()
    poller.start()
    await time.pass(2000)
    await stopping

    expect(polled).toEqual([51_000, 52_000, 53_000])
    await Promise.all([poller.stop(), time.pass(1000)])
  })

  it('refuses an interval that is no whole number of milliseconds', () => {
    const { time } = createPolling()
    const options = {
      clock: time,
      timers: time,
      onError: () => undefined,
      poll: async () => undefined,
    }

    for (const intervalMs of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => new Poller({ ...options, intervalMs })).toThrow(RangeError)
    }
  })
})
