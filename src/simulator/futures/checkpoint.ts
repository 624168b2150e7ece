import { Failure } from '../../lib/failure.ts'
import { type Bucket, BUCKETS, type DayStatisticsState } from '../market/day-statistics.ts'
import { type MinuteBlock, MinuteHistory } from '../market/minute-history.ts'
import type { Market, StoredMarketState } from '../market/market.ts'
import type { DisplayedMarket } from '../matching/displayed-market.ts'
import {
  damagedRow,
  otherVersion,
  singleRow,
  type Codec,
  type StoredRows,
} from '../store/stored-rows.ts'
import type { CoreState } from './core-state.ts'
import type { ListedContract } from './instruments/instruments.ts'

/**
 * The market and its statistics are too large to be stored with every operation, so the time since
 * the last checkpoint is replayed.
 */

export interface Checkpoint {
  readonly market: StoredMarketState
  readonly grids: StoredGrids
  readonly symbols: ReadonlyMap<string, SymbolCheckpoint>
}

type StoredGrids = Readonly<Record<string, readonly [tickSize: string, lotSize: string]>>

interface SymbolCheckpoint {
  readonly market: Readonly<DisplayedMarket>
  readonly statistics: DayStatisticsState
}

interface StoredMarketRow {
  readonly market: StoredMarketState
  readonly symbols: readonly string[]
  readonly grids?: StoredGrids
}

const MARKET = singleRow<StoredMarketRow>('market')

interface SymbolMarketRow extends Omit<SymbolCheckpoint, 'statistics'> {
  readonly symbol: string
  readonly statistics: Omit<DayStatisticsState, 'buckets'>
}

const SYMBOL_MARKETS: Codec<SymbolMarketRow> = {
  table: 'symbol_markets',
  id: ({ symbol }) => symbol,
}

type MinuteRow = Bucket & { readonly symbol: string }

const MINUTES: Codec<MinuteRow> = {
  table: 'minutes',
  id: ({ minute, symbol }) => `${String(minute % BUCKETS).padStart(4, '0')}/${symbol}`,
}

const MINUTE_BLOCKS: Codec<MinuteBlock & { readonly symbol: string }> = {
  table: 'lived',
  id: ({ block, symbol }) => `${symbol}/${block}`,
}

export function openMinuteHistories({ rows, symbols }: CoreState): void {
  if (!rows.isKept) return
  const blocks = Map.groupBy(rows.read(MINUTE_BLOCKS), ({ symbol }) => symbol)
  for (const [symbol, state] of symbols)
    state.minuteHistory = new MinuteHistory(blocks.get(symbol) ?? [], symbols.size)
}

export function putCheckpoint({ rows, symbols }: CoreState, market: Market): void {
  if (!rows.isKept) return
  const grids = gridsOf([...symbols.values()].map(({ instrument }) => instrument))
  rows.put(MARKET, { market: market.state(), symbols: [...symbols.keys()], grids })
  const minutes: MinuteRow[] = []
  for (const [symbol, { market: displayed, statistics }] of symbols) {
    rows.put(SYMBOL_MARKETS, { symbol, market: displayed, statistics: statistics.state() })
    for (const bucket of statistics.takeChanged()) minutes.push({ symbol, ...bucket })
  }
  // Sorted by id, because the insert of 1440 rows an instrument takes ten times as long in any
  // other order.
  minutes.sort((one, other) => (one.minute % BUCKETS) - (other.minute % BUCKETS))
  for (const minute of minutes) rows.put(MINUTES, minute)
}

/** Must be called before the statistics lose the minutes. */
export function keepMinuteHistories({ rows, symbols }: CoreState): void {
  for (const [symbol, { statistics, minuteHistory }] of symbols) {
    const { added = [], dropped = [] } = minuteHistory?.keep(statistics) ?? {}
    for (const block of added) rows.put(MINUTE_BLOCKS, { symbol, ...block })
    for (const block of dropped) rows.drop(MINUTE_BLOCKS, { symbol, ...block })
  }
}

/** @throws Failure SIMULATOR_STORE_DAMAGED, SIMULATOR_STORE_VERSION */
export function readCheckpoint(rows: StoredRows): Checkpoint | undefined {
  if (rows.isFresh) return undefined
  const stored = rows.readOne(MARKET, MARKET.id())
  if (stored === undefined) throw damagedRow({ table: MARKET.table, id: MARKET.id() })
  if (rows.isOfBefore && !stored.market.identity.startsWith('seeded:')) throw otherVersion()
  const minutes = Map.groupBy(rows.read(MINUTES), ({ symbol }) => symbol)
  const symbols = new Map<string, SymbolCheckpoint>()
  for (const { symbol, market, statistics } of rows.read(SYMBOL_MARKETS)) {
    if (!stored.symbols.includes(symbol)) continue
    const buckets = minutes.get(symbol) ?? []
    const hasGaps = buckets.some(
      ({ minute }) => minute > statistics.minute || minute <= statistics.minute - buckets.length,
    )
    if (hasGaps) throw damagedRow({ table: MINUTES.table, id: symbol })
    symbols.set(symbol, { market, statistics: { ...statistics, buckets } })
  }
  return { market: stored.market, grids: stored.grids ?? {}, symbols }
}

export function applyCheckpoint(state: CoreState, checkpoint: Checkpoint): void {
  for (const [symbol, { market }] of checkpoint.symbols) {
    const target = state.symbols.get(symbol)
    if (target !== undefined) Object.assign(target.market, market)
  }
}

/** @throws Failure SIMULATOR_MARKET_CHANGED */
export function assertSameMarket(market: Market, checkpoint: Checkpoint): void {
  if (market.identity === checkpoint.market.identity) return
  throw new Failure({
    code: 'SIMULATOR_MARKET_CHANGED',
    sentence: 'the stored state of the simulator belongs to another market',
    facts: { stored: checkpoint.market.identity, configured: market.identity },
    hint: 'set the seed, the step, the speed and the recordings as they were, or remove the stored state',
  })
}

function gridsOf(instruments: readonly ListedContract[]): StoredGrids {
  const grids = instruments.map(
    ({ symbol, priceGrid, sizeGrid }) => [symbol, [priceGrid.step, sizeGrid.step]] as const,
  )
  return Object.fromEntries(grids)
}

/** @throws Failure SIMULATOR_GRIDS_CHANGED */
export function assertSameGrids(
  instruments: readonly ListedContract[],
  { grids }: Checkpoint,
): void {
  for (const [symbol, [tickSize, lotSize]] of Object.entries(gridsOf(instruments))) {
    const [storedTick, storedLot] = grids[symbol] ?? [tickSize, lotSize]
    if (Number(storedTick) === Number(tickSize) && Number(storedLot) === Number(lotSize)) continue
    throw new Failure({
      code: 'SIMULATOR_GRIDS_CHANGED',
      sentence: 'the stored state of the simulator counts in other ticks or lots',
      facts: {
        symbol,
        stored: `tickSize ${storedTick}, lotSize ${storedLot}`,
        configured: `tickSize ${tickSize}, lotSize ${lotSize}`,
      },
      hint: 'set both as they were, or start with another state file',
    })
  }
}
