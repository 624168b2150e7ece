import {
  type Answer,
  clockAheadAfter,
  hearOfClock,
  isClockRefused,
  NO_CLOCK_REFUSALS,
  type RefusedAnswer,
  type UnknownAnswer,
} from '../domain/answer.ts'
import type { FillsReading } from '../domain/fill.ts'
import type { Instrument, PositionMode, ProductType } from '../domain/instrument.ts'
import type { ListedExits, PositionReading } from '../domain/position.ts'
import type { TickerTable } from '../domain/ticker-table.ts'
import type { Clock } from '../lib/clock.ts'
import type { ProxyFor } from '../lib/net/proxy.ts'
import type { Timers } from '../lib/timers.ts'
import type { Endpoint } from '../protocol/endpoint.ts'
import {
  type CallableName,
  endpointNamed,
  type RequestOf,
  type ResponseOf,
} from '../protocol/endpoints.ts'
import { answerBytesMaxOf, answerRulesOf, readAnswer, readExactly } from './client/answer-reader.ts'
import {
  type CallOptions,
  type SigningKeys,
  type EndpointCaller,
  type GatewayCredentials,
  type GuardedEndpoint,
  isGuarded,
  type OutgoingRequest,
  type PreparedRequest,
  prepareRequest,
  RequestWriter,
  Signer,
} from './client/request-writer.ts'
import type { AnswerOrigin, ExchangeClock } from './clock/exchange-clock.ts'
import { type FillsReadingQuery, readFills } from './readers/fills-reader.ts'
import { type Grant, type GrantSource, PRIORITY, type CallPriority } from './limiter/grant.ts'
import { Transport, type WireAnswer, type WireOutcome } from './client/transport.ts'
import { listExits } from './readers/exits-reader.ts'
import { readPosition } from './readers/position-reader.ts'
import { forgetTickers, readTickerAnswer, TickerScanner } from './readers/ticker-reader.ts'

export interface ExchangeClientOptions {
  readonly baseUrl: string
  readonly credentials?: SigningKeys | undefined
  readonly gatewayUrl?: string | undefined
  readonly gatewayCredentials?: GatewayCredentials | undefined
  readonly platformCoin?: string | undefined
  readonly signingObjection?: (() => string | undefined) | undefined
  /** The one guarded endpoint that this client may call. */
  readonly unlocked?: GuardedEndpoint | undefined
  readonly proxyFor?: ProxyFor | undefined
  readonly openCarrier?: ((baseUrl: string) => Carrier) | undefined
  readonly positionMode: PositionMode
  readonly clock: Clock
  readonly timers: Timers
  readonly offset: ExchangeClock
  readonly limiter?: GrantSource
  /** Limits the wait for a grant, and then the call up to the answer's last byte. */
  readonly requestTimeoutMs: number
  readonly answerBytesMax: number
  readonly locale: string
  readonly isDemo?: boolean | undefined
}

export type Carrier = Pick<Transport, 'send' | 'close'>

/**
 * Expected outcomes never throw. Only a read or a cancel-all whose time was refused is repeated,
 * signed with the time that the refusal states.
 */
export class ExchangeClient implements EndpointCaller {
  readonly #options: ExchangeClientOptions
  readonly #transports: Readonly<Record<OutgoingRequest['host'], Carrier>>
  readonly #writer: RequestWriter
  readonly #signer: Signer | undefined
  readonly #scanner = new TickerScanner()
  readonly #answerLimits: Parameters<typeof answerRulesOf>[1]
  readonly #inFlight = new Set<number>()
  #clockRefusals = NO_CLOCK_REFUSALS
  #isRateLimited = false
  #calls = 0

