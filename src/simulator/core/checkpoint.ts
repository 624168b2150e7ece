import {
  dayStatisticsSchema,
  parseMarketState,
  type DayStatisticsState,
  type MarketState,
} from '../market/market-state.ts'
import { type Market } from '../market/market.ts'
import { type DisplayedMarket } from '../matching/displayed-market.ts'
import { Failure } from '../../lib/failure.ts'
import { type CoreState, type SymbolState } from './core-state.ts'

/**
 * The market and its statistics at one moment. Too large to be stored with every operation: it is stored
 * now and then, and what lies between it and the last operation is played again without the orders.
 */
export interface Checkpoint {
  readonly market: MarketState
  readonly symbols: readonly SymbolCheckpoint[]
}

export interface SymbolCheckpoint {
  readonly symbol: string
  readonly market: Readonly<DisplayedMarket>
  readonly statistics: DayStatisticsState
}

export function takeCheckpoint(state: CoreState, market: Market): Checkpoint {
  return { market: market.state(), symbols: [...state.symbols.values()].map(symbolCheckpoint) }
}

function symbolCheckpoint({ instrument, market, statistics }: SymbolState): SymbolCheckpoint {
  return { symbol: instrument.symbol, market: { ...market }, statistics: statistics.state() }
}

/** Reads a stored checkpoint. @throws Failure MARKET_STATE_DAMAGED, SIMULATOR_STORE_DAMAGED */
export function parseCheckpoint(row: unknown): Checkpoint {
  const { market, symbols } = row as Checkpoint
  return { market: parseMarketState(market), symbols: symbols.map(parseSymbol) }
}

function parseSymbol(entry: SymbolCheckpoint): SymbolCheckpoint {
  const statistics = dayStatisticsSchema.safeParse(entry.statistics)
  if (statistics.success) return { ...entry, statistics: statistics.data }
  throw new Failure({
    code: 'SIMULATOR_STORE_DAMAGED',
    sentence: 'the stored statistics of an instrument cannot be read',
    facts: { symbol: entry.symbol },
    hint: 'remove the stored state to start afresh',
    cause: statistics.error,
  })
}

export function applyCheckpoint(state: CoreState, checkpoint: Checkpoint): void {
  for (const { symbol, market } of checkpoint.symbols) {
    const target = state.symbols.get(symbol)
    if (target !== undefined) Object.assign(target.market, market)
  }
}

/** @throws Failure SIMULATOR_MARKET_CHANGED when the stored accounts lived in another market. */
export function assertSameMarket(market: Market, checkpoint: Checkpoint): void {
  if (market.identity === checkpoint.market.identity) return
  throw new Failure({
    code: 'SIMULATOR_MARKET_CHANGED',
    sentence: 'the stored state of the simulator belongs to another market',
    facts: { stored: checkpoint.market.identity, configured: market.identity },
    hint: 'configure the market as it was, or remove the stored state to start afresh',
  })
}
