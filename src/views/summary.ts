import { marginCoinOf } from '../engine/state/own-figure.ts'
import type { Equity } from '../domain/loss-limits.ts'
import { endsOf, type Restriction } from '../domain/trading-mode.ts'
import { type Holding, isFlat, type PositionReading } from '../domain/position.ts'
import type { DurationSummary } from '../lib/percentiles.ts'
import { marginFeesOf, type Money, sumMoney } from '../domain/fill-money.ts'
import {
  type Book,
  capitalOf,
  pairKey,
  splitPair,
  moneyByStrategy,
  moneyOf,
} from '../engine/book/book.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineSettings } from '../engine/settings.ts'
import type { EndpointStatistics } from '../exchange/limiter/endpoint-queue.ts'
import { type Decimal, decimal, sumDecimals } from '../lib/decimal.ts'
import { showOnGrid } from '../lib/grid.ts'
import type { PollerStats } from '../lib/poller.ts'
import { headlineOf } from '../lib/failure.ts'
import { type MoneyFigures, roundAmount, toAmount, toMoneyFigures } from './money-figures.ts'
import { unrealisedOf } from './money-view.ts'
import { byName, type RunStatistics } from './run-statistics.ts'
import { listUnattended, type UnattendedInput, type UnattendedPosition } from './unattended.ts'

/** Amounts of money are exact decimal strings. */
export interface RunSummary {
  readonly environment: string
  /** Nothing was sent: `batches` and `ordersSent` count what would have been. */
  readonly dryRun?: true
  readonly positionMode: string
  readonly coin: string
  readonly epoch: number
  readonly clean: boolean
  readonly fault?: string
  readonly durationMs: number
  readonly cycles: number
  readonly snapshots: number
  readonly decisions: number
  readonly intents: Readonly<Record<string, number>>
  readonly denials: Readonly<Record<string, number>>
  readonly batches: number
  readonly batchesLargest: number
  readonly cancelAlls: number
  readonly ordersSent: number
  readonly ordersSentAgain: number
  readonly orders: Readonly<Record<string, number>>
  readonly thisRun: MoneyFigures
  /** Our own figure, as the equity; absent while unknown. */
  readonly unrealisedProfit?: string
  readonly equity?: Equity
  readonly capital?: string
  readonly positions: Readonly<Record<string, string>>
  readonly rateLimited: number
  readonly unknowns: number
  readonly allRuns: AccountSummary
  readonly unattended: readonly UnattendedPosition[]
  readonly restrictions: readonly StandingRestriction[]
  readonly strategies: Readonly<Record<string, AccountSummary>>
  readonly limiter: readonly Omit<EndpointStatistics, 'answerTimes'>[]
  readonly wakeUpLateness: DurationSummary
  readonly decisionLatency: DurationSummary
  /** Absent without an embedded simulator. */
  readonly exchange?: ExchangeSummary
}

export interface StandingRestriction extends Restriction {
  readonly ends: string
}

export interface AccountSummary extends MoneyFigures {
  /** Base coin, keyed by symbol and side. */
  readonly positions: Readonly<Record<string, string>>
}

export interface SimulatedPrices {
  readonly source: string
  readonly madeUp?: readonly string[]
  /** At any speed but 1 it is a demonstration without funding. */
  readonly speed: number
  readonly fillModel: string
}

/** The account as the exchange counts it, with fees in the margin coin. */
export interface ExchangeLedger extends Omit<
  AccountSummary,
  'net' | 'netWithUnrealised' | 'uncounted'
> {
  readonly otherFees?: Readonly<Record<string, string>>
  readonly balance: string
  readonly openOrders: number
  readonly marks?: Readonly<Record<string, number>>
  readonly prices?: SimulatedPrices
}

export interface ExchangeSummary extends ExchangeLedger {
  /** Otherwise the unrealised profit that positions stated was not compared. */
  readonly isUnrealisedRead: boolean
  readonly agrees: boolean
  readonly differences: readonly string[]
}

