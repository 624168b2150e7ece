import { describe, expect, test } from 'vitest'
import { TrustedClock } from '../../src/exchange/clock/exchange-clock.ts'
import { ManualTime } from '../support/manual-time.ts'

const AT = 1_700_000_000_000
const AHEAD_MS = 700
const MINUTE_MS = 60_000

/** A machine and an exchange; the machine's clock can be set, and it can sleep. */
function createWorld() {
  const machine = new ManualTime(AT)
  const trusted = new TrustedClock(machine)
  const reported: string[] = []
  const settled: number[] = []
  trusted.listen({
    onUnsynchronised: (movedMs) => reported.push(`unsynchronised ${movedMs}`),
    onSettled: (verdict, { movedMs }) => {
      reported.push(verdict)
      settled.push(Math.round(movedMs))
    },
    onJump: ({ movedMs }) => reported.push(`jump ${movedMs}`),
    onApart: (apart) =>
      reported.push(apart === undefined ? 'agrees' : `apart ${apart.publicMs - apart.signedMs}`),
  })
  let exchangeAheadMs = AHEAD_MS
  /** One answer of the exchange, 20 ms on its way. */
  const hear = (): void => {
    const sentAt = trusted.clock.now()
    const requestTime = AT + machine.monotonic() + exchangeAheadMs
    trusted.offset.observe({ requestTime, sentAt: sentAt - 10, receivedAt: sentAt + 10 }, 'signed')
  }
  const trueNow = (): number => AT + machine.monotonic() + exchangeAheadMs
  /** Time that the monotonic clock does not count. */
  const sleep = (ms: number): void => {
    exchangeAheadMs += ms
    machine.setClock(machine.now() + ms)
  }
  const setExchange = (ms: number): void => {
    exchangeAheadMs += ms
  }
  hear()
  hear()
  return { machine, trusted, reported, settled, hear, sleep, setExchange, trueNow }
}

describe('the clock that is trusted', () => {
  test('is not synchronised by one answer, nor by two that contradict each other', () => {
    const trusted = new TrustedClock(new ManualTime(AT))
    const answerAt = (aheadMs: number) => ({
      requestTime: AT + aheadMs,
      sentAt: AT - 10,
      receivedAt: AT + 10,
    })

    trusted.offset.observe(answerAt(5 * MINUTE_MS), 'signed')
    expect(trusted.isSynchronised).toBe(false)
    trusted.offset.observe(answerAt(0), 'signed')
    expect(trusted.isSynchronised).toBe(false)
    trusted.offset.observe(answerAt(0), 'signed')

    expect([trusted.isSynchronised, trusted.offset.offsetMs]).toEqual([true, 0])
  })

  test.each([5 * MINUTE_MS, -5 * MINUTE_MS])(
    'is unsynchronised after the machine’s was set by %i ms, until two answers agree',
    async (byMs) => {
      const { machine, trusted, reported, settled, hear } = createWorld()
      machine.setClock(AT + byMs)

      expect(trusted.isSynchronised).toBe(false)
      await machine.pass(100)
      hear()
      expect(trusted.isSynchronised).toBe(false)
      hear()

      expect([trusted.isSynchronised, trusted.clock.now(), trusted.offset.offsetMs]).toEqual([
        true,
        AT + 100,
        AHEAD_MS,
      ])
      expect(reported).toEqual([`unsynchronised ${byMs}`, 'stepped'])
      expect(settled).toEqual([byMs])
    },
  )

  test('catches up after a sleep, and the exchange is as far ahead as it was', async () => {
    const { machine, trusted, reported, hear, sleep, trueNow } = createWorld()
    sleep(10 * MINUTE_MS)

    expect(trusted.isSynchronised).toBe(false)
    await machine.pass(100)
    hear()
    hear()

    expect(trusted.clock.now()).toBe(AT + 10 * MINUTE_MS + 100)
    expect(trusted.offset.exchangeNow(trusted.clock.now())).toBe(trueNow())
    expect(reported.at(-1)).toBe('slept')
  })

  test('does not believe an answer that was asked for before it was unsynchronised', () => {
    const { machine, trusted } = createWorld()
    const sentAt = trusted.clock.now() - 1
    machine.setClock(AT + MINUTE_MS)
    trusted.clock.now()

    const stale = { requestTime: AT + AHEAD_MS, sentAt, receivedAt: sentAt + 10 }
    for (let copy = 0; copy < 3; copy++) trusted.offset.observe(stale, 'signed')

    expect(trusted.isSynchronised).toBe(false)
  })

  test('does not follow an exchange that sets its own clock', async () => {
    const { machine, trusted, reported, hear, setExchange } = createWorld()
    setExchange(MINUTE_MS)

    hear()
    expect(trusted.isSynchronised).toBe(false)
    hear()
    await machine.pass(50)

    expect([trusted.isSynchronised, trusted.clock.now()]).toEqual([true, AT + 50])
    expect(reported).toEqual([`jump ${MINUTE_MS}`])
  })

  test('is synchronised again after one odd answer that nothing confirms', () => {
    const { trusted, hear, setExchange, reported } = createWorld()
    setExchange(MINUTE_MS)
    hear()
    setExchange(-MINUTE_MS)
    hear()

    expect([trusted.isSynchronised, trusted.offset.offsetMs, reported]).toEqual([
      true,
      AHEAD_MS,
      [],
    ])
  })
})
