import {
  type Network,
  originOf,
  toAnswer,
  type VirtualCall,
} from '../../../src/backtest/virtual-wire.ts'
import type { VirtualTime } from '../../../src/backtest/virtual-time.ts'
import type { Answer } from '../../../src/domain/answer.ts'
import { errorCode } from '../../../src/protocol/error-codes.ts'
import type { BatchResult } from '../../../src/protocol/values.ts'
import type { Reply } from '../../../src/simulator/shared/reply.ts'
import { readGarbled, readPage } from '../faults/garbled-answer.ts'
import { answerOfOutage, type OutagePlan, Outages } from '../faults/outages.ts'
import type { FaultKind, VirtualFaults } from '../faults/virtual-faults.ts'

export interface VirtualNetworkOptions {
  readonly time: VirtualTime
  readonly faults: VirtualFaults
  readonly requestTimeoutMs: number
  readonly lateMsMax: number
  /** Lead of the clock that refuses a time; undefined: refusals name no time. */
  readonly refusalsAheadMs: () => number | undefined
}

interface CallOnWire<Data> {
  readonly call: VirtualCall<Data>
  /** The call's number at its site, by which all is drawn. */
  readonly n: number
  /** Unix ms, our clock. */
  readonly sentAt: number
  /** Called if the client still waits. */
  readonly answered: (answer: Answer<Data>) => void
}

/** Duration of a storm of 429s, and of an outage. */
const STORM_MS = [500, 5000] as const
const REFUSED_MS_MAX = 12_000
const CANCEL_STORM_MS = [3000, 8000] as const
const OUTAGE_MS = [1000, 12_000] as const
/** Age of a read position, within the assumed visibility (A2). */
const OLD_MS = [20, 380] as const
/** Error of the time in public answers, and its duration. */
const PUBLIC_OFF_MS = [3000, -3000, 60_000, -60_000, 3_600_000, -3_600_000, 20_000_000] as const
const PUBLIC_LASTS_MS = [1000, 10_000, Number.POSITIVE_INFINITY] as const
/** Error of an answer's time. */
const WRONG_MS = 180_000

/** Between client and exchange: delays, loses, repeats, and answers in the exchange's name. */
export class VirtualNetwork implements Network {
  readonly isFaithful = false
  readonly #options: VirtualNetworkOptions
  readonly #calls = new Map<string, number>()
  /** Unix ms, exchange clock: end of a storm by site; and of a complete outage. */
  readonly #stormUntil = new Map<string, number>()
  #outageUntil = 0
  /** Unix ms, exchange clock: until then reads of these sites are refused for good. */
  #refusal: ReadRefusal = { until: 0, sites: [], answer: tooMany }
  /** Keyed by site: last execution by the exchange; Unix ms, exchange clock. */
  readonly servedAt = new Map<string, number>()
  #publicOff = { offMs: 0, until: 0 }
  #lateUntil = 0
  /** Receives the exchange's reply of each call, before faults of the answer. */
  onReply: (site: string, reply: Reply<unknown>) => void = () => undefined
  onPunctual: (site: string) => void = () => undefined
  /** Carries out the first of two copies, whose reply nobody gets. */
  onDoubled: (site: string, perform: () => void) => void = (_, perform) => perform()

  readonly outages: Outages

  constructor(options: VirtualNetworkOptions) {
    this.#options = options
    this.outages = new Outages(() => options.time.now)
  }

  /** Unix ms, exchange clock: until then something late may be in flight. */
  get lateUntil(): number {
    return this.#lateUntil
  }

  connectMs(): number {
    return this.#options.faults.delayMs('batchPlaceOrder/connect', 0, 20)
  }

