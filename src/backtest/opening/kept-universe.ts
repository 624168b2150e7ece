import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { mergeContracts } from '../../config/kept-contracts.ts'
import { type ConfigRequest, readMainFile } from '../../config/load-config.ts'
import type { ContractRules } from '../../domain/contract-rules.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import { showCount } from '../../lib/text/show-count.ts'
import { Failure } from '../../lib/failure.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import type { QuoteRows, Recording } from '../../prices/recording.ts'
import type { UniverseRecording } from '../../recording/universe/universe-recording.ts'
import type { PriceCoverage } from '../../report/run-facts.ts'
import { KeptRows } from '../kept-rows.ts'
import { medianStep, type PlayedRange } from '../played-prices.ts'

export interface LoadedUniverse {
  readonly recording: UniverseRecording
  /** Exchange clock, rising. */
  readonly instants: Float64Array
  readonly stepMs: number
  readonly quotes: readonly Recording[]
  /** Symbols in the last answer, which were not delisted. */
  readonly listedLast: ReadonlySet<string>
  readonly candidates: ReadonlyMap<string, ContractRules>
  readonly hasContracts: boolean
  readonly sha256: string
  readonly remarks: readonly string[]
}

/** Ten days. Candles of a longer time would take minutes to read. */
const WARM_MS = 864_000_000

function assertProduct({ productType, source }: UniverseRecording, wanted: string): void {
  if (productType === wanted) return
  throw new Failure({
    code: 'UNIVERSE_PRODUCT_OTHER',
    sentence: 'the kept tickers are of another product type than the account trades',
    facts: { kept: `${productType} of ${source}`, 'account.productType': wanted },
    hint: 'name kept tickers of this product type, or another configuration',
  })
}

/**
 * Adds kept rules of instruments for which the configuration has none. Missing start prices are
 * reported later.
 */
export function withKeptTickers(
  request: ConfigRequest,
  recording: UniverseRecording,
  range: PlayedRange,
): ConfigRequest {
  const { cwd, file, overrides, played } = request
  const mainFile = resolve(cwd, file)
  const { value } = readMainFile({ file: mainFile, cwd, ...(overrides && { overrides }) })
  const recorded = [...(played?.recorded ?? []), ...Object.keys(value?.instruments ?? {})]
  const prices = { files: [], speed: undefined, ...played, recorded }
  const contracts = readRules(recording, range)
  if (contracts.size === 0) return { ...request, played: prices }
  const { source, productType } = recording
  const now = mergeContracts(undefined, { readAt: 0, source, productType, contracts }, [])
  const answer = { before: undefined, now, isPlayed: true } as const
  return { ...request, played: prices, contracts: new Map([[mainFile, answer]]) }
}

/** Returns the rules at the beginning of the range, or else at the first listing after it. */
export function readRules(
  recording: UniverseRecording,
  { fromAt = 0, toAt }: PlayedRange,
): ReadonlyMap<string, ContractRules> {
  const rules = new Map<string, ContractRules>()
  for (const entry of recording.entries({ fromAt, toAt, what: 'contracts' })) {
    if (entry.kind !== 'contracts' || entry.readAt >= (toAt ?? Number.POSITIVE_INFINITY)) continue
    for (const [symbol, contract] of entry.contracts)
      if (entry.readAt <= fromAt || !rules.has(symbol)) rules.set(symbol, contract)
  }
  return rules
}

/**
 * @param symbols traded on the kept rows
 * @throws Failure UNIVERSE_RANGE_EMPTY, UNIVERSE_PRODUCT_OTHER
 */
export function loadUniverse(
  recording: UniverseRecording,
  {
    fromAt = Number.NEGATIVE_INFINITY,
    toAt,
    symbols,
    candidates,
    productType,
  }: PlayedRange & {
    readonly symbols: readonly string[]
    readonly candidates: ReadonlyMap<string, ContractRules>
    readonly productType: string
  },
): LoadedUniverse {
  assertProduct(recording, productType)
  const all = [...new Set([...symbols, ...candidates.keys()])]
  const quotes = new Map(all.map((symbol) => [symbol, new QuoteColumns()]))
  let hasContracts = false
  const instants = new GrowingColumn()
  const sum = createHash('sha256')
  let listedLast: readonly string[] = []
  const entries = recording.entries({ fromAt: fromAt - WARM_MS, toAt })
  for (let next = entries.next(); ; next = entries.next()) {
    if (next.done === true) {
      if (instants.length === 0) throw emptyRange(recording, { fromAt, toAt })
      const sha256 = sum.digest('hex')
      const at = instants.take()
      const stepMs = medianStep(at)
      const played = [...quotes]
        .flatMap(([symbol, columns]) => columns.toRecording(symbol, sha256))
        .filter((one) => symbols.includes(one.symbol) || isOnGrid(one, candidates))
      return {
        recording,
        instants: at,
        stepMs,
        quotes: played,
        candidates: new Map(
          played.flatMap(({ symbol }) => {
            const rules = candidates.get(symbol)
            return rules === undefined ? [] : [[symbol, rules]]
          }),
        ),
        hasContracts,
        listedLast: new Set(listedLast),
        sha256,
        remarks: [...describeInstants(at, stepMs), ...next.value.map(({ text }) => `${text}.`)],
      }
    }
    if (next.value.kind !== 'tickers') {
      hasContracts = true
      continue
    }
    const { table, checksum } = next.value
    for (const [symbol, columns] of quotes) columns.add(table, symbol)
    if (table.requestTime < fromAt) continue
    instants.push(table.requestTime)
    sum.update(`${table.requestTime} ${checksum}\n`)
    listedLast = table.symbols
  }
}

