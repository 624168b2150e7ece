/**
 * A price file holds the prices of one instrument as columns, with a checksum. docs/data.md
 * describes each byte.
 */
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Failure, messageOf } from '../lib/failure.ts'
import { assertRows } from './check-rows.ts'
import { columnBytes, decodeColumn, encodeColumn } from './column-codec.ts'
import { buildFunding } from './funding.ts'
import { RECORDING_BYTES_MAX, tooLarge } from './unpack-gzip.ts'
import { type Field, FIELDS, type Recording, toColumns, toRows } from './recording.ts'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'

const VERSION = 1
/** The first byte occurs in no text. */
const MAGIC = Buffer.from([0x89, ...Buffer.from('PRICES', 'latin1')])
const HEADER_AT = 16
const SUM_BYTES = 32

/** Thirty-eight years of one-minute candles, which are a gigabyte and a half as floats. */
const ROWS_MAX = 20_000_000

const headerSchema = z.object({
  symbol: z.string().min(1),
  market: z.enum(['spot', 'futures']).optional(),
  kind: z.enum(['candles', 'quotes']),
  intervalMs: z.int().positive().optional(),
  rows: z.int().min(1).max(ROWS_MAX),
  sources: z.array(z.string()),
  madeUp: z.literal(true).optional(),
  funding: z
    .object({
      source: z.string(),
      at: z.array(z.int().positive()).max(ROWS_MAX),
      rate: z.array(z.number()),
    })
    .optional(),
  columns: z.array(
    z.object({
      name: z.enum([
        ...FIELDS.candles.required,
        ...FIELDS.quotes.required,
        ...FIELDS.quotes.optional,
      ]),
      type: z.enum(['int8', 'int16', 'int32', 'float64']),
      unit: z
        .string()
        .regex(/^(?=.*[1-9])\d{1,16}(\.\d{1,16})?$/)
        .optional(),
      first: z.int().optional(),
    }),
  ),
})

type Header = z.infer<typeof headerSchema>

export function isPriceFile(bytes: Uint8Array): boolean {
  return MAGIC.equals(bytes.subarray(0, MAGIC.length))
}

/** `sources` are the names of the imported files. */
export type PriceFileContent = Pick<
  Recording,
  'symbol' | 'market' | 'intervalMs' | 'rows' | 'funding' | 'madeUp'
> & {
  readonly sources: readonly string[]
}

/** @throws Failure RECORDING_TOO_LARGE */
export function buildPriceFile({
  symbol,
  market,
  intervalMs,
  rows,
  sources,
  funding,
  madeUp,
}: PriceFileContent): Buffer {
  assertRowCount(rows.at.length)
  const columns = toColumns(rows).map(({ field, numbers }) => ({
    name: field,
    ...encodeColumn(numbers),
  }))
  const header: Header = {
    symbol,
    ...(market && { market }),
    kind: rows.kind,
    ...(intervalMs !== undefined && { intervalMs }),
    rows: rows.at.length,
    sources: [...sources],
    ...(madeUp && { madeUp }),
    ...(funding && {
      funding: { source: funding.source, at: [...funding.at], rate: [...funding.rate] },
    }),
    columns: columns.map(({ name, encoded }) => ({ name, ...encoded })),
  }
  const text = Buffer.from(JSON.stringify(header))
  const headerBytes = Math.ceil(text.length / 8) * 8
  const start = Buffer.alloc(HEADER_AT)
  MAGIC.copy(start)
  start[MAGIC.length] = VERSION
  start.writeUInt32LE(headerBytes, 8)
  const parts = [start, text, Buffer.alloc(headerBytes - text.length, ' ')]
  for (const { encoded, bytes } of columns)
    parts.push(
      Buffer.from(bytes),
      Buffer.alloc(columnBytes(encoded.type, rows.at.length) - bytes.length),
    )
  const body = Buffer.concat(parts)
  if (body.length + SUM_BYTES > RECORDING_BYTES_MAX) throw tooLarge(symbol, RECORDING_BYTES_MAX)
  return Buffer.concat([body, createHash('sha256').update(body).digest()])
}

/**
 * @param symbol the expected one @throws Failure RECORDING_SYMBOLS_DIFFER, PRICES_VERSION_UNKNOWN,
 * PRICES_TRUNCATED, PRICES_DAMAGED, and those of {@link assertRows}.
 */