  /** All faults of a call are drawn by its number at its endpoint. */
  send<Data>(call: VirtualCall<Data>): void {
    const { time, faults, requestTimeoutMs } = this.#options
    const { site } = call
    const ourNow = () => call.trusted.clock.now()
    const n = this.#calls.get(site) ?? 0
    this.#calls.set(site, n + 1)
    const wire = { call, n, sentAt: ourNow(), answered: once(call) }
    const quickly = (make: () => Answer<Data>): void =>
      time.after(this.#latency(site, n), () => wire.answered(make()))
    const out = this.outages.wayOf(site)
    if (out !== undefined) return this.#leaveUnanswered(out, wire)
    if (faults.strikes('refusedConnection', site, n)) return quickly(() => notSent(ourNow()))
    time.after(requestTimeoutMs, () => wire.answered(lost('timeout', ourNow())))
    if (this.#isOut(site, n) || faults.strikes('requestLost', site, n)) return
    if (faults.strikes('requestCut', site, n))
      return quickly(() => lost('connectionLost', ourNow()))
    const { arrivesMs, isLate } = this.#drawArrival(site, n)
    time.after(arrivesMs, () => {
      if (!isLate) this.onPunctual(site)
      this.#arrive(wire)
    })
  }

  /** In an outage the exchange never gets the call. */
  #leaveUnanswered<Data>(way: OutagePlan['way'], { call, n, answered }: CallOnWire<Data>): void {
    const { time, requestTimeoutMs } = this.#options
    const ourNow = () => call.trusted.clock.now()
    const latencyMs = this.#latency(call.site, n)
    const answer = answerOfOutage(way, call.site)
    if (answer) return time.after(latencyMs, () => answered(answer(ourNow())))
    if (way === 'refused') return time.after(latencyMs, () => answered(notSent(ourNow())))
    time.after(requestTimeoutMs, () => answered(lost('timeout', ourNow())))
  }

  #arrive<Data>(wire: CallOnWire<Data>): void {
    const { time, faults } = this.#options
    const { call, n, answered } = wire
    const { site, trusted } = call
    const ourNow = () => trusted.clock.now()
    const requestTime = time.now
    const latencyMs = this.#latency(`${site}/answer`, n)
    const turnedAway = this.#turnAway(wire)
    if (turnedAway) return time.after(latencyMs, () => answered(turnedAway(ourNow())))
    const reply = this.#perform(wire)
    if (this.#isOut(site, n) || faults.strikes('answerLost', site, n)) return
    const refusedMs = isTimeRefused(reply) ? this.#options.refusalsAheadMs() : 0
    const namedTime = refusedMs === undefined ? undefined : requestTime + refusedMs
    const spoilt = this.#spoil(wire, reply, namedTime)
    if (spoilt) return time.after(latencyMs, () => answered(spoilt(ourNow())))
    const wrongMs =
      (faults.strikes('timeWrong', site, n) ? faults.severity(-WRONG_MS, WRONG_MS) : 0) +
      (site === 'tickers' ? this.#publicOffMs(n) : 0)
    // The answer is newer than its content.
    const isOld = site === 'singlePosition' && faults.strikes('positionOld', site, n)
    const oldMs = isOld ? faults.severity(...OLD_MS) : 0
    const made = (): Answer<Data> => {
      const receivedAt = ourNow()
      if (namedTime === undefined) return toAnswer(reply, { receivedAt })
      const times = { receivedAt, requestTime: namedTime + oldMs + wrongMs }
      if (!isTimeRefused(reply))
        trusted.offset.observe({ ...times, sentAt: wire.sentAt }, originOf(call))
      return toAnswer(reply, times)
    }
    const isTwice = faults.strikes('answerTwice', site, n)
    time.after(oldMs + (faults.strikes('answerLate', site, n) ? this.#late() : latencyMs), () => {
      answered(made())
      if (isTwice) time.after(this.#latency(`${site}/again`, n), () => call.hear(made()))
    })
  }

  /** Answers instead of the exchange, which never gets the call. */
  #turnAway<Data>({
    call,
    n,
  }: CallOnWire<Data>): ((receivedAt: number) => Answer<never>) | undefined {
    const { faults } = this.#options
    const { site } = call
    const strikes = (fault: FaultKind): boolean => faults.strikes(fault, site, n)
    if (this.#isStorming(site, n) || strikes('rateLimited')) return tooMany
    if (this.#isRefused(site, n)) return this.#refusal.answer
    if (strikes('serverErrorBefore')) return brokenServer
    if (strikes('ambiguousBefore')) return ambiguous
    if (strikes('requestRefused')) return refused
    if (strikes('gatewayPage')) {
      const status = faults.severity(0, 2) === 0 ? 403 : 302
      return (receivedAt) => readPage(site, status, receivedAt)
    }
    return undefined
  }

  #perform<Data>({ call, n }: CallOnWire<Data>): Reply<Data> {
    const { site } = call
    // A balancer that retries answers with the result of the second copy.
    const isTwice = this.#options.faults.strikes('requestTwice', site, n)
    if (isTwice) this.onDoubled(site, () => call.perform(false))
    const reply = call.perform(isTwice)
    if (reply.ok) this.servedAt.set(site, this.#options.time.now)
    this.onReply(site, reply)
    return reply
  }

  /** Faults of the answer; the exchange has done what was asked. */
  #spoil<Data>(
    { call, n }: CallOnWire<Data>,
    reply: Reply<Data>,
    requestTime: number | undefined,
  ): ((receivedAt: number) => Answer<Data>) | undefined {
    const { faults } = this.#options
    const { site } = call
    const strikes = (fault: FaultKind): boolean => faults.strikes(fault, site, n)
    if (strikes('serverErrorAfter')) return brokenServer
    if (strikes('rateLimitedAfter')) return tooMany
    if (strikes('ambiguousAfter')) return ambiguous
    if (strikes('answerCut')) return (receivedAt) => lost('connectionLost', receivedAt)
    // An item of both lists that is lost from one would be an undetectable lie.
    if (!strikes('answerGarbled') || isContradictory(reply)) return undefined
    const way = faults.severity(0, 1_000_000)
    return (receivedAt) => readGarbled({ reply, endpoint: site, requestTime, receivedAt, way })
  }

  #isRefused(site: string, n: number): boolean {
    const { faults, time } = this.#options
    if (!READS.includes(site)) return false
    const isOver =
      !faults.isOn || time.now >= this.#refusal.until || !this.#refusal.sites.includes(site)
    if (isOver && faults.strikes('readsRefused', site, n)) {
      const way = faults.severity(0, 1_000_000)
      const [scope, kind, lastsMs] = [
        way % 3,
        Math.floor(way / 3) % 5,
        Math.floor(way / 15) % REFUSED_MS_MAX,
      ]
      const sites = scope === 2 ? READS : [site]
      this.#refusal = {
        sites,
        until: time.now + (scope === 0 ? 1 : lastsMs),
        answer: refusalOf(kind),
      }
      return true
    }
    return !isOver
  }

