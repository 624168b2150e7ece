import { type Answer } from '../../../src/domain/answer.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { symbolsNow, type World, type WorldWatcher, violate } from '../world/world.ts'

/** Pause after a final refusal of a read; it doubles up to the maximum. */
const PAUSE_MS = 1000
const PAUSE_MS_MAX = 16_000

/** From the end of a pause: the next poll, the grant, and an answer or its time-out. */
const HEARD_WITHIN_MS = 2500

/** After this many different refused reads with nothing accepted between, one asks for all. */
const REFUSED_MAX = 3

/** A process without `timePassed` for so long stands still, or its clock was set. */
const STILL_MS = 500

/** The limiter delays reads this long after a 429. */
const LIMITED_MS = 60_000

/** Refusals of the whole account, by codes and by a page in front of the exchange. */
const OF_ACCOUNT = /^refused 400(06|18|37):/

/** What has left the account is read no more. */
function forgetLeft(world: World, waiting: Map<string, RefusedRead>): void {
  const read = new Set(symbolsNow(world).map((symbol) => `position ${symbol}`))
  for (const what of waiting.keys())
    if (what.startsWith('position ') && !read.has(what)) waiting.delete(what)
}

interface RefusedRead {
  readonly at: number
  readonly isOfAccount: boolean
}

/**
 * A refused read is repeated within seconds, and at once after another private call was accepted.
 */
export function watchRefusedReads(world: World): WorldWatcher {
  /** Waiting reads; consecutive refusals of each; refusals since the last acceptance. */
  const waiting = new Map<string, RefusedRead>()
  const inRow = new Map<string, number>()
  const refusedSince = new Set<string>()
  const times = {
    accepted: Number.NEGATIVE_INFINITY,
    /** All waited for one of them until then. */
    freed: Number.NEGATIVE_INFINITY,
    heard: 0,
    limited: Number.NEGATIVE_INFINITY,
    stepped: 0,
  }

  /** After a standstill waits are not judged. The process still knows the number of refusals. */
  const forget = (now: number): void => {
    waiting.clear()
    refusedSince.clear()
    Object.assign(times, { heard: now, stepped: now })
  }
  const hear = (what: string, event: EngineEvent, now: number): void => {
    times.heard = now
    waiting.delete(what)
    if (event.kind === 'fillsRead' || event.kind === 'positionRead') inRow.delete(what)
    if (event.kind !== 'readFailed' || !isRefusedForGood(event)) return
    const isOfAccount = isPage(event) || OF_ACCOUNT.test(event.reason)
    waiting.set(what, { at: now, isOfAccount })
    inRow.set(what, (inRow.get(what) ?? 0) + 1)
    if (isOfAccount) refusedSince.add(what)
  }
  const dueAt = (what: string, { at, isOfAccount }: RefusedRead): number => {
    const count = inRow.get(what) ?? 1
    const ownAt = at + Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** (count - 1))
    if (!isOfAccount || times.accepted < at) return Math.max(ownAt, times.freed)
    return Math.max(
      times.freed,
      Math.min(ownAt, Math.max(times.accepted, count === 1 ? at : at + PAUSE_MS)),
    )
  }

  return {
    onBirth() {
      inRow.clear()
      forget(0)
    },
    afterStep(event, _effects, now) {
      if (Math.abs(now - times.stepped) > STILL_MS || world.process.engine?.phase !== 'running')
        forget(now)
      times.stepped = now
      if (isRateLimited(event)) times.limited = now
      if (world.plan.universe) forgetLeft(world, waiting)
      if (isAccepted(event)) {
        times.accepted = now
        if (refusedSince.size >= REFUSED_MAX) times.freed = now
        refusedSince.clear()
      }
      const what = readOf(event)
      if (what !== undefined) hear(what, event, now)
      if (now - times.limited < LIMITED_MS) return
      if (refusedSince.size >= REFUSED_MAX) {
        if (now - times.heard > PAUSE_MS_MAX + HEARD_WITHIN_MS)
          violate(world, 'MKT3', `nothing is read for ${now - times.heard} ms after refusals`)
        return
      }
      for (const [read, refused] of waiting) {
        if (now <= dueAt(read, refused) + HEARD_WITHIN_MS) continue
        violate(world, 'MKT3', `${read} is not read again ${now - refused.at} ms after a refusal`)
      }
    },
  }
}

/** Reads that wait because they were refused; {@link watchRefusedReads} says how long they may. */
export class PausedReads {
  readonly #reads = new Set<string>()

  restart(): void {
    this.#reads.clear()
  }

  note(event: EngineEvent): void {
    const what = readOf(event)
    if (what === undefined) return
    if (event.kind === 'readFailed' && isRefusedForGood(event)) this.#reads.add(what)
    else this.#reads.delete(what)
  }

  /** Without them no order of the instrument can be known to have ended. */
  holdUp(symbol: string): boolean {
    return this.#reads.has('fills') || this.#reads.has(`position ${symbol}`)
  }
}

type FailedRead = Extract<EngineEvent, { kind: 'readFailed' }>

/** A page in front of the exchange refuses too, though the exchange itself said nothing. */
function isRefusedForGood(event: FailedRead): boolean {
  return event.isRefused === true || isPage(event)
}

function isPage({ status }: FailedRead): boolean {
  return status === 401 || status === 403
}

function readOf(event: EngineEvent): string | undefined {
  if (event.kind === 'fillsRead') return 'fills'
  if (event.kind === 'positionRead') return `position ${event.reading.symbol}`
  if (event.kind === 'positionUnreadable') return `position ${event.symbol}`
  if (event.kind !== 'readFailed') return undefined
  return event.what === 'fills' || event.what.startsWith('position ') ? event.what : undefined
}

function answerOf(event: EngineEvent): Answer<unknown> | undefined {
  return event.kind === 'batchAnswered' ||
    event.kind === 'cancelAnswered' ||
    event.kind === 'callAnswered'
    ? event.answer
    : undefined
}

function isAccepted(event: EngineEvent): boolean {
  return (
    event.kind === 'fillsRead' ||
    event.kind === 'positionRead' ||
    answerOf(event)?.kind === 'accepted'
  )
}

function isRateLimited(event: EngineEvent): boolean {
  if (event.kind === 'readFailed') return event.status === 429
  const answer = answerOf(event)
  return answer?.kind === 'refused' && answer.topic === 'rate'
}
