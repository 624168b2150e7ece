import type { Answer } from '../domain/answer.ts'
import type { FillsReading } from '../domain/fill.ts'
import type { PositionReading } from '../domain/position.ts'
import type { OutgoingCall } from '../engine/effect.ts'
import type { GrantedEndpoint } from '../engine/event.ts'
import { type Grant, PRIORITY } from '../exchange/limiter/grant.ts'
import type { CallOptions } from '../exchange/client/call-options.ts'
import type { ExchangePort, OnAnswer } from '../interpreter/ports.ts'
import type { BatchResult } from '../protocol/values.ts'
import type { Reply } from '../simulator/shared/reply.ts'
import type { SimulatedExchange } from './direct-exchange.ts'
import { VirtualReadings, type VirtualReadingsOptions } from './virtual-readings.ts'
import { carry, type VirtualWire } from './virtual-wire.ts'

export interface VirtualCallsOptions extends VirtualReadingsOptions {
  /** A batch did not leave: perhaps the kill switch was thrown, and the core has not heard of it. */
  readonly onWithheld: () => void
}

/** A call without a grant gives up after this, ms: more than a retreat waits for all its instruments. */
const GRANT_MS = 6000

interface VirtualSend {
  readonly endpoint: GrantedEndpoint
  /** @param signedAt Unix ms, exchange clock as we know it. */
  readonly perform: (signedAt: number, isCopy: boolean) => Reply<BatchResult>
  readonly options: CallOptions
  readonly onAnswer: OnAnswer<BatchResult>
}

/** The exchange in virtual time: with a grant in hand a call goes straight to the simulator's core. */
export class VirtualCalls implements ExchangePort {
  readonly #wire: VirtualWire
  readonly #exchange: SimulatedExchange
  readonly #readings: VirtualReadings
  readonly #onWithheld: () => void

  constructor(options: VirtualCallsOptions) {
    this.#wire = options.wire
    this.#exchange = options.exchange
    this.#readings = new VirtualReadings(options)
    this.#onWithheld = options.onWithheld
  }

  /** A batch waits a moment for its connection, is looked at once more, signed and written. */
  placeBatch(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void {
    const { time, network, gate } = this.#wire
    const waitMs = network.connectMs()
    const send: VirtualSend = {
      endpoint: 'batchPlaceOrder',
      perform: (signedAt, isCopy) => this.#exchange.placeBatch({ body, signedAt, isCopy }),
      options,
      onAnswer: (answer) => {
        onAnswer(answer)
        if (isWithheld(answer)) this.#onWithheld()
      },
    }
    this.#withGrant(send, (grant) =>
      time.after(waitMs, () => gate.settle(() => this.#write(send, grant))),
    )
  }

  cancelAll(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void {
    const send: VirtualSend = {
      endpoint: 'cancelAllOrders',
      perform: (signedAt) => this.#exchange.cancelAll(body, signedAt),
      options,
      onAnswer,
    }
    this.#withGrant(send, (grant) => this.#write(send, grant))
  }

  /** The simulator's core takes none of them. */
  callAccount(
    { endpoint }: Pick<OutgoingCall, 'endpoint'>,
    _: CallOptions,
    onAnswer: OnAnswer<unknown>,
  ): void {
    const answer = notSent(
      'NOT_SIMULATED',
      `${endpoint} is not simulated`,
      this.#wire.trusted.clock.now(),
    )
    this.#wire.time.after(0, () => this.#wire.gate.settle(() => onAnswer(answer)))
  }

  readFills(sinceAt: number, onAnswer: OnAnswer<FillsReading>): void {
    this.#readings.readFills(sinceAt, onAnswer)
  }

  readPosition(symbol: string, onAnswer: OnAnswer<PositionReading>): void {
    this.#readings.readPosition(symbol, onAnswer)
  }

  /** The grant in hand; a call without one waits for its own. */
  #withGrant({ endpoint, options, onAnswer }: VirtualSend, then: (grant: Grant) => void): void {
    if (options.grant) return then(options.grant)
    const { time, trusted, limiter, gate } = this.#wire
    let state: 'waiting' | 'granted' | 'givenUp' = 'waiting'
    time.after(GRANT_MS, () => {
      if (state !== 'waiting') return
      state = 'givenUp'
      const answer = notSent('LIMITER_TIMEOUT', 'no grant came in time', trusted.clock.now())
      gate.settle(() => onAnswer(answer))
    })
    limiter.request(endpoint, options.priority ?? PRIORITY.reads, (grant) => {
      if (state === 'givenUp') return grant.unused()
      state = 'granted'
      gate.settle(() => then(grant))
    })
  }

  #write({ endpoint, perform, options, onAnswer }: VirtualSend, grant: Grant): void {
    const { trusted } = this.#wire
    const now = trusted.clock.now()
    const objection = options.beforeWrite?.()
    if (objection !== undefined) {
      grant.unused()
      return onAnswer(notSent(WITHHELD, objection, now))
    }
    const signedAt = now + (options.clockAheadMs ?? trusted.offset.offsetMs)
    carry(this.#wire, grant, {
      site: endpoint,
      isReading: false,
      perform: (isCopy) => perform(signedAt, isCopy),
      hear: onAnswer,
    })
  }
}

/** The last check objected. */
const WITHHELD = 'STALE'

function isWithheld(answer: Answer<unknown>): boolean {
  return answer.kind === 'refused' && answer.code === WITHHELD
}

function notSent(code: string, message: string, receivedAt: number): Answer<never> {
  return {
    kind: 'refused',
    class: 'notSent',
    code,
    topic: 'system',
    message,
    status: undefined,
    receivedAt,
  }
}
