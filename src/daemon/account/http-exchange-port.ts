import type { ExchangePort, OnAnswer } from '../../interpreter/ports.ts'
import {
  type Answer,
  DRY_RUN_CODE,
  isForbidden,
  type RefusedAnswer,
  refusesKeys,
  type UnknownAnswer,
} from '../../domain/answer.ts'
import type { FillsReading } from '../../domain/fill.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { ListedExits, PositionReading } from '../../domain/position.ts'
import type { OutgoingCall } from '../../engine/effect.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { ExchangeClient } from '../../exchange/exchange-client.ts'
import type { CallOptions } from '../../exchange/client/request-writer.ts'
import type { Clock } from '../../lib/clock.ts'
import type { CallableName, ResponseOf } from '../../protocol/endpoints.ts'
import type { BatchResult } from '../../protocol/values.ts'

const SAID_AFTER_MS = 3000

export interface HttpExchangePortOptions {
  readonly client: Pick<ExchangeClient, 'send' | 'readFills' | 'readPosition' | 'listExits'>
  readonly settings: Pick<EngineSettings, 'productType' | 'positionMode' | 'instruments'>
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Called once until a call is accepted again. */
  readonly onRefused: (answer: RefusedAnswer | UnknownAnswer) => void
  readonly onWithheld?: ((endpoint: CallableName, body: string) => void) | undefined
  readonly onBroken: (error: unknown) => void
}

interface WithheldCall {
  readonly endpoint: CallableName
  readonly body: string
  readonly onWithheld: (endpoint: CallableName, body: string) => void
}

export class HttpExchangePort implements ExchangePort {
  readonly #options: HttpExchangePortOptions
  /** Monotonic ms: since then all calls have been refused. */
  #refusedSince: number | undefined
  #isRefusalSaid = false
  readonly #inFlight = new Set<Promise<void>>()
  readonly positions = new Map<string, PositionReading>()

  constructor(options: HttpExchangePortOptions) {
    this.#options = options
  }

  placeBatch(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void {
    this.#send('batchPlaceOrder', body, options, onAnswer)
  }

  cancelAll(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void {
    this.#send('cancelAllOrders', body, options, onAnswer)
  }

  callAccount(
    { endpoint, body }: Pick<OutgoingCall, 'endpoint' | 'body'>,
    options: CallOptions,
    onAnswer: OnAnswer<unknown>,
  ): void {
    this.#send(endpoint, body, options, onAnswer)
  }

  readFills(sinceAt: number, onAnswer: OnAnswer<FillsReading>): void {
    const { client, settings } = this.#options
    const { productType, positionMode, instruments } = settings
    this.#read(client.readFills({ productType, positionMode, instruments, sinceAt }), onAnswer)
  }

  readPosition(symbol: string, onAnswer: OnAnswer<PositionReading>): void {
    const { client } = this.#options
    this.#read(client.readPosition({ instrument: this.#instrument(symbol) }), (answer) => {
      if (answer.kind === 'accepted') this.positions.set(symbol, answer.data)
      onAnswer(answer)
    })
  }

  listExits(symbol: string, onAnswer: OnAnswer<ListedExits>): void {
    const { client } = this.#options
    this.#await(client.listExits({ instrument: this.#instrument(symbol) }), onAnswer)
  }

  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight)
  }

  #instrument(symbol: string): Instrument {
    const instrument = this.#options.settings.instruments.get(symbol)
    if (!instrument) throw new Error(`${symbol} is not traded here`)
    return instrument
  }

  #read<Data>(call: Promise<Answer<Data>>, then: OnAnswer<Data>): void {
    this.#await(call, (answer) => {
      if (refusesKeys(answer) || isForbidden(answer)) this.#noteRefusal(answer)
      this.#noteAccepted(answer)
      then(answer)
    })
  }

  #noteRefusal(answer: RefusedAnswer | UnknownAnswer): void {
    const { clock, onRefused } = this.#options
    const now = clock.monotonic()
    this.#refusedSince ??= now
    if (this.#isRefusalSaid || now - this.#refusedSince < SAID_AFTER_MS) return
    this.#isRefusalSaid = true
    onRefused(answer)
  }

  #noteAccepted({ kind }: Answer<unknown>): void {
    if (kind !== 'accepted') return
    this.#refusedSince = undefined
    this.#isRefusalSaid = false
  }

  #send<Name extends CallableName>(
    endpoint: Name,
    body: string,
    options: CallOptions,
    onAnswer: OnAnswer<ResponseOf<Name>>,
  ): void {
    const { client, onWithheld } = this.#options
    const sent = onWithheld
      ? Promise.resolve(this.#withhold({ endpoint, body, onWithheld }, options))
      : client.send({ endpoint, body, query: '' }, options)
    this.#await(sent, (answer) => {
      this.#noteAccepted(answer)
      onAnswer(answer)
    })
  }

  /**
   * A dry run refuses as an exchange would: calls count in limits, and refused intents are tried
   * again later.
   */
  #withhold(
    { endpoint, body, onWithheld }: WithheldCall,
    { grant, beforeWrite }: CallOptions,
  ): RefusedAnswer {
    const objection = beforeWrite?.()
    if (objection === undefined) onWithheld(endpoint, body)
    grant?.release()
    const receivedAt = this.#options.clock.now()
    const refused = { kind: 'refused', topic: 'dryRun', status: undefined, receivedAt } as const
    return objection === undefined
      ? { ...refused, class: 'definite', code: DRY_RUN_CODE, message: 'a dry run sends nothing' }
      : { ...refused, class: 'notSent', code: 'ABORTED', message: objection }
  }

  #await<Data>(call: Promise<Answer<Data>>, then: OnAnswer<Data>): void {
    const done: Promise<void> = call
      .then(then)
      .catch(this.#options.onBroken)
      .finally(() => this.#inFlight.delete(done))
    this.#inFlight.add(done)
  }
}
