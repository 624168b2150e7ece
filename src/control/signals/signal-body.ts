import { isRecord } from '../../lib/plain-data.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

export const SIGNAL_BYTES_MAX = 4096

const UTF8 = new TextDecoder('utf-8', { fatal: true })
const TEXTS = /"(?:[^"\\]|\\.)*"/gs

/**
 * Accepts a flat object with unique names, because parsers differ in which of two equal names they
 * take. Undefined for anything else.
 */
export function parseSignalBody(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  if (bytes.length > SIGNAL_BYTES_MAX) return undefined
  try {
    const text = UTF8.decode(bytes)
    const body = parseBoundedJson(text)
    if (!isRecord(body)) return undefined
    const names = text.replaceAll(TEXTS, '').split(':').length - 1
    return names === Object.keys(body).length ? body : undefined
  } catch {
    return undefined
  }
}

export function ownField(body: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(body, name) ? body[name] : undefined
}
