/** Reads zip files as exchanges pack their dumps: stored or deflated, not encrypted, below 4 GB. */
import { crc32, inflateRawSync } from 'node:zlib'
import { Failure, messageOf } from '../../lib/failure.ts'
import { tooLarge } from '../unpack-gzip.ts'

export interface PackedFile {
  readonly name: string
  readonly bytes: Buffer
}

const END_SIGNATURE = 0x06054b50
const ENTRY_SIGNATURE = 0x02014b50
const FILE_SIGNATURE = 0x04034b50
const END_BYTES = 22
/** A comment of so many bytes may follow the end record. */
const COMMENT_BYTES_MAX = 0xffff
const [STORED, DEFLATED] = [0, 8] as const

export function isZip(bytes: Buffer): boolean {
  // An empty zip is only its end record.
  return (
    bytes.length >= END_BYTES && [FILE_SIGNATURE, END_SIGNATURE].includes(bytes.readUInt32LE(0))
  )
}

/**
 * Folders and hidden files are skipped. @param bytesMax of all files, unpacked
 * @throws Failure RECORDING_ZIP_DAMAGED, RECORDING_ZIP_UNSUPPORTED, RECORDING_TOO_LARGE
 */
export function unpackZip(
  bytes: Buffer,
  { path, bytesMax }: { readonly path: string; readonly bytesMax: number },
): readonly PackedFile[] {
  try {
    const files: PackedFile[] = []
    let left = bytesMax
    for (const entry of listEntries(bytes)) {
      if (/(^|\/)(\.|__MACOSX\/)|\/$/.test(entry.name)) continue
      if (entry.isEncrypted || !(entry.method === STORED || entry.method === DEFLATED))
        throw unsupported(path, entry.name)
      left -= entry.unpackedBytes
      if (left < 0) throw tooLarge(path, bytesMax)
      files.push({ name: entry.name, bytes: unpackEntry(bytes, entry) })
    }
    return files
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure({
      code: 'RECORDING_ZIP_DAMAGED',
      sentence: 'the zip is damaged or ends in the middle',
      facts: { file: path, problem: messageOf(cause) },
      hint: 'copy or download it again; unzip -t says whether a file is complete',
      cause,
    })
  }
}

const ASIDE =
  /(^|\/)(readme|licen[cs]e|copying|changelog|notice|checksums?|sha256sums?)[^/]*$|\.(md|pdf|html?|rtf|docx?|url|checksum|sha\d+|md5|asc|sig)$/i

export function isPricesName(name: string): boolean {
  return !ASIDE.test(name)
}

interface ZipEntry {
  readonly name: string
  readonly method: number
  readonly isEncrypted: boolean
  readonly crc: number
  readonly packedBytes: number
  readonly unpackedBytes: number
  readonly headerAt: number
}

function* listEntries(bytes: Buffer): Generator<ZipEntry> {
  const endAt = findEnd(bytes)
  let at = bytes.readUInt32LE(endAt + 16)
  for (let left = bytes.readUInt16LE(endAt + 10); left > 0; left--) {
    if (bytes.readUInt32LE(at) !== ENTRY_SIGNATURE)
      throw new Error(`no directory entry at byte ${at}`)
    const nameEnd = at + 46 + bytes.readUInt16LE(at + 28)
    yield {
      name: bytes.toString('utf8', at + 46, nameEnd),
      isEncrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      packedBytes: bytes.readUInt32LE(at + 20),
      unpackedBytes: bytes.readUInt32LE(at + 24),
      headerAt: bytes.readUInt32LE(at + 42),
    }
    at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
}

function findEnd(bytes: Buffer): number {
  const least = Math.max(0, bytes.length - END_BYTES - COMMENT_BYTES_MAX)
  for (let at = bytes.length - END_BYTES; at >= least; at--)
    if (bytes.readUInt32LE(at) === END_SIGNATURE) return at
  throw new Error('no directory at the end')
}

function unpackEntry(bytes: Buffer, entry: ZipEntry): Buffer {
  const { name, method, crc, headerAt, packedBytes, unpackedBytes } = entry
  if (bytes.readUInt32LE(headerAt) !== FILE_SIGNATURE)
    throw new Error(`${name}: no file at byte ${headerAt}`)
  const at = headerAt + 30 + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28)
  const packed = bytes.subarray(at, at + packedBytes)
  const unpacked =
    method === STORED
      ? packed
      : inflateRawSync(packed, { maxOutputLength: Math.max(1, unpackedBytes) })
  if (unpacked.length !== unpackedBytes || crc32(unpacked) !== crc)
    throw new Error(`${name}: the contents are not those that were packed`)
  return unpacked
}

function unsupported(path: string, name: string): Failure {
  return new Failure({
    code: 'RECORDING_ZIP_UNSUPPORTED',
    sentence: 'a file in the zip is encrypted, or packed in a way that cannot be read',
    facts: { file: path, name },
    hint: 'unpack it, and import the files',
  })
}
