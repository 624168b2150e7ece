import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** Lengths come first, so that ('ab','c') and ('a','bc') differ. */
export function sha256(parts: readonly string[]): Buffer {
  return hash('sha256', toText(parts), 'buffer')
}

export function sha256Hex(parts: readonly string[]): string {
  return hash('sha256', toText(parts), 'hex')
}

function toText(parts: readonly string[]): string {
  let text = ''
  for (const part of parts) text += `${Buffer.byteLength(part)}:${part}`
  return text
}

/** RFC 4648, lower case, without padding. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      text += BASE32[(value >>> (bits - 5)) & 31]
      bits -= 5
    }
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + BASE32[(value << (5 - bits)) & 31] : text
}
