import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import type { AccountRef, ExchangeAccountSetup } from '../shared/account.ts'
import type { RefusedReply, Reply } from '../shared/reply.ts'
import { NOBODY } from '../shared/handlers.ts'
import { authenticate, authenticateGateway } from './checks/authenticate.ts'
import { batchOf, withRefusedItems } from './checks/batches.ts'
import { checkParameters, receiveWindowRefusal } from './checks/check-parameters.ts'
import { RateLimits } from './checks/rate-limits.ts'
import { gatewayRefusals, wireRefusals, type WireRefusal } from './checks/refusal.ts'
import {
  createEndpointFinder,
  servedNames,
  type NamedEndpoint,
  type ServedName,
} from './served-rows.ts'
import { defaultWireSettings, REQUEST_TIME_TEXTS, type WireSettings } from './settings.ts'
import type { WireCounters, WireEvent } from './server-event.ts'
import type { ReceivedRequest, WireResponse } from './wire-request.ts'

export interface ServedExchange {
  answer(name: ServedName, account: AccountRef, request: never, now: number): Reply<unknown>
  accountByKey(apiKey: string): ExchangeAccountSetup | undefined
  accountByGatewayKey(apiKey: string): ExchangeAccountSetup | undefined
}

export interface WireOptions {
  readonly exchange: ServedExchange
  readonly clock: Clock
  readonly settings?: WireSettings
  readonly onEvent?: (event: WireEvent) => void
}

interface ServedRequest {
  readonly request: ReceivedRequest
  readonly endpoint: NamedEndpoint | undefined
  readonly now: number
  account: ExchangeAccountSetup | undefined
  remaining: number | undefined
}

const HEADERS_MAX = 64

export class Wire {
  readonly #options: Required<WireOptions>
  readonly #endpointAt: (request: ReceivedRequest) => NamedEndpoint | undefined
  readonly #limits: RateLimits
  readonly #requests: Record<ServedName, number>
  readonly #refusals = new Map<string, number>()
  readonly #tickersJson = new WeakMap<object, Buffer>()
  #latestAt = 0

  constructor(options: WireOptions) {
    this.#options = { settings: defaultWireSettings, onEvent: () => {}, ...options }
    const { platformCoin, rateLimits } = this.#options.settings
    this.#endpointAt = createEndpointFinder(platformCoin)
    this.#limits = new RateLimits(rateLimits)
    this.#requests = Object.fromEntries(servedNames.map((name) => [name, 0])) as Record<
      ServedName,
      number
    >
  }

