import { createSecretKey, type KeyObject } from 'node:crypto'
import type { z } from 'zod'
import type { Answer } from '../../domain/answer.ts'
import type { Clock } from '../../lib/clock.ts'
import { Failure } from '../../lib/failure.ts'
import { HiddenTexts, type Secret } from '../../lib/secret.ts'
import { formatPath } from '../../protocol/endpoint-path.ts'
import type { Endpoint, RuleContext } from '../../protocol/endpoint.ts'
import {
  type CallableName,
  type EndpointName,
  endpointNamed,
  type RequestOf,
  type ResponseOf,
} from '../../protocol/endpoints.ts'
import {
  readQuery,
  SCHEME_B_HEADERS,
  type SchemeARequest,
  signSchemeA,
  signSchemeB,
} from '../../protocol/signing.ts'
import { toWireRequest, writeRequest, type WrittenRequest } from '../../protocol/write-request.ts'
import type { ExchangeClock } from '../clock/exchange-clock.ts'
import type { Grant, CallPriority } from '../limiter/grant.ts'

interface RequestWriterOptions {
  readonly signer: Signer | undefined
  readonly locale: string
  readonly objection?: (() => string | undefined) | undefined
  readonly platformCoin: string | undefined
  readonly isDemo?: boolean | undefined
}

/**
 * Source: the exchange's page on demo trading; the demo environment has the same address. The
 * header is not signed.
 */
const DEMO_HEADER = ['paptrading', '1'] as const

export interface OutgoingRequest {
  readonly kind: 'written'
  /** Document: `{base_url}` and `{gateway_url}`. */
  readonly host: 'api' | 'gateway'
  readonly method: 'GET' | 'POST'
  readonly target: string
  readonly headers: string[]
  readonly body: string
}

interface Unwritable {
  readonly kind: 'unwritable'
  readonly code: 'CREDENTIALS_MISSING' | 'PATH_PARAMETER_MISSING' | 'LEASE_OVER'
  readonly message: string
}

/** The only class that knows both schemes. Document: Authentication. */
export class RequestWriter {
  readonly #options: RequestWriterOptions
  readonly #headers: readonly string[]

