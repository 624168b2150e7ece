import { type StrategyId, toStrategyId } from '../../src/domain/ids.ts'
import { type EngineSettings } from '../../src/engine/settings.ts'
import { madeInstrument } from '../support/market-moment.ts'
import { EngineBench, STRATEGY } from './engine-bench.ts'

export const OTHER = toStrategyId('other')
export const SYMBOLS = ['AUSDT', 'BUSDT', 'CUSDT'] as const

const LIMITS = { positionMax: 1000, orderSizeMax: 100, openOrdersMax: 100 }

/** A core with three instruments and two strategies that may trade all of them; it runs. */
export function manyInstruments(change: Partial<EngineSettings> = {}): EngineBench {
  const limits = new Map(SYMBOLS.map((symbol) => [symbol, LIMITS]))
  const strategies = [STRATEGY, OTHER].map(
    (
      id,
    ): [
      StrategyId,
      EngineSettings['strategies'] extends ReadonlyMap<StrategyId, infer S> ? S : never,
    ] => [id, { id, symbols: SYMBOLS, limits, feeds: new Map() }],
  )
  return new EngineBench({
    instruments: new Map(SYMBOLS.map((symbol) => [symbol, { ...madeInstrument(), symbol }])),
    strategies: new Map(strategies),
    ...change,
  }).start()
}
