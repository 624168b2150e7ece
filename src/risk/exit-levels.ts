import type {
  BelievedTicks,
  ExitDistance,
  ExitKind,
  ExitRules,
  ExitTrade,
} from '../domain/exits.ts'
import type { HoldSide } from '../domain/position.ts'

/** Shares are counted in millionths. */
const WHOLE = 1_000_000

export interface PassedLevel {
  readonly kind: ExitKind
  /** Whole ticks. */
  readonly ticks: number
}

/** Rounded to where more is gained. */
function gainTicks(side: HoldSide, entryTicks: number, share: number): number {
  return side === 'long' ? scaleUp(entryTicks, WHOLE + share) : scaleDown(entryTicks, WHOLE - share)
}

/** Rounded to where less is gained. A negative share is a loss. */
export function stopTicks(side: HoldSide, fromTicks: number, share: number): number {
  return side === 'long' ? scaleDown(fromTicks, WHOLE + share) : scaleUp(fromTicks, WHOLE - share)
}

/** The protective levels that count now. */
function listStops(
  rules: ExitRules,
  side: HoldSide,
  trade: Pick<ExitTrade, 'entryTicks' | 'bestTicks' | 'atrTicks'>,
): readonly PassedLevel[] {
  const { entryTicks, bestTicks, atrTicks } = trade
  const { stop, trailing, breakEven } = rules
  const levels: PassedLevel[] = []
  if (entryTicks === null) return levels
  const at = (from: number, distance: ExitDistance): number | undefined =>
    distanceFrom(side, { from, distance, atrTicks })
  const add = (kind: ExitKind, ticks: number | undefined): void => {
    if (ticks !== undefined) levels.push({ kind, ticks })
  }
  const hasGained = (share: number): boolean =>
    bestTicks !== null && reaches(side, bestTicks, gainTicks(side, entryTicks, share))
  if (stop) add('stop', at(entryTicks, stop))
  // 0 is at once, also while the best price has yet to reach the entry.
  const trails = trailing && (trailing.after === 0 || hasGained(trailing.after))
  if (trails && bestTicks !== null) add('trailing', at(bestTicks, trailing.distance))
  if (breakEven && hasGained(breakEven.after))
    add('breakEven', stopTicks(side, entryTicks, breakEven.offset))
  return levels
}

/**
 * Where a stop at the exchange belongs: as much beyond the nearest protective level as it was
 * beyond the stop-loss. Whole ticks; undefined while that level is unknown.
 */
export function exchangeStopTicks(
  rules: ExitRules,
  side: HoldSide,
  trade: ExitTrade,
): { readonly ticks: number; readonly marginTicks: number } | undefined {
  const { stop, stopAtExchange } = rules
  if (stopAtExchange === undefined || stop?.kind !== 'share' || trade.entryTicks === null)
    return undefined
  const levels = listStops(rules, side, trade).map(({ ticks }) => ticks)
  if (levels.length === 0) return undefined
  const marginTicks = (trade.entryTicks * (stopAtExchange - stop.millionths)) / WHOLE
  const ticks =
    side === 'long'
      ? Math.floor(Math.max(...levels) - marginTicks)
      : Math.ceil(Math.min(...levels) + marginTicks)
  return ticks > 0 ? { ticks, marginTicks } : undefined
}

/** Passed by both prices, and met first on the way down. */
export function passedStop(
  rules: ExitRules,
  side: HoldSide,
  trade: ExitTrade,
  { low, high }: BelievedTicks,
): PassedLevel | undefined {
  const better = side === 'long' ? high : low
  return listStops(rules, side, trade)
    .filter(({ ticks }) => reaches(side, ticks, better))
    .reduce<PassedLevel | undefined>(
      (first, level) =>
        first !== undefined && reaches(side, first.ticks, level.ticks) ? first : level,
      undefined,
    )
}

/** Whether both prices brought a share of the entry. */
export function hasBrought(
  side: HoldSide,
  entryTicks: number,
  { low, high }: BelievedTicks,
  share: number,
): boolean {
  return reaches(side, side === 'long' ? low : high, gainTicks(side, entryTicks, share))
}

export function reaches(side: HoldSide, ticks: number, other: number): boolean {
  return side === 'long' ? ticks >= other : ticks <= other
}

function distanceFrom(
  side: HoldSide,
  {
    from,
    distance,
    atrTicks,
  }: {
    readonly from: number
    readonly distance: ExitDistance
    readonly atrTicks: number | null
  },
): number | undefined {
  if (distance.kind === 'share') return stopTicks(side, from, -distance.millionths)
  if (atrTicks === null) return undefined
  const away = (atrTicks * distance.millionths) / WHOLE
  return side === 'long' ? Math.floor(from - away) : Math.ceil(from + away)
}

/** Exact for whole ticks below nine thousand million. */
function scaleDown(ticks: number, millionths: number): number {
  const product = ticks * millionths
  return Math.floor((product - (product % WHOLE)) / WHOLE)
}

function scaleUp(ticks: number, millionths: number): number {
  const product = ticks * millionths
  const rest = product % WHOLE
  return (product - rest) / WHOLE + (rest > 0 ? 1 : 0)
}