  constructor(options: RequestWriterOptions) {
    this.#options = options
    this.#headers = [
      'Content-Type',
      'application/json',
      'locale',
      options.locale,
      'User-Agent',
      'intentd',
    ]
  }

  /** Signs exactly the given bytes. @param signedAt exchange clock */
  write(prepared: PreparedRequest, signedAt: number): OutgoingRequest | Unwritable {
    const { endpoint, query, body } = prepared
    const row = endpointNamed(endpoint)
    const path = this.#pathOf(row)
    if (path === undefined) {
      const message = `${endpoint} needs the ticker of the platform's own coin: set exchange.platformCoin`
      return { kind: 'unwritable', code: 'PATH_PARAMETER_MISSING', message }
    }
    const { method, auth } = row
    const headers = [...this.#headers]
    if (auth !== 'public') {
      const { signer, objection } = this.#options
      const objected = objection?.()
      if (objected !== undefined)
        return { kind: 'unwritable', code: 'LEASE_OVER', message: objected }
      if (signer === undefined) {
        const message = `${endpoint} must be signed by ${auth}`
        return { kind: 'unwritable', code: 'CREDENTIALS_MISSING', message }
      }
      const request = { method, path, query, body }
      const signed =
        auth === 'schemeB'
          ? signer.gatewayHeaders(request, signedAt)
          : signer.headers(request, signedAt)
      headers.push(...signed, ...(this.#options.isDemo === true ? DEMO_HEADER : []))
    }
    const target = query === '' ? path : `${path}?${query}`
    return {
      kind: 'written',
      host: auth === 'schemeB' ? 'gateway' : 'api',
      method,
      target,
      headers,
      body,
    }
  }

  #pathOf({ path }: Endpoint): string | undefined {
    if (!path.includes('{')) return path
    const { platformCoin } = this.#options
    if (platformCoin === undefined) return undefined
    return formatPath(path, { platform_coin: platformCoin })
  }
}

/** The same bytes are recorded, signed and sent. */
export interface PreparedRequest<Name extends CallableName = CallableName> extends WrittenRequest {
  readonly endpoint: Name
}

type Preparation<Name extends CallableName> =
  | { readonly kind: 'prepared'; readonly request: PreparedRequest<Name> }
  | { readonly kind: 'invalid'; readonly problem: string }

const PROBLEMS_MAX = 5

/** Values keep the order of the object; undefined ones are left out. */
export function prepareRequest<Name extends CallableName>(
  endpoint: Name,
  request: RequestOf<Name>,
  context: RuleContext,
): Preparation<Name> {
  const row = endpointNamed(endpoint)
  const wire = toWireRequest(row, request)
  const checked = row.request.safeParse(wire)
  const problems = checked.success
    ? (row.rules?.(checked.data, context) ?? [])
    : checked.error.issues.map(describeIssue)
  if (problems.length > 0)
    return { kind: 'invalid', problem: problems.slice(0, PROBLEMS_MAX).join('; ') }
  try {
    return { kind: 'prepared', request: { endpoint, ...writeRequest(row, wire) } }
  } catch (error) {
    // Clients of the exchange sign a character of the value in different ways.
    if (!(error instanceof RangeError)) throw error
    return { kind: 'invalid', problem: error.message }
  }
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const at = issue.path.map(String).join('.')
  return at === '' ? issue.message : `${at}: ${issue.message}`
}

export interface SigningKeys {
  readonly apiKey: Secret
  readonly secret: Secret
  readonly passphrase: Secret
}

/** Document: Authentication, Scheme B, which has no passphrase. */
export type GatewayCredentials = Pick<SigningKeys, 'apiKey' | 'secret'>

type SignableRequest = Omit<SchemeARequest, 'timestamp'>

/** The HTTP client throws for anything but visible ASCII. */
const HEADER_VALUE = /^[\x21-\x7e]+$/

export class Signer {
  readonly #apiKey: string
  readonly #passphrase: string
  readonly #key: KeyObject
  readonly #gateway: { readonly apiKey: string; readonly key: KeyObject }
  readonly #hidden = new HiddenTexts()

  /** @throws Failure CREDENTIALS_UNUSABLE, without the key's text */
  constructor(
    { apiKey, secret, passphrase }: SigningKeys,
    gateway: GatewayCredentials = { apiKey, secret },
  ) {
    this.#apiKey = assertHeaderValue('API key', apiKey)
    this.#passphrase = assertHeaderValue('passphrase', passphrase)
    assertHeaderValue('secret', secret)
    this.#key = createSecretKey(secret.reveal(), 'utf8')
    this.#gateway = {
      apiKey: assertHeaderValue('API key of the gateway', gateway.apiKey),
      key: createSecretKey(gateway.secret.reveal(), 'utf8'),
    }
    for (const text of [apiKey, secret, passphrase, gateway.apiKey, gateway.secret])
      this.#hidden.add(text)
  }

  /** Names and values take turns. @param signedAt exchange clock */
  headers(request: SignableRequest, signedAt: number): string[] {
    const timestamp = String(signedAt)
    return [
      'ACCESS-KEY',
      this.#apiKey,
      'ACCESS-SIGN',
      signSchemeA(this.#key, { ...request, timestamp }),
      'ACCESS-PASSPHRASE',
      this.#passphrase,
      'ACCESS-TIMESTAMP',
      timestamp,
    ]
  }

  gatewayHeaders({ path, query, body }: SignableRequest, signedAt: number): string[] {
    const { apiKey, key } = this.#gateway
    const timestamp = String(signedAt)
    const signature = signSchemeB(key, {
      apiPath: path,
      query: readQuery(query),
      body,
      apiKey,
      timestamp,
    })
    return [
      SCHEME_B_HEADERS.apiKey,
      apiKey,
      SCHEME_B_HEADERS.timestamp,
      timestamp,
      SCHEME_B_HEADERS.signature,
      signature,
    ]
  }

  scrub(text: string): string {
    return this.#hidden.remove(text)
  }
}

function assertHeaderValue(name: string, secret: Secret): string {
  const text = secret.reveal()
  if (!HEADER_VALUE.test(text)) {
    throw new Failure({
      code: 'CREDENTIALS_UNUSABLE',
      sentence: `the ${name} is empty or holds characters that no HTTP header can carry`,
      hint: 'look for quotes, spaces or a line break that were copied with it',
    })
  }
  return text
}

export interface CallOptions {
  readonly grant?: Grant | undefined
  /** Default: that of a read. */
  readonly priority?: CallPriority | undefined
  readonly clockAheadMs?: number | undefined
  /**
   * Called after all waits, in the turn in which the first byte is written. If it returns a reason,
   * nothing is written: class `notSent`, code `ABORTED`.
   */
  readonly beforeWrite?: (() => string | undefined) | undefined
}

export interface EndpointCaller {
  call<Name extends EndpointName>(
    endpoint: Name,
    request: RequestOf<Name>,
  ): Promise<Answer<ResponseOf<Name>>>
}

export interface ReadingCall {
  readonly caller: EndpointCaller
  readonly clock: Clock
  readonly offset: ExchangeClock
}

export type GuardedEndpoint = Extract<EndpointName, 'spotWithdrawal' | 'createVirtualSubaccounts'>

const GUARDED: readonly CallableName[] = [
  'spotWithdrawal',
  'createVirtualSubaccounts',
] satisfies GuardedEndpoint[]

/**
 * A guarded endpoint is locked unless the client named it when it was created. The daemon names
 * none, so no strategy, defect or journal can withdraw.
 */
export function isGuarded(endpoint: CallableName): endpoint is GuardedEndpoint {
  return GUARDED.includes(endpoint)
}

export interface ExchangeAccess {
  readonly baseUrl: string
  readonly credentials: SigningKeys
}
