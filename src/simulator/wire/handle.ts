import { type Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import { type AccountSetup } from '../shared/account.ts'
import { type Reply } from '../shared/reply.ts'
import { NOBODY } from '../shared/handlers.ts'
import { authenticate } from './checks/authenticate.ts'
import { batchOf, withRefusedItems } from './checks/batches.ts'
import { checkParameters, type CheckedParameters } from './checks/check-parameters.ts'
import { authenticateGateway } from './checks/authenticate-gateway.ts'
import { readParameters } from './checks/parameters.ts'
import { RateLimits } from './checks/rate-limits.ts'
import { checkReceiveWindow } from './checks/receive-window.ts'
import { gatewayRefusals, type Refusal, refusals } from './checks/refusal.ts'
import { type ServedExchange } from './served-exchange.ts'
import {
  createEndpointFinder,
  servedNames,
  type EndpointFinder,
  type NamedEndpoint,
  type ServedName,
} from './served-rows.ts'
import { defaultWireSettings, type WireSettings } from './settings.ts'
import { type WireCounters, type WireEvent } from './wire-event.ts'
import { type WireRequest, type WireResponse } from './wire-request.ts'

export interface WireOptions {
  readonly exchange: ServedExchange
  /** The exchange's clock. */
  readonly clock: Clock
  readonly settings?: WireSettings
  readonly onEvent?: (event: WireEvent) => void
}

/** The exchange as its clients see it: requests in, responses out, no sockets. */
export interface Wire {
  handle(request: WireRequest): WireResponse
  /** The name of the row that a request is for. */
  endpointOf(request: WireRequest): ServedName | undefined
  counters(): WireCounters
}

export function createWire(options: WireOptions): Wire {
  return new ExchangeWire(options)
}

/** What a request has come to: a refusal of the wire, or the core's reply. */
type Outcome = Refusal | Reply<unknown>

class ExchangeWire implements Wire {
  readonly #exchange: ServedExchange
  readonly #endpointAt: EndpointFinder
  readonly #clock: Clock
  readonly #settings: WireSettings
  readonly #onEvent: (event: WireEvent) => void
  readonly #limits: RateLimits
  readonly #requests: Record<ServedName, number>
  readonly #refusals = new Map<string, number>()
  /** The JSON of ticker answers by the core's own array, which it keeps while the market stands still. */
  readonly #tickersJson = new WeakMap<object, Buffer>()
  #latestAt = 0

  constructor({ exchange, clock, settings = defaultWireSettings, onEvent = () => {} }: WireOptions) {
    this.#exchange = exchange
    this.#endpointAt = createEndpointFinder(settings.platformCoin)
    this.#clock = clock
    this.#settings = settings
    this.#onEvent = onEvent
    this.#limits = new RateLimits(settings.rateLimits)
    this.#requests = Object.fromEntries(servedNames.map((name) => [name, 0])) as Record<ServedName, number>
  }

  handle(request: WireRequest): WireResponse {
    // A clock that steps back must neither reopen a rate limit nor move the market back.
    const now = Math.max(this.#latestAt, this.#clock.now())
    this.#latestAt = now
    const endpoint = this.#endpointAt(request)
    if (endpoint !== undefined) this.#requests[endpoint.name]++
    const taken = new TakenRequest(now)
    const outcome = this.#answerSafely(request, endpoint, taken)
    if (!outcome.ok) this.#countRefusal(outcome, endpoint, taken)
    return this.#respond(outcome, endpoint, taken)
  }

  endpointOf(request: WireRequest): ServedName | undefined {
    return this.#endpointAt(request)?.name
  }

  counters(): WireCounters {
    return {
      requests: { ...this.#requests },
      refusals: Object.fromEntries(this.#refusals),
      tooManyRequests: this.#refusals.get(refusals.tooManyRequests.code) ?? 0,
    }
  }

  /** A defect of the exchange is the exchange's: its client sees an answer that settles nothing. */
  #answerSafely(request: WireRequest, endpoint: NamedEndpoint | undefined, taken: TakenRequest): Outcome {
    try {
      return this.#answer(request, endpoint, taken)
    } catch (error) {
      this.#onEvent({ kind: 'handlerFailed', endpoint: endpoint?.name, reason: messageOf(error) })
      return refusals.internal
    }
  }

  /** Every check in the order of the real exchange, then the handler. */
  #answer(request: WireRequest, endpoint: NamedEndpoint | undefined, taken: TakenRequest): Outcome {
    const settings = this.#settings
    if (Object.keys(request.headers).length > settings.headersMax) return refusals.headersTooMany
    if (Buffer.byteLength(request.body) > settings.bodyBytesMax) return refusals.bodyTooLarge
    if (!this.#limits.takeOverall(request.remoteAddress, taken.now)) return refusals.tooManyRequests
    if (endpoint === undefined) return refusals.pathUnknown
    if (endpoint.limit.scope === 'ip' && !this.#take(endpoint, request.remoteAddress, taken)) {
      return refusals.tooManyRequests
    }
    if (endpoint.auth !== 'public') {
      const authenticated = this.#authenticate(endpoint, request, taken.now)
      if (!authenticated.ok) return authenticated
      taken.account = authenticated.account
    }
    const uid = taken.account?.uid ?? request.remoteAddress
    if (endpoint.limit.scope === 'uid' && !this.#take(endpoint, uid, taken)) return refusals.tooManyRequests
    const read = this.#readParameters(endpoint, request, taken.now)
    return read.ok ? this.#serve(endpoint, read, taken) : read
  }

  #authenticate(endpoint: NamedEndpoint, request: WireRequest, now: number) {
    const { timestampToleranceMs, gatewayToleranceMs } = this.#settings
    if (endpoint.auth === 'schemeB') {
      const accountByGatewayKey = (key: string) => this.#exchange.accountByGatewayKey(key)
      return authenticateGateway(request, { accountByGatewayKey, toleranceMs: gatewayToleranceMs, now })
    }
    const accountByKey = (key: string) => this.#exchange.accountByKey(key)
    return authenticate(request, { accountByKey, toleranceMs: timestampToleranceMs, now })
  }

  /** Counts the call against its endpoint's limit. */
  #take(endpoint: NamedEndpoint, who: string, taken: TakenRequest): boolean {
    const isCopyTrader = taken.account?.role === 'copyTrader'
    const limit =
      endpoint.auth === 'schemeB' ? { ...endpoint.limit, ...this.#settings.gatewayLimit } : endpoint.limit
    const call = { endpoint: endpoint.name, limit, who, isCopyTrader }
    const { granted, remaining } = this.#limits.take(call, taken.now)
    taken.remaining = remaining
    return granted
  }

  #readParameters(endpoint: NamedEndpoint, request: WireRequest, now: number) {
    const { businessErrorStatus: status, unknownParameters, limitAboveMaximum } = this.#settings
    const read = readParameters(endpoint, request)
    const batchList = batchOf(endpoint.name)?.list
    const options = { unknownParameters, limitAboveMaximum, status, batchList }
    const checked = read.ok ? checkParameters(endpoint, read.parameters, options) : read
    if (!checked.ok)
      return endpoint.auth === 'schemeB' ? gatewayRefusals.badRequest(checked.message) : checked
    return checkReceiveWindow(checked.parameters, { now, status }) ?? checked
  }

  #serve(
    endpoint: NamedEndpoint,
    { parameters, refusedItems }: CheckedParameters,
    taken: TakenRequest,
  ): Outcome {
    const { account = NOBODY, now } = taken
    const reply = this.#exchange.answer(endpoint.name, account, parameters as never, now)
    return withRefusedItems(reply, batchOf(endpoint.name), refusedItems)
  }

  #respond(
    outcome: Outcome,
    endpoint: NamedEndpoint | undefined,
    { now, remaining }: TakenRequest,
  ): WireResponse {
    const headers: Record<string, string> = { 'content-type': 'application/json;charset=UTF-8' }
    if (remaining !== undefined) headers['x-mbx-used-remain-limit'] = String(remaining)
    if (outcome.ok) {
      const { textField = 'msg', name } = endpoint ?? {}
      const at = name !== undefined && this.#settings.requestTimeTexts.includes(name) ? `"${now}"` : now
      const head = `{"code":"00000","${textField}":"success","requestTime":${at},"data":`
      if (name === 'tickers') return { status: 200, headers, body: this.#tickersBody(head, outcome.data) }
      return { status: 200, headers, body: `${head}${JSON.stringify(outcome.data ?? null)}}` }
    }
    const status = 'status' in outcome ? outcome.status : this.#settings.businessErrorStatus
    const body = { code: outcome.code, msg: outcome.message, requestTime: now, data: null }
    return { status, headers, body: JSON.stringify(body) }
  }

  /** Hundreds of rows, asked for many times a second: written once for each array that the core answers. */
  #tickersBody(head: string, data: unknown): Buffer {
    if (typeof data !== 'object' || data === null) return Buffer.from(`${head}${JSON.stringify(data)}}`)
    const json = this.#tickersJson.get(data) ?? Buffer.from(JSON.stringify(data))
    this.#tickersJson.set(data, json)
    return Buffer.concat([Buffer.from(head), json, CLOSING_BRACE])
  }

  #countRefusal(
    refusal: { code: string; message: string },
    endpoint: NamedEndpoint | undefined,
    taken: TakenRequest,
  ): void {
    const { code, message } = refusal
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1)
    this.#onEvent({
      kind: 'requestRefused',
      endpoint: endpoint?.name,
      uid: taken.account?.uid,
      code,
      message,
    })
  }
}

const CLOSING_BRACE = Buffer.from('}')

/** What has been found out about a request on its way through the checks. */
class TakenRequest {
  /** Unix ms of the exchange's clock when it took the request. */
  readonly now: number
  account: AccountSetup | undefined
  /** Calls of this endpoint left to this caller. */
  remaining: number | undefined

  constructor(now: number) {
    this.now = now
  }
}