export interface SummaryInput extends Pick<UnattendedInput, 'grids'> {
  readonly settings: EngineSettings
  readonly configured: UnattendedInput['strategies']
  readonly book: Book
  readonly statistics: RunStatistics
  readonly engine: Pick<Engine, 'denied' | 'equityNow' | 'unrealisedOn' | 'unrealisedOf'>
  readonly clean: boolean
  readonly isDry: boolean
  readonly fatal: unknown
  readonly durationMs: number
  readonly polls: PollerStats
  readonly limiter: readonly EndpointStatistics[]
  readonly positions: ReadonlyMap<string, PositionReading>
  readonly exchange: ExchangeLedger | undefined
}

/** The wire has ten decimals, the ledger all. */
const UNREALISED_TOLERANCE = decimal('0.00000001')

export function buildSummary(input: SummaryInput): RunSummary {
  const { settings, book, engine, statistics, polls, limiter } = input
  const equity = engine.equityNow
  const capital = capitalOf(input)
  const allRuns = summariseAccount(input)
  return {
    environment: settings.environment,
    ...(input.isDry && { dryRun: true }),
    positionMode: settings.positionMode,
    coin: marginCoinOf(settings),
    epoch: book.epoch,
    clean: input.clean,
    ...(input.fatal !== undefined && { fault: headlineOf(input.fatal) }),
    durationMs: input.durationMs,
    cycles: polls.polls,
    snapshots: statistics.snapshots,
    decisions: statistics.decisions,
    intents: Object.fromEntries(statistics.intents),
    denials: Object.fromEntries([...engine.denied].toSorted(byName)),
    batches: statistics.batches,
    batchesLargest: statistics.batchesLargest,
    cancelAlls: statistics.cancelAlls,
    ordersSent: statistics.ordersSent,
    ordersSentAgain: statistics.ordersSentAgain,
    orders: input.isDry ? {} : statistics.ordersByState(book),
    thisRun: toMoneyFigures(statistics.money, { funding: statistics.funding }),
    ...(allRuns.unrealisedProfit === undefined
      ? {}
      : { unrealisedProfit: allRuns.unrealisedProfit }),
    ...(equity && { equity: roundEquity(equity) }),
    ...(equity && capital && { capital: capital.toString() }),
    positions: allRuns.positions,
    rateLimited: limiter.reduce((sum, endpoint) => sum + endpoint.rateLimited, 0),
    unknowns: statistics.outcomes.get('unknown') ?? 0,
    allRuns,
    unattended: listUnattended({ ...input, strategies: input.configured }),
    restrictions: [...book.restrictions.values()].map((one) => ({
      ...one,
      ends: endsOf(one),
    })),
    strategies: summariseStrategies(input),
    limiter: limiter
      .filter((endpoint) => endpoint.granted > 0)
      .map(({ answerTimes: _histogram, ...counts }) => counts),
    wakeUpLateness: polls.lateness,
    decisionLatency: statistics.decisionLatency.summary(),
    ...(input.exchange ? { exchange: compare(input, allRuns, input.exchange) } : {}),
  }
}

function roundEquity({ equity, peak, drawdown }: Equity): Equity {
  return { equity: roundAmount(equity), peak: roundAmount(peak), drawdown: roundAmount(drawdown) }
}

function summariseAccount({ grids, book, engine }: SummaryInput): AccountSummary {
  const unrealised = [...book.account.keys()].map((symbol) =>
    unrealisedOf({ book, engine }, symbol),
  )
  // A missing profit is not zero (MON2).
  const isKnown = unrealised.every((profit) => profit !== undefined)
  const figures = toMoneyFigures(moneyOfAll(book), {
    funding: sumDecimals(book.funding.values()),
    unrealised: isKnown ? sumDecimals(unrealised) : undefined,
  })
  return { ...figures, positions: describeHoldings(grids, [...book.account]) }
}

/** The exchange's figure of all that is held; undefined if some of it was not read. */
function statedUnrealised({ book, positions }: SummaryInput): Decimal | undefined {
  const stated = [...positions.values()].flatMap(({ rows }) =>
    rows.map((row) => String(row.unrealisedProfit)),
  )
  const isRead = [...book.account].every(
    ([symbol, holding]) => isFlat(holding) || positions.has(symbol),
  )
  return isRead && !stated.includes('') ? sumDecimals(stated.map(decimal)) : undefined
}

function moneyOfAll(book: Book): Money {
  return sumMoney(moneyOf(book).values())
}

