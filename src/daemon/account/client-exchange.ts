import { type Answer, isForbidden, type RefusedAnswer, type UnknownAnswer } from '../../domain/answer.ts'
import type { FillsReading } from '../../domain/fill.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { PositionReading } from '../../domain/position.ts'
import type { OutgoingCall } from '../../engine/effect.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { ExchangeClient } from '../../exchange/exchange-client.ts'
import type { CallOptions } from '../../exchange/client/call-options.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ExchangePort, OnAnswer } from '../../interpreter/ports.ts'
import type { EndpointName, ResponseOf } from '../../protocol/endpoints.ts'
import type { BatchResult } from '../../protocol/values.ts'
import { refusesKeys } from './account-keys.ts'

/** Keys that the exchange refuses are not shown to it more often than this, in ms: it counts them. */
const KEYS_BACK_OFF_MS = 60_000

/**
 * A page with the status 401 or 403 may come once and never again. The pause after it, in ms, doubles up to that of
 * refused keys, and from this one on it is said.
 */
const FORBIDDEN_BACK_OFF_MS = 1000
const FORBIDDEN_SAID_FROM_MS = 4000

export interface ClientExchangeOptions {
  readonly client: Pick<ExchangeClient, 'send' | 'readFills' | 'readPosition'>
  readonly settings: Pick<EngineSettings, 'productType' | 'positionMode' | 'instruments'>
  /** Hears of a batch that is to be sent, and gives back what is to hear of its first byte. */
  readonly onBatch: () => () => void
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** The exchange refuses the keys, or something in front of it refuses the calls; said once until a read is accepted again. */
  readonly onRefused: (answer: RefusedAnswer | UnknownAnswer) => void
  /** Of a dry run, where nothing that changes the account is sent: hears what would have left. Absent: it is sent. */
  readonly onWithheld?: ((endpoint: EndpointName, body: string) => void) | undefined
  /** A call broke the program rather than the wire. */
  readonly onBroken: (error: unknown) => void
}

/** Why private reads are not sent now. */
interface Refusal {
  readonly answer: RefusedAnswer | UnknownAnswer
  /** Monotonic ms. */
  readonly until: number
  readonly pauseMs: number
  readonly isSaid: boolean
}

interface WithheldCall {
  readonly endpoint: EndpointName
  readonly body: string
  readonly onWithheld: (endpoint: EndpointName, body: string) => void
}

/** The exchange over its client: promises become callbacks, and what is on the wire is known. */
export class ClientExchange implements ExchangePort {
  readonly #options: ClientExchangeOptions
  #refusal: Refusal | undefined
  readonly #inFlight = new Set<Promise<void>>()
  /** The last reading of each symbol, for the closing summary. */
  readonly positions = new Map<string, PositionReading>()

  constructor(options: ClientExchangeOptions) {
    this.#options = options
  }

  placeBatch(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void {
    const onWritten = this.#options.onBatch()
    const beforeWrite = () => {
      const objection = options.beforeWrite?.()
      if (objection === undefined) onWritten()
      return objection
    }
    this.#send('batchPlaceOrder', body, { ...options, beforeWrite }, onAnswer)
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
    this.#read(() => client.readFills({ productType, positionMode, instruments, sinceAt }), onAnswer)
  }

  readPosition(symbol: string, onAnswer: OnAnswer<PositionReading>): void {
    const { client } = this.#options
    this.#read(
      () => client.readPosition({ instrument: this.#instrument(symbol) }),
      (answer) => {
        if (answer.kind === 'accepted') this.positions.set(symbol, answer.data)
        onAnswer(answer)
      },
    )
  }

  /** Resolves when nothing is on the wire any more. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight)
  }

  #instrument(symbol: string): Instrument {
    const instrument = this.#options.settings.instruments.get(symbol)
    if (!instrument) throw new Error(`${symbol} is not traded here`)
    return instrument
  }

  /** What refuses one read refuses every read alike: the exchange is asked again after a while, with one. */
  #read<Data>(call: () => Promise<Answer<Data>>, then: OnAnswer<Data>): void {
    const { clock } = this.#options
    const refusal = this.#refusal
    if (refusal !== undefined && clock.monotonic() < refusal.until) {
      return this.#await(Promise.resolve(refusal.answer), then)
    }
    const asked = refusal && { ...refusal, until: clock.monotonic() + refusal.pauseMs }
    this.#refusal = asked
    this.#await(call(), (answer) => {
      if (refusesKeys(answer) || isForbidden(answer)) this.#noteRefusal(answer, asked)
      else if (answer.kind === 'accepted') this.#refusal = undefined
      then(answer)
    })
  }

  /** @param asked What was known when the read left: of reads that were on the wire together, the first refusal counts. */
  #noteRefusal(answer: RefusedAnswer | UnknownAnswer, asked: Refusal | undefined): void {
    const { clock, onRefused } = this.#options
    if (this.#refusal?.answer !== asked?.answer) return
    const pauseMs =
      answer.kind === 'refused'
        ? KEYS_BACK_OFF_MS
        : Math.min(KEYS_BACK_OFF_MS, (asked?.pauseMs ?? FORBIDDEN_BACK_OFF_MS / 2) * 2)
    const isSaid = asked?.isSaid === true
    const isToSay = !isSaid && pauseMs >= FORBIDDEN_SAID_FROM_MS
    if (isToSay) onRefused(answer)
    this.#refusal = { answer, until: clock.monotonic() + pauseMs, pauseMs, isSaid: isSaid || isToSay }
  }

  #send<Name extends EndpointName>(
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
      if (answer.kind === 'accepted') this.#endPause()
      onAnswer(answer)
    })
  }

  /**
   * What stood in front of the exchange lets calls through again: a kill or a stop that cancels must not wait to read what
   * was filled. A read that is still on its way left before that, so its refusal does not count: the answer is another one.
   */
  #endPause(): void {
    const refusal = this.#refusal
    if (refusal?.answer.kind !== 'unknown') return
    this.#refusal = { ...refusal, answer: { ...refusal.answer }, until: this.#options.clock.monotonic() }
  }

  /** As an exchange that refuses everything: the limits are used as if it had been asked, and a refused wish backs off. */
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
      ? { ...refused, class: 'definite', code: 'DRY_RUN', message: 'a dry run sends nothing' }
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
