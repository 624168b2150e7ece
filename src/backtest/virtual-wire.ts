import type { Answer } from '../domain/answer.ts'
import type { TrustedClock, AnswerOrigin, ExchangeClock } from '../exchange/clock/exchange-clock.ts'
import type { EndpointQueue } from '../exchange/limiter/endpoint-queue.ts'
import { type Grant, type GrantSource, PRIORITY } from '../exchange/limiter/grant.ts'
import type { CallableName } from '../protocol/endpoints.ts'
import type { Reply } from '../simulator/shared/reply.ts'
import type { VirtualTime } from './virtual-time.ts'
import type { Clock } from '../lib/clock.ts'
import { errorCode } from '../protocol/error-codes.ts'

/** In a backtest everything happens at once; in a fault world a process stands still or dies. */
export interface Gate {
  /** True while nothing falls due in the process. */
  readonly isStill: boolean
  enter(happens: () => void): void
  /** Unlike `enter`, this happens also after the core was closed. */
  settle(happens: () => void): void
}

/** The way of readings on a network without faults, under limits that no other program uses. */
export interface SteadyWay {
  /** One way. */
  readonly ms: number
  readonly queueOf: (endpoint: CallableName) => EndpointQueue
}

export interface VirtualWire {
  /** Absent: readings go the ordinary way. */
  readonly steady?: SteadyWay | undefined
  readonly time: VirtualTime
  readonly trusted: TrustedClock
  readonly limiter: GrantSource
  readonly network: Network
  readonly gate: Gate
}

export interface WireCall<Data> {
  readonly site: CallableName
  /** A second answer to a reading is dropped, because it would begin another reading. */
  readonly isReading: boolean
  perform(isCopy: boolean): Reply<Data>
  hear(answer: Answer<Data>): void
}

export function askFor<Data>(wire: VirtualWire, call: WireCall<Data>): void {
  const waiting = wire.limiter.request(call.site, PRIORITY.reads, (grant) =>
    carry(wire, grant, call),
  )
  if (!waiting) throw new Error(`too many wait for ${call.site}`)
}

/**
 * One object for all readings of a kind on a network without faults, where each ordinary reading
 * needs six. It takes the same places of virtual time and of the limiter.
 */
export class SteadyReading<Data> {
  readonly #wire: VirtualWire
  readonly #queue: EndpointQueue
  readonly #steadyMs: number
  readonly #call: WireCall<Data>
  #isAway = false
  #reply: Reply<Data> | undefined
  /**
   * `#sentAt`, `#grantedAt` and `#receivedAt` are by our clock, the other two by the exchange's.
   */
  #sentAt = 0
  #grantedAt = 0
  #receivedAt = 0
  #leftAt = 0
  #requestTime = 0

  constructor(wire: VirtualWire, { ms, queueOf }: SteadyWay, call: WireCall<Data>) {
    this.#wire = wire
    this.#queue = queueOf(call.site)
    this.#steadyMs = ms
    this.#call = call
  }

  get isAway(): boolean {
    return this.#isAway
  }

