import { createSecretKey, type KeyObject } from 'node:crypto'
import { Failure } from '../../lib/failure.ts'
import { HiddenTexts, type Secret } from '../../lib/secret.ts'
import {
  readQuery,
  SCHEME_B_HEADERS,
  type SchemeARequest,
  signSchemeA,
  signSchemeB,
} from '../../protocol/signing.ts'

export interface Credentials {
  readonly apiKey: Secret
  readonly secret: Secret
  readonly passphrase: Secret
}

/** A client's key at the signed gateway, which has no passphrase. Document: Authentication, Scheme B. */
export type GatewayCredentials = Pick<Credentials, 'apiKey' | 'secret'>

/** What is signed. Document: Authentication. */
type SignableRequest = Omit<SchemeARequest, 'timestamp'>

/** What a header may contain: visible ASCII. The HTTP client would throw for anything else. */
const HEADER_VALUE = /^[\x21-\x7e]+$/

/** Signs requests by either scheme with one account's keys. Keeps them as KeyObjects, made once. */
export class Signer {
  readonly #apiKey: string
  readonly #passphrase: string
  readonly #key: KeyObject
  readonly #gateway: { readonly apiKey: string; readonly key: KeyObject }
  readonly #hidden = new HiddenTexts()

  /**
   * @param gateway The key of scheme B, where it is another one.
   * @throws Failure CREDENTIALS_UNUSABLE, without the text, for a key or passphrase that no header can carry.
   */
  constructor(
    { apiKey, secret, passphrase }: Credentials,
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

  /** Scheme A. Headers as a flat list of names and values. `signedAt` in Unix ms, exchange clock. */
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

  /** The same by scheme B, where the query's parameters are signed each under its own name. */
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

  /** Removes all our secrets from a text: an exchange may repeat what it was sent. */
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
