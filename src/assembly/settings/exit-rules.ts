import {
  durationMs,
  type ExitSettings,
  stopAtExchangeShare,
} from '../../config/schema/strategy-schema.ts'
import { parseInterval } from '../../domain/candles.ts'
import type { ExitDistance, ExitProtections, ExitRules } from '../../domain/exits.ts'

/** `exits:` of a strategy file, with shares in millionths and durations in ms. */
export function toExitRules(exits: ExitSettings): ExitRules {
  const { stop, trailing, breakEven, profit, timeLimit, takeProfit, coolDown, protections } = exits
  const rows = Object.entries(profit ?? {})
    .map(([from, least]) => ({ fromMs: durationMs(from), least: millionths(least) }))
    .toSorted((one, other) => one.fromMs - other.fromMs)
  return {
    ...(stop && { stop: toDistance(stop) }),
    ...(stop?.atExchange === true &&
      stop.distance !== undefined && {
        stopAtExchange: millionths(stopAtExchangeShare(stop.distance)),
      }),
    ...(trailing && {
      trailing: { after: millionths(trailing.after), distance: toDistance(trailing) },
    }),
    ...(breakEven && {
      breakEven: { after: millionths(breakEven.after), offset: millionths(breakEven.offset) },
    }),
    ...(rows.length > 0 && { profitTable: rows }),
    ...(timeLimit !== undefined && { timeLimitMs: durationMs(timeLimit) }),
    ...(takeProfit && {
      takeProfits: takeProfit.map(({ at, close }) => ({
        at: millionths(at),
        close: millionths(close),
      })),
    }),
    ...(coolDown !== undefined && { coolDownMs: durationMs(coolDown) }),
    ...(protections && { protections: toProtections(protections) }),
    ...(exits.atr && {
      atr: { intervalMs: parseInterval(exits.atr.interval) ?? 0, period: exits.atr.period },
    }),
  }
}

function toDistance({
  distance,
  atr = 0,
}: NonNullable<ExitSettings['stop']> | NonNullable<ExitSettings['trailing']>): ExitDistance {
  return distance === undefined
    ? { kind: 'atr', millionths: millionths(atr) }
    : { kind: 'share', millionths: millionths(distance) }
}

function toProtections({
  stops,
  lowProfit,
}: NonNullable<ExitSettings['protections']>): ExitProtections {
  return {
    ...(stops && {
      stops: {
        count: stops.count,
        withinMs: durationMs(stops.within),
        pauseMs: durationMs(stops.pause),
      },
    }),
    ...(lowProfit && {
      lowProfit: {
        trades: lowProfit.trades,
        withinMs: durationMs(lowProfit.within),
        below: millionths(lowProfit.below),
        pauseMs: durationMs(lowProfit.pause),
      },
    }),
  }
}

const millionths = (share: number): number => Math.round(share * 1_000_000)
