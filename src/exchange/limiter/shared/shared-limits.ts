import type { Clock } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/failure.ts'
import type { Timers } from '../../../lib/timers.ts'
import { DRIFT } from '../call-window.ts'
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
  /** `without`: limits that are too small for an even share of them, so that no call leaves. */
  readonly onLost: (reason: string, without: readonly string[]) => void
  /** No call leaves until it is no member too many any more. */
  readonly onRefused: (reason: string) => void
  readonly onJoined: (members: number) => void
}

/** What a member holds, for whoever looks. */
export interface SharedLimitsView {
  /** `joining`: it has not been answered yet, and makes few calls. `refused`: it makes none. */
  readonly state: 'joining' | 'shared' | 'alone' | 'refused'
  /** Since when, Unix ms. */
  readonly since: number
  /** Why it shares nothing. */
  readonly reason: string | undefined
  /** Daemons that share now, this one too; 0 where it shares nothing. */
  readonly members: number
  readonly membersMax: number
  /** `mayMake`: calls a window that it may make now, of those that all members may make together. */
  readonly limits: (Pick<Shared, 'name' | 'calls' | 'perMs' | 'gone'> & {
    readonly mayMake: number
  })[]
}

interface Shared {
  /** The endpoint's, for whoever looks. */
  readonly name: string
  readonly calls: number
  readonly perMs: number
  readonly even: number
  readonly kept: number
  readonly readUse: () => LimitUse
  readonly onMore: () => void
  held: number
  target: number
  /** What daemons that ended or are cut off may still have called of it, as Redis said last. */
  gone: number
  /** Since when the target is below what was held then: monotonic ms. */
  easing: { readonly from: number; readonly at: number } | undefined
  /** The most that was wanted in this and the last period in which needs are looked at. */
  need: number
  needBefore: number
}

/** A share lasts so long without being renewed, ms, and is renewed this often. */
const LASTING_MS = 3000
const RENEW_MS = 400
/** What is in use of a share, and this part of it more: the limiter keeps a part of its calls for what reduces risk. */
const USED_MARGIN = 0.05
/** It counts as over so much before its end, as a share of it: two clocks do not run alike. */
const MARGIN = 0.1
/** An answer that takes longer is none, ms. */
export const ANSWER_MS_MAX = 1000
/** A report is carried out so long after it was sent at the latest: its own time, and that of the answer before it. */
const SLACK_MS = 2 * ANSWER_MS_MAX
/** Needs are remembered for two of these, ms. */
const NEED_MS = 1000
/** Not answered yet, but not for longer than this: before it nothing leaves at a start anyway, ms. */
const JOINING_MS = 1200
/** One too many, but not for longer than this: whoever was killed and started again is its own ghost so long, ms. */
const REFUSED_QUIETLY_MS = LASTING_MS + 2 * RENEW_MS

/**
 * A member's shares of the limits of its address:
 *
 *     joining ──no answer──► alone
 *     joining, alone, refused ──granted──► shared ──not renewed in time──► alone
 *     joining, alone ──one too many, or other terms than the others'──► refused
 *
 * What is held is a number of calls a window, never more in all members together than the limit. A call given back to
 * the others is one that counts for nobody any more, and what is in use is given back over a window, so that calls go
 * on meanwhile. Who joins waits for the first answer: a run of it before may still count there. Alone, who held more than an even share falls to it at once; who
 * had lent of its own takes it back when whoever borrowed it must have fallen. Who is refused makes no call, with Redis
 * or without: all there is belongs to the others.
 */
export class SharedLimits {
  readonly #options: SharedLimitsOptions
  readonly #limits: Shared[] = []
  /** Of the shares that are held, by both clocks of the machine. */
  #deadline: { readonly monotonic: number; readonly now: number } | undefined
  /** The server's time was this at a moment between question and answer, both monotonic ms. */
  #server: { readonly now: number; readonly asked: number; readonly answered: number } | undefined
  #sentAt: number
  readonly #startedAt: number
  #isAsking = false
  #state: SharedLimitsView['state'] = 'joining'
  #since: number
  #reason: string | undefined
  /** Since when it is one too many, monotonic ms. */
  #refusedAt: number | undefined
  #refusal = ''
  #members = 0
  #sequence = 0
  #needsSince: number
  #isStopped = false
  #cancel: () => void

  constructor(options: SharedLimitsOptions) {
    this.#options = options
    this.#sentAt = options.clock.monotonic()
    this.#startedAt = this.#sentAt
    this.#needsSince = this.#sentAt
    this.#since = options.clock.now()
    this.#cancel = options.timers.after(0, () => void this.#ask())
  }

  /** Members that share, this one too; 0 when it is alone. */
  get members(): number {
    return this.#isSharing() ? this.#members : 0
  }

