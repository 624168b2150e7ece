import type { Fill } from '../../domain/fill.ts'
import type { Instrument } from '../../domain/instrument.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import { toWords } from '../../views/explain/intent-words.ts'
import { firstOther, firstShownOther, unmatched } from './differences.ts'
import { type AloneTime, explainByRestriction } from './restricted-times.ts'
import type { Wish } from './run-trace.ts'

export interface Parity {
  readonly isSame: boolean
  /** Only as docs/sweep.md calls normal. */
  readonly isNormal?: boolean
  readonly lines: readonly string[]
}

const WISHES_SHOWN = 4

type PlayedPair<Item> = readonly [recorded: readonly Item[], played: readonly Item[]]

interface WishFrame {
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly symbols: readonly string[]
  readonly fills: PlayedPair<Fill>
  /** Exchange clock: the last prices read in each run. */
  readonly lastReadAt: readonly [recorded: number, played: number]
  readonly alone: readonly AloneTime[]
}

const RUNS = ['the recorded run', 'the backtest'] as const

export function compareWishes(
  id: string,
  [recorded, played]: PlayedPair<Wish>,
  frame: WishFrame,
): Parity {
  const { instruments } = frame
  const index = firstOther(recorded, played, ({ text }) => text)
  const counts = `${id}: ${recorded.length} changes of what it wants recorded, ${played.length} in the backtest`
  if (index === undefined) return { isSame: true, lines: [`${counts}, all the same`] }
  const [was, is] = [recorded[index], played[index]]
  return {
    isSame: false,
    lines: [
      `${counts}; the first ${index} are the same, then`,
      ...describeWish('recorded', was, instruments),
      ...describeWish('backtest', is, instruments),
      `  why: ${explainWishes(id, [was, is], frame)}`,
    ],
  }
}

type WishPair = readonly [recorded: Wish | undefined, played: Wish | undefined]

function explainWishes(id: string, [was, is]: WishPair, frame: WishFrame): string {
  const { alone, symbols } = frame
  const at = Math.min(was?.at ?? Number.POSITIVE_INFINITY, is?.at ?? Number.POSITIVE_INFINITY)
  const restricted = explainByRestriction(alone, { at, symbols, strategies: [id] })
  if (restricted !== undefined) return restricted
  const ended = explainByEnd([was, is], frame)
  if (ended !== undefined) return ended
  const fill = explainByFill([was, is], frame)
  if (fill !== undefined) return fill
  if (was === undefined || is === undefined) {
    const [changed, other] = was === undefined ? RUNS.toReversed() : RUNS
    return `${other} wanted nothing else to its end; what it was shown when ${changed} changed is not kept`
  }
  const other = firstShownOther(was.shown, is.shown)
  if (other !== undefined) return `it was shown another moment: ${other}`
  return 'it was shown the same prices, candles, orders, position and state: its parameters, its code or the equity are others'
}

/** One run had no more prices when the other changed its intents. */
function explainByEnd(pair: WishPair, { lastReadAt }: WishFrame): string | undefined {
  const readAt = (pair[0] ?? pair[1])?.readAt ?? 0
  const name = RUNS.find((_, side) => pair[side] === undefined && (lastReadAt[side] ?? 0) < readAt)
  return name && `${name} had ended before`
}

/** A resting order filled in one run only explains later differences. */
function explainByFill(
  [was, is]: WishPair,
  { instruments, symbols, fills: [recorded, played] }: WishFrame,
): string | undefined {
  const textOf = fillTextOf(instruments)
  const at = (was ?? is)?.at ?? 0
  const before = (fills: readonly Fill[], wish: Wish | undefined): readonly Fill[] =>
    (wish === undefined
      ? fills.filter(({ filledAt }) => filledAt <= at)
      : fills.slice(0, wish.fillsBefore)
    ).filter(({ symbol }) => symbols.includes(symbol))
  const [ofRecorded, ofPlayed] = [before(recorded, was), before(played, is)]
  const alone = [
    ...unmatched(ofRecorded, ofPlayed, textOf).map((fill) => ({ fill, where: RUNS[0] })),
    ...unmatched(ofPlayed, ofRecorded, textOf).map((fill) => ({ fill, where: RUNS[1] })),
  ].filter(({ fill: { scope, source } }) => scope === 'maker' && source === 'API')
  const [first] = alone.toSorted((one, other) => one.fill.filledAt - other.fill.filledAt)
  if (first === undefined) return undefined
  const { fill, where } = first
  return `an order that rested was filled in ${where} alone until then, as is normal: ${new Date(fill.filledAt).toISOString()} ${textOf(fill)}`
}

