import { createSecretKey, type KeyObject } from 'node:crypto'
import { Failure } from '../lib/failure.ts'
import { type Secret } from '../lib/secret.ts'
import { signSchemeA } from '../protocol/signing.ts'

export interface Credentials {
  readonly apiKey: Secret
  readonly secret: Secret
  readonly passphrase: Secret
}

/** What is signed. Document: Authentication, Scheme A. */
export interface SignableRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query: string
  readonly body: string
}

/** What may stand in a header: visible ASCII. Anything else would be refused deep inside the HTTP client. */
const HEADER_VALUE = /^[\x21-\x7e]+$/

/** Signs requests by scheme A with one account's key. Keeps the key as a KeyObject, made once. */
export class Signer {
  readonly #apiKey: string
  readonly #passphrase: string
  readonly #key: KeyObject
  readonly #hidden: readonly string[]

  /** @throws Failure CREDENTIALS_UNUSABLE, without the text, for a key or passphrase that no header can carry. */
  constructor({ apiKey, secret, passphrase }: Credentials) {
    this.#apiKey = assertHeaderValue('API key', apiKey)
    this.#passphrase = assertHeaderValue('passphrase', passphrase)
    assertHeaderValue('secret', secret)
    this.#key = createSecretKey(secret.reveal(), 'utf8')
    this.#hidden = [apiKey, secret, passphrase].map((text) => text.reveal()).filter((text) => text.length > 3)
  }

  /** Headers as a flat list of names and values. `signedAt` in Unix ms, exchange clock. */
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

  /** The text with every one of our secrets taken out: an exchange may well repeat what it was sent. */
  scrub(text: string): string {
    let clean = text
    for (const secret of this.#hidden) clean = clean.replaceAll(secret, '[hidden]')
    return clean
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
