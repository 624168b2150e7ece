import { CANDLES_MAX, parseInterval } from '../domain/candles.ts'
import { didYouMeanEnd } from '../lib/did-you-mean.ts'
import { messageOf } from '../lib/failure.ts'
import { INTERVAL_RULE, type IndicatorSpecs } from './indicators/specs.ts'
import { loadIndicators } from './indicators/indicator-values.ts'
import { runAsStrategy, strategyFailure, type StrategyFailure } from './strategy-failure.ts'

export interface Needs<Indicators extends IndicatorSpecs = IndicatorSpecs> {
  /** Closed candles by interval, such as `{ '1m': 200 }`. At most 5000. */
  readonly candles?: Readonly<Record<string, number>>
  /**
   * Keyed by own names: `{ fast: ema({ interval: '5m', period: 12 }) }`. Their candles need not be
   * listed.
   */
  readonly indicators?: Indicators
}

/**
 * `snapshot`: at each snapshot and own fill · `candle`: when a needed candle closes · `fill`: at
 * each own fill · `signal`: at each signal that it reads.
 */
export type DecideOn = 'snapshot' | 'candle' | 'fill' | 'signal'

interface Declaration {
  readonly name: string
  readonly needs?: Needs | ((params: unknown) => Needs)
  readonly decides?: DecideOn | readonly DecideOn[]
}

export interface ResolvedNeeds {
  readonly candles: ReadonlyMap<number, number>
  readonly indicators: IndicatorSpecs
  readonly decides: readonly DecideOn[] | undefined
}

export const NO_NEEDS: ResolvedNeeds = { candles: new Map(), indicators: {}, decides: undefined }

const DECIDE_ON: readonly DecideOn[] = ['snapshot', 'candle', 'fill', 'signal']

const PARTS: readonly string[] = ['candles', 'indicators'] satisfies readonly (keyof Needs)[]

const INTERVALS_MAX = 8

/** @throws Failure STRATEGY_NEEDS if they cannot be met */
export function resolveNeeds(strategy: Declaration, params: unknown): ResolvedNeeds {
  const { needs, name } = strategy
  const decides = readDecides(strategy.decides)
  const declared = typeof needs === 'function' ? declare(name, () => needs(params)) : (needs ?? {})
  assertKnown(declared)
  const candles = new Map<number, number>()
  const add = (interval: string, count: unknown): void => {
    const intervalMs = parseInterval(interval)
    if (intervalMs === undefined) throw wrongNeeds(`${INTERVAL_RULE}, not "${interval}"`)
    if (
      typeof count !== 'number' ||
      !Number.isSafeInteger(count) ||
      count < 1 ||
      count > CANDLES_MAX
    ) {
      throw wrongNeeds(`1 to ${CANDLES_MAX} candles of ${interval}, not ${String(count)}`)
    }
    candles.set(intervalMs, Math.max(candles.get(intervalMs) ?? 0, count))
  }
  for (const [interval, count] of Object.entries(declared.candles ?? {})) add(interval, count)
  const indicators = declared.indicators ?? {}
  for (const { interval, candles: count } of Object.values(indicators)) add(interval, count)
  if (candles.size > INTERVALS_MAX)
    throw wrongNeeds(`${candles.size} intervals; at most ${INTERVALS_MAX}`)
  if (decides?.includes('candle') === true && candles.size === 0) {
    throw wrongNeeds("decides: 'candle' needs candles or indicators")
  }
  if (Object.keys(indicators).length > 0) loadIndicators()
  return { candles, indicators, decides }
}

function assertKnown(declared: Needs): void {
  const unknown = Object.keys(declared).find((part) => !PARTS.includes(part))
  if (unknown !== undefined)
    throw wrongNeeds(`${unknown} is no part of needs${didYouMeanEnd(unknown, PARTS)}`)
}

function readDecides(decides: Declaration['decides']): ResolvedNeeds['decides'] {
  if (decides === undefined) return undefined
  const list: readonly unknown[] = Array.isArray(decides) ? decides : [decides]
  const known = DECIDE_ON.filter((one) => list.includes(one))
  if (list.length > 0 && known.length === new Set(list).size) return known
  throw wrongNeeds(
    `decides is 'snapshot', 'candle', 'fill', 'signal', or a list of these, not ${JSON.stringify(decides)}`,
  )
}

function declare(name: string, needs: () => Needs): Needs {
  try {
    return runAsStrategy(name, needs)
  } catch (error) {
    throw wrongNeeds(messageOf(error))
  }
}

function wrongNeeds(found: string): StrategyFailure {
  return strategyFailure('STRATEGY_NEEDS', { facts: { found } })
}
