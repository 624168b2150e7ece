import { type Clock } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/failure.ts'
import { type Timers } from '../../../lib/timers.ts'
import { DRIFT } from '../arrival-bounds.ts'
import type { ShareStore } from './redis-store.ts'
import { KEPT_SHARE, type ShareAnswer } from './share-script.ts'

/** What a member uses of a limit just now. */
export interface LimitUse {
  /** Calls that still count. */
  readonly inside: number
  readonly waiting: number
}

export interface SharedLimitsOptions {
  readonly store: ShareStore
  /** Names this process among all members. */
  readonly id: string
  /** Daemons that call from the address at a time, at most. */
  readonly members: number
  /** How late after its grant a call may reach the exchange, ms. */
  readonly lateMs: number
  /** The machine's own: one that makes up for jumps would hide a sleep. */
  readonly clock: Clock
  readonly timers: Timers
  readonly onLost: (reason: string) => void
  readonly onJoined: (members: number) => void
}

interface Shared {
  readonly calls: number
  readonly perMs: number
  readonly even: number
  readonly kept: number
  readonly readUse: () => LimitUse
  readonly onMore: () => void
  held: number
  target: number
  /** The most that was wanted in this and the last period in which needs are looked at. */
  need: number
  needBefore: number
}

/** A share lasts so long without being renewed, ms, and is renewed this often. */
const LASTING_MS = 3000
const RENEW_MS = 400
/** It counts as over so much before its end, as a share of it: two clocks do not run alike. */
const MARGIN = 0.1
/** An answer that takes longer is none, ms. */
export const ANSWER_MS_MAX = 1000
/** A report is carried out so long after it was sent at the latest: its own time, and that of the answer before it. */
const SLACK_MS = 2 * ANSWER_MS_MAX
/** Needs are remembered for two of these, ms. */
const NEED_MS = 1000

/**
 * A member's shares of the limits of its address:
 *
 *     alone ──a report is answered──► sharing ──not renewed in time──► alone
 *
 * What is held is a number of calls a window, never more in all members together than the limit. A call given back to
 * the others is one that counts for nobody any more. Alone, who held more than an even share falls to it at once; who
 * had lent of its own takes it back when whoever borrowed it must have fallen.
 */
export class SharedLimits {
  readonly #options: SharedLimitsOptions
  readonly #limits: Shared[] = []
  /** Of the shares that are held, by both clocks of the machine. */
  #deadline: { readonly monotonic: number; readonly now: number } | undefined
  /** The server's time at an answer is after that of its question, and so not before this. */
  #server: { readonly now: number; readonly asked: number } | undefined
  #sentAt: number
  #isAsking = false
  #isRefused = false
  #isSaidLost = false
  #members = 0
  #sequence = 0
  #needsSince: number
  #isStopped = false
  #cancel: () => void

  constructor(options: SharedLimitsOptions) {
    this.#options = options
    this.#sentAt = options.clock.monotonic()
    this.#needsSince = this.#sentAt
    this.#cancel = options.timers.after(0, () => void this.#ask())
  }

  /** Members that share, this one too; 0 when it is alone. */
  get members(): number {
    return this.#isSharing() ? this.#members : 0
  }

