import { formatPath } from '../../protocol/endpoint-path.ts'
import type { Endpoint } from '../../protocol/endpoint.ts'
import { endpointNamed } from '../../protocol/endpoints.ts'
import type { PreparedRequest } from './prepared-request.ts'
import type { Signer } from './signer.ts'

export interface RequestWriterOptions {
  /** Absent: only public endpoints can be written. */
  readonly signer: Signer | undefined
  /** Language of the exchange's messages. */
  readonly locale: string
  /** Returns why nothing may be signed now; undefined: signing is allowed. Absent: it always is. */
  readonly objection?: (() => string | undefined) | undefined
  /** What `{platform_coin}` stands for: the lower-case ticker of the platform's own coin. */
  readonly platformCoin: string | undefined
}

/** A request as it is written to the wire, without its address. */
export interface OutgoingRequest {
  readonly kind: 'written'
  /** Scheme B goes to the gateway's address. Document: `{base_url}` and `{gateway_url}`. */
  readonly host: 'api' | 'gateway'
  readonly method: 'GET' | 'POST'
  /** Path and query. */
  readonly target: string
  /** Names and values in turn. */
  readonly headers: string[]
  /** Empty for none. */
  readonly body: string
}

export interface Unwritable {
  readonly kind: 'unwritable'
  readonly code: 'CREDENTIALS_MISSING' | 'PATH_PARAMETER_MISSING' | 'LEASE_OVER'
  readonly message: string
}

/** Writes headers, path and signature of any endpoint; only this class knows both schemes. Document: Authentication. */
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

  /** Signs exactly the given bytes. `signedAt` in Unix ms, exchange clock; asked only for what is signed. */
  write(prepared: PreparedRequest, signedAt: () => number): OutgoingRequest | Unwritable {
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
          ? signer.gatewayHeaders(request, signedAt())
          : signer.headers(request, signedAt())
      headers.push(...signed)
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