  /** Shares a limit. The answer tells how many calls of a window may be made now. */
  add(limit: Pick<Shared, 'name' | 'calls' | 'perMs' | 'readUse' | 'onMore'>): () => number {
    const even = Math.floor(limit.calls / this.#options.members)
    const kept = Math.ceil(even * KEPT_SHARE)
    const shared: Shared = {
      ...limit,
      even,
      kept,
      held: kept,
      target: kept,
      gone: 0,
      easing: undefined,
      need: 0,
      needBefore: 0,
    }
    this.#limits.push(shared)
    return () => this.#mayMake(shared)
  }

  view(): SharedLimitsView {
    const members = this.members
    return {
      state: this.#state === 'shared' && members === 0 ? 'alone' : this.#state,
      since: this.#since,
      reason: this.#reason,
      members,
      membersMax: this.#options.members,
      limits: this.#limits.map((limit) => {
        const { name, calls, perMs, gone } = limit
        return {
          name,
          calls,
          perMs,
          gone: members === 0 ? 0 : gone,
          mayMake: this.#mayMake(limit),
        }
      }),
    }
  }

  async stop(): Promise<void> {
    const isSharing = this.#isSharing()
    this.#isStopped = true
    this.#cancel()
    if (isSharing) await this.#report(true).catch(() => undefined)
    this.#options.store.close()
  }

  #mayMake(limit: Shared): number {
    if (this.#isStopped || this.#refusedAt !== undefined || this.#state === 'joining') return 0
    return this.#isSharing() ? Math.min(limit.held, this.#boundOf(limit)) : limit.held
  }

  /** What is to be held now, on the way to its target. */
  #boundOf({ target, easing, perMs, need, needBefore }: Shared): number {
    if (easing === undefined) return target
    const passed = (this.#options.clock.monotonic() - easing.at) / perMs
    const eased = Math.floor(easing.from - (easing.from - target) * passed)
    const used = Math.ceil(Math.max(need, needBefore) * (1 + USED_MARGIN))
    return Math.max(target, Math.min(eased, used))
  }

  /** Whether the shares are held still; falls to what may be had alone when they are not. */
  #isSharing(): boolean {
    if (this.#deadline === undefined) return false
    const { clock } = this.#options
    if (clock.monotonic() < this.#deadline.monotonic && clock.now() < this.#deadline.now)
      return true
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
    const answered = clock.monotonic()
    if (answered - asked > ANSWER_MS_MAX || this.#isStopped) return
    this.#server = { now, asked, answered }
    await this.#report(false)
  }

  async #report(isLeaving: boolean): Promise<void> {
    const { clock, store, id, members } = this.#options
    if (this.#server === undefined) return
    const asked = { monotonic: clock.monotonic(), now: clock.now() }
    this.#sentAt = asked.monotonic
    const { now, asked: before, answered } = this.#server
    const answer = await store.report({
      id,
      sequence: ++this.#sequence,
      members,
      lastingMs: LASTING_MS,
      slackMs: SLACK_MS,
      isLeaving,
      isNew: this.#state === 'joining',
      sentAt: Math.floor(now + (asked.monotonic - answered) * (1 - DRIFT)),
      notAfter: Math.floor(now + asked.monotonic - before + ANSWER_MS_MAX),
      limits: this.#limits.map((limit) => {
        const { inside } = limit.readUse()
        limit.held = Math.max(inside, Math.min(limit.held, isLeaving ? 0 : this.#boundOf(limit)))
        const need = Math.max(limit.need, limit.needBefore)
        return {
          calls: limit.calls,
          lockMs: this.#lockMsOf(limit),
          held: limit.held,
          need,
        }
      }),
    })
    if (isLeaving || this.#isStopped) return
    const answeredAt = clock.monotonic()
    if (answeredAt - asked.monotonic > ANSWER_MS_MAX) throw new Error('the answer came late')
    this.#server = { now: answer.now, asked: asked.monotonic, answered: answeredAt }
    this.#take(answer, asked)
  }

  #take(answer: ShareAnswer, asked: { readonly monotonic: number; readonly now: number }): void {
    if (answer.kind === 'late') return this.#lose(REFUSALS.late)
    if (answer.kind !== 'granted') return this.#refuse(REFUSALS[answer.kind])
    const ms = LASTING_MS * (1 - MARGIN)
    this.#refusedAt = undefined
    this.#deadline = { monotonic: asked.monotonic + ms, now: asked.now + ms }
    this.#members = answer.live ?? 0
    for (const [index, limit] of this.#limits.entries()) {
      const share = answer.limits?.[index]
      if (share === undefined) continue
      limit.held = share.held
      limit.target = share.target
      limit.gone = share.gone
      if (share.target >= share.held) limit.easing = undefined
      else limit.easing ??= { from: share.held, at: asked.monotonic }
    }
    if (this.#enter('shared')) this.#options.onJoined(this.#members)
    for (const limit of this.#limits) limit.onMore()
  }

  #lose(reason: string): void {
    if (this.#isSharing() || this.#isStopped) return
    const isEarly = this.#options.clock.monotonic() - this.#startedAt < JOINING_MS
    if (this.#state === 'joining' && isEarly) return
    // Nobody says that there is room now.
    if (this.#refusedAt !== undefined) return this.#refuse(this.#refusal, `; and now: ${reason}`)
    if (!this.#enter('alone', reason)) return
    for (const limit of this.#limits) limit.onMore()
    const without = this.#limits.filter(({ even }) => even === 0).map(({ name }) => name)
    this.#options.onLost(reason, without)
  }

  #refuse(refusal: string, more = ''): void {
    const now = this.#options.clock.monotonic()
    this.#refusedAt ??= now
    this.#refusal = refusal
    if (this.#isStopped || now - this.#refusedAt < REFUSED_QUIETLY_MS) return
    if (this.#enter('refused', refusal + more)) this.#options.onRefused(refusal + more)
    else this.#reason = refusal + more
  }

  /** @returns whether it was not in that state before */
  #enter(state: SharedLimitsView['state'], reason?: string): boolean {
    if (this.#state === state) return false
    this.#state = state
    this.#since = this.#options.clock.now()
    this.#reason = reason
    return true
  }
}

const REFUSALS = {
  late: 'the server took the report too late',
  full: 'as many daemons share the address already as exchange.shared.members says',
  differs: 'other daemons of the address have other exchange.shared.members or exchange.limitsUse',
} as const
