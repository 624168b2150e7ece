import { type Instrument } from '../../domain/instrument.ts'
import { messageOf } from '../../lib/failure.ts'
import { createRandom } from '../../lib/random.ts'
import { type Strategy } from '../define-strategy.ts'
import { resolveNeeds } from '../needs.ts'
import { runSeries } from './run-series.ts'

const MINUTE_MS = 60_000
/** Prices that are decided on at least, and at most: the longest series, and what comes after it. */
const PRICES_MIN = 300
const PRICES_MAX = 5200
/** Where prices begin, in ticks, and how far one goes from the one before. */
const PRICE_TICKS = 200_000
const MOVE_TICKS = 400

/**
 * Whether a strategy is a function of what it is shown: asked twice along the same made-up prices it must say the same,
 * and leave the globals as they were. A sentence for each thing that it does otherwise.
 */
export function checkPurity(
  strategy: Strategy,
  params: unknown,
  instruments: readonly Instrument[],
): readonly string[] {
  const [instrument] = instruments
  if (instrument === undefined) return []
  const before = readGlobals()
  const first = runOnce(strategy, params, instrument)
  const second = runOnce(strategy, params, instrument)
  const touched = findTouched(before, readGlobals())
  const at = first.findIndex((decision, index) => decision !== second[index])
  return [
    ...(at < 0
      ? []
      : [
          `decide answers otherwise when it is asked again on the same prices (decision ${at + 1}: ${shorten(first[at])}, then ${shorten(second[at])}); it may not use a clock, chance, or variables outside of its state`,
        ]),
    ...touched.map(
      (name) => `it changes the global ${name}; what it wants to remember belongs into its state`,
    ),
  ]
}

/** Each decision as text; a run that fails ends with what it failed with. */
function runOnce(strategy: Strategy, params: unknown, { symbol, tick, lot }: Instrument): readonly string[] {
  try {
    const { candles } = resolveNeeds(strategy, params)
    const stepMs = Math.min(MINUTE_MS, ...candles.keys())
    const needed = Math.max(0, ...[...candles].map(([intervalMs, count]) => (count * intervalMs) / stepMs))
    const random = createRandom('purity')
    let ticks = PRICE_TICKS
    const prices = Array.from({ length: Math.min(PRICES_MAX, needed + PRICES_MIN) }, () => {
      ticks = Math.max(MOVE_TICKS, ticks + random.integer(2 * MOVE_TICKS + 1) - MOVE_TICKS)
      return ticks * Number(tick.step)
    })
    const parsed = { ...strategy, params: { parse: () => params } } as unknown as Strategy
    const instrument = { symbol, tickSize: tick.step, lotSize: lot.step }
    const run = runSeries({ strategy: parsed, params, prices, interval: `${stepMs}ms`, instrument })
    return run.map(({ intents, state }) => JSON.stringify({ intents, state }))
  } catch (error) {
    // Whether it bears made-up prices is another question.
    return [messageOf(error)]
  }
}

function readGlobals(): ReadonlyMap<string, unknown> {
  const globals = Object.entries(Object.getOwnPropertyDescriptors(globalThis))
  return new Map(
    globals.map(([name, property]) => [name, (property.value as unknown) ?? Reflect.get(property, 'get')]),
  )
}

function findTouched(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter(
    (name) => before.has(name) !== after.has(name) || !Object.is(before.get(name), after.get(name)),
  )
}

function shorten(text = '(nothing)'): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}
