import type { Answer } from '../domain/answer.ts'
import type { ClockSample } from '../exchange/clock/clock-offset.ts'
import type { EndpointName } from '../protocol/endpoints.ts'
import { errorCode } from '../protocol/error-codes.ts'
import type { Reply } from '../simulator/shared/reply.ts'
import type { VirtualTime } from './virtual-time.ts'

/** One call: what the exchange does when it arrives, and who hears the answer. */
export interface VirtualCall<Data> {
  readonly site: EndpointName
  /** @param isCopy somebody on the way has sent it a second time. */
  readonly perform: (isCopy: boolean) => Reply<Data>
  /** Our clock, for the answer's times. */
  readonly ourNow: () => number
  /** Hears the exchange's time of each answer, and ours of both ends of the call. */
  readonly onTime: (sample: ClockSample) => void
  /** A network with faults may call it twice, and not at all once the process has died. */
  readonly hear: (answer: Answer<Data>) => void
}

/** What carries calls to the exchange and answers back. */
export interface Network {
  /** Whether each call arrives once, and its answer is heard once. */
  readonly isFaithful: boolean
  /** How long a batch waits for its connection, ms. */
  connectMs(): number
  send<Data>(call: VirtualCall<Data>): void
}

/** A network on which nothing goes wrong: each way takes the same time. */
export class DirectNetwork implements Network {
  readonly isFaithful = true
  readonly #time: VirtualTime
  readonly #latencyMs: number

  /** @param latencyMs Of one way. */
  constructor(time: VirtualTime, latencyMs: number) {
    this.#time = time
    this.#latencyMs = latencyMs
  }

  connectMs(): number {
    return 0
  }

  send<Data>({ perform, ourNow, onTime, hear }: VirtualCall<Data>): void {
    const sentAt = ourNow()
    this.#time.after(this.#latencyMs, () => {
      const requestTime = this.#time.now
      const reply = perform(false)
      this.#time.after(this.#latencyMs, () => {
        const receivedAt = ourNow()
        onTime({ requestTime, receivedAt, sentAt })
        if (reply.ok) hear({ kind: 'accepted', data: reply.data, requestTime, receivedAt })
        else hear(toAnswer(reply, { requestTime, receivedAt }))
      })
    })
  }
}

/** What a client makes of a reply, by the class of its code. */
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
