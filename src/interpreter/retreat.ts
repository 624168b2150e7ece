import type { Answer } from '../domain/answer.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { Announcement } from '../engine/effect.ts'
import type { StopPolicy } from '../engine/event.ts'
import type { BatchResult } from '../protocol/values.ts'
import { LIMITER_PRIORITY } from './order-sender.ts'
import type { Ports } from './ports.ts'

const ROUND_MS = 1000
const LOOK_MS = 50

export type RetreatEnd = 'left' | 'cancelled' | 'unproved'

export interface RetreatOptions {
  readonly ports: Pick<Ports, 'clock' | 'timers' | 'exchange' | 'retreatNote' | 'announcements'>
  readonly policy: StopPolicy
  readonly onRestart: 'cancel' | 'adopt'
  readonly instruments: readonly Instrument[]
  readonly isSending: () => boolean
  /** Returns whether another process has the right to send. */
  readonly isBarred?: () => boolean
  readonly patienceMs: number
  readonly onEnd: (end: RetreatEnd) => void
}

/**
 * How a run ends when its journal cannot be written, or its program is broken. A cancel-all is safe
 * without a record, so resting orders are left or cancelled as `onStop` says. Positions stay: an
 * order without a record could be doubled after the restart (ORD1).
 *
 *     leave ──────────────────────────────────────────────────────────► left
 *     cancel, flatten ──noted, or looked at anyway──► cancelling ──a round that finds nothing──► cancelled
 *                     └──no note can be made─► left        └──the time is over──► unproved
 */
export class Retreat {
  readonly #options: RetreatOptions
  readonly #endAt: number

  constructor(options: RetreatOptions) {
    this.#options = options
    this.#endAt = options.ports.clock.monotonic() + options.patienceMs
  }

  start(): void {
    const { ports, policy, onRestart } = this.#options
    // A run that cancels everything at its start needs no note.
    const cancels = policy !== 'leave' && (ports.retreatNote.leave() || onRestart === 'cancel')
    if (cancels) this.#cancelRound(() => this.#waitForAnswers())
    else ports.timers.after(0, () => this.#end('left'))
  }

  #waitForAnswers(): void {
    const { ports, isSending } = this.#options
    if (isSending()) ports.timers.after(LOOK_MS, () => this.#waitForAnswers())
    else this.#cancelUntilNothing()
  }

  #cancelUntilNothing(): void {
    const { timers } = this.#options.ports
    this.#cancelRound((hasFound) => {
      if (!hasFound) this.#end('cancelled')
      else if (this.#isOver) this.#end('unproved')
      else timers.after(ROUND_MS, () => this.#cancelUntilNothing())
    })
  }

  get #isOver(): boolean {
    const { ports, isBarred } = this.#options
    return ports.clock.monotonic() >= this.#endAt || isBarred?.() === true
  }

  /**
   * Instruments come one after the other, since the last of many would give up before a grant. A
   * round found nothing if each was answered and named no order.
   */
  #cancelRound(then: (hasFound: boolean) => void): void {
    const { instruments, ports } = this.#options
    const cancelFrom = (index: number, hasFound: boolean): void => {
      const instrument = instruments[index]
      if (instrument === undefined) return then(hasFound)
      this.#cancel(instrument, (orders, isSent) => {
        if (isSent || this.#isOver) cancelFrom(index + 1, hasFound || orders !== 0)
        else ports.timers.after(LOOK_MS, () => cancelFrom(index, hasFound))
      })
    }
    cancelFrom(0, false)
  }

  #cancel(
    { symbol, productType, marginCoin }: Instrument,
    then: (orders: number | undefined, isSent: boolean) => void,
  ): void {
    const body = JSON.stringify({ symbol, productType, marginCoin })
    this.#options.ports.exchange.cancelAll(
      body,
      { priority: LIMITER_PRIORITY.reduce },
      (answer) => {
        const orders = countOrders(answer)
        const isSent = answer.kind !== 'refused' || answer.class !== 'notSent'
        if (answer.kind === 'accepted')
          this.#announce('warn', 'retreat.cancelled', { symbol, orders })
        else if (orders === undefined && isSent) {
          this.#announce('error', 'retreat.failed', {
            symbol,
            code: answer.code,
            reason: answer.message,
          })
        }
        then(orders, isSent)
      },
    )
  }

  #end(end: RetreatEnd): void {
    const { policy, onEnd } = this.#options
    this.#announce(end === 'unproved' ? 'error' : 'warn', 'retreat.ended', { policy, end })
    onEnd(end)
  }

  #announce(
    level: Announcement['level'],
    event: Announcement['event'],
    fields: Announcement['fields'],
  ): void {
    this.#options.ports.announcements.announce({ kind: 'announce', level, event, fields })
  }
}

function countOrders(answer: Answer<BatchResult>): number | undefined {
  if (answer.kind === 'accepted')
    return answer.data.successList.length + answer.data.failureList.length
  return answer.kind === 'refused' && answer.topic === 'orderGone' ? 0 : undefined
}
