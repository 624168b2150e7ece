import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type MetricName, renderMetrics, type Sample } from '../../control/metrics-text.ts'
import type { SignalResult } from '../../control/signals/signal-guard.ts'
import type { AccountStatusView, StatusView } from '../../control/views.ts'
import { DENIAL_CODES, type DenialCode } from '../../domain/denial.ts'
import type { FeedId } from '../../domain/feed.ts'
import { toStrategyId } from '../../domain/ids.ts'
import { DRAWDOWN_STEPS } from '../../domain/loss-limits.ts'
import { OPEN_STATES, TERMINAL_STATES } from '../../domain/order.ts'
import { nameOfSignal } from '../../domain/signal.ts'
import {
  ACCOUNT,
  MODE_REASONS,
  type Scope,
  strategyScope,
  TRADING_MODES,
  type TradingMode,
} from '../../domain/trading-mode.ts'
import type { UniverseReason } from '../../domain/universe.ts'
import type { AnswerHistogram } from '../../exchange/limiter/endpoint-queue.ts'
import type { DurationSummary } from '../../lib/percentiles.ts'
import type { Timers } from '../../lib/timers.ts'
import type { PollerStats } from '../../lib/poller.ts'
import type { EndpointName } from '../../protocol/endpoints.ts'
import type { ShownAccount } from '../../views/shown-account.ts'
import { viewUniverses } from '../../views/universe-view.ts'

const MS = 1000

interface MeasuredDaemon {
  readonly status: StatusView
  readonly accounts: readonly ShownAccount[]
  readonly isReady: boolean
  readonly polls: PollerStats
}

export class Metrics {
  readonly #loop: LoopDelays

  constructor(timers: Timers) {
    this.#loop = new LoopDelays(timers)
  }

  start(): void {
    this.#loop.start()
  }

  stop(): void {
    this.#loop.stop()
  }

