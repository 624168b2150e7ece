import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { FeedId, FeedReading } from '../domain/feed.ts'
import { nameOfSignal } from '../domain/signal.ts'
import { parseTime } from '../lib/text/parse-time.ts'
import { Failure, messageOf } from '../lib/failure.ts'
import { deepFreeze, isRecord } from '../lib/plain-data.ts'
import { parseValue, writeValue } from '../lib/value-text.ts'
import { RECORDING_BYTES_MAX, unpackGzip } from '../prices/unpack-gzip.ts'

/**
 * The readings of one feed. docs/data.md has the format of the file. A signal without an `id` is
 * named by its instant.
 */
export interface FeedFile {
  readonly feed: FeedId
  readonly source: string
  readonly sha256: string
  readonly path: string
  /** Rising. A strategy may know a reading from this instant on. */
  readonly readAt: readonly number[]
  /** Each call parses the line anew, because a year of objects would not fit into memory. */
  reading(index: number): FeedReading
  /** @returns the number of the line in the file, from 1 */
  lineOf(index: number): number
}

const FORMAT = 1
const NEWLINE = 0x0a
const CLOCKS_DIFFER_MS_MAX = 60_000
const INSTANT_FIELDS = ['ts', 'cTime', 'uTime'] as const
const FIRST_AT = Date.UTC(2009, 0, 1)
/** Unix seconds of any day are below this, milliseconds since 2001 above. */
const SECONDS_BELOW = 1e11

/**
 * @throws Failure FEED_UNREADABLE, FEED_DAMAGED (with file, line and what to do), and those of
 * {@link unpackGzip}
 */
export async function loadFeedFile(path: string): Promise<FeedFile> {
  const packed = await readFile(path).catch((cause: unknown) => {
    throw new Failure({
      code: 'FEED_UNREADABLE',
      sentence: 'the file of a feed cannot be opened',
      facts: { file: path, problem: messageOf(cause) },
      hint: 'check the path; `intentd record` writes such files from a recording',
      cause,
    })
  })
  return parseFeedFile(await unpackGzip(packed, { path, bytesMax: RECORDING_BYTES_MAX }), path)
}

/** @param bytes unpacked @throws Failure FEED_DAMAGED */
export function parseFeedFile(bytes: Buffer, path: string): FeedFile {
  const lines = listLines(bytes)
  const feed = readHead(textOf(bytes, lines[0]), path)
  const readings = lines.slice(1)
  const readAt: number[] = []
  for (const [index, line] of readings.entries()) {
    const place = { path, line: line.number }
    const reading = readLine(textOf(bytes, line), { ...place, feed })
    assertLater(reading.readAt, readAt[index - 1], place)
    // The time in a signal is only what its sender claims, so it is not compared.
    if (reading.id === undefined) assertKnown(reading, place)
    readAt.push(reading.readAt)
  }
  if (readAt.length === 0) throw damaged({ path, line: 1 }, 'it holds no reading')
  return {
    feed,
    readAt,
    source: basename(path),
    path,
    lineOf: (index) => readings[index]?.number ?? 0,
    sha256: hash('sha256', bytes),
    reading: (index) =>
      deepFreeze(
        readLine(textOf(bytes, readings[index]), {
          path,
          line: readings[index]?.number ?? 0,
          feed,
        }),
      ),
  }
}

/** @param readings in the order of their instants */
export function formatFeedFile(feed: FeedId, readings: readonly FeedReading[]): string {
  const lines = readings.map(
    ({ readAt, id, data }) =>
      `{"readAt":${readAt},${id === undefined ? '' : `"id":${JSON.stringify(id)},`}"data":${writeValue(data)}}\n`,
  )
  return `${JSON.stringify({ feed, format: FORMAT })}\n${lines.join('')}`
}

/** `longShortRatio?symbol=BTCUSDT` becomes `longShortRatio-symbol-BTCUSDT.feed.jsonl`. */
export function nameFeedFile(feed: FeedId): string {
  return `${feed.replaceAll(/[^a-zA-Z0-9]+/g, '-').replace(/-$/, '')}.feed.jsonl`
}

interface Place {
  readonly path: string
  readonly line: number
}

