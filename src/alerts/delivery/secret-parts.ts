import type { AlertSecrets } from '../../config/alert-secrets.ts'
import { Secret } from '../../lib/secret.ts'

/** A part of an address with this length is a token even without a digit. */
const TOKEN_LENGTH_MIN = 16
const MIXED_LENGTH_MIN = 8

/** Addresses, tokens, and keys in addresses allow writing. */
export function listSecretParts({ targets, heartbeatUrl }: AlertSecrets): readonly Secret[] {
  const urls = [...targets.map(({ url }) => url), heartbeatUrl].flatMap(
    (url) => url?.reveal() ?? [],
  )
  const tokens = targets.flatMap(({ token }) => token?.reveal() ?? [])
  const parts = [...tokens, ...urls.flatMap(partsOf)]
  return [...new Set(parts.flatMap(listForms))]
    .toSorted((a, b) => b.length - a.length)
    .map((text) => new Secret(text))
}

function partsOf(address: string): readonly string[] {
  const url = URL.parse(address)
  if (!url) return [address]
  const segments = url.pathname
    .split('/')
    .flatMap((segment) => [segment, segment.replace(/^bot/, '')])
  const values = [...url.searchParams.values(), url.password, url.username]
  const keys = [...segments, ...values].filter(isKey)
  const path = `${url.pathname}${url.search}`
  return [address, ...(path.length >= MIXED_LENGTH_MIN ? [path] : []), ...keys]
}

function isKey(text: string): boolean {
  return text.length >= TOKEN_LENGTH_MIN || (text.length >= MIXED_LENGTH_MIN && /\d/.test(text))
}

function listForms(text: string): readonly string[] {
  return [text, encodeURIComponent(text), Buffer.from(text).toString('base64')]
}
