import type { Instrument } from '../../domain/instrument.ts'
import { messageOf } from '../../lib/failure.ts'
import { createRandom } from '../../lib/random.ts'
import type { Strategy } from '../define-strategy.ts'
import { resolveNeeds } from '../needs.ts'
import { watchImpureCalls } from './impure-calls.ts'
import { trySeries, type SeriesDecision } from './run-series.ts'

const MINUTE_MS = 60_000
const PRICES_MIN = 300
const PRICES_MAX = 5200
const PRICE_TICKS = 200_000
const MOVE_TICKS = 400

export interface PurityCheck {
  readonly problems: readonly string[]
  /** A decision that needs a feed gets no reading here. */
  readonly failing: readonly string[]
  /** Made-up prices are not the market, so failing decisions are no problem by themselves. */
  readonly notes: readonly string[]
}

interface PurityTrial {
  readonly decisions: readonly string[]
  readonly failing: readonly string[]
  readonly notes: readonly string[]
}

/**
 * Two runs along the same prices must decide alike and leave the globals unchanged. A strategy that
 * never returns is ended by `watched-purity.ts`.
 */
export function checkPurity(
  strategy: Strategy,
  params: unknown,
  instruments: readonly Instrument[],
): PurityCheck {
  if (instruments.length === 0) return { problems: [], failing: [], notes: [] }
  const before = readGlobals()
  const run = (): PurityTrial => runOnce(strategy, params, instruments)
  const calls = watchImpureCalls()
  const [{ decisions: first, failing, notes }, { decisions: second }] = [run(), run()]
  calls.forget()
  const touched = findTouched(before, readGlobals()).map(
    (name) => `it changes the global ${name}; what it wants to remember belongs into its state`,
  )
  const at = first.findIndex((decision, index) => decision !== second[index])
  const changed = `decide answers otherwise when it is asked again on the same prices (decision ${at + 1}: ${shorten(first[at])}, then ${shorten(second[at])}); it may not use a clock, chance, or variables outside of its state`
  const asked = calls.describe()
  if (at < 0) return { problems: touched, failing, notes: [...asked, ...notes] }
  return { problems: [[changed, ...asked].join('. '), ...touched], failing, notes }
}

function runOnce(
  strategy: Strategy,
  params: unknown,
  instruments: readonly Instrument[],
): PurityTrial {
  try {
    const { candles } = resolveNeeds(strategy, params)
    const stepMs = Math.min(MINUTE_MS, ...candles.keys())
    const needed = Math.max(
      0,
      ...[...candles].map(([intervalMs, count]) => (count * intervalMs) / stepMs),
    )
    const count = Math.min(PRICES_MAX, needed + PRICES_MIN)
    const [first, ...others] = instruments.map((instrument) => ({
      instrument: {
        symbol: instrument.symbol,
        tickSize: instrument.tick.step,
        lotSize: instrument.lot.step,
      },
      prices: makePrices(instrument, count),
    }))
    const parsed = { ...strategy, params: { parse: () => params } } as unknown as Strategy
    const { decisions, failures, stuckAt } = trySeries({
      ...first,
      others,
      strategy: parsed,
      params,
      interval: `${stepMs}ms`,
    })
    const texts = decisions.map(({ intents, state }) => JSON.stringify({ intents, state }))
    const failing = describeFailures(failures, stuckAt)
    const isHopeless = stuckAt !== undefined || failures.some(isOfUnknownName)
    return {
      decisions: [...texts, ...failures.slice(0, 1)],
      failing: isHopeless ? failing : [],
      notes: [...(isHopeless ? [] : failing), ...countDenials(decisions)],
    }
  } catch (error) {
    const problem = `on made-up prices it fails: ${messageOf(error)}`
    return { decisions: [messageOf(error)], failing: [], notes: [problem] }
  }
}

function describeFailures(
  failures: readonly string[],
  stuckAt: number | undefined,
): readonly string[] {
  const [first] = failures
  if (first === undefined) return []
  let failing = `${failures.length} of its decisions fail`
  if (stuckAt === 0) failing = 'every decision fails'
  else if (stuckAt !== undefined)
    failing = `every decision fails from number ${stuckAt + 1} on, before it wants anything`
  return [`on made-up prices ${failing}: ${first}`]
}

/** It fails on any market as soon as that line is reached. */
function isOfUnknownName(failure: string): boolean {
  return failure.startsWith('STRATEGY_NAME_UNKNOWN')
}

function makePrices({ symbol, tick }: Instrument, length: number): readonly number[] {
  const random = createRandom(`purity ${symbol}`)
  let ticks = PRICE_TICKS
  return Array.from({ length }, () => {
    ticks = Math.max(MOVE_TICKS, ticks + random.integer(2 * MOVE_TICKS + 1) - MOVE_TICKS)
    return ticks * Number(tick.step)
  })
}

function countDenials(run: readonly SeriesDecision[]): readonly string[] {
  const byCode = Map.groupBy(
    run.flatMap(({ denials }) => denials),
    ({ code }) => code,
  )
  return [...byCode].map(
    ([code, denials]) =>
      `on made-up prices ${denials.length} of its intents are denied, ${code}: ${denials[0]?.detail ?? ''}`,
  )
}

function readGlobals(): ReadonlyMap<string, unknown> {
  const globals = Object.entries(Object.getOwnPropertyDescriptors(globalThis))
  return new Map(
    globals.map(([name, property]) => [
      name,
      (property.value as unknown) ?? Reflect.get(property, 'get'),
    ]),
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