  /** @throws Failure EXCHANGE_URL_UNUSABLE or CREDENTIALS_UNUSABLE */
  constructor(options: ExchangeClientOptions) {
    const { baseUrl, gatewayUrl = baseUrl, credentials, gatewayCredentials } = options
    this.#options = options
    this.#signer =
      credentials === undefined ? undefined : new Signer(credentials, gatewayCredentials)
    const { answerBytesMax, locale, platformCoin, isDemo } = options
    this.#answerLimits = { answerBytesMax, scrub: (text) => this.#signer?.scrub(text) ?? text }
    const objection = options.signingObjection
    this.#writer = new RequestWriter({
      signer: this.#signer,
      locale,
      platformCoin,
      objection,
      isDemo,
    })
    const open = options.openCarrier ?? ((url) => this.#openTransport(url))
    const api = open(baseUrl)
    this.#transports = { api, gateway: gatewayUrl === baseUrl ? api : open(gatewayUrl) }
  }

  /** A request that breaks a rule of the document is refused, class `invalid`. */
  call<Name extends CallableName>(
    endpoint: Name,
    request: RequestOf<Name>,
    options: CallOptions = {},
  ): Promise<Answer<ResponseOf<Name>>> {
    const prepared = this.prepareBody(endpoint, request)
    if (!('kind' in prepared)) return this.send(prepared, options)
    options.grant?.unused()
    return Promise.resolve(prepared)
  }

  prepareBody<Name extends CallableName>(
    endpoint: Name,
    request: RequestOf<Name>,
  ): PreparedRequest<Name> | RefusedAnswer {
    const { positionMode } = this.#options
    const preparation = prepareRequest(endpoint, request, { positionMode })
    if (preparation.kind === 'prepared') return preparation.request
    return this.#refuse('invalid', 'REQUEST_INVALID', preparation.problem)
  }

  /** The bytes may come from the journal. */
  send<Name extends CallableName>(
    prepared: PreparedRequest<Name>,
    options: CallOptions = {},
  ): Promise<Answer<ResponseOf<Name>>> {
    const rules = answerRulesOf(prepared.endpoint, this.#answerLimits)
    return this.#sendAndRepeat(prepared, options, (answer) => readAnswer(answer, rules))
  }

  sendExactly<Name extends CallableName>(
    prepared: PreparedRequest<Name>,
  ): Promise<Answer<{ readonly data: ResponseOf<Name>; readonly text: string }>> {
    const rules = answerRulesOf(prepared.endpoint, this.#answerLimits)
    return this.#sendAndRepeat(prepared, {}, (wire) => readExactly(wire, rules))
  }

  /** Fills the table, or empties it. Document: GET /api/v2/mix/market/tickers. */
  async readTickers(
    table: TickerTable,
    productType: ProductType,
    options: CallOptions = {},
  ): Promise<Answer<TickerTable>> {
    const request = { endpoint: 'tickers', body: '', query: `productType=${productType}` } as const
    const into = { table, scanner: this.#scanner }
    const rules = answerRulesOf('tickers', this.#answerLimits)
    const answer = await this.#sendAndRepeat(request, options, (wire) =>
      readTickerAnswer(wire, into, rules),
    )
    if (answer.kind !== 'accepted') forgetTickers(table)
    return answer
  }

  /** Document: GET /api/v2/mix/order/fills. */
  readFills(query: FillsReadingQuery): Promise<Answer<FillsReading>> {
    const { clock, offset } = this.#options
    return readFills({ caller: this, clock, offset, query })
  }

  /** Document: GET /api/v2/mix/position/single-position. */
  readPosition({
    instrument,
  }: {
    readonly instrument: Instrument
  }): Promise<Answer<PositionReading>> {
    const { clock, offset } = this.#options
    return readPosition({ caller: this, clock, offset, instrument })
  }

  /** Beyond the document: GET /api/v2/mix/order/orders-plan-pending. */
  listExits({ instrument }: { readonly instrument: Instrument }): Promise<Answer<ListedExits>> {
    return listExits(this, instrument)
  }

  get oldestCall(): number | undefined {
    return this.#inFlight.values().next().value
  }

  async close(): Promise<void> {
    await Promise.all(
      [...new Set(Object.values(this.#transports))].map((transport) => transport.close()),
    )
  }

  #openTransport(baseUrl: string): Transport {
    const { clock, timers, answerBytesMax, proxyFor } = this.#options
    return new Transport({ baseUrl, clock, timers, answerBytesMax, proxy: proxyFor?.(baseUrl) })
  }

  #sendAndRepeat<Data>(
    prepared: PreparedRequest,
    options: CallOptions,
    read: Reader<Data>,
  ): Promise<Answer<Data>> {
    const answer = this.#sendOnce(prepared, options, read)
    if (!isSignedAnew(prepared)) return answer
    return answer.then((refusal) => {
      const clockAheadMs = clockAheadAfter(this.#clockRefusals)
      if (!isClockRefused(refusal) || clockAheadMs === undefined) return refusal
      return this.#sendOnce(prepared, { ...options, grant: undefined, clockAheadMs }, read)
    })
  }

  /** With a grant and an idle connection, the request is written in this turn. */
  #sendOnce<Data>(
    prepared: PreparedRequest,
    options: CallOptions,
    read: Reader<Data>,
  ): Promise<Answer<Data>> {
    const answer =
      options.grant !== undefined || this.#options.limiter === undefined
        ? this.#sendGranted(prepared, options, options.grant, read)
        : this.#sendWhenGranted(prepared, options, read, this.#options.limiter)
    this.#calls += 1
    const call = this.#calls
    const end = (): unknown => this.#inFlight.delete(call)
    this.#inFlight.add(call)
    void answer.then(end, end)
    return answer
  }

  #sendWhenGranted<Data>(
    prepared: PreparedRequest,
    options: CallOptions,
    read: Reader<Data>,
    limiter: GrantSource,
  ): Promise<Answer<Data>> {
    const { timers, requestTimeoutMs: timeoutMs } = this.#options
    const { endpoint } = prepared
    const { priority = PRIORITY.reads } = options
    return awaitGrant({ limiter, timers, endpoint, priority, timeoutMs }).then((grant) => {
      if (typeof grant !== 'string') return this.#sendGranted(prepared, options, grant, read)
      const message = this.#isRateLimited ? `${NO_GRANT}: the last answer was 429` : NO_GRANT
      return this.#refuse('notSent', grant, message)
    })
  }

  async #sendGranted<Data>(
    prepared: PreparedRequest,
    options: CallOptions,
    grant: Grant | undefined,
    read: Reader<Data>,
  ): Promise<Answer<Data>> {
    const { clock, offset, unlocked, requestTimeoutMs, answerBytesMax } = this.#options
    const { endpoint } = prepared
    if (isGuarded(endpoint) && endpoint !== unlocked) {
      grant?.unused()
      return this.#refuse('invalid', 'ENDPOINT_LOCKED', `${endpoint} is locked in this client`)
    }
    const statedMs = isSignedAnew(prepared) ? clockAheadAfter(this.#clockRefusals) : undefined
    const aheadMs = options.clockAheadMs ?? statedMs ?? offset.offsetMs
    const written = this.#writer.write(prepared, clock.now() + aheadMs)
    if (written.kind === 'unwritable') {
      grant?.unused()
      const refusalClass = written.code === 'LEASE_OVER' ? 'notSent' : 'invalid'
      return this.#refuse(refusalClass, written.code, written.message)
    }
    const outcome = await this.#transports[written.host]
      .send({
        ...written,
        timeoutMs: requestTimeoutMs,
        answerBytesMax: answerBytesMaxOf(endpoint, answerBytesMax),
        beforeWrite: options.beforeWrite,
        read: (wire) => this.#settle(prepared, grant, wire, read(wire)),
      })
      .catch((error: unknown) => {
        grant?.release()
        throw error
      })
    return outcome.kind === 'answered' ? outcome.result : this.#toLostAnswer(grant, outcome)
  }

  #settle<Data>(
    prepared: PreparedRequest,
    grant: Grant | undefined,
    wire: WireAnswer,
    answer: Answer<Data>,
  ): Answer<Data> {
    const { sentAt, receivedAt } = wire
    const { requestTime } = answer
    const origin = ORIGINS[endpointNamed(prepared.endpoint).auth]
    // A refusal's time counts only once a call signed with it is accepted.
    if (requestTime !== undefined && origin !== undefined && !isClockRefused(answer))
      this.#options.offset.observe({ requestTime, sentAt, receivedAt }, origin)
    if (isSignedAnew(prepared)) this.#clockRefusals = hearOfClock(this.#clockRefusals, answer)
    const isRateLimited = answer.kind === 'refused' && answer.topic === 'rate'
    this.#isRateLimited = isRateLimited
    grant?.release({ requestTime, roundTripMs: receivedAt - sentAt, isRateLimited })
    return answer
  }

  #toLostAnswer(
    grant: Grant | undefined,
    outcome: Exclude<WireOutcome<unknown>, { kind: 'answered' }>,
  ): RefusedAnswer | UnknownAnswer {
    if (outcome.kind === 'notSent') {
      grant?.unused()
      return this.#refuse('notSent', outcome.code, outcome.message)
    }
    const { cause, code, status, sentAt, at } = outcome
    grant?.release({ roundTripMs: at - sentAt })
    return { kind: 'unknown', cause, code, message: LOST_MESSAGES[cause], status, receivedAt: at }
  }

  #refuse(refusalClass: 'invalid' | 'notSent', code: string, message: string): RefusedAnswer {
    const receivedAt = this.#options.clock.now()
    const reason = { class: refusalClass, code, topic: 'ours', message, status: undefined }
    return { kind: 'refused', ...reason, receivedAt }
  }
}