  render({ status, accounts, isReady, polls }: MeasuredDaemon): string {
    const samples = new Map<MetricName, Sample[]>()
    const add: Add = (name, value, labels, series) => {
      const rows = samples.get(name) ?? []
      rows.push({ value, ...(labels && { labels }), ...(series && { series }) })
      samples.set(name, rows)
    }
    const { name, version, environment } = status
    add('intentd_build_info', 1, { name, version, environment })
    add('intentd_ready', Number(isReady))
    add('intentd_standby', 0)
    const broken = accounts.filter(({ fatal }) => fatal !== undefined)
    add('intentd_accounts_off', status.off.length + broken.length)
    for (const [index, account] of status.accounts.entries()) {
      const own = accounts.length > 1 ? { account: account.name } : {}
      const addOwn: Add = (metric, value, labels, series) => {
        const all =
          labels === undefined && accounts.length === 1 ? undefined : { ...own, ...labels }
        add(metric, value, all, series)
      }
      addAccount(account, status.now, addOwn)
      const shown = accounts[index]
      if (shown) addCounts(shown, addOwn)
    }
    addSignals(status, add)
    const { alerts = [] } = status
    if (alerts.length === 0) add('intentd_alerts_failing', 0)
    for (const { target, failing } of alerts)
      add('intentd_alerts_failing', Number(failing !== null), { target })
    if (status.sharedLimits) addSharedLimits(status.sharedLimits, add)
    addSummary('intentd_poll_lateness_seconds', polls.lateness, add)
    for (const [quantile, seconds] of this.#loop.read())
      add('intentd_event_loop_delay_seconds', seconds, { quantile })
    const { user, system } = process.cpuUsage()
    add('process_resident_memory_bytes', process.memoryUsage.rss())
    add('process_cpu_seconds_total', (user + system) / 1e6)
    add('process_start_time_seconds', status.processStartedAt / MS)
    return renderMetrics(samples)
  }
}

type Add = (
  name: MetricName,
  value: number,
  labels?: Sample['labels'],
  series?: Sample['series'],
) => void

function addAccount(account: AccountStatusView, now: number, add: Add): void {
  addModes(account, add)
  addAges(account, add)
  addOrders(account, now, add)
  addPositions(account, add)
  addMoney(account, add)
  addLosses(account, add)
  addDisputes(account, now, add)
}

function addModes(account: AccountStatusView, add: Add): void {
  const { phase, mode, restrictions, strategies, ages } = account
  // After the end of a run no mode lets anything leave.
  const addHeld = (scope: Scope, held: TradingMode): void =>
    addMode(scope, phase === 'stopped' ? undefined : held, add)
  addHeld(ACCOUNT, mode)
  for (const symbol of Object.keys(ages.tickersMs))
    addHeld(symbol, strictestOf(restrictions, [ACCOUNT, symbol]))
  for (const { id, mode: held } of strategies) addHeld(strategyScope(id), held)
  for (const code of Object.keys(MODE_REASONS))
    add('intentd_restrictions', restrictions.filter((one) => one.code === code).length, { code })
}

function addMode(scope: Scope, held: TradingMode | undefined, add: Add): void {
  for (const mode of TRADING_MODES)
    add('intentd_trading_mode', Number(mode === held), { scope, mode })
}

function strictestOf(
  restrictions: AccountStatusView['restrictions'],
  scopes: readonly Scope[],
): TradingMode {
  const held = restrictions.filter(({ scope }) => scopes.includes(scope)).map(({ mode }) => mode)
  return TRADING_MODES.findLast((mode) => held.includes(mode)) ?? 'active'
}

function addAges({ ages, limits, clock }: AccountStatusView, add: Add): void {
  for (const [instrument, ms] of Object.entries(ages.tickersMs))
    add('intentd_snapshot_age_seconds', toAge(ms), { instrument })
  add('intentd_snapshot_age_limit_seconds', limits.dataAgeMaxMs / MS)
  for (const [instrument, ms] of Object.entries(ages.positionsMs))
    add('intentd_position_age_seconds', toAge(ms), { instrument })
  add('intentd_fills_age_seconds', toAge(ages.fillsMs))
  add('intentd_clock_offset_seconds', clock.offsetMs / MS)
  add('intentd_clock_synchronised', Number(clock.isSynchronised))
  const apartMs = clock.publicMs === null ? 0 : clock.publicMs - clock.offsetMs
  add('intentd_clock_public_apart_seconds', apartMs / MS)
  add('intentd_clock_machine_offset_seconds', clock.machineMs / MS)
}

/** A reading that is missing counts as older than any limit. */
function toAge(ms: number | null): number {
  return ms === null ? Number.POSITIVE_INFINITY : ms / MS
}

function addOrders({ openOrders, unknownSince }: AccountStatusView, now: number, add: Add): void {
  for (const state of OPEN_STATES) add('intentd_open_orders', openOrders[state] ?? 0, { state })
  add('intentd_unknown_orders', openOrders['unknown'] ?? 0)
  add('intentd_unknown_order_age_seconds', unknownSince === null ? 0 : (now - unknownSince) / MS)
}

function addPositions({ positions, unattended, ages }: AccountStatusView, add: Add): void {
  const configured = Object.keys(ages.tickersMs)
  for (const instrument of configured) {
    const signed = positions
      .filter(({ symbol }) => symbol === instrument)
      .map(({ side, size }) => (side === 'long' ? Number(size) : -Number(size)))
    add('intentd_position_size', sum(signed), { instrument })
    const measured = positions.flatMap(({ symbol, liquidation }) =>
      symbol === instrument && liquidation !== null ? [liquidation] : [],
    )
    const nearest = (read: (one: (typeof measured)[number]) => number | null): number =>
      Math.min(
        Number.POSITIVE_INFINITY,
        ...measured.map((one) => read(one) ?? Number.POSITIVE_INFINITY),
      )
    add(
      'intentd_liquidation_distance',
      nearest(({ distance }) => distance),
      { instrument },
    )
    add(
      'intentd_liquidation_moves',
      nearest(({ moves }) => moves),
      { instrument },
    )
    const ratios = measured.map(({ ratio, statedRatio }) => ratio ?? statedRatio ?? 0)
    add('intentd_margin_ratio', Math.max(0, ...ratios), { instrument })
  }
  for (const instrument of new Set([...configured, ...unattended.map(({ symbol }) => symbol)])) {
    // Without a configured lot size the text is `3 lots`.
    const sizes = unattended
      .filter(({ symbol }) => symbol === instrument)
      .map(({ size }) => Number.parseFloat(size))
    add('intentd_position_unattended', sum(sizes), { instrument })
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function addMoney(
  { coin, profit, equity, peak, drawdown, worstCase }: AccountStatusView,
  add: Add,
): void {
  for (const [strategy, made] of Object.entries(profit.strategies)) {
    add('intentd_profit_net', Number(made.net), { strategy })
    add('intentd_profit_net_with_unrealised', toNumber(made.netWithUnrealised), { strategy })
    add('intentd_profit_realised', Number(made.realised), { strategy })
    add('intentd_fees_paid', Number(made.fees), { strategy })
  }
  const { uncounted, unrealised, funding } = profit.total
  for (const [feeCoin, fees] of Object.entries({ [coin]: '0', ...uncounted?.coins }))
    add('intentd_fees_uncounted', Number(fees), { coin: feeCoin })
  add('intentd_fills_without_fee', uncounted?.feesMissing ?? 0)
  add('intentd_fills_without_profit', uncounted?.profitsMissing ?? 0)
  add('intentd_profit_unrealised', toNumber(unrealised))
  add('intentd_funding_received', Number(funding ?? 0))
  add('intentd_profit_today', Number(profit.today.net))
  add('intentd_equity', toNumber(equity))
  add('intentd_equity_peak', toNumber(peak))
  add('intentd_drawdown', toNumber(drawdown))
  add('intentd_worst_case_used', toNumber(worstCase && worstCase.used))
}

/** An unknown figure is neither zero nor absent. */
function toNumber(amount: string | number | null): number {
  return amount === null ? Number.NaN : Number(amount)
}

function addLosses({ losses }: AccountStatusView, add: Add): void {
  for (const { scope, limit, used, max, peak, level } of losses) {
    if (limit.includes('drawdown')) {
      add('intentd_loss_peak', toNumber(peak), { scope, limit })
      add('intentd_loss_level', toNumber(level), { scope, limit })
    }
    add('intentd_loss_limit', max, { scope, limit })
    add('intentd_loss_used', toNumber(used), { scope, limit })
  }
  for (const limit of ACCOUNT_LIMITS) {
    if (losses.some((one) => one.scope === ACCOUNT && one.limit === limit)) continue
    add('intentd_loss_limit', Number.POSITIVE_INFINITY, { scope: ACCOUNT, limit })
    add('intentd_loss_used', 0, { scope: ACCOUNT, limit })
  }
}

const ACCOUNT_LIMITS = ['daily', ...DRAWDOWN_STEPS.map((step) => `drawdown.${step}`)]

function addDisputes({ disputes, ages }: AccountStatusView, now: number, add: Add): void {
  add('intentd_disputes', disputes.length)
  const compared = [
    { figure: 'fills', scope: ACCOUNT },
    ...Object.keys(ages.tickersMs).map((scope) => ({ figure: 'unrealised', scope })),
  ]
  const agreed = compared.filter(
    (pair) => !disputes.some(({ figure, scope }) => figure === pair.figure && scope === pair.scope),
  )
  for (const labels of agreed) add('intentd_dispute_age_seconds', 0, labels)
  for (const { figure, scope, since } of disputes)
    add('intentd_dispute_age_seconds', (now - since) / MS, { figure, scope })
}

function addSharedLimits(shared: NonNullable<StatusView['sharedLimits']>, add: Add): void {
  for (const state of ['joining', 'shared', 'alone', 'refused'])
    add('intentd_shared_limits_state', Number(state === shared.state), { state })
  add('intentd_shared_limits_since_seconds', shared.since / MS)
  add('intentd_shared_limits_members', shared.members)
  for (const { name: limit, calls, mayMake, gone } of shared.limits) {
    add('intentd_shared_limit_calls', calls, { limit })
    add('intentd_shared_limit_held', mayMake, { limit })
    add('intentd_shared_limit_gone', gone, { limit })
  }
}

function addCounts(account: ShownAccount, add: Add): void {
  const { statistics, engine, pace } = account
  addFailedStrategies(account, add)
  addUniverses(account, add)
  addReadings(account, add)
  addCalls(account, add)
  add('intentd_snapshots_total', statistics.snapshots)
  add('intentd_decisions_total', statistics.decisions)
  add('intentd_batches_total', statistics.batches)
  add('intentd_orders_sent_total', statistics.ordersSent)
  add('intentd_cancel_alls_total', statistics.cancelAlls)
  add('intentd_fills_total', statistics.money.fills)
  for (const state of TERMINAL_STATES)
    add('intentd_orders_ended_total', statistics.ended.get(state) ?? 0, { state })
  for (const code of Object.keys(DENIAL_CODES) as DenialCode[])
    add('intentd_denials_total', engine.denied.get(code) ?? 0, { code })
  addSummary('intentd_decision_latency_seconds', statistics.decisionLatency.summary(), add)
  add('intentd_batches_late_total', pace.batchesLate)
  add('intentd_journal_late', Number(pace.late !== undefined))
  addSummary('intentd_journal_wait_seconds', pace.waits.summary(), add)
}

const SIGNAL_RESULTS: readonly SignalResult[] = [
  'taken',
  'repeated',
  'refused',
  'limited',
  'notNow',
]

function addSignals({ signals, now }: StatusView, add: Add): void {
  if (signals === undefined) return
  const count = (signal: string, answered: Readonly<Record<string, number>>): void => {
    for (const result of SIGNAL_RESULTS)
      add('intentd_signals_total', answered[result] ?? 0, { signal, result })
  }
  count('none', signals.unproved)
  for (const { name, at, answered } of signals.accepted) {
    const ageMs = at === null ? Number.POSITIVE_INFINITY : now - at
    add('intentd_signal_age_seconds', ageMs / MS, { signal: name })
    count(name, answered)
  }
}

function addFailedStrategies({ settings, engine, paused }: ShownAccount, add: Add): void {
  const failed = engine.restrictions
    .filter(({ code }) => code === 'strategyFailed')
    .map(({ scope }) => scope)
  for (const strategy of settings.strategies.keys()) {
    const hasFailed = failed.includes(strategyScope(strategy)) || paused.has(strategy)
    add('intentd_strategy_failed', Number(hasFailed), { strategy })
  }
}

const BLOCKING: ReadonlySet<string> = new Set<UniverseReason>([
  'waitsForPlace',
  'noRoom',
  'restricted',
  'gridConflict',
  'orderTooLarge',
  'marginTooLarge',
])

function addUniverses(account: ShownAccount, add: Add): void {
  const { clock, offset } = account.trusted
  const now = offset.exchangeNow(clock.now())
  for (const { strategy, instruments, evaluatedAt } of viewUniverses(account)) {
    const count = (is: (one: (typeof instruments)[number]) => boolean, state: string): void =>
      add('intentd_universe_instruments', instruments.filter(is).length, { strategy, state })
    count((one) => one.state === 'in', 'in')
    count((one) => one.state === 'leaving', 'leaving')
    count((one) => one.state === 'out' && BLOCKING.has(one.reason), 'blocked')
    const { joined, left } = account.statistics.universes.get(toStrategyId(strategy)) ?? NO_CHANGES
    add('intentd_universe_joined_total', joined, { strategy })
    add('intentd_universe_left_total', left, { strategy })
    const ageMs = evaluatedAt === null ? Number.POSITIVE_INFINITY : now - evaluatedAt
    add('intentd_universe_evaluated_age_seconds', ageMs / MS, { strategy })
  }
}

const NO_CHANGES = { joined: 0, left: 0 }

function addReadings(account: ShownAccount, add: Add): void {
  const { settings, engine, trusted, late = [], failingReads = [] } = account
  const positions = [...settings.instruments.keys()].map((symbol) => `position ${symbol}`)
  const feeds = [...feedsOf(settings)].map((id) => `feed ${id}`)
  for (const what of ['tickers', 'fills', ...positions, ...feeds])
    add('intentd_read_failing', Number(failingReads.includes(what)), { what })
  const now = trusted.clock.now()
  const stale = engine.staleReadings(now).map(({ what }) => kindOf(what))
  const silent = engine.silentCalls(now).map(([what]) => kindOf(what))
  for (const what of ['fills', 'positions']) {
    add('intentd_readings_stale', stale.filter((one) => one === what).length, { what })
    add('intentd_readings_late', Number(late.includes(what)), { what })
  }
  for (const calls of ['fills', 'positions', 'orders', 'cancel-alls'])
    add('intentd_exchange_silent', Number(silent.includes(calls)), { calls })
}

function kindOf(what: string): string {
  return what.startsWith('position ') ? 'positions' : what
}

function feedsOf({ strategies }: ShownAccount['settings']): ReadonlySet<FeedId> {
  const read = [...strategies.values()].flatMap(({ feeds }) => [...feeds.values()])
  return new Set(read.filter((feed) => nameOfSignal(feed) === undefined))
}

/** Every daemon calls these endpoints. Others appear after their first call. */
const ENDPOINTS: readonly EndpointName[] = [
  'tickers',
  'orderFills',
  'singlePosition',
  'batchPlaceOrder',
  'cancelAllOrders',
]

function addCalls({ settings, limiter }: ShownAccount, add: Add): void {
  const called = new Set<string>([...ENDPOINTS, ...[...feedsOf(settings)].map(endpointOf)])
  for (const statistics of limiter.filter((one) => one.granted > 0 || called.has(one.endpoint))) {
    const { endpoint, made, rateLimited, usedShare, waitedMsP99, answerTimes } = statistics
    add('intentd_requests_total', made, { endpoint })
    addAnswerTimes(endpoint, answerTimes, add)
    add('intentd_rate_limited_total', rateLimited, { endpoint })
    add('intentd_limit_used_ratio', usedShare, { endpoint })
    add('intentd_limit_waited_seconds', waitedMsP99 / MS, { endpoint })
  }
}

function endpointOf(feed: FeedId): string {
  return feed.split('?', 1)[0] ?? feed
}

function addAnswerTimes(
  endpoint: string,
  { count, sumMs, buckets }: AnswerHistogram,
  add: Add,
): void {
  const name = 'intentd_request_seconds'
  for (const [upToMs, within] of buckets)
    add(name, within, { endpoint, le: String(upToMs / MS) }, 'bucket')
  add(name, count, { endpoint, le: '+Inf' }, 'bucket')
  add(name, sumMs / MS, { endpoint }, 'sum')
  add(name, count, { endpoint }, 'count')
}

function addSummary(
  name: MetricName,
  { count, meanMs, p50Ms, p99Ms, maxMs }: DurationSummary,
  add: Add,
): void {
  add(name, p50Ms / MS, { quantile: '0.5' })
  add(name, p99Ms / MS, { quantile: '0.99' })
  add(name, maxMs / MS, { quantile: '1' })
  add(name, (count * meanMs) / MS, undefined, 'sum')
  add(name, count, undefined, 'count')
}

/** A reader that reads at least so often misses no delay. */
const SPAN_MS = 30_000

const PERCENTS = [50, 99, 100] as const
const NANOSECONDS = 1e9

type DelayHistogram = Pick<
  ReturnType<typeof monitorEventLoopDelay>,
  'enable' | 'disable' | 'percentile' | 'reset'
>

/** Reading starts no new span, so several readers can share it. */
export class LoopDelays {
  readonly #timers: Timers
  readonly #histogram: DelayHistogram
  #before: ReadonlyMap<number, number> = new Map()
  #cancel: (() => void) | undefined

  constructor(
    timers: Timers,
    histogram: DelayHistogram = monitorEventLoopDelay({ resolution: 20 }),
  ) {
    this.#timers = timers
    this.#histogram = histogram
  }

  start(): void {
    this.#histogram.enable()
    this.#awaitEnd()
  }

  read(): readonly (readonly [quantile: string, seconds: number])[] {
    return PERCENTS.map((percent) => {
      const longest = Math.max(this.#histogram.percentile(percent), this.#before.get(percent) ?? 0)
      return [String(percent / 100), longest / NANOSECONDS]
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#histogram.disable()
  }

  #awaitEnd(): void {
    this.#cancel = this.#timers.after(SPAN_MS, () => this.#endSpan())
  }

  #endSpan(): void {
    this.#before = new Map(
      PERCENTS.map((percent) => [percent, this.#histogram.percentile(percent)]),
    )
    this.#histogram.reset()
    this.#awaitEnd()
  }
}
