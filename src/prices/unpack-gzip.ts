import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Failure, messageOf } from '../lib/failure.ts'

/** So much is held in memory: about six years of one-minute candles as CSV. */
export const RECORDING_BYTES_MAX = 256 * 1024 * 1024

/**
 * Other bytes are returned unchanged. @throws Failure RECORDING_NOT_GZIP, RECORDING_GZIP_TRUNCATED,
 * RECORDING_GZIP_DAMAGED, RECORDING_TOO_LARGE
 */
export async function unpackGzip(
  bytes: Buffer,
  { path, bytesMax }: { readonly path: string; readonly bytesMax: number },
): Promise<Buffer> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
  if (!isGzip && path.endsWith('.gz') && bytes.length > 0) {
    throw new Failure({
      code: 'RECORDING_NOT_GZIP',
      sentence: 'the file is named .gz but is not gzipped',
      facts: { file: path },
      hint: 'rename it without .gz if it is plain CSV, or download it again',
    })
  }
  if (!isGzip && bytes.length > bytesMax) throw tooLarge(path, bytesMax)
  if (!isGzip) return bytes
  return promisify(gunzip)(bytes, { maxOutputLength: bytesMax }).catch((cause: unknown) => {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(path, bytesMax)
    const isCut = code === 'Z_BUF_ERROR'
    throw new Failure({
      code: isCut ? 'RECORDING_GZIP_TRUNCATED' : 'RECORDING_GZIP_DAMAGED',
      sentence: isCut ? 'the gzipped file ends in the middle' : 'the gzipped file is damaged',
      facts: { file: path, problem: messageOf(cause) },
      hint: 'copy or download it again; gzip -t says whether a file is complete',
      cause,
    })
  })
}

/** @param bytesMax unpacked */
export function tooLarge(path: string, bytesMax: number): Failure {
  return new Failure({
    code: 'RECORDING_TOO_LARGE',
    sentence: 'the recording is larger than is read',
    facts: { file: path, 'maximum bytes': bytesMax },
    hint: 'cut it into shorter recordings',
  })
}