  /** Shares a limit. The answer tells how many calls of a window may be made now. */
  add(limit: Pick<Shared, 'calls' | 'perMs' | 'readUse' | 'onMore'>): () => number {
    const even = Math.floor(limit.calls / this.#options.members)
    const kept = Math.ceil(even * KEPT_SHARE)
    const shared: Shared = { ...limit, even, kept, held: kept, target: kept, need: 0, needBefore: 0 }
    this.#limits.push(shared)
    return () => this.#mayMake(shared)
  }

  async stop(): Promise<void> {
    const isSharing = this.#isSharing()
    this.#isStopped = true
    this.#cancel()
    if (isSharing) await this.#report(true).catch(() => undefined)
    this.#options.store.close()
  }

  #mayMake(limit: Shared): number {
    if (this.#isStopped || this.#isRefused) return 0
    if (this.#isSharing()) return Math.min(limit.held, limit.target)
    return limit.held
  }

  /** Whether the shares are held still; falls to what may be had alone when they are not. */
  #isSharing(): boolean {
    if (this.#deadline === undefined) return false
    const { clock } = this.#options
    if (clock.monotonic() < this.#deadline.monotonic && clock.now() < this.#deadline.now) return true
    this.#deadline = undefined
    for (const limit of this.#limits) limit.held = Math.min(limit.held, limit.even)
    return false
  }

  async #ask(): Promise<void> {
    this.#cancel = this.#options.timers.after(RENEW_MS, () => void this.#ask())
    this.#notice()
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      if (this.#isSharing()) await this.#report(false)
      else await this.#join()
    } catch (error) {
      this.#lose(messageOf(error))
    } finally {
      this.#isAsking = false
    }
  }

  /** Needs, and what is one's own again. */
  #notice(): void {
    const now = this.#options.clock.monotonic()
    const isOver = now - this.#needsSince > NEED_MS
    if (isOver) this.#needsSince = now
    const isAlone = !this.#isSharing() && !this.#isAsking
    for (const limit of this.#limits) {
      const { inside, waiting } = limit.readUse()
      if (isOver) {
        limit.needBefore = limit.need
        limit.need = 0
      }
      limit.need = Math.max(limit.need, inside + waiting)
      if (!isAlone || limit.held >= limit.even || now < this.#returnsAt(limit)) continue
      limit.held = limit.even
      limit.onMore()
    }
  }

  /**
   * When whoever borrowed of this member's share must have fallen, monotonic ms: the server took the last report for
   * the beginning of a lease at the latest then, and another's was renewed at the end of that one.
   */
  #returnsAt(limit: Shared): number {
    return this.#sentAt + (SLACK_MS + 2 * LASTING_MS + this.#lockMsOf(limit)) * (1 + DRIFT)
  }

  #lockMsOf({ perMs }: Shared): number {
    return Math.ceil((perMs + this.#options.lateMs) * (1 + 2 * DRIFT))
  }

  /** Asked for the time alone: a report that the server carries out when it likes would never end. */
  async #join(): Promise<void> {
    const { clock, store } = this.#options
    const asked = clock.monotonic()
    const now = await store.readTime()
    if (clock.monotonic() - asked > ANSWER_MS_MAX || this.#isStopped) return
    this.#server = { now, asked }
    await this.#report(false)
  }

  async #report(isLeaving: boolean): Promise<void> {
    const { clock, store, id, members } = this.#options
    if (this.#server === undefined) return
    const asked = { monotonic: clock.monotonic(), now: clock.now() }
    this.#sentAt = asked.monotonic
    const elapsedMs = asked.monotonic - this.#server.asked
    const answer = await store.report({
      ...{ id, sequence: ++this.#sequence, members, lastingMs: LASTING_MS, slackMs: SLACK_MS, isLeaving },
      notAfter: Math.floor(this.#server.now + elapsedMs + ANSWER_MS_MAX),
      limits: this.#limits.map((limit) => {
        const { inside } = limit.readUse()
        // Only what counts for nobody any more is given back; what counts still is ours, whatever was taken from us.
        limit.held = Math.max(inside, Math.min(limit.held, isLeaving ? 0 : limit.target))
        const need = Math.max(limit.need, limit.needBefore)
        return { calls: limit.calls, lockMs: this.#lockMsOf(limit), held: limit.held, need }
      }),
    })
    if (isLeaving || this.#isStopped) return
    if (clock.monotonic() - asked.monotonic > ANSWER_MS_MAX) throw new Error('the answer came late')
    this.#server = { now: answer.now, asked: asked.monotonic }
    this.#take(answer, asked)
  }

  #take(answer: ShareAnswer, asked: { readonly monotonic: number; readonly now: number }): void {
    const wasSharing = this.#isSharing()
    this.#isRefused = answer.kind === 'full' || answer.kind === 'differs'
    if (answer.kind !== 'granted') {
      this.#lose(REFUSALS[answer.kind])
      return
    }
    const ms = LASTING_MS * (1 - MARGIN)
    this.#deadline = { monotonic: asked.monotonic + ms, now: asked.now + ms }
    this.#members = answer.live ?? 0
    for (const [index, limit] of this.#limits.entries()) {
      const share = answer.limits?.[index]
      if (share === undefined) continue
      limit.held = share.held
      limit.target = share.target
      limit.onMore()
    }
    if (wasSharing) return
    this.#isSaidLost = false
    this.#options.onJoined(this.#members)
  }

  #lose(reason: string): void {
    if (this.#isSharing() || this.#isSaidLost || this.#isStopped) return
    this.#isSaidLost = true
    this.#options.onLost(reason)
  }
}

const REFUSALS = {
  late: 'the server took the report too late',
  full: 'as many daemons share the address already as exchange.shared.members says',
  differs: 'other daemons of the address have other exchange.shared.members or exchange.limitsUse',
} as const
