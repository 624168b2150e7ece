import type { ReadRounds } from '../../assembly/settings/read-pace.ts'
import { describeUncounted, moneySince } from '../../domain/fill-money.ts'
import type { PositionReading } from '../../domain/position.ts'
import { ACCOUNT, type Restriction, type Scope, toTradingState } from '../../domain/trading-mode.ts'
import { accountHoldingOf, restrictionsOn } from '../../engine/book/book.ts'
import type { Engine } from '../../engine/engine.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { StaleReading } from '../../engine/state/readings.ts'
import type { Clock } from '../../lib/clock.ts'
import { headlineOf } from '../../lib/failure.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { DataAges, type VanishedPrice } from '../../views/data-ages.ts'
import { type MoneyFigures, toMoneyFigures } from '../../views/money-figures.ts'
import type { RunStatistics } from '../../views/run-statistics.ts'
import { describeStale, groupStale } from '../../views/stale-readings.ts'
import type { RunSummary } from '../../views/summary.ts'

interface HealthOptions {
  readonly settings: Pick<EngineSettings, 'strategies' | 'limits'>
  readonly engine: Pick<Engine, 'book' | 'phase' | 'unproved' | 'restrictions' | 'staleReadings'>
  readonly statistics: RunStatistics
  /** `late` while batches are dropped because the journal is too slow. */
  readonly pace: { readonly look: () => void; readonly late: unknown }
  readonly positions: ReadonlyMap<string, PositionReading>
  readonly summary: () => Pick<RunSummary, 'allRuns'>
  readonly fatal: () => unknown
  readonly paused: () => ReadonlyMap<string, string>
  readonly rounds: ReadRounds
  readonly clock: Clock
  readonly logger: Pick<DaemonLogger, 'log'>
  readonly heartbeatMs: number
}

/** Some polls may be missed, and a fill may be known before its position. */
const PATIENCE_MS = 10_000

/** After this gap between checks the process was suspended or without a processor. */
const STILL_MS = 5000

/** A reading is late at a multiple of its interval, above this minimum. */
const LATE_ROUNDS = 3
const LATE_MS_MIN = 750

interface Obstacle {
  readonly why: string
  readonly isOfAll: boolean
}

export class Health {
  readonly #options: HealthOptions
  readonly #ages: DataAges
  readonly #staleSince = new Map<string, number>()
  readonly #saidStale = new Set<string>()
  readonly #saidUnread = new Set<string>()
  #unreadSince = 0
  #lookedAt = 0
  readonly #lateSince = new Map<string, number>()
  readonly #saidLate = new Set<string>()
  readonly #differsSince = new Map<string, number>()
  readonly #sinceDigest: StatisticsSince
  readonly #sinceDay: StatisticsSince
  readonly #sinceLine: StatisticsSince
  #lineAt: number

  constructor(options: HealthOptions) {
    const { statistics, clock } = options
    this.#options = options
    this.#ages = new DataAges(() => this.#symbols)
    this.#sinceDigest = new StatisticsSince(statistics)
    this.#sinceDay = new StatisticsSince(statistics)
    this.#sinceLine = new StatisticsSince(statistics)
    this.#lineAt = clock.now()
  }

