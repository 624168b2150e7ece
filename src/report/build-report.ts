import { DENIAL_CODES, type DenialCode } from '../domain/denial.ts'
import type { PriceFacts } from './collect/equity-series.ts'
import type { TradesReport } from './collect/trade-table.ts'
import { computeRatios, type DayReturn, rollingSharpe, toDayReturns } from './metrics.ts'
import type { PartSums, RunCollector } from './run-collector.ts'
import type {
  CountedCode,
  FillQuality,
  LimiterUse,
  LiquidationReport,
  PartReport,
  RunMoney,
  RunReport,
} from './run-report.ts'

export interface RunEnd {
  readonly model: string
  /** Unix ms. */
  readonly toAt: number
  readonly isCut: boolean
  readonly tradedSymbols: ReadonlySet<string>
  readonly money: RunMoney
  /** Quote coin. */
  readonly marks: ReadonlyMap<string, number>
  readonly liquidations: number
  readonly liquidation: LiquidationReport
  readonly trades?: TradesReport
  readonly denials: ReadonlyMap<DenialCode, number>
  readonly denialsByStrategy: ReadonlyMap<string, ReadonlyMap<DenialCode, number>>
  readonly rejections: ReadonlyMap<string, { readonly message: string; readonly count: number }>
  readonly limiter: readonly LimiterUse[]
  readonly restrictions: readonly string[]
  readonly notes: readonly string[]
  readonly openPositions: readonly string[]
}

type HeldPrices = readonly [symbol: string, prices: PriceFacts]

export function buildRunReport(collector: RunCollector, end: RunEnd): RunReport {
  const { fromAt } = collector.options
  const { toAt, money } = end
  for (const [symbol, price] of end.marks) collector.mark(symbol, price)
  const prices = new Map([...collector.prices].map(([symbol, series]) => [symbol, series.facts()]))
  const held = [...prices].filter(([symbol]) => end.tradedSymbols.has(symbol))
  const equity = collector.equity.facts()
  const opening = Number(money.opening)
  const dailyReturns = toDayReturns(equity.days, opening)
  const ratios = computeRatios({
    opening,
    final: Number(money.final),
    fromAt,
    toAt,
    equity,
    trips: collector.trips,
    traded: collector.traded,
    nearestDistance: Math.min(
      Number.POSITIVE_INFINITY,
      ...end.liquidation.nearest.map(({ distance }) => distance),
    ),
  })
  const { startAt, stepMs } = collector.buckets
  const plots = collector.plots.facts()
  const report: RunReport = {
    model: end.model,
    fromAt,
    toAt,
    isCut: end.isCut,
    money,
    ratios,
    series: {
      startAt,
      stepMs,
      ...equity.columns,
      buyAndHold: holdEquity(held, opening),
    },
    prices: Object.fromEntries([...prices].map(([symbol, { columns }]) => [symbol, columns])),
    ...(plots && { plots }),
    drawdowns: equity.drawdowns,
    dailyReturns,
    monthlyReturns: toMonths(dailyReturns),
    rollingSharpe: rollingSharpe(dailyReturns),
    profitByHour: equity.profitByHour,
    profitByWeekday: equity.profitByWeekday,
    buyAndHold: buyAndHold(held),
    strategies: toParts(collector.strategies, (strategyId) =>
      collector.unrealisedOf({ strategyId }),
    ),
    instruments: toParts(collector.instruments, (symbol) => collector.unrealisedOf({ symbol })),
    fills: judgeFills(collector),
    orders: Object.fromEntries([...collector.orders].toSorted(byName)),
    denials: toCauses(end.denials),
    denialsByStrategy: toDenialsByStrategy(end),
    rejections: toRejections(end),
    limiter: end.limiter,
    restrictions: end.restrictions,
    notes: end.notes,
    openPositions: end.openPositions,
    liquidations: end.liquidations,
    nearestLiquidationAt: equity.nearestLiquidation.at,
    liquidation: end.liquidation,
    ...(end.trades && { trades: end.trades }),
  }
  collector.close()
  return report
}

function toDenialsByStrategy({ denialsByStrategy }: RunEnd): RunReport['denialsByStrategy'] {
  return Object.fromEntries(
    [...denialsByStrategy]
      .toSorted(byName)
      .map(([strategyId, counts]) => [strategyId, toCauses(counts)]),
  )
}

function toRejections({ rejections }: RunEnd): RunReport['rejections'] {
  return [...rejections].toSorted(byName).map(([code, { message, count }]) => ({
    code,
    meaning: message,
    count,
  }))
}

function toCauses(counts: ReadonlyMap<DenialCode, number>): readonly CountedCode[] {
  return [...counts]
    .toSorted(byName)
    .map(([code, count]) => ({ code, meaning: DENIAL_CODES[code], count }))
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1
}

function toParts(
  parts: ReadonlyMap<string, PartSums>,
  unrealisedOf: (name: string) => number,
): readonly PartReport[] {
  return [...parts].toSorted(byName).map(([name, sums]) => {
    const { orders, fills, traded, realised, fees, funding, denied, rejected } = sums
    const unrealised = unrealisedOf(name)
    const profit = realised + unrealised - fees + funding
    const makerShare = traded === 0 ? 0 : sums.made / traded
    return {
      name,
      orders,
      fills,
      makerShare,
      traded,
      realised,
      unrealised,
      fees,
      funding,
      profit,
      denied,
      rejected,
    }
  })
}

function judgeFills({ fills, traded, made, takers }: RunCollector): FillQuality {
  const bps = (cost: number): number => (takers.traded === 0 ? 0 : (cost / takers.traded) * 10_000)
  return {
    count: fills,
    makerShare: traded === 0 ? 0 : made / traded,
    slippageBps: bps(takers.slippage),
    slippageCost: takers.slippage,
    latenessBps: bps(takers.lateness),
    latenessCost: takers.lateness,
  }
}

/** Equal parts of each instrument, no fees, no funding. */
function buyAndHold(held: readonly HeldPrices[]): RunReport['buyAndHold'] {
  const growth = held.map(
    ([symbol, { first, last }]) => [symbol, (last ?? 1) / (first ?? 1) - 1] as const,
  )
  const sum = growth.reduce((total, [, value]) => total + value, 0)
  return {
    value: growth.length === 0 ? 0 : sum / growth.length,
    instruments: Object.fromEntries(growth),
  }
}

/** Without leverage. */
function holdEquity(held: readonly HeldPrices[], opening: number): readonly number[] {
  const length = held[0]?.[1].columns.close.length ?? 0
  const part = opening / Math.max(1, held.length)
  const growth = held.map(() => 1)
  return Array.from({ length }, (_, bucket) => {
    for (const [index, [, { columns, first }]] of held.entries()) {
      const close = columns.close[bucket] as number
      if (!Number.isNaN(close) && first !== undefined) growth[index] = close / first
    }
    return growth.reduce((sum, factor) => sum + part * factor, 0)
  })
}

function toMonths(days: readonly DayReturn[]): RunReport['monthlyReturns'] {
  const months = new Map<string, number>()
  for (const { startAt, value } of days) {
    const month = new Date(startAt).toISOString().slice(0, 7)
    months.set(month, (months.get(month) ?? 1) * (1 + value))
  }
  return [...months].map(([month, factor]) => ({ month, value: factor - 1 }))
}
