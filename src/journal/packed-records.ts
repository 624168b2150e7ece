import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { nextLink } from './durable-mark.ts'

/** Packing a block takes a millisecond and leaves an eighth of the bytes. */
const BLOCK_RECORDS = 256
const BLOCK_CHARACTERS = 131_072

const UNPACKED_BYTES_MAX = 268_435_456

export type RecordRow = Readonly<Record<string, SQLOutputValue>>

export interface RecordBlock {
  readonly first: number
  readonly last: number
  readonly at_min: number
  readonly at_max: number
  readonly first_link: string
  readonly last_link: string
  readonly body: Uint8Array
}

/**
 * Packs the oldest records up to a sequence; undefined if they do not fill a block.
 * @throws RangeError if they are not as they were written: they stay unpacked, so that a reader
 * finds the damage
 */
export function takeBlock(database: DatabaseSync, upTo: number): RecordBlock | undefined {
  const rows: RecordRow[] = []
  let characters = 0
  const oldest = database
    .prepare(
      'SELECT sequence, at, kind, body, booked, link FROM records WHERE sequence <= ? ORDER BY sequence LIMIT ?',
    )
    .iterate(upTo, BLOCK_RECORDS)
  for (const row of oldest) {
    rows.push(row)
    characters += String(row['body']).length
    if (characters >= BLOCK_CHARACTERS) break
  }
  if (rows.length < BLOCK_RECORDS && characters < BLOCK_CHARACTERS) return undefined
  return pack(rows)
}

function pack(rows: readonly RecordRow[]): RecordBlock {
  const instants = rows.map((row) => Number(row['at']))
  const block: RecordBlock = {
    first: Number(rows[0]?.['sequence']),
    last: Number(rows.at(-1)?.['sequence']),
    at_min: Math.min(...instants),
    at_max: Math.max(...instants),
    first_link: String(rows[0]?.['link']),
    last_link: String(rows.at(-1)?.['link']),
    body: deflateRawSync(rows.map(toLine).join('\n')),
  }
  unpackBlock(block)
  return block
}

/** JSON text contains neither tabs nor line ends. */
function toLine({ kind, at, booked, body }: RecordRow): string {
  return [kind, at, booked ?? '', body].join('\t')
}

export function putBlock(database: DatabaseSync, block: RecordBlock): void {
  const { first, last, at_min, at_max, first_link, last_link, body } = block
  database
    .prepare(
      `INSERT INTO record_blocks (first, last, at_min, at_max, first_link, last_link, body)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(first, last, at_min, at_max, first_link, last_link, body)
  database.prepare('DELETE FROM records WHERE sequence BETWEEN ? AND ?').run(first, last)
}

export function toBlock(row: RecordRow): RecordBlock {
  return row as unknown as RecordBlock
}

/**
 * The text is not checked, and serves only a search.
 * @throws RangeError if it cannot be unpacked
 */
export function textOf({ first, body }: RecordBlock): string {
  try {
    return inflateRawSync(body, { maxOutputLength: UNPACKED_BYTES_MAX }).toString('utf8')
  } catch {
    throw damaged(first)
  }
}

/**
 * Checks all links but the first, whose predecessor is not here.
 * @throws RangeError if the records are not as they were written
 */
export function unpackBlock(block: RecordBlock, text = textOf(block)): readonly RecordRow[] {
  let { first: sequence, first_link: link } = block
  const rows = text.split('\n').map((line, place): RecordRow => {
    const [kind = '', at, booked = '', body = ''] = line.split('\t')
    if (place > 0) {
      sequence += 1
      link = nextLink(link, sequence, at, kind, body, booked)
    }
    return { sequence, at: Number(at), kind, body, booked: booked === '' ? null : booked, link }
  })
  if (sequence === block.last && link === block.last_link && areInstants(rows, block)) return rows
  throw damaged(block.first)
}

function areInstants(rows: readonly RecordRow[], { at_min, at_max }: RecordBlock): boolean {
  const instants = rows.map(({ at }) => Number(at))
  return Math.min(...instants) === at_min && Math.max(...instants) === at_max
}

function damaged(first: number): RangeError {
  return new RangeError(`the records from ${first} on are not as they were written`)
}
