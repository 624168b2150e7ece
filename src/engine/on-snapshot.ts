import { type InstrumentMoment, type Snapshot } from '../domain/snapshot.ts'
import { type TickerTable } from '../domain/ticker-table.ts'
import { accountHoldingOf, holdingOf, openOrdersOf } from './book.ts'
import { type Core, exchangeNow, instrumentOf, laneOf } from './core.ts'
import { freshUntil } from './market-view.ts'
import { type StrategySettings } from './settings.ts'

/** New prices: every strategy with fresh data is asked to decide on the same moment (MKT1, MKT2). */
export function takeSnapshot(core: Core, tickers: TickerTable): void {
  core.tickers = tickers
  core.snapshots += 1
  if (core.mode !== 'running') return
  for (const strategy of core.settings.strategies.values()) {
    const symbols = strategy.symbols.filter((symbol) => core.now <= freshUntil(core, symbol))
    if (symbols.length === 0) continue
    core.effects.push({
      kind: 'decide',
      strategyId: strategy.id,
      snapshot: buildSnapshot(core, tickers, strategy),
    })
  }
}

function buildSnapshot(core: Core, tickers: TickerTable, strategy: StrategySettings): Snapshot {
  return {
    sequence: core.snapshots,
    takenAt: core.now,
    exchangeTime: exchangeNow(core),
    tickers,
    fillsReadAt: core.fillsReadAt,
    instruments: strategy.symbols.map((symbol): InstrumentMoment => ({
      instrument: instrumentOf(core, symbol),
      holding: holdingOf(core.book, strategy.id, symbol),
      accountHolding: accountHoldingOf(core.book, symbol),
      positionReadAt: laneOf(core, symbol).positionReadAt,
      orders: [...openOrdersOf(core.book, symbol)].filter((order) => order.terms.strategyId === strategy.id),
    })),
  }
}
