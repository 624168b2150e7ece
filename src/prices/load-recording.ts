/** Reads a recording from a file, plain or gzipped. */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Failure, messageOf } from '../lib/failure.ts'
import { parseRecording, type Recording } from './recording.ts'

/** Unpacked; about six years of one-minute candles. All of it is held in memory while it is read. */
const RECORDING_BYTES_MAX = 256 * 1024 * 1024

/**
 * Reads a recording from a file. Columns may stand in any order, and further ones are left aside.
 *
 * @param spec A path whose file name begins with the symbol (`BTCUSDT-2025.csv.gz`), or `SYMBOL=path`.
 * @throws Failure RECORDING_UNREADABLE, RECORDING_NOT_GZIP, RECORDING_GZIP_TRUNCATED, RECORDING_GZIP_DAMAGED,
 *   RECORDING_TOO_LARGE, and those of {@link parseRecording}.
 */
export async function loadRecording(spec: string): Promise<Recording> {
  const [, symbol, path = spec] = /^([A-Z0-9]+)=(.+)$/s.exec(spec) ?? []
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new Failure({
      code: 'RECORDING_UNREADABLE',
      sentence: 'the recording cannot be opened',
      facts: { file: path, problem: messageOf(cause) },
      hint: 'check the path; a recording is a file, or SYMBOL=FILE',
      cause,
    })
  })
  const unpacked = await unpack(bytes, path)
  const source = basename(path)
  return parseRecording({ bytes: unpacked, source, ...(symbol && { symbol }) })
}

async function unpack(bytes: Buffer, path: string): Promise<Buffer> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
  if (!isGzip && path.endsWith('.gz') && bytes.length > 0) {
    throw new Failure({
      code: 'RECORDING_NOT_GZIP',
      sentence: 'the file is named .gz but is not gzipped',
      facts: { file: path },
      hint: 'rename it without .gz if it is plain CSV, or download it again',
    })
  }
  if (!isGzip && bytes.length > RECORDING_BYTES_MAX) throw tooLarge(path)
  if (!isGzip) return bytes
  return promisify(gunzip)(bytes, { maxOutputLength: RECORDING_BYTES_MAX }).catch((cause: unknown) => {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(path)
    const isCut = code === 'Z_BUF_ERROR'
    throw new Failure({
      code: isCut ? 'RECORDING_GZIP_TRUNCATED' : 'RECORDING_GZIP_DAMAGED',
      sentence: isCut ? 'the gzipped file ends in the middle' : 'the gzipped file is damaged',
      facts: { file: path, problem: messageOf(cause) },
      hint: 'copy or download it again; gzip -t tells whether a file is whole',
      cause,
    })
  })
}

function tooLarge(path: string): Failure {
  return new Failure({
    code: 'RECORDING_TOO_LARGE',
    sentence: 'the recording is larger than is read',
    facts: { file: path, 'maximum bytes': RECORDING_BYTES_MAX },
    hint: 'cut it into shorter recordings',
  })
}
