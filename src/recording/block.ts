import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'

/**
 * A segment is its magic and blocks, each complete and checked: a truncated file is readable up to
 * its last complete block, a changed one up to the change.
 *
 *     length of the payload | its number in the segment | crc32 of the payload | crc32 of these twelve bytes | payload
 *
 * Four unsigned little-endian words of 32 bits, and a zstd payload. The number shows that no block
 * is missing; the second checksum tells a changed head from an early end.
 */

/** The last two digits are the version. */
export const SEGMENT_MAGIC = Buffer.from('INTENTD01', 'latin1')

const HEAD_BYTES = 16

/** A compressed second is far smaller, so a larger length is damage. */
const PAYLOAD_BYTES_MAX = 0x3fff_ffff

export function buildBlock(payload: Uint8Array, number: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(payload.length, 0)
  head.writeUInt32LE(number, 4)
  head.writeUInt32LE(crc32(payload), 8)
  head.writeUInt32LE(crc32(head.subarray(0, 12)), 12)
  return Buffer.concat([head, payload])
}

/** Each block's dictionary is the content before it, which half a second resembles. */
const DICTIONARY_BYTES_MAX = 262_144

export function toDictionary(before: Buffer): { readonly dictionary?: Buffer } {
  return before.length === 0 ? {} : { dictionary: before.subarray(-DICTIONARY_BYTES_MAX) }
}

export type BlockReading =
  | { readonly kind: 'block'; readonly payload: Buffer; readonly nextAt: number }
  | { readonly kind: 'end' | 'cut' }
  | { readonly kind: 'damaged'; readonly found: string }

export function readBlock(bytes: Buffer, at: number, number: number): BlockReading {
  if (at === bytes.length) return { kind: 'end' }
  if (at + HEAD_BYTES > bytes.length) return { kind: 'cut' }
  const head = bytes.subarray(at, at + HEAD_BYTES)
  if (crc32(head.subarray(0, 12)) !== head.readUInt32LE(12))
    return damaged('the head of a block is not as it was')
  const length = head.readUInt32LE(0)
  const found = head.readUInt32LE(4)
  if (length > PAYLOAD_BYTES_MAX) return damaged(`a block of ${length} bytes`)
  if (found !== number) return damaged(`block ${found} where block ${number} belongs`)
  const nextAt = at + HEAD_BYTES + length
  if (nextAt > bytes.length) return { kind: 'cut' }
  const payload = bytes.subarray(at + HEAD_BYTES, nextAt)
  if (crc32(payload) !== head.readUInt32LE(8))
    return damaged('the content of a block is not as it was')
  return { kind: 'block', payload, nextAt }
}

function damaged(found: string): BlockReading {
  return { kind: 'damaged', found }
}
