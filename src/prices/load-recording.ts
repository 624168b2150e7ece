import { access, constants, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { Failure, messageOf } from '../lib/failure.ts'
import { isPriceFile, parsePriceFile, symbolOfPriceFile } from './price-file.ts'
import { parseRecording, symbolOf } from './parse-recording.ts'
import { candleLength, type Recording } from './recording.ts'
import { intervalInName } from './times.ts'
import { RECORDING_BYTES_MAX, unpackGzip } from './unpack-gzip.ts'

/**
 * Loads a CSV or price file, plain or gzipped. Columns of a CSV may be in any order; unknown ones
 * are ignored.
 *
 * @param spec a path, whose file name states a CSV's symbol (`BTCUSDT-2025.csv.gz`), or
 * `SYMBOL=path`
 * @throws Failure RECORDING_UNREADABLE, RECORDING_NOT_GZIP, RECORDING_GZIP_TRUNCATED,
 * RECORDING_GZIP_DAMAGED, RECORDING_TOO_LARGE, and those of {@link parseRecording} and {@link
 * parsePriceFile}.
 */
export async function loadRecording(spec: string): Promise<Recording> {
  const { symbol, path } = splitSpec(spec)
  const bytes = await readUnpacked(path)
  const parse = isPriceFile(bytes) ? parsePriceFile : parseRecording
  const recording = parse({ bytes, source: basename(path), ...(symbol && { symbol }) })
  assertKnownLength(recording)
  return recording
}

/** A single candle would be played as one minute. @throws Failure RECORDING_INTERVAL_UNKNOWN */
function assertKnownLength({ rows, source, intervalMs }: Recording): void {
  if (rows.kind !== 'candles' || rows.at.length !== 1 || intervalMs !== undefined) return
  if (intervalInName(source) === candleLength(rows.at)) return
  throw new Failure({
    code: 'RECORDING_INTERVAL_UNKNOWN',
    sentence: 'one candle does not say how long it is',
    facts: { file: source },
    hint: 'give a file with two candles or more; the name of the file may say that it is one of a minute: BTCUSDT-1m.csv',
  })
}

/**
 * Reads no rows. @throws Failure RECORDING_UNREADABLE, RECORDING_SYMBOL_MISSING, and others of
 * {@link loadRecording}
 */
export async function readSymbol(spec: string): Promise<string> {
  const { symbol, path } = splitSpec(spec)
  if (symbol !== undefined) return symbol
  const [bytes, source] = [await readUnpacked(path), basename(path)]
  return isPriceFile(bytes) ? symbolOfPriceFile({ bytes, source }) : symbolOf(source)
}

function splitSpec(spec: string): { readonly symbol?: string | undefined; readonly path: string } {
  const [, symbol, path = spec] = /^([A-Z0-9]+(?:_[A-Z0-9]+)?)=(.+)$/s.exec(spec) ?? []
  return { symbol, path }
}

async function readUnpacked(path: string): Promise<Buffer> {
  return unpackGzip(await readPrices(path), { path, bytesMax: RECORDING_BYTES_MAX })
}

/** @throws Failure RECORDING_UNREADABLE */
export function readPrices(path: string): Promise<Buffer> {
  return readFile(path).catch((cause: unknown) => {
    throw unreadable(path, cause)
  })
}

/** @throws Failure RECORDING_UNREADABLE */
export async function assertReadable(path: string): Promise<void> {
  await access(path, constants.R_OK).catch((cause: unknown) => {
    throw unreadable(path, cause)
  })
}

function unreadable(path: string, cause: unknown): Failure {
  return new Failure({
    code: 'RECORDING_UNREADABLE',
    sentence: 'the recording cannot be opened',
    facts: { file: path, problem: messageOf(cause) },
    hint: 'check the path; a recording is a file, or SYMBOL=FILE',
    cause,
  })
}