function describeWish(
  name: string,
  wish: Wish | undefined,
  instruments: ReadonlyMap<string, Instrument>,
): readonly string[] {
  if (wish === undefined) return [`  ${name}: nothing more`]
  const words = wish.intents.flatMap((intent) => {
    const instrument = 'symbol' in intent ? instruments.get(intent.symbol) : undefined
    return instrument ? toWords([intent], instrument) : [JSON.stringify(intent)]
  })
  const shown = [...wish.shown].filter(([what]) => what.startsWith('prices of'))
  return [
    `  ${name} ${new Date(wish.at).toISOString()}, shown ${shown.map(([what, prices]) => `${what} ${prices}`).join('; ')}`,
    ...words.slice(0, WISHES_SHOWN).map((text) => `    ${text}`),
    ...(words.length > WISHES_SHOWN ? [`    and ${words.length - WISHES_SHOWN} more`] : []),
  ]
}

const FILLS_SHOWN = 3

interface FillFrame extends Pick<WishFrame, 'instruments' | 'alone'> {
  readonly strategies: ReadonlyMap<string, { readonly symbols: readonly string[] }>
}

export function compareFills(
  recorded: readonly Fill[],
  played: readonly Fill[],
  { instruments, alone, strategies }: FillFrame,
): Parity {
  const restrictedBefore = ({ symbol, filledAt }: Fill): string | undefined => {
    const traders = [...strategies]
      .filter(([, { symbols }]) => symbols.includes(symbol))
      .map(([id]) => id)
    return explainByRestriction(alone, { at: filledAt, symbols: [symbol], strategies: traders })
  }
  const textOf = fillTextOf(instruments)
  const index = firstOther(recorded, played, textOf)
  const counts = `fills: ${recorded.length} recorded, ${played.length} in the backtest`
  if (index === undefined) return { isSame: true, lines: [`${counts}, all the same`] }
  const [was, is] = [unmatched(recorded, played, textOf), unmatched(played, recorded, textOf)]
  // Several instruments are filled at once, so their order means nothing.
  if (was.length + is.length === 0)
    return { isSame: true, lines: [`${counts}, all the same, in another order`] }
  const describe = (name: string, fills: readonly Fill[]): readonly string[] => [
    ...fills
      .slice(0, FILLS_SHOWN)
      .flatMap((fill) => [
        `  ${name} only: ${new Date(fill.filledAt).toISOString()} ${textOf(fill)}`,
        `    why: ${restrictedBefore(fill) ?? explainFill(fill)}`,
      ]),
    ...(fills.length > FILLS_SHOWN
      ? [`  and ${fills.length - FILLS_SHOWN} more that are ${name} only`]
      : []),
  ]
  const isNormal =
    isExplained(was, is) && ![...was, ...is].some((fill) => restrictedBefore(fill) !== undefined)
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

function fillTextOf(instruments: ReadonlyMap<string, Instrument>): (fill: Fill) => string {
  return ({ symbol, side, ticks, lots, scope }) => {
    const { tick, lot } = instruments.get(symbol) ?? {}
    return tick && lot
      ? `${symbol} ${side} ${formatOnGrid(lot, lots)} at ${formatOnGrid(tick, ticks)} ${scope}`
      : symbol
  }
}

/**
 * Prices between two reads and the duration of requests explain fills of equal size, or of what had
 * rested.
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

function explainFill({ source, scope }: Fill): string {
  if (source !== 'API')
    return `no order of a strategy (source ${source}): a backtest has none of these`
  if (scope === 'maker')
    return 'it rested: a recording knows the prices of each read, not what was traded between two'
  return 'it took what stood there: the prices of that moment, or what was wanted, were others'
}