  /** @returns false if the reading has to wait for its grant */
  leave(): boolean {
    const { time, trusted } = this.#wire
    if (!this.#queue.takeAtOnce(PRIORITY.reads)) return false
    this.#isAway = true
    this.#sentAt = trusted.clock.now()
    this.#grantedAt = trusted.clock.monotonic()
    this.#leftAt = time.now
    time.after(this.#steadyMs, this)
    return true
  }

  run(): void {
    if (this.#reply === undefined) this.#arrive()
    else this.#hear()
  }

  #arrive(): void {
    const { time } = this.#wire
    this.#requestTime = time.now
    this.#reply = this.#call.perform(false)
    time.after(this.#steadyMs, this)
  }

  #hear(): void {
    const { trusted, gate } = this.#wire
    const requestTime = this.#requestTime
    const receivedAt = trusted.clock.now()
    this.#receivedAt = receivedAt
    trusted.offset.observe({ requestTime, receivedAt, sentAt: this.#sentAt }, 'signed')
    gate.enter(this.#end)
  }

  readonly #end = (): void => {
    const { reply } = this
    const times = { requestTime: this.#requestTime, receivedAt: this.#receivedAt }
    const answer: Answer<Data> = reply.ok
      ? { kind: 'accepted', data: reply.data, ...times }
      : toAnswer(reply, times)
    this.#isAway = false
    this.#reply = undefined
    this.#queue.end(this.#grantedAt, {
      requestTime: this.#requestTime,
      roundTripMs: this.#wire.time.now - this.#leftAt,
      isRateLimited: isRateLimited(answer),
    })
    this.#call.hear(answer)
  }

  get reply(): Reply<Data> {
    if (this.#reply === undefined) throw new Error(`${this.#call.site} has no answer yet`)
    return this.#reply
  }
}

export function carry<Data>(wire: VirtualWire, grant: Grant, call: WireCall<Data>): void {
  wire.network.send(new GrantedWireCall({ wire, grant, call }))
}

interface GrantedWireCallOptions<Data> {
  readonly wire: VirtualWire
  readonly grant: Grant
  readonly call: WireCall<Data>
}

class GrantedWireCall<Data> implements VirtualCall<Data> {
  readonly site: CallableName
  readonly trusted: TrustedClock
  readonly #wire: VirtualWire
  readonly #grant: Grant
  readonly #call: WireCall<Data>
  /** Exchange clock. */
  readonly #sentAt: number
  #isHeard = false

  constructor({ wire, grant, call }: GrantedWireCallOptions<Data>) {
    this.site = call.site
    this.trusted = wire.trusted
    this.#wire = wire
    this.#grant = grant
    this.#call = call
    this.#sentAt = wire.time.now
  }

  perform(isCopy: boolean): Reply<Data> {
    return this.#call.perform(isCopy)
  }

  hear(answer: Answer<Data>): void {
    const { gate } = this.#wire
    if (!this.#call.isReading) return gate.settle(() => this.#end(answer))
    if (this.#isHeard) return
    this.#isHeard = true
    gate.enter(() => this.#end(answer))
  }

  #end(answer: Answer<Data>): void {
    endGrant(this.#grant, answer, this.#wire.time.now - this.#sentAt)
    this.#call.hear(answer)
  }
}

function endGrant(grant: Grant, answer: Answer<unknown>, roundTripMs: number): void {
  // A call that never left us uses no grant.
  if (answer.kind === 'refused' && answer.class === 'notSent') return grant.unused()
  const { requestTime } = answer
  grant.release({ requestTime, roundTripMs, isRateLimited: isRateLimited(answer) })
}

function isRateLimited(answer: Answer<unknown>): boolean {
  return answer.kind === 'refused' && answer.topic === 'rate'
}

export interface VirtualCall<Data> {
  readonly site: CallableName
  /** The clock that is told when each request was sent and its answer received. */
  readonly trusted: { readonly clock: Clock; readonly offset: Pick<ExchangeClock, 'observe'> }
  /** @param isCopy sent a second time on the way */
  perform(isCopy: boolean): Reply<Data>
  /** Called once; with faults perhaps twice, or not at all once the process has died. */
  hear(answer: Answer<Data>): void
}

export interface Network {
  /** Each call arrives once, and its answer is heard once. */
  readonly isFaithful: boolean
  /** Defined on a network without faults: each way always takes so many ms. */
  readonly steadyMs?: number
  /** A batch waits so many ms for its connection. */
  connectMs(): number
  send<Data>(call: VirtualCall<Data>): void
}

export function originOf({ site }: Pick<VirtualCall<unknown>, 'site'>): AnswerOrigin {
  return site === 'tickers' ? 'public' : 'signed'
}

/** A network without faults, on which each way takes the same time. */
export class DirectNetwork implements Network {
  readonly isFaithful = true
  readonly #time: VirtualTime
  readonly steadyMs: number

  /** @param latencyMs of one way */
  constructor(time: VirtualTime, latencyMs: number) {
    this.#time = time
    this.steadyMs = latencyMs
  }

  connectMs(): number {
    return 0
  }

  send<Data>(call: VirtualCall<Data>): void {
    const time = this.#time
    const latencyMs = this.steadyMs
    time.after(latencyMs, new DirectCall({ call, time, latencyMs }))
  }
}

interface DirectCallOptions<Data> {
  readonly call: VirtualCall<Data>
  readonly time: VirtualTime
  readonly latencyMs: number
}

class DirectCall<Data> {
  readonly #call: VirtualCall<Data>
  readonly #time: VirtualTime
  readonly #latencyMs: number
  /** Our clock. */
  readonly #sentAt: number
  /** Exchange clock, when the request arrived. */
  #requestTime = 0
  #reply: Reply<Data> | undefined

  constructor({ call, time, latencyMs }: DirectCallOptions<Data>) {
    this.#call = call
    this.#time = time
    this.#latencyMs = latencyMs
    this.#sentAt = call.trusted.clock.now()
  }

  run(): void {
    if (this.#reply === undefined) this.#arrive()
    else this.#answer(this.#reply)
  }

  #arrive(): void {
    this.#requestTime = this.#time.now
    this.#reply = this.#call.perform(false)
    this.#time.after(this.#latencyMs, this)
  }

  #answer(reply: Reply<Data>): void {
    const { clock, offset } = this.#call.trusted
    const requestTime = this.#requestTime
    const receivedAt = clock.now()
    offset.observe({ requestTime, receivedAt, sentAt: this.#sentAt }, originOf(this.#call))
    if (reply.ok) this.#call.hear({ kind: 'accepted', data: reply.data, requestTime, receivedAt })
    else this.#call.hear(toAnswer(reply, { requestTime, receivedAt }))
  }
}

/** Classifies a reply by its code, as a client does. */
export function toAnswer<Data>(
  reply: Reply<Data>,
  times: { readonly receivedAt: number; readonly requestTime?: number },
): Answer<Data> {
  if (reply.ok) return { kind: 'accepted', data: reply.data, ...times }
  const { code, message } = reply
  const { class: errorClass, topic } = errorCode(code)
  if (errorClass === 'ambiguous')
    return { kind: 'unknown', cause: 'ambiguousCode', code, message, status: 200, ...times }
  return { kind: 'refused', class: errorClass, topic, code, message, status: 400, ...times }
}