interface FeedLine {
  readonly number: number
  readonly from: number
  readonly to: number
}

function listLines(bytes: Buffer): readonly FeedLine[] {
  const lines: FeedLine[] = []
  for (let from = 0, number = 1; from < bytes.length; number++) {
    const end = bytes.indexOf(NEWLINE, from)
    const to = end === -1 ? bytes.length : end
    if (bytes.toString('utf8', from, to).trim() !== '') lines.push({ number, from, to })
    from = to + 1
  }
  return lines
}

function textOf(bytes: Buffer, line: FeedLine | undefined): string {
  return line === undefined ? '' : bytes.toString('utf8', line.from, line.to)
}

function readHead(text: string, path: string): FeedId {
  const head = tryParse(text)
  if (!isRecord(head) || typeof head['feed'] !== 'string') {
    throw damaged(
      { path, line: 1 },
      'its first line does not name the request that it answers',
      'write such a line before the readings: {"feed":"longShortRatio?symbol=BTCUSDT","format":1}',
    )
  }
  if (head['format'] !== FORMAT)
    throw damaged(
      { path, line: 1 },
      `its format is ${JSON.stringify(head['format'])}, this version reads ${FORMAT}`,
    )
  return head['feed']
}

function readLine(
  text: string,
  { feed, ...place }: Place & { readonly feed: FeedId },
): FeedReading {
  const row = tryParse(text)
  if (!isRecord(row) || !('data' in row))
    throw damaged(place, 'this line is no reading', 'a line is {"readAt":UNIX_MS,"data":ANSWER}')
  const readAt = toInstant(row['readAt'])
  if (readAt === undefined)
    throw damaged(
      place,
      '`readAt` is no instant',
      'write Unix ms, or ISO 8601 with its zone (2025-06-01T12:00:00Z)',
    )
  if (nameOfSignal(feed) === undefined) return { data: row['data'], readAt }
  const id = typeof row['id'] === 'string' ? row['id'] : String(readAt)
  return { data: row['data'], readAt, id }
}

function toInstant(value: unknown): number | undefined {
  const at = typeof value === 'string' ? parseIso(value) : value
  return typeof at === 'number' && Number.isInteger(at) && at >= FIRST_AT && at < 10 * FIRST_AT
    ? at
    : undefined
}

function parseIso(text: string): number | undefined {
  const isWhole = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(text)
  return isWhole ? parseTime(text) : undefined
}

function assertLater(readAt: number, before: number | undefined, place: Place): void {
  if (before === undefined || readAt > before) return
  throw damaged(
    place,
    'it was not read after the line before it',
    'sort the lines by `readAt`, each instant once',
  )
}

/** A row later than its reading would let a backtest see the future. */
function assertKnown({ data, readAt }: FeedReading, place: Place): void {
  for (const row of listRecords(data)) {
    for (const name of INSTANT_FIELDS) {
      const at = toTime(row[name])
      if (at === undefined || at <= readAt + CLOCKS_DIFFER_MS_MAX) continue
      throw damaged(
        place,
        `a row's ${name} (${new Date(at).toISOString()}) lies after \`readAt\` (${new Date(readAt).toISOString()})`,
        '`readAt` is when the row could be known: for a row of an interval, at its end',
      )
    }
  }
}

function listRecords(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(value)) return value.flatMap(listRecords)
  return isRecord(value) ? [value, ...Object.values(value).flatMap(listRecords)] : []
}

/** Undefined for anything but Unix seconds or milliseconds, as number or text, or a date. */
function toTime(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const number = Number(value)
  const at = Number.isNaN(number)
    ? (parseTime(String(value)) ?? Number.NaN)
    : number < SECONDS_BELOW
      ? number * 1000
      : number
  return at >= FIRST_AT && at < 10 * FIRST_AT ? at : undefined
}

function tryParse(text: string): unknown {
  try {
    return parseValue(text)
  } catch {
    return undefined
  }
}

function damaged(
  { path, line }: Place,
  problem: string,
  hint = 'mend the line, or record it again',
): Failure {
  return new Failure({
    code: 'FEED_DAMAGED',
    sentence: 'the file of a feed cannot be played',
    facts: { file: path, line, problem },
    hint,
  })
}