interface GrantRequest {
  readonly limiter: Pick<GrantSource, 'request'>
  readonly timers: Timers
  readonly endpoint: CallableName
  readonly priority: CallPriority
  readonly timeoutMs: number
}

function awaitGrant(wanted: GrantRequest): Promise<Grant | 'LIMITER_FULL' | 'LIMITER_TIMEOUT'> {
  const { limiter, timers, endpoint, priority, timeoutMs } = wanted
  return new Promise((resolve) => {
    let isGranted = false
    let cancelDeadline = (): void => undefined
    const waiting = limiter.request(endpoint, priority, (grant) => {
      isGranted = true
      cancelDeadline()
      resolve(grant)
    })
    if (isGranted) return
    if (waiting === undefined) {
      resolve('LIMITER_FULL')
      return
    }
    cancelDeadline = timers.after(timeoutMs, () => {
      waiting.cancel()
      resolve('LIMITER_TIMEOUT')
    })
  })
}

const NO_GRANT = 'the limiter had no grant for this call in time'

type Reader<Data> = (wire: WireAnswer) => Answer<Data>

/** The gateway is not the machine that checks the time of orders. */
const ORIGINS: Readonly<Record<Endpoint['auth'], AnswerOrigin | undefined>> = {
  public: 'public',
  schemeA: 'signed',
  schemeB: undefined,
}

/**
 * A call is signed anew only if it creates nothing and has no time in its body. A cancel-all with a
 * time is rewritten by the caller, which recorded it.
 */
function isSignedAnew({ endpoint, body }: PreparedRequest): boolean {
  const { auth, retry } = endpointNamed(endpoint)
  if (auth === 'public') return false
  return retry === 'safe' || (endpoint === 'cancelAllOrders' && !body.includes('"requestTime"'))
}

const LOST_MESSAGES = {
  timeout: 'no whole answer came before the deadline',
  connectionLost: 'the connection broke after the request had been written',
  tooLarge: 'the answer is larger than is read: 1 MiB, of a whole market exchange.answerBytesMax',
} as const