function isOnGrid(
  { symbol, rows }: Recording,
  candidates: ReadonlyMap<string, ContractRules>,
): boolean {
  const tick = Number(candidates.get(symbol)?.tickSize)
  return rows.kind === 'quotes' && rows.bid.every((bid) => bid >= tick / 2)
}

/** Each run needs its own rows, because they are read as its time passes. */
export function openKeptRows(
  { recording, stepMs, quotes }: LoadedUniverse,
  { fromAt, toAt }: PlayedRange,
): KeptRows {
  const traded = new Set(quotes.map(({ symbol }) => symbol))
  return new KeptRows({ recording, stepMs, traded, fromAt, toAt })
}

function emptyRange(recording: UniverseRecording, { fromAt, toAt }: PlayedRange): Failure {
  const show = (at: number | undefined): string =>
    at === undefined || !Number.isFinite(at) ? 'open' : new Date(at).toISOString()
  return new Failure({
    code: 'UNIVERSE_RANGE_EMPTY',
    sentence: 'no tickers were kept in the range',
    facts: { source: recording.source, from: show(fromAt), to: show(toAt) },
    hint: 'choose another --from and --to, or leave out --universe',
  })
}

const GAP_STEPS = 1.5

function describeInstants(at: Float64Array, stepMs: number): readonly string[] {
  let [gaps, longestMs, longestAt] = [0, 0, 0]
  for (let row = 1; row < at.length; row++) {
    const [before, now] = [at[row - 1] as number, at[row] as number]
    if (now - before <= GAP_STEPS * stepMs) continue
    gaps += 1
    if (now - before > longestMs) [longestMs, longestAt] = [now - before, before]
  }
  const time = (instant: number): string =>
    new Date(instant).toISOString().slice(0, 16).replace('T', ' ')
  const span = `${at.length} answers from ${time(at[0] ?? 0)} to ${time(at.at(-1) ?? 0)}, every ${showDuration(stepMs)}`
  const lack =
    gaps === 0
      ? 'without a gap'
      : `with ${showCount(gaps, 'gap')}, the longest ${showDuration(longestMs)} from ${time(longestAt)}: rows stand still in them`
  return [`Tickers of all instruments are those that were kept: ${span}, ${lack}.`]
}

const QUOTE_FIELDS = {
  bid: 'bidPr',
  ask: 'askPr',
  bidSize: 'bidSz',
  askSize: 'askSz',
  last: 'lastPr',
  fundingRate: 'fundingRate',
} as const

const DAY_MS = 86_400_000
/** After a gap, the volume of so long at most is counted. */
const STEP_MS_MAX = 3_600_000

class QuoteColumns {
  readonly #at = new GrowingColumn()
  readonly #fields = Object.keys(QUOTE_FIELDS).map(() => new GrowingColumn())
  readonly #volume = new GrowingColumn()
  #before = { at: Number.NaN, last: Number.NaN, base: Number.NaN }

  /** A row that is no quote (unreadable, or without a price) is left out. */
  add(table: TickerTable, symbol: string): void {
    const read = Object.values(QUOTE_FIELDS).map((column) => table.read(symbol, column))
    const [bid = 0, ask = 0, bidSize = 0, askSize = 0, last = 0] = read
    if (!(bid > 0 && ask >= bid && bidSize >= 0 && askSize >= 0 && last > 0)) return
    this.#at.push(table.requestTime)
    for (const [index, field] of this.#fields.entries()) field.push(read[index] as number)
    this.#volume.push(this.#estimateVolume(table, symbol))
  }

  /**
   * A row states the volume of 24 hours, so the part since the row before is estimated: the usual
   * volume of that time, if anything was traded.
   */
  #estimateVolume(table: TickerTable, symbol: string): number {
    const before = this.#before
    const base = table.read(symbol, 'baseVolume')
    const now = { at: table.requestTime, last: table.read(symbol, 'lastPr'), base }
    this.#before = now
    const isTraded = now.last !== before.last || base !== before.base
    const passedMs = Math.min(now.at - before.at, STEP_MS_MAX)
    return isTraded && base * passedMs > 0 ? (base * passedMs) / DAY_MS : 0
  }

  /** An instrument that was never listed has no recording. Funding rates with gaps are left out. */
  toRecording(symbol: string, sha256: string): readonly Recording[] {
    const at = this.#at.take()
    if (at.length === 0) return []
    const names = Object.keys(QUOTE_FIELDS)
    const columns = Object.fromEntries(
      this.#fields.map((field, index) => [names[index] as string, field.take()]),
    )
    if (columns['fundingRate']?.some(Number.isNaN) === true) delete columns['fundingRate']
    const volume = this.#volume.take()
    const rows = { kind: 'quotes', at, ...columns, volume } as unknown as QuoteRows
    return [{ symbol, market: 'futures', source: KEPT_SOURCE, sha256, rows }]
  }
}

const KEPT_SOURCE = 'kept tickers'

export function isKept({ source }: Pick<Recording, 'source'>): boolean {
  return source === KEPT_SOURCE
}

/** The report's name for all instruments that rules choose. */
export const CHOSEN = '*'

export function describeCandidates({ instants, stepMs, sha256 }: LoadedUniverse): PriceCoverage {
  return {
    symbol: CHOSEN,
    source: KEPT_SOURCE,
    sha256,
    kind: 'quotes',
    stepMs,
    fromAt: instants[0] ?? 0,
    toAt: (instants.at(-1) ?? 0) + stepMs,
    rows: instants.length,
    hasMark: false,
    hasFunding: true,
    gaps: { count: 0, totalMs: 0, longest: [] },
  }
}

class GrowingColumn {
  #numbers = new Float64Array(1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Float64Array(Math.ceil(1.5 * this.#length))
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[this.#length++] = number
  }

  take(): Float64Array {
    return this.#numbers.slice(0, this.#length)
  }
}