  handle(request: ReceivedRequest): WireResponse {
    // A clock that steps back must neither reopen a rate limit nor move the market back.
    const now = Math.max(this.#latestAt, this.#options.clock.now())
    this.#latestAt = now
    const endpoint = this.#endpointAt(request)
    if (endpoint !== undefined) this.#requests[endpoint.name]++
    const taken = { request, endpoint, now, account: undefined, remaining: undefined }
    const outcome = this.#answerSafely(taken)
    if (!outcome.ok) this.#countRefusal(outcome, taken)
    return this.#respond(outcome, taken)
  }

  endpointOf(request: ReceivedRequest): ServedName | undefined {
    return this.#endpointAt(request)?.name
  }

  counters(): WireCounters {
    return {
      requests: { ...this.#requests },
      refusals: Object.fromEntries(this.#refusals),
      tooManyRequests: this.#refusals.get(wireRefusals.tooManyRequests.code) ?? 0,
    }
  }

  /** After a defect the answer leaves the client without an outcome. */
  #answerSafely(taken: ServedRequest): Reply<unknown> {
    try {
      return this.#answer(taken)
    } catch (error) {
      const endpoint = taken.endpoint?.name
      this.#options.onEvent({ kind: 'handlerFailed', endpoint, reason: messageOf(error) })
      return wireRefusals.internal
    }
  }

  #answer(taken: ServedRequest): Reply<unknown> {
    const { request, endpoint, now } = taken
    const { exchange, settings } = this.#options
    if (Object.keys(request.headers).length > HEADERS_MAX) return wireRefusals.headersTooMany
    if (Buffer.byteLength(request.body) > settings.bodyBytesMax) return wireRefusals.bodyTooLarge
    if (!this.#limits.takeOverall(request.remoteAddress, now)) return wireRefusals.tooManyRequests
    if (endpoint === undefined) return wireRefusals.pathUnknown
    const { auth, limit, name } = endpoint
    if (limit.scope === 'ip' && !this.#take(endpoint, taken)) return wireRefusals.tooManyRequests
    if (auth !== 'public') {
      const authenticated = this.#authenticate(auth, taken)
      if (!authenticated.ok) return authenticated
      taken.account = authenticated.data
    }
    if (limit.scope === 'uid' && !this.#take(endpoint, taken)) return wireRefusals.tooManyRequests
    const checked = checkParameters(endpoint, request, settings)
    if (!checked.ok)
      return auth === 'schemeB' ? gatewayRefusals.badRequest(checked.message) : checked
    const { parameters, refusedItems } = checked.data
    const late = receiveWindowRefusal(parameters, now)
    if (late !== undefined) return late
    const reply = exchange.answer(name, taken.account ?? NOBODY, parameters as never, now)
    return withRefusedItems(reply, batchOf(name), refusedItems)
  }

  #authenticate(
    auth: 'schemeA' | 'schemeB',
    { request, now }: ServedRequest,
  ): Reply<ExchangeAccountSetup> {
    const { exchange, settings } = this.#options
    if (auth === 'schemeB')
      return authenticateGateway(request, {
        accountByKey: (key) => exchange.accountByGatewayKey(key),
        now,
      })
    const accountByKey = (key: string) => exchange.accountByKey(key)
    return authenticate(request, { accountByKey, toleranceMs: settings.timestampToleranceMs, now })
  }

  #take({ name, auth, limit }: NamedEndpoint, taken: ServedRequest): boolean {
    const { account, request, now } = taken
    const { granted, remaining } = this.#limits.take(
      {
        endpoint: name,
        limit: auth === 'schemeB' ? { ...limit, ...this.#options.settings.gatewayLimit } : limit,
        who: account?.uid ?? request.remoteAddress,
        isCopyTrader: account?.role === 'copyTrader',
      },
      now,
    )
    taken.remaining = remaining
    return granted
  }

  #respond(outcome: Reply<unknown>, { endpoint, now, remaining }: ServedRequest): WireResponse {
    const { businessErrorStatus } = this.#options.settings
    const headers: Record<string, string> = { 'content-type': 'application/json;charset=UTF-8' }
    if (remaining !== undefined) headers['x-mbx-used-remain-limit'] = String(remaining)
    if (!outcome.ok) {
      const {
        status = businessErrorStatus,
        code,
        message,
      }: Partial<WireRefusal> & RefusedReply = outcome
      return {
        status,
        headers,
        body: JSON.stringify({ code, msg: message, requestTime: now, data: null }),
      }
    }
    const { textField = 'msg', name } = endpoint ?? {}
    const at = name !== undefined && REQUEST_TIME_TEXTS.includes(name) ? `"${now}"` : now
    const head = `{"code":"00000","${textField}":"success","requestTime":${at},"data":`
    if (name === 'tickers')
      return { status: 200, headers, body: this.#tickersBody(head, outcome.data) }
    return { status: 200, headers, body: `${head}${JSON.stringify(outcome.data ?? null)}}` }
  }

  /** The JSON is written once for each array of the core. */
  #tickersBody(head: string, data: unknown): Buffer {
    if (typeof data !== 'object' || data === null)
      return Buffer.from(`${head}${JSON.stringify(data)}}`)
    const json = this.#tickersJson.get(data) ?? Buffer.from(JSON.stringify(data))
    this.#tickersJson.set(data, json)
    return Buffer.concat([Buffer.from(head), json, CLOSING_BRACE])
  }

  #countRefusal({ code, message }: RefusedReply, { endpoint, account }: ServedRequest): void {
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1)
    const [name, uid] = [endpoint?.name, account?.uid]
    this.#options.onEvent({ kind: 'requestRefused', endpoint: name, uid, code, message })
  }
}

const CLOSING_BRACE = Buffer.from('}')
