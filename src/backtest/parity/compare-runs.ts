import type { Fill } from '../../domain/fill.ts'
import type { Instrument } from '../../domain/instrument.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import { toWords } from '../../views/explain/intent-words.ts'
import type { WishInForce } from './run-trace.ts'

export interface Parity {
  readonly isSame: boolean
  /** True if the runs differ only in ways that docs/sweep.md calls normal. */
  readonly isNormal?: boolean
  readonly lines: readonly string[]
}

type PlayedPair<Item> = readonly [recorded: Item, played: Item]

interface WishFrame {
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly symbols: readonly string[]
  readonly fills: PlayedPair<readonly Fill[]>
  /** Exchange clock: the last prices read in each run. */
  readonly lastReadAt: PlayedPair<number>
}

const RUNS = ['the recorded run', 'the backtest'] as const

/** Compares until the first difference, because later ones follow from it. */
export function compareWishes(
  id: string,
  [recorded, played]: PlayedPair<readonly WishInForce[]>,
  frame: WishFrame,
): Parity {
  const index = firstOther(recorded, played, ({ text }) => text)
  const counts = `${id}: ${countChanges(recorded.length)} recorded, ${played.length} in the backtest`
  if (index === undefined) return { isSame: true, lines: [`${counts}, all the same`] }
  const pair = [recorded[index], played[index]] as const
  const hasRested = !haveTargetsAlone([...recorded, ...played])
  return {
    isSame: false,
    lines: [
      `${counts}; the first ${index} are the same, then`,
      ...describeWish('recorded', pair[0], frame),
      ...describeWish('backtest', pair[1], frame),
      `  why: ${causeOfWish(pair, frame, hasRested)}`,
    ],
  }
}

function countChanges(count: number): string {
  return count === 1 ? '1 change of what it wants' : `${count} changes of what it wants`
}

/** Orders to a target never rest, so an order that rested is of another strategy. */
function haveTargetsAlone(wishes: readonly WishInForce[]): boolean {
  const kinds = new Set(wishes.flatMap(({ intents }) => intents.map(({ kind }) => kind)))
  return kinds.size === 1 && kinds.has('target')
}

function causeOfWish(
  pair: PlayedPair<WishInForce | undefined>,
  frame: WishFrame,
  hasRested: boolean,
): string {
  const [was, is] = pair
  const readAt = (was ?? is)?.readAt ?? 0
  const missing = RUNS.findIndex((_, side) => pair[side] === undefined)
  if (missing >= 0 && (frame.lastReadAt[missing] ?? 0) < readAt)
    return `time of decision: ${RUNS[missing]} had ended before`
  const filled = hasRested ? filledAlone(pair, frame) : undefined
  if (filled !== undefined) return filled
  if (was === undefined || is === undefined)
    return `time of decision: ${RUNS[missing]} wanted nothing else to its end`
  if (was.readAt !== is.readAt)
    return `time of decision: on the prices of ${dateOf(was.readAt)} recorded, of ${dateOf(is.readAt)} in the backtest`
  if (was.prices !== is.prices)
    return `prices: ${was.prices} recorded, ${is.prices} in the backtest`
  return 'neither prices, time of decision nor fills: its parameters, its code, a feed, candles, its state or the equity are others'
}

/** A resting order that was filled in only one run explains later differences. */
function filledAlone(
  [was, is]: PlayedPair<WishInForce | undefined>,
  { instruments, symbols, fills: [recorded, played] }: WishFrame,
): string | undefined {
  const textOf = fillTextOf(instruments)
  const at = (was ?? is)?.at ?? 0
  const before = (fills: readonly Fill[], wish: WishInForce | undefined): readonly Fill[] =>
    (wish === undefined
      ? fills.filter(({ filledAt }) => filledAt <= at)
      : fills.slice(0, wish.fillsBefore)
    ).filter(({ symbol }) => symbols.includes(symbol))
  const [ofRecorded, ofPlayed] = [before(recorded, was), before(played, is)]
  const [first] = [
    ...unmatched(ofRecorded, ofPlayed, textOf).map((fill) => ({ fill, where: RUNS[0] })),
    ...unmatched(ofPlayed, ofRecorded, textOf).map((fill) => ({ fill, where: RUNS[1] })),
  ]
    .filter(({ fill: { scope, source } }) => scope === 'maker' && source === 'API')
    .toSorted((one, other) => one.fill.filledAt - other.fill.filledAt)
  return (
    first &&
    `fills: an order that rested was filled in ${first.where} alone until then, as is normal: ${dateOf(first.fill.filledAt)} ${textOf(first.fill)}`
  )
}

const WISHES_SHOWN = 4

