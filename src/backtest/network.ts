import type { Answer } from '../domain/answer.ts'
import type { AnswerOrigin, ExchangeClock } from '../exchange/clock/exchange-clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { CallableName } from '../protocol/endpoints.ts'
import { errorCode } from '../protocol/error-codes.ts'
import type { Reply } from '../simulator/shared/reply.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface VirtualCall<Data> {
  readonly site: CallableName
  /** Hears the exchange's time of each answer, and ours of both ends. */
  readonly trusted: { readonly clock: Clock; readonly offset: Pick<ExchangeClock, 'observe'> }
  /** @param isCopy sent a second time on the way */
  perform(isCopy: boolean): Reply<Data>
  /** With faults it may be called twice, or not at all once the process has died. */
  hear(answer: Answer<Data>): void
}

export interface Network {
  /** Each call arrives once, and its answer is heard once. */
  readonly isFaithful: boolean
  /** Each way always takes so long, and nothing goes wrong; undefined: it may. */
  readonly steadyMs?: number
  /** A batch waits so long for its connection. */
  connectMs(): number
  send<Data>(call: VirtualCall<Data>): void
}

export function originOf({ site }: Pick<VirtualCall<unknown>, 'site'>): AnswerOrigin {
  return site === 'tickers' ? 'public' : 'signed'
}

/** Nothing goes wrong, and each way takes the same time. */
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
  /** Exchange clock, at its arrival; and the answer there. */
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

/** Reads a reply as a client does: the class follows from its code. */
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
