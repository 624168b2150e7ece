import type { Answer } from '../domain/answer.ts'
import type { TrustedClock } from '../exchange/clock/exchange-clock.ts'
import { type Grant, type GrantSource, PRIORITY } from '../exchange/limiter/grant.ts'
import type { CallableName } from '../protocol/endpoints.ts'
import type { Reply } from '../simulator/shared/reply.ts'
import { type Network, toAnswer, type VirtualCall } from './network.ts'
import type { VirtualTime } from './virtual-time.ts'

/** At once in a backtest; in a fault world a process stands still, and dies. */
export interface Gate {
  /** Nothing falls due in the process. */
  readonly isStill: boolean
  enter(happens: () => void): void
  /** Heard even when the process's core is closed. */
  settle(happens: () => void): void
}

/** All calls of one process go through it. */
export interface VirtualWire {
  readonly time: VirtualTime
  readonly trusted: TrustedClock
  readonly limiter: GrantSource
  readonly network: Network
  readonly gate: Gate
}

export interface WireCall<Data> {
  readonly site: CallableName
  /** An answer that comes twice would begin two readings. */
  readonly isReading: boolean
  perform(isCopy: boolean): Reply<Data>
  hear(answer: Answer<Data>): void
}

export function askFor<Data>(wire: VirtualWire, call: WireCall<Data>): void {
  const { steadyMs } = wire.network
  const waiting = wire.limiter.request(call.site, PRIORITY.reads, (grant) => {
    if (steadyMs === undefined || !call.isReading) carry(wire, grant, call)
    else new SteadyReading(wire, steadyMs, call).leave(grant)
  })
  if (!waiting) throw new Error(`too many wait for ${call.site}`)
}

/**
 * A reading on a network on which nothing goes wrong: what {@link GrantedWireCall} and the network's
 * own call do, in one object.
 */
class SteadyReading<Data> {
  readonly #wire: VirtualWire
  readonly #steadyMs: number
  readonly #call: WireCall<Data>
  #grant: Grant | undefined
  #reply: Reply<Data> | undefined
  /** Our clock, and the exchange's when it left and when it arrived. */
  #sentAt = 0
  #leftAt = 0
  #requestTime = 0

  constructor(wire: VirtualWire, steadyMs: number, call: WireCall<Data>) {
    this.#wire = wire
    this.#steadyMs = steadyMs
    this.#call = call
  }

  leave(grant: Grant): void {
    const { time, trusted } = this.#wire
    this.#grant = grant
    this.#sentAt = trusted.clock.now()
    this.#leftAt = time.now
    time.after(this.#steadyMs, this)
  }

  run(): void {
    if (this.#reply === undefined) this.#arrive()
    else this.#hear(this.#reply)
  }

  #arrive(): void {
    const { time } = this.#wire
    this.#requestTime = time.now
    this.#reply = this.#call.perform(false)
    time.after(this.#steadyMs, this)
  }

  #hear(reply: Reply<Data>): void {
    const { trusted, gate } = this.#wire
    const requestTime = this.#requestTime
    const receivedAt = trusted.clock.now()
    trusted.offset.observe({ requestTime, receivedAt, sentAt: this.#sentAt }, 'signed')
    const answer: Answer<Data> = reply.ok
      ? { kind: 'accepted', data: reply.data, requestTime, receivedAt }
      : toAnswer(reply, { requestTime, receivedAt })
    gate.enter(() => this.#end(answer))
  }

  #end(answer: Answer<Data>): void {
    if (this.#grant) endGrant(this.#grant, answer, this.#wire.time.now - this.#leftAt)
    this.#call.hear(answer)
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
  const isRateLimited = answer.kind === 'refused' && answer.topic === 'rate'
  grant.release({ requestTime: answer.requestTime, roundTripMs, isRateLimited })
}