function describeWish(
  name: string,
  wish: WishInForce | undefined,
  { instruments }: Pick<WishFrame, 'instruments'>,
): readonly string[] {
  if (wish === undefined) return [`  ${name}: nothing more`]
  const words = wish.intents.flatMap((intent) => {
    const instrument = 'symbol' in intent ? instruments.get(intent.symbol) : undefined
    return instrument ? toWords([intent], instrument) : [JSON.stringify(intent)]
  })
  return [
    `  ${name} ${dateOf(wish.at)}, shown ${wish.prices}`,
    ...words.slice(0, WISHES_SHOWN).map((text) => `    ${text}`),
    ...(words.length > WISHES_SHOWN ? [`    and ${words.length - WISHES_SHOWN} more`] : []),
  ]
}

const FILLS_SHOWN = 3

export function compareFills(
  recorded: readonly Fill[],
  played: readonly Fill[],
  {
    instruments,
    byHand = NONE_BY_HAND,
  }: {
    readonly instruments: ReadonlyMap<string, Instrument>
    /** Orders of the recorded run that a person gave. */
    readonly byHand?: ReadonlySet<string>
  },
): Parity {
  const textOf = fillTextOf(instruments)
  const index = firstOther(recorded, played, textOf)
  const counts = `fills: ${recorded.length} recorded, ${played.length} in the backtest`
  if (index === undefined) return { isSame: true, lines: [`${counts}, all the same`] }
  const [was, is] = [unmatched(recorded, played, textOf), unmatched(played, recorded, textOf)]
  // Fills of several instruments at one instant have no order that means anything.
  if (was.length + is.length === 0)
    return { isSame: true, lines: [`${counts}, all the same, in another order`] }
  const describe = (name: string, fills: readonly Fill[]): readonly string[] => [
    ...fills
      .slice(0, FILLS_SHOWN)
      .flatMap((fill) => [
        `  ${name} only: ${dateOf(fill.filledAt)} ${textOf(fill)}`,
        `    why: ${byHand.has(fill.orderId) ? BY_HAND : causeOfFill(fill)}`,
      ]),
    ...(fills.length > FILLS_SHOWN
      ? [`  and ${fills.length - FILLS_SHOWN} more that are ${name} only`]
      : []),
  ]
  const isNormal = isExplained(was, is)
  return {
    isSame: false,
    isNormal,
    lines: [
      `${counts}; the first ${index} are the same`,
      ...(isNormal
        ? [
            '  the rest differs as is normal: in moments and prices, or in when a resting order was filled',
          ]
        : []),
      ...describe('recorded', was),
      ...describe('backtest', is),
    ],
  }
}

const NONE_BY_HAND: ReadonlySet<string> = new Set()
const BY_HAND = 'by hand: a person gave the order, and in a backtest nobody trades by hand'

function causeOfFill({ source, scope }: Fill): string {
  if (source !== 'API')
    return `fills: no order of a strategy (source ${source}): a backtest has none of these`
  if (scope === 'maker')
    return 'fills: it rested, and what was traded between two readings of prices is not recorded'
  return 'prices or time of decision: it took what stood there'
}

function fillTextOf(instruments: ReadonlyMap<string, Instrument>): (fill: Fill) => string {
  return ({ symbol, side, ticks, lots, scope }) => {
    const { tick, lot } = instruments.get(symbol) ?? {}
    return tick && lot
      ? `${symbol} ${side} ${formatOnGrid(lot, lots)} at ${formatOnGrid(tick, ticks)} ${scope}`
      : symbol
  }
}

/**
 * The prices between two reads and the duration of requests explain a difference if the fills have
 * equal sizes, or are of orders that had rested.
 */
function isExplained(was: readonly Fill[], is: readonly Fill[]): boolean {
  const keyOf = ({ symbol, side, tradeSide }: Fill): string => `${symbol} ${side} ${tradeSide}`
  const lotsOf = (fills: readonly Fill[]): number => fills.reduce((sum, { lots }) => sum + lots, 0)
  return [...new Set([...was, ...is].map(keyOf))].every((key) => {
    const recorded = was.filter((fill) => keyOf(fill) === key)
    const played = is.filter((fill) => keyOf(fill) === key)
    const excess = lotsOf(recorded) - lotsOf(played)
    const rested = (excess > 0 ? recorded : played).filter(({ scope }) => scope === 'maker')
    return Math.abs(excess) <= lotsOf(rested)
  })
}

export function firstOther<Item>(
  one: readonly Item[],
  other: readonly Item[],
  textOf: (item: Item) => string,
): number | undefined {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const [left, right] = [one[index], other[index]]
    if (left === undefined || right === undefined || textOf(left) !== textOf(right)) return index
  }
  return undefined
}

export function unmatched<Item>(
  items: readonly Item[],
  others: readonly Item[],
  textOf: (item: Item) => string,
): readonly Item[] {
  const counts = new Map<string, number>()
  for (const other of others) counts.set(textOf(other), (counts.get(textOf(other)) ?? 0) + 1)
  return items.filter((item) => {
    const left = counts.get(textOf(item)) ?? 0
    counts.set(textOf(item), left - 1)
    return left <= 0
  })
}

function dateOf(at: number): string {
  return new Date(at).toISOString()
}