  get #symbols(): readonly string[] {
    const { strategies } = this.#options.settings
    return [...new Set([...strategies.values()].flatMap(({ symbols }) => symbols))]
  }

  hear(event: EngineEvent): void {
    this.#ages.hear(event)
  }

  rollDay(): void {
    this.#sinceDay.restart()
  }

  get vanished(): ReadonlyMap<string, VanishedPrice> {
    return this.#ages.vanished
  }

  look(): void {
    const { engine, clock } = this.#options
    const now = clock.now()
    this.#options.pace.look()
    const stillMs = now - this.#lookedAt
    if (this.#lookedAt > 0 && stillMs >= STILL_MS)
      this.#options.logger.log('warn', 'loop.stoodStill', { forMs: stillMs })
    this.#lookedAt = now
    for (const symbol of engine.phase === 'running' ? this.#symbols : []) {
      keepSince(this.#differsSince, symbol, this.#differs(symbol) ? now : undefined)
      this.#lookAtPrices(symbol, now)
    }
    if (engine.phase === 'running') {
      this.#lookAtAccount(now)
      this.#lookForLate(now)
    }
    this.#writeLine(now)
  }

  /**
   * @returns why the account does not trade; undefined if it trades, data are fresh and the books
   * agree
   */
  obstacle(): string | undefined {
    return this.#findObstacle()?.why
  }

  #findObstacle(): Obstacle | undefined {
    const { engine, settings, clock } = this.#options
    const now = clock.now()
    const ofAll = (why: string): Obstacle => ({ why, isOfAll: true })
    const ofSome = (symbols: readonly string[], describe: (named: string) => string): Obstacle => ({
      why: describe(symbols.join(', ')),
      isOfAll: symbols.length === this.#symbols.length || this.#heldBack() !== undefined,
    })
    const fatal = this.#options.fatal()
    if (fatal !== undefined) return ofAll(`it is off: ${headlineOf(fatal)}`)
    if (engine.phase !== 'running') return ofAll(`the run is ${engine.phase}`)
    if (!this.#ages.isClockSynchronised) return ofAll("the exchange's clock is not known")
    if (this.#ages.isSpaceLow) return ofAll('the disk is nearly full')
    if (this.#options.pace.late)
      return ofAll('orders are dropped, since the journal takes too long')
    const { dataAgeMaxMs } = settings.limits
    const stale = this.#symbols.filter((symbol) => this.#ages.pricesMs(symbol, now) > dataAgeMaxMs)
    if (stale.length > 0) return ofSome(stale, (named) => `the prices of ${named} are stale`)
    const unproved = this.#symbols.filter((symbol) => engine.unproved.includes(symbol))
    if (unproved.length > 0)
      return ofSome(unproved, () => `the start has yet to prove ${unproved.length} instruments`)
    const unread = this.#listUnread(now)
    if (unread.length > 0) {
      const isOfAll =
        unread.some(({ what }) => what === 'fills') || unread.length >= this.#symbols.length
      const why = groupStale(unread, now).map(describeStale).join('; ')
      return { why, isOfAll: isOfAll || this.#heldBack() !== undefined }
    }
    const differing = this.#listDiffering(now)
    if (differing.length > 0)
      return ofSome(differing, (named) => `the position in ${named} is not what the fills explain`)
    const heldBack = this.#heldBack()
    return heldBack === undefined ? undefined : ofAll(heldBack)
  }

  digest(): readonly string[] {
    const since = this.#sinceDigest.read()
    const { ordersSent, cancelAlls, fills, restrictions } = since
    this.#sinceDigest.restart()
    const { allRuns } = this.#options.summary()
    const positions = Object.entries(allRuns.positions).map(([name, size]) => `${name} ${size}`)
    const standing = this.#options.engine.restrictions.map(describeRestriction)
    const obstacle = this.obstacle()
    return [
      `orders sent: ${ordersSent}, cancel-alls: ${cancelAlls}, fills: ${fills}`,
      `made: ${describeMade(since)}`,
      `all runs: ${describeMade(allRuns)}, fills ${allRuns.fills}`,
      `held: ${positions.join(', ') || 'nothing'}`,
      `restrictions that began: ${restrictions}; that stand: ${standing.join(', ') || 'none'}`,
      obstacle === undefined ? 'trading' : `not trading: ${obstacle}`,
    ]
  }

  #lookAtPrices(symbol: string, now: number): void {
    const { settings, logger } = this.#options
    const ageMs = this.#ages.pricesMs(symbol, now)
    const isStale = ageMs > settings.limits.dataAgeMaxMs
    keepSince(this.#staleSince, symbol, isStale ? now : undefined)
    const isLong = isStale && now - (this.#staleSince.get(symbol) ?? now) >= PATIENCE_MS
    if (isLong && !this.#saidStale.has(symbol)) {
      this.#saidStale.add(symbol)
      const gone = this.vanished.get(symbol)
      logger.log('warn', 'data.stale', {
        symbol,
        ageMs: shownAge(ageMs),
        missingSince: gone && new Date(gone.seenAt).toISOString(),
        last: gone?.last,
      })
    } else if (!isStale && this.#saidStale.delete(symbol))
      logger.log('info', 'data.fresh', { symbol })
  }

  #listUnread(now: number): readonly StaleReading[] {
    const { engine } = this.#options
    const traded = this.#symbols.filter((symbol) => !engine.unproved.includes(symbol))
    const names = new Set(['fills', ...traded.map((symbol) => `position ${symbol}`)])
    return engine.staleReadings(now).filter(({ what }) => names.has(what))
  }

  #lookAtAccount(now: number): void {
    const { logger } = this.#options
    const unread = this.#listUnread(now)
    const news = unread.filter(({ what }) => !this.#saidUnread.has(what))
    if (this.#saidUnread.size === 0) this.#unreadSince = now
    for (const { what } of news) this.#saidUnread.add(what)
    for (const { what, ageMs, reason } of groupStale(news, now))
      logger.log('warn', 'account.stale', { what, ageMs: shownAge(ageMs), reason })
    if (unread.length > 0 || this.#saidUnread.size === 0) return
    this.#saidUnread.clear()
    logger.log('info', 'account.fresh', { afterMs: now - this.#unreadSince })
  }

  get late(): readonly string[] {
    return [...this.#saidLate]
  }

  #lookForLate(now: number): void {
    const { rounds, logger } = this.#options
    const positions = this.#symbols.map((symbol) => this.#ages.positionMs(symbol, now))
    const ages = [
      ['fills', this.#ages.fillsMs(now), rounds.fillsMs],
      ['positions', Math.max(0, ...positions), rounds.positionsMs],
    ] as const
    for (const [what, ageMs, everyMs] of ages) {
      const isLate = ageMs > Math.max(LATE_MS_MIN, LATE_ROUNDS * everyMs)
      keepSince(this.#lateSince, what, isLate ? now : undefined)
      const lastsMs = now - (this.#lateSince.get(what) ?? now)
      if (lastsMs >= PATIENCE_MS && !this.#saidLate.has(what)) {
        this.#saidLate.add(what)
        logger.log('warn', 'readings.late', { what, ageMs: shownAge(ageMs), everyMs })
      } else if (!isLate && this.#saidLate.delete(what))
        logger.log('info', 'readings.prompt', { what })
    }
  }

  #heldBack(): string | undefined {
    const { engine, settings } = this.#options
    const paused = this.#options.paused()
    const asked = [...settings.strategies.values()].filter(({ id }) => !paused.has(id))
    const pairs = asked.flatMap(({ id, symbols }) =>
      symbols.map((symbol) => restrictionsOn(engine.book, symbol, id)),
    )
    const [first] = pairs
    if (first === undefined && paused.size > 0)
      return `${[...paused.keys()].join(', ')} lost the thread to be asked in: a new one comes after a pause`
    if (first === undefined) return 'no strategy is enabled'
    if (pairs.some((restrictions) => restrictions.length === 0)) return undefined
    const ofAccount = first.filter(({ scope }) => scope === ACCOUNT)
    const held = toTradingState(ofAccount.length > 0 ? ofAccount : pairs.flat())
    return `trading is ${describeHolds(held.restrictions)}`
  }

  #listDiffering(now: number): readonly string[] {
    return [...this.#differsSince].flatMap(([symbol, since]) =>
      now - since >= PATIENCE_MS ? symbol : [],
    )
  }

  #differs(symbol: string): boolean {
    const reading = this.#options.positions.get(symbol)
    if (!reading || reading.isSilent) return false
    const { longLots, shortLots } = accountHoldingOf(this.#options.engine.book, symbol)
    const lotsOf = (side: 'long' | 'short') =>
      reading.rows.reduce((sum, { holdSide, lots }) => sum + (holdSide === side ? lots : 0), 0)
    return lotsOf('long') !== longLots || lotsOf('short') !== shortLots
  }

  #writeLine(now: number): void {
    const { heartbeatMs, engine, summary, logger } = this.#options
    if (heartbeatMs === 0 || now - this.#lineAt < heartbeatMs) return
    this.#lineAt = now
    const { book, phase } = engine
    const { positions } = summary().allRuns
    const orders = [...book.open.values()].flatMap((ofSymbol) => [...ofSymbol.values()])
    const { ordersSent } = this.#sinceLine.read()
    this.#sinceLine.restart()
    const obstacle = this.#findObstacle()
    const does = orders.length > 0 || ordersSent > 0 ? 'trading' : 'nothing to trade'
    const { fills, net, realisedProfit, fees, funding, uncounted } = this.#sinceDay.read()
    logger.log('info', 'daemon.heartbeat', {
      phase,
      state: stateOf(does, obstacle),
      because: obstacle?.why,
      restrictions: engine.restrictions.map(describeRestriction),
      pricesAgeMs: this.#oldest((symbol) => this.#ages.pricesMs(symbol, now)),
      accountAgeMs: this.#oldest((symbol) => this.#ages.accountMs(symbol, now)),
      openOrders: orders.length,
      unknownOrders: orders.filter(({ state }) => state === 'unknown').length,
      positions,
      fills,
      net,
      realisedProfit,
      fees,
      funding,
      uncounted: uncounted && describeUncounted(uncounted),
    })
  }

  #oldest(ageOf: (symbol: string) => number): number | string {
    return shownAge(Math.max(...this.#symbols.map(ageOf)))
  }
}

function stateOf(does: 'trading' | 'nothing to trade', obstacle: Obstacle | undefined): string {
  if (obstacle === undefined) return does
  return obstacle.isOfAll || does !== 'trading' ? 'not trading' : 'trading in part'
}

function describeMade(made: MoneyFigures): string {
  const { net, netWithUnrealised, realisedProfit, fees, funding, uncounted } = made
  const parts = [
    `realised ${realisedProfit}`,
    `fees ${fees}`,
    ...(funding === undefined ? [] : [`funding ${funding}`]),
  ]
  const held = netWithUnrealised === undefined ? '' : `, ${netWithUnrealised} with unrealised`
  const unknown = describeUncounted(uncounted)
  return `net ${net} (${parts.join(', ')})${held}${unknown === '' ? '' : ` ${unknown}`}`
}

/** @param restrictions the strictest first */
function describeHolds(restrictions: readonly Restriction[]): string {
  const byScope = Map.groupBy(restrictions, ({ scope }) => scope)
  const byMode = Map.groupBy(byScope, ([, [strictest]]) => strictest?.mode)
  return [...byMode]
    .map(([mode, scopes]) => `${mode} for ${describeScopes(new Map(scopes))}`)
    .join(', ')
}

function describeScopes(byScope: ReadonlyMap<Scope, readonly Restriction[]>): string {
  const codesOf = (scope: Scope): string =>
    [...new Set(byScope.get(scope)?.map(({ code }) => code))].join(', ')
  return [...Map.groupBy([...byScope.keys()].toSorted(), codesOf)]
    .map(
      ([codes, scopes]) =>
        `${scopes.map((scope) => (scope === ACCOUNT ? 'the account' : scope)).join(', ')} (${codes})`,
    )
    .join('; ')
}

function describeRestriction({ scope, mode, code }: Restriction): string {
  return `${scope} ${mode} (${code})`
}

function shownAge(ageMs: number): number | string {
  return Number.isFinite(ageMs) ? Math.round(ageMs) : 'never read'
}

function keepSince(times: Map<string, number>, key: string, now: number | undefined): void {
  if (now === undefined) times.delete(key)
  else if (!times.has(key)) times.set(key, now)
}

const NAMES = ['ordersSent', 'cancelAlls', 'restrictions'] as const

interface PeriodFigures extends Readonly<Record<(typeof NAMES)[number], number>>, MoneyFigures {}

type CountedFigures = Pick<RunStatistics, (typeof NAMES)[number] | 'money' | 'funding'>

class StatisticsSince {
  readonly #statistics: RunStatistics
  #from: CountedFigures

  constructor(statistics: RunStatistics) {
    this.#statistics = statistics
    this.#from = copyOf(statistics)
  }

  read(): PeriodFigures {
    const [now, from] = [this.#statistics, this.#from]
    return {
      ordersSent: now.ordersSent - from.ordersSent,
      cancelAlls: now.cancelAlls - from.cancelAlls,
      restrictions: now.restrictions - from.restrictions,
      ...toMoneyFigures(moneySince(now.money, from.money), {
        funding: now.funding.minus(from.funding),
      }),
    }
  }

  restart(): void {
    this.#from = copyOf(this.#statistics)
  }
}

function copyOf({
  ordersSent,
  cancelAlls,
  restrictions,
  money,
  funding,
}: CountedFigures): CountedFigures {
  return { ordersSent, cancelAlls, restrictions, money, funding }
}