export function parsePriceFile(input: {
  bytes: Buffer
  source: string
  symbol?: string
}): Recording {
  const { source } = input
  const { header, columnsAt, bytes } = openPriceFile(aligned(input.bytes), source)
  if (input.symbol !== undefined && input.symbol !== header.symbol)
    throw otherSymbol(source, input.symbol, header.symbol)
  const columns = new Map<Field, Float64Array>()
  let at = columnsAt
  for (const { name, type, unit, first } of header.columns) {
    const encoded = {
      type,
      ...(unit !== undefined && { unit }),
      ...(first !== undefined && { first }),
    }
    columns.set(name, decodeColumn(encoded, { bytes, at, rows: header.rows }))
    at += columnBytes(type, header.rows)
  }
  const rows = toRows(header.kind, columns)
  assertRows(rows, (row) => `${source}, row ${row + 1}`)
  const sha256 = bytes.toString('hex', bytes.length - SUM_BYTES)
  const { market, intervalMs } = header
  const known = {
    ...(market && { market }),
    ...(intervalMs !== undefined && { intervalMs }),
    ...(header.madeUp && { madeUp: header.madeUp }),
    ...(header.funding && { funding: parseFunding(header.funding, source) }),
  }
  return { symbol: header.symbol, ...known, source, sha256, rows }
}

function parseFunding(
  { at, rate, source: payments }: NonNullable<Header['funding']>,
  source: string,
) {
  if (at.length !== rate.length)
    throw damaged(source, 'the payments of funding have not as many rates as times')
  const columns = { at: Float64Array.from(at), rate: Float64Array.from(rate), source: payments }
  return buildFunding(columns, (row) => `${source}, payment ${row + 1}`)
}

/** The rows are not checked. @throws Failure as {@link parsePriceFile} */
export function symbolOfPriceFile({ bytes, source }: { bytes: Buffer; source: string }): string {
  return openPriceFile(bytes, source).header.symbol
}

/** The columns are not checked. */
function openPriceFile(bytes: Buffer, source: string) {
  const version = bytes[MAGIC.length]
  if (version !== undefined && version !== VERSION) {
    throw new Failure({
      code: 'PRICES_VERSION_UNKNOWN',
      sentence: 'the price file has a version that this intentd does not know',
      facts: { file: source, found: version, known: VERSION },
      hint: 'import it again from its sources, or read it with the intentd that wrote it',
    })
  }
  const columnsAt = HEADER_AT + (bytes.length < HEADER_AT ? 0 : bytes.readUInt32LE(8))
  if (bytes.length < columnsAt + SUM_BYTES)
    throw truncated(source, columnsAt + SUM_BYTES, bytes.length)
  const header = parseHeader(bytes.subarray(HEADER_AT, columnsAt), source)
  const length = header.columns.reduce(
    (sum, { type }) => sum + columnBytes(type, header.rows),
    columnsAt,
  )
  if (bytes.length < length + SUM_BYTES) throw truncated(source, length + SUM_BYTES, bytes.length)
  const sum = createHash('sha256').update(bytes.subarray(0, length)).digest()
  if (!sum.equals(bytes.subarray(length)))
    throw damaged(source, 'the sum is not that of the contents')
  return { header, columnsAt, bytes }
}

function parseHeader(bytes: Buffer, source: string): Header {
  try {
    const header = headerSchema.parse(parseBoundedJson(bytes.toString('utf8')))
    const names = header.columns.map(({ name }) => name)
    const missing = FIELDS[header.kind].required.filter((field) => !names.includes(field))
    if (missing.length > 0) throw new Error(`no column ${missing.join(', ')}`)
    return header
  } catch (error) {
    throw damaged(source, `the header: ${messageOf(error).replaceAll(/\s+/g, ' ').slice(0, 80)}`)
  }
}

/** Columns are read in place, so bytes must begin at a multiple of eight. */
function aligned(bytes: Buffer): Buffer {
  return bytes.byteOffset % 8 === 0 ? bytes : Buffer.from(Uint8Array.from(bytes).buffer)
}

function otherSymbol(file: string, named: string, own: string): Failure {
  return new Failure({
    code: 'RECORDING_SYMBOLS_DIFFER',
    sentence: 'the price file is of another instrument than it is named as',
    facts: { file, named, found: own },
    hint: `give the file without ${named}=, or import its sources again with --symbol ${named}`,
  })
}

function truncated(file: string, expected: number, found: number): Failure {
  return new Failure({
    code: 'PRICES_TRUNCATED',
    sentence: 'the price file ends in the middle',
    facts: { file, 'expected bytes': expected, found },
    hint: 'copy it again, or import it again from its sources',
  })
}

function damaged(file: string, found: string): Failure {
  return new Failure({
    code: 'PRICES_DAMAGED',
    sentence: 'the price file is not as it was written',
    facts: { file, found },
    hint: 'copy it again, or import it again from its sources',
  })
}

/** @throws Failure RECORDING_TOO_LARGE */
export function assertRowCount(rows: number): void {
  if (rows <= ROWS_MAX) return
  throw new Failure({
    code: 'RECORDING_TOO_LARGE',
    sentence: 'there are more rows than can be read',
    facts: { rows, 'maximum rows': ROWS_MAX },
    hint: 'import fewer files at once, into a folder for each span of time',
  })
}