  /** Error of the time in public answers. A permanent one outlasts the faults. */
  #publicOffMs(n: number): number {
    const { faults, time } = this.#options
    if (faults.strikes('publicTimeWrong', 'tickers', n)) {
      const drawn = faults.severity(0, 6 * PUBLIC_OFF_MS.length)
      const offMs = PUBLIC_OFF_MS[drawn % PUBLIC_OFF_MS.length] ?? 0
      const lastsMs =
        PUBLIC_LASTS_MS[Math.floor(drawn / PUBLIC_OFF_MS.length) % PUBLIC_LASTS_MS.length] ?? 0
      this.#publicOff = { offMs, until: time.now + lastsMs }
    }
    const { offMs, until } = this.#publicOff
    return time.now < until ? offMs : 0
  }

  #isStorming(site: string, n: number): boolean {
    const { faults, time } = this.#options
    if (faults.strikes('rateStorm', site, n)) {
      this.#stormUntil.set(site, time.now + faults.severity(...STORM_MS))
    }
    if (site === 'cancelAllOrders' && faults.strikes('cancelStorm', site, n)) {
      this.#stormUntil.set(site, time.now + faults.severity(...CANCEL_STORM_MS))
    }
    return faults.isOn && time.now < (this.#stormUntil.get(site) ?? 0)
  }

  #isOut(site: string, n: number): boolean {
    const { faults, time } = this.#options
    if (faults.strikes('outage', site, n))
      this.#outageUntil = time.now + faults.severity(...OUTAGE_MS)
    return faults.isOn && time.now < this.#outageUntil
  }

  #latency(site: string, n: number): number {
    return this.#options.faults.delayMs(`${site}/latency`, 3, 40, n)
  }

  #drawArrival(site: string, n: number): { readonly arrivesMs: number; readonly isLate: boolean } {
    const { faults, lateMsMax } = this.#options
    if (faults.strikes('requestLate', site, n)) return { arrivesMs: this.#late(), isLate: true }
    if (site === 'cancelAllOrders' && faults.strikes('cancelLate', site, n)) {
      return { arrivesMs: faults.severity(lateMsMax * 0.3, lateMsMax * 0.5), isLate: true }
    }
    if (!faults.strikes('requestLast', site, n))
      return { arrivesMs: this.#latency(site, n), isLate: false }
    // The tolerance ends at half the longest delay.
    return { arrivesMs: this.#late(lateMsMax * 0.4, lateMsMax * 0.5), isLate: true }
  }

  /** For the fault that has just struck. */
  #late(from = 40, to = this.#options.lateMsMax): number {
    const { faults, time } = this.#options
    const delayMs = faults.severity(from, to)
    this.#lateUntil = Math.max(this.#lateUntil, time.now + delayMs)
    return delayMs
  }
}

