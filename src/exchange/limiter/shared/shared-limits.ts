import type { Clock } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/failure.ts'
import type { Timers } from '../../../lib/timers.ts'
import { DRIFT } from '../arrival-bounds.ts'
import type { ShareStore } from './redis-store.ts'
import { KEPT_SHARE, type ShareAnswer } from './share-script.ts'

export interface LimitUse {
  readonly inside: number
  readonly waiting: number
}

export interface SharedLimitsOptions {
  readonly store: ShareStore
  readonly id: string
  readonly members: number
  /** Maximum delay from a grant until the exchange has the call. */
  readonly lateMs: number
  readonly clock: Clock
  readonly timers: Timers
  readonly onLost: (reason: string, without: readonly string[]) => void
  /** No call leaves until there is room for this member. */
  readonly onRefused: (reason: string) => void
  readonly onJoined: (members: number) => void
}

export interface SharedLimitsView {
  /** `joining`: not answered yet, few calls. `refused`: none. */
  readonly state: 'joining' | 'shared' | 'alone' | 'refused'
  readonly since: number
  readonly reason: string | undefined
  readonly members: number
  readonly membersMax: number
  /** Calls a window that this member may make now, and that all members together may make. */
  readonly limits: (Pick<Shared, 'name' | 'calls' | 'perMs' | 'gone'> & {
    readonly mayMake: number
  })[]
}

interface Shared {
  readonly name: string
  readonly calls: number
  readonly perMs: number
  readonly even: number
  readonly kept: number
  readonly readUse: () => LimitUse
  readonly onMore: () => void
  held: number
  target: number
  gone: number
  /** Set while the target is below what was held at `at`, monotonic ms. */
  easing: { readonly from: number; readonly at: number } | undefined
  need: number
  needBefore: number
}

/** A share lasts so long, and is renewed so often. */
const LASTING_MS = 3000
const RENEW_MS = 400
/** Allows for the calls that the limiter keeps for what reduces risk. */
const USED_MARGIN = 0.05
/** Clocks drift, so a share ends earlier by this part. */
const MARGIN = 0.1
export const ANSWER_MS_MAX = 1000
/**
 * A report is executed at most this late: it may take the maximum, and so may the answer before it.
 */
const SLACK_MS = 2 * ANSWER_MS_MAX
const NEED_MS = 1000
/** Nothing leaves before this at a start anyway. */
const JOINING_MS = 1200
/** A daemon restarted after a kill is refused because of its own former lease. */
const REFUSED_QUIETLY_MS = LASTING_MS + 2 * RENEW_MS

/**
 * A member's shares of its address's limits (docs/limits.md, "Shared with other daemons"):
 *
 *     joining ──no answer──► alone
 *     joining, alone, refused ──granted──► shared ──not renewed in time──► alone
 *     joining, alone ──one too many, or other terms than the others'──► refused
 *
 * Joining waits for the first answer, because calls of the previous run may still count. A refused
 * member makes no call, whether Redis answers or not.
 */
export class SharedLimits {
  readonly #options: SharedLimitsOptions
  readonly #limits: Shared[] = []
  /** The lease ends when either clock of the machine says so. */
  #deadline: { readonly monotonic: number; readonly now: number } | undefined
  /** The server's time was `now` between `asked` and `answered`, both monotonic ms. */
  #server: { readonly now: number; readonly asked: number; readonly answered: number } | undefined
  #sentAt: number
  readonly #startedAt: number
  #isAsking = false
  #state: SharedLimitsView['state'] = 'joining'
  #since: number
  #reason: string | undefined
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

  get members(): number {
    return this.#isSharing() ? this.#members : 0
  }

  /** @returns how many calls of a window may be made now */
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

  #boundOf({ target, easing, perMs, need, needBefore }: Shared): number {
    if (easing === undefined) return target
    const passed = (this.#options.clock.monotonic() - easing.at) / perMs
    const eased = Math.floor(easing.from - (easing.from - target) * passed)
    const used = Math.ceil(Math.max(need, needBefore) * (1 + USED_MARGIN))
    return Math.max(target, Math.min(eased, used))
  }

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
   * @returns when borrowers must have dropped, monotonic ms. Our lease began at our last report at
   * the latest, and a borrower may have renewed its own at the end of ours.
   */
  #returnsAt(limit: Shared): number {
    return this.#sentAt + (SLACK_MS + 2 * LASTING_MS + this.#lockMsOf(limit)) * (1 + DRIFT)
  }

  #lockMsOf({ perMs }: Shared): number {
    return Math.ceil((perMs + this.#options.lateMs) * (1 + 2 * DRIFT))
  }

  /** Only asks for the time, because a report without it could be executed at any later time. */
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