function summariseStrategies({
  settings,
  grids,
  book,
  engine,
}: SummaryInput): Record<string, AccountSummary> {
  const summaries: Record<string, AccountSummary> = {}
  for (const id of settings.strategies.keys()) {
    const money = [...moneyByStrategy(book)]
      .filter(([key]) => splitPair(key)[0] === id)
      .map(([, entry]) => entry)
    const holdings = [...settings.instruments.keys()].flatMap((symbol) => {
      const holding = book.holdings.get(pairKey(id, symbol))
      return holding ? [[symbol, holding] as const] : []
    })
    const unrealised = engine.unrealisedOf(id)
    summaries[id] = {
      ...toMoneyFigures(sumMoney(money), {
        unrealised: unrealised === undefined ? undefined : toAmount(unrealised),
      }),
      positions: describeHoldings(grids, holdings),
    }
  }
  return summaries
}

function describeHoldings(
  grids: SummaryInput['grids'],
  holdings: readonly (readonly [string, Holding])[],
): Record<string, string> {
  const described: Record<string, string> = {}
  for (const [symbol, { longLots, shortLots }] of holdings) {
    const lot = grids.get(symbol)?.lot
    if (!lot) continue
    if (longLots !== 0) described[`${symbol} long`] = showOnGrid(lot, longLots)
    if (shortLots !== 0) described[`${symbol} short`] = showOnGrid(lot, shortLots)
  }
  return described
}

function compare(
  input: SummaryInput,
  account: AccountSummary,
  { marks = {}, ...theirs }: ExchangeLedger,
): ExchangeSummary {
  const money = moneyOfAll(input.book)
  const stated = statedUnrealised(input)
  const differences: string[] = []
  const ours = { ...account, fees: marginFeesOf(money).toString() }
  for (const name of ['fees', 'realisedProfit', 'funding'] as const) {
    // Unknown amounts are shown as uncounted.
    if (name === 'fees' && money.feesMissing) continue
    if (name === 'realisedProfit' && (money.profitsMissing || money.profitsOurs)) continue
    const [our, their] = [ours[name] ?? '0', theirs[name] ?? '0']
    if (!decimal(our).eq(decimal(their))) differences.push(describeDifference(name, our, their))
  }
  if (stated && !haveMoved(input, marks))
    differences.push(...compareUnrealised(stated, theirs.unrealisedProfit ?? '0'))
  differences.push(...compareOtherFees(money, theirs.otherFees ?? {}))
  if (ours.fills !== theirs.fills)
    differences.push(describeDifference('fills', ours.fills, theirs.fills))
  for (const name of new Set([...Object.keys(ours.positions), ...Object.keys(theirs.positions)])) {
    const [our, their] = [ours.positions[name] ?? '0', theirs.positions[name] ?? '0']
    if (!decimal(our).eq(decimal(their))) differences.push(describeDifference(name, our, their))
  }
  const agrees = differences.length === 0
  return { ...theirs, isUnrealisedRead: stated !== undefined, agrees, differences }
}

/** Prices have moved since the positions were read. */
function haveMoved(
  { positions }: SummaryInput,
  marks: NonNullable<ExchangeLedger['marks']>,
): boolean {
  return [...positions.values()].some(({ symbol, rows }) =>
    rows.some(({ markPrice }) => (marks[symbol] ?? markPrice) !== markPrice),
  )
}

/** The stated figure is compared, because our own uses another price. */
function compareUnrealised(stated: Decimal, theirs: string): readonly string[] {
  return stated.minus(decimal(theirs)).abs().gt(UNREALISED_TOLERANCE)
    ? [`unrealisedProfit: positions stated ${stated.toString()}, the exchange counts ${theirs}`]
    : []
}

function compareOtherFees(
  { otherFees = {}, feesMissing }: Money,
  theirs: Readonly<Record<string, string>>,
): readonly string[] {
  if (feesMissing) return []
  return [...new Set([...Object.keys(otherFees), ...Object.keys(theirs)])].flatMap((coin) => {
    const [our, their] = [otherFees[coin]?.paid ?? '0', theirs[coin] ?? '0']
    return decimal(our).eq(decimal(their))
      ? []
      : [describeDifference(`fees in ${coin}`, our, their)]
  })
}

function describeDifference(what: string, ours: string | number, theirs: string | number): string {
  return `${what}: ours ${ours}, the exchange's ${theirs}`
}
