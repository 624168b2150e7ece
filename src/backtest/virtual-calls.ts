import type { Answer } from '../domain/answer.ts'
import type { FillsReading } from '../domain/fill.ts'
import type { ListedExits, PositionReading } from '../domain/position.ts'
import type { OutgoingCall } from '../engine/effect.ts'
import type { GrantedEndpoint } from '../engine/event.ts'
import { PRIORITY, type Grant } from '../exchange/limiter/grant.ts'
import type { CallOptions } from '../exchange/client/request-writer.ts'
import type { ExchangePort, OnAnswer } from '../interpreter/ports.ts'
import type { BatchResult } from '../protocol/values.ts'
import { refusals } from '../simulator/shared/refusals.ts'
import type { Reply } from '../simulator/shared/reply.ts'
import type { SimulatedExchange } from './direct-exchange.ts'
import { carry, type VirtualWire } from './virtual-wire.ts'
import { VirtualReadings, type VirtualReadingsOptions } from './virtual-readings.ts'

export interface VirtualCallsOptions extends VirtualReadingsOptions {
  /** The kill switch may have been thrown, unknown to the core. */
  readonly onWithheld: () => void
}

/** Longer than a retreat waits for all its instruments. */
const GRANT_MS = 6000

interface VirtualSend<Data> {
  readonly endpoint: GrantedEndpoint | 'modifyTpslOrder'
  /** @param signedAt Unix ms, exchange clock as we know it */
  readonly perform: (signedAt: number, isCopy: boolean) => Reply<Data>
  readonly options: CallOptions
  readonly onAnswer: OnAnswer<Data>
}

/** With a grant a call goes straight to the simulator's core. */
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

  /** A batch waits for its connection, is checked once more, signed and written. */
  placeBatch(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void {
    const { time, network, gate } = this.#wire
    const waitMs = network.connectMs()
    const send: VirtualSend<BatchResult> = {
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
    const send: VirtualSend<BatchResult> = {
      endpoint: 'cancelAllOrders',
      perform: (signedAt) => this.#exchange.cancelAll(body, signedAt),
      options,
      onAnswer,
    }
    this.#withGrant(send, (grant) => this.#write(send, grant))
  }

  /** The simulator's core takes no other than a moved exit. */
  callAccount(
    { endpoint, body }: Pick<OutgoingCall, 'endpoint' | 'body'>,
    options: CallOptions,
    onAnswer: OnAnswer<unknown>,
  ): void {
    const exchange = this.#exchange
    if (endpoint !== 'modifyTpslOrder' || !exchange.moveExit)
      return this.#answerUnsimulated(endpoint, onAnswer)
    const perform = () => exchange.moveExit?.(body) ?? refusals.planOrderUnknown
    const send: VirtualSend<unknown> = { endpoint, perform, options, onAnswer }
    this.#withGrant(send, (grant) => this.#write(send, grant))
  }

  #answerUnsimulated(endpoint: string, onAnswer: OnAnswer<never>): void {
    const { trusted, time, gate } = this.#wire
    const answer = notSent('NOT_SIMULATED', `${endpoint} is not simulated`, trusted.clock.now())
    time.after(0, () => gate.settle(() => onAnswer(answer)))
  }

  listExits(symbol: string, onAnswer: OnAnswer<ListedExits>): void {
    if (!this.#exchange.exitsListed) return this.#answerUnsimulated('ordersPlanPending', onAnswer)
    this.#readings.listExits(symbol, onAnswer)
  }

  readFills(sinceAt: number, onAnswer: OnAnswer<FillsReading>): void {
    this.#readings.readFills(sinceAt, onAnswer)
  }

  readPosition(symbol: string, onAnswer: OnAnswer<PositionReading>): void {
    this.#readings.readPosition(symbol, onAnswer)
  }

  /** A call without a grant waits for its own. */
  #withGrant<Data>(
    { endpoint, options, onAnswer }: VirtualSend<Data>,
    then: (grant: Grant) => void,
  ): void {
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

  #write<Data>({ endpoint, perform, options, onAnswer }: VirtualSend<Data>, grant: Grant): void {
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
