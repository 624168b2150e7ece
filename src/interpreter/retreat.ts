import { type Answer } from '../domain/answer.ts'
import { type Instrument } from '../domain/instrument.ts'
import { type Announcement } from '../engine/effect.ts'
import { type StopPolicy } from '../engine/event.ts'
import { type BatchResult } from '../protocol/values.ts'
import { LIMITER_PRIORITY } from './order-sender.ts'
import { type Ports } from './ports.ts'

/** A cancel-all that failed, or found something, is repeated no sooner. */
const ROUND_MS = 1000
/** How often it is looked whether everything that left before has been answered. */
const LOOK_MS = 50

export type RetreatEnd = 'left' | 'cancelled' | 'unproved'

export interface RetreatOptions {
  readonly ports: Pick<Ports, 'clock' | 'timers' | 'exchange' | 'retreatNote' | 'announcements'>
  readonly policy: StopPolicy
  readonly onRestart: 'cancel' | 'adopt'
  readonly instruments: readonly Instrument[]
  /** Whether a call that left before is not answered yet. */
  readonly isSending: () => boolean
  /** Whether nothing may be sent any more. Absent: it always may. */
  readonly isBarred?: () => boolean
  /** How long it is tried, ms. */
  readonly patienceMs: number
  readonly onEnd: (end: RetreatEnd) => void
}

/**
 * What is left to do when the journal cannot be written, or the program is broken: nothing is created any more, and
 * what rests is left or cancelled as `onStop` says. A cancel-all needs no record to be safe, it can be repeated. A position is not
 * closed: an order without a record could be doubled after the restart (ORD1); recovery closes it.
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

  /** Cancels once at once; then, when nothing sent before can still arrive and be answered, until a round finds nothing. */
  start(): void {
    const { ports, policy, onRestart } = this.#options
    // A next run that cancels at its start needs no note.
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
   * One cancel-all an instrument; nothing was found when each was answered and none named an order. One after the
   * other: asked for at once, the last of them would never get a grant before its time is over.
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

  /** How many orders there were; undefined when that is not known. */
  #cancel(
    { symbol, productType, marginCoin }: Instrument,
    then: (orders: number | undefined, isSent: boolean) => void,
  ): void {
    const body = JSON.stringify({ symbol, productType, marginCoin })
    this.#options.ports.exchange.cancelAll(body, { priority: LIMITER_PRIORITY.reduce }, (answer) => {
      const orders = countOrders(answer)
      const isSent = answer.kind !== 'refused' || answer.class !== 'notSent'
      if (answer.kind === 'accepted') this.#announce('warn', 'retreat.cancelled', { symbol, orders })
      else if (orders === undefined && isSent) {
        this.#announce('error', 'retreat.failed', { symbol, code: answer.code, reason: answer.message })
      }
      then(orders, isSent)
    })
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
  if (answer.kind === 'accepted') return answer.data.successList.length + answer.data.failureList.length
  return answer.kind === 'refused' && answer.topic === 'orderGone' ? 0 : undefined
}