const READS: readonly string[] = ['orderFills', 'singlePosition']

interface ReadRefusal {
  readonly until: number
  readonly sites: readonly string[]
  readonly answer: (receivedAt: number) => Answer<never>
}

function refusalOf(kind: number): ReadRefusal['answer'] {
  const codes = ['40018', '40006', '40037']
  const code = codes[kind]
  if (code === undefined)
    return (receivedAt) => readPage('orderFills', kind === 3 ? 401 : 403, receivedAt)
  return (receivedAt) => toAnswer({ ok: false, code, message: 'refused' }, { receivedAt })
}

function isTimeRefused(reply: Reply<unknown>): boolean {
  return !reply.ok && errorCode(reply.code).topic === 'clock'
}

/** An item is in both lists. */
function isContradictory(reply: Reply<unknown>): boolean {
  if (!reply.ok || typeof reply.data !== 'object' || reply.data === null) return false
  const { successList = [], failureList = [] } = reply.data as Partial<BatchResult>
  const accepted = new Set(successList.map(({ clientOid }) => clientOid))
  return failureList.some(({ clientOid }) => accepted.has(clientOid))
}

/** The first answer counts: a client that gave up gets no more. */
function once<Data>(call: VirtualCall<Data>): (answer: Answer<Data>) => void {
  let isOver = false
  return (answer) => {
    if (isOver) return
    isOver = true
    call.hear(answer)
  }
}

function notSent(receivedAt: number): Answer<never> {
  const reason = { code: 'CONNECTION_REFUSED', topic: 'system', message: '' } as const
  return { kind: 'refused', class: 'notSent', ...reason, status: undefined, receivedAt }
}

function lost(cause: 'timeout' | 'connectionLost', receivedAt: number): Answer<never> {
  return { kind: 'unknown', cause, code: '', message: '', status: undefined, receivedAt }
}

function brokenServer(receivedAt: number): Answer<never> {
  return { kind: 'unknown', cause: 'serverError', code: '', message: '', status: 502, receivedAt }
}

function ambiguous(receivedAt: number): Answer<never> {
  return toAnswer({ ok: false, code: '40725', message: 'service return an error' }, { receivedAt })
}

function refused(receivedAt: number): Answer<never> {
  return toAnswer(
    { ok: false, code: '40017', message: 'Parameter verification failed' },
    { receivedAt },
  )
}

function tooMany(receivedAt: number): Answer<never> {
  const reason = { code: '429', topic: 'rate', message: 'Too Many Requests' } as const
  return { kind: 'refused', class: 'retry', ...reason, status: 429, receivedAt }
}
