import { basename } from 'node:path'
import { Failure } from '../lib/failure.ts'
import { findBegin, readCsvColumns, separatorOf, splitCells } from './csv-columns.ts'
import { buildFunding } from './funding.ts'
import { loadRecording, readPrices } from './load-recording.ts'
import type { RecordedFunding, Recording } from './recording.ts'
import { RECORDING_BYTES_MAX, unpackGzip } from './unpack-gzip.ts'

const COLUMNS = ['ts_ms', 'fundingrate'] as const
const SYMBOL_COLUMN = 'symbol'

/**
 * Loads a CSV of payments in order of time, plain or gzipped (docs/data.md). A column `symbol` must
 * name the instrument. @throws Failure RECORDING_UNREADABLE, RECORDING_HEADER_UNKNOWN,
 * RECORDING_EMPTY, RECORDING_FUNDING_TIMES, RECORDING_FUNDING_RATE, RECORDING_SYMBOLS_DIFFER, and
 * those of {@link readCsvColumns}, each naming file:line.
 */
async function loadFunding(path: string, symbol: string): Promise<RecordedFunding> {
  const source = basename(path)
  const bytes = await unpackGzip(await readPrices(path), { path, bytesMax: RECORDING_BYTES_MAX })
  const begin = findBegin(bytes)
  const lineFeedAt = bytes.indexOf(10, begin.from)
  const headerEnd = lineFeedAt < 0 ? bytes.length : lineFeedAt
  const line = bytes.toString('utf8', begin.from, headerEnd).replace(/^\uFEFF/, '')
  const separator = separatorOf(line)
  const header = splitCells(line, separator).map((name) => name.toLowerCase())
  const where = `${source}:${begin.line}`
  if (!COLUMNS.every((name) => header.includes(name))) {
    throw new Failure({
      code: 'RECORDING_HEADER_UNKNOWN',
      sentence: 'the header is not that of payments of funding',
      facts: { where, found: line.trim().slice(0, 80) },
      hint: 'the first line must have ts_ms and fundingRate; `intentd import` reads the dumps of exchanges',
    })
  }
  const firstLine = begin.line + 1
  const texts = header.includes(SYMBOL_COLUMN) ? [SYMBOL_COLUMN] : []
  const columns = readCsvColumns(bytes, {
    separator,
    header,
    names: [...COLUMNS, ...texts],
    from: headerEnd + 1,
    firstLine,
    source,
    texts,
    readText: (text, name) =>
      name === SYMBOL_COLUMN ? assertOwn(text, { symbol, where: source }) : undefined,
  })
  const [at, rate] = COLUMNS.map((name) => columns.get(name) as Float64Array) as [
    Float64Array,
    Float64Array,
  ]
  if (at.length > 0)
    return buildFunding({ at, rate, source }, (row) => `${source}:${row + firstLine}`)
  throw new Failure({
    code: 'RECORDING_EMPTY',
    sentence: 'there is no payment of funding below the header',
    facts: { where },
  })
}

function assertOwn(
  found: string,
  { symbol, where }: { readonly symbol: string; readonly where: string },
): number {
  if (found === symbol) return 0
  throw new Failure({
    code: 'RECORDING_SYMBOLS_DIFFER',
    sentence: 'the file has payments of funding of another instrument',
    facts: { where, of: found, 'named for': symbol },
    hint: `name the file under its own instrument: simulator.market.funding.${found}`,
  })
}

/**
 * @param payments funding files by symbol @throws Failure as {@link loadRecording} and
 * `loadFunding`
 */
export function loadWithFunding(
  files: readonly string[],
  payments: Readonly<Record<string, string>> = {},
): Promise<readonly Recording[]> {
  return Promise.all(
    files.map(async (file) => {
      const recording = await loadRecording(file)
      const path = payments[recording.symbol]
      return path === undefined
        ? recording
        : { ...recording, funding: await loadFunding(path, recording.symbol) }
    }),
  )
}
