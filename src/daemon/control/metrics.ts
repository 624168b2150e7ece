import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type MetricName, renderMetrics, type Sample } from '../../control/metrics-text.ts'
import type { AccountView, StatusView } from '../../control/views.ts'
import { strategyScope, TRADING_MODES, type TradingMode } from '../../domain/trading-mode.ts'
import type { PollGridStats } from '../../market/poll-grid.ts'
import type { AnswerTimes } from '../../exchange/limiter/limiter-statistics.ts'
import { decimal, sumDecimals } from '../../lib/decimal.ts'
import type { DurationSummary } from '../../lib/percentiles.ts'
import type { ShownAccount } from '../account/shown-account.ts'

const MS = 1000
const NANOSECONDS = 1e9

export interface MeasuredDaemon {
  readonly status: StatusView
  readonly accounts: readonly ShownAccount[]
  readonly isReady: boolean
  readonly polls: PollGridStats
}

/** What `/metrics` shows. One reading a second costs less than one of the tickers. */
export class Metrics {
  readonly #loop = monitorEventLoopDelay({ resolution: 20 })

  constructor() {
    this.#loop.enable()
  }

  stop(): void {
    this.#loop.disable()
  }

  render({ status, accounts, isReady, polls }: MeasuredDaemon): string {
    const samples = new Map<MetricName, Sample[]>()
    const add: Add = (name, value, labels, series) => {
      const rows = samples.get(name) ?? []
      rows.push({ value, ...(labels && { labels }), ...(series && { series }) })
      samples.set(name, rows)
    }
    add('intentd_build_info', 1, { version: status.version, environment: status.environment })
    add('intentd_ready', Number(isReady))
    for (const [index, account] of status.accounts.entries()) {
      const own = accounts.length > 1 ? { account: account.name } : {}
      const addOwn: Add = (name, value, labels, series) => {
        const all = labels === undefined && accounts.length === 1 ? undefined : { ...own, ...labels }
        add(name, value, all, series)
      }
      addAccount(account, status.now, addOwn)
      const shown = accounts[index]
      if (shown) addCounts(shown, addOwn)
    }
    for (const { target, failing } of status.alerts ?? [])
      add('intentd_alerts_failing', Number(failing !== null), { target })
    if (status.sharedLimits) addSharedLimits(status.sharedLimits, add)
    for (const [how, count] of Object.entries(status.sharedTickers ?? {}))
      add('intentd_shared_tickers_total', count, { how })
    addQuantiles('intentd_poll_lateness_seconds', polls.lateness, add)
    for (const percent of [50, 99, 100]) {
      const value = this.#loop.percentile(percent) / NANOSECONDS
      add('intentd_event_loop_delay_seconds', value, { quantile: String(percent / 100) })
    }
    this.#loop.reset()
    const { user, system } = process.cpuUsage()
    add('process_resident_memory_bytes', process.memoryUsage.rss())
    add('process_cpu_seconds_total', (user + system) / 1e6)
    add('process_start_time_seconds', status.processStartedAt / MS)
    return renderMetrics(samples)
  }
}

type Add = (name: MetricName, value: number, labels?: Sample['labels'], series?: Sample['series']) => void

function addAccount(account: AccountView, now: number, add: Add): void {
  const { ages, clock, profit } = account
  const seconds = (ms: number | null): number => (ms === null ? Number.NaN : ms / MS)
  addMode('*', account.mode, add)
  for (const { id, mode } of account.strategies) addMode(strategyScope(id), mode, add)
  for (const [code, held] of Map.groupBy(account.restrictions, (one) => one.code))
    add('intentd_restrictions', held.length, { code })
  for (const [instrument, ms] of Object.entries(ages.tickersMs))
    add('intentd_snapshot_age_seconds', seconds(ms), { instrument })
  for (const [instrument, ms] of Object.entries(ages.positionsMs))
    add('intentd_position_age_seconds', seconds(ms), { instrument })
  add('intentd_fills_age_seconds', seconds(ages.fillsMs))
  add('intentd_clock_offset_seconds', clock.offsetMs / MS)
  add('intentd_clock_synchronised', Number(clock.isSynchronised))
  add(
    'intentd_clock_public_apart_seconds',
    clock.publicMs === null ? 0 : (clock.publicMs - clock.offsetMs) / MS,
  )
  add('intentd_clock_machine_offset_seconds', clock.machineMs / MS)
  for (const [state, count] of Object.entries(account.openOrders))
    add('intentd_open_orders', count, { state })
  add('intentd_unknown_orders', account.openOrders['unknown'] ?? 0)
  add(
    'intentd_unknown_order_age_seconds',
    account.unknownSince === null ? 0 : (now - account.unknownSince) / MS,
  )
  const sizes = new Map<string, number>()
  for (const { symbol, side, size } of account.positions)
    sizes.set(symbol, (sizes.get(symbol) ?? 0) + (side === 'long' ? Number(size) : -Number(size)))
  for (const instrument of Object.keys(ages.tickersMs))
    add('intentd_position_size', sizes.get(instrument) ?? 0, { instrument })
  for (const instrument of new Set([...Object.keys(ages.tickersMs), ...account.unattended.map(symbolOf)]))
    add('intentd_position_unattended', sizeUnattended(account, instrument), { instrument })
  for (const [strategy, made] of Object.entries(profit.strategies)) {
    add('intentd_profit_net', Number(made.net), { strategy })
    add('intentd_profit_realised', Number(made.realised), { strategy })
    add('intentd_fees_paid', Number(made.fees), { strategy })
  }
  const { uncounted } = profit.total
  for (const [coin, fees] of Object.entries(uncounted?.coins ?? {}))
    add('intentd_fees_uncounted', Number(fees), { coin })
  add('intentd_fills_without_fee', uncounted?.feesMissing ?? 0)
  add('intentd_fills_without_profit', uncounted?.profitsMissing ?? 0)
  if (profit.total.unrealised !== null) add('intentd_profit_unrealised', Number(profit.total.unrealised))
  add('intentd_funding_received', Number(profit.total.funding ?? 0))
  add('intentd_profit_today', Number(profit.today.net))
  if (account.equity !== null) add('intentd_equity', Number(account.equity))
  if (account.peak !== null) add('intentd_equity_peak', Number(account.peak))
  if (account.drawdown !== null) add('intentd_drawdown', Number(account.drawdown))
  add('intentd_disputes', account.disputes.length)
  for (const { figure, scope, since } of account.disputes)
    add('intentd_dispute_age_seconds', (now - since) / MS, { figure, scope })
  for (const { scope, limit, used, max, peak, level } of account.losses) {
    if (peak !== null) add('intentd_loss_peak', peak, { scope, limit })
    if (level !== null) add('intentd_loss_level', level, { scope, limit })
    add('intentd_loss_limit', max, { scope, limit })
    if (used !== null) add('intentd_loss_used', used, { scope, limit })
  }
  for (const { endpoint, made, rateLimited, usedShare, waitedMsP99 } of account.limiter) {
    add('intentd_requests_total', made, { endpoint })
    add('intentd_rate_limited_total', rateLimited, { endpoint })
    add('intentd_limit_used_ratio', usedShare, { endpoint })
    add('intentd_limit_waited_seconds', waitedMsP99 / MS, { endpoint })
  }
}

function symbolOf({ symbol }: { readonly symbol: string }): string {
  return symbol
}

/** Both sides added up, in the base coin. */
function sizeUnattended({ unattended }: AccountView, instrument: string): number {
  const sizes = unattended.filter(({ symbol }) => symbol === instrument).map(({ size }) => size)
  // In lots only where no configuration ever said how large one is.
  if (sizes.some((size) => size.endsWith('lots'))) return Number.NaN
  return Number(sumDecimals(sizes.map(decimal)).toString())
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

function addMode(scope: string, held: TradingMode, add: Add): void {
  for (const mode of TRADING_MODES) add('intentd_trading_mode', Number(mode === held), { scope, mode })
}

function addCounts({ statistics, engine, pace, limiter }: ShownAccount, add: Add): void {
  for (const { endpoint, answerTimes } of limiter) addAnswerTimes(endpoint, answerTimes, add)
  add('intentd_snapshots_total', statistics.snapshots)
  add('intentd_decisions_total', statistics.decisions)
  add('intentd_batches_total', statistics.batches)
  add('intentd_orders_sent_total', statistics.ordersSent)
  add('intentd_cancel_alls_total', statistics.cancelAlls)
  add('intentd_fills_total', statistics.money.fills)
  for (const [state, count] of statistics.ended) add('intentd_orders_ended_total', count, { state })
  for (const [code, count] of engine.denied) add('intentd_denials_total', count, { code })
  addQuantiles('intentd_decision_latency_seconds', statistics.decisionLatency.summary(), add)
  add('intentd_batches_late_total', pace.batchesLate)
  add('intentd_journal_late', Number(pace.late !== undefined))
  addQuantiles('intentd_journal_wait_seconds', pace.waits.summary(), add)
}

function addAnswerTimes(endpoint: string, { count, sumMs, buckets }: AnswerTimes, add: Add): void {
  if (count === 0) return
  const name = 'intentd_request_seconds'
  for (const [upToMs, within] of buckets) add(name, within, { endpoint, le: String(upToMs / MS) }, 'bucket')
  add(name, count, { endpoint, le: '+Inf' }, 'bucket')
  add(name, sumMs / MS, { endpoint }, 'sum')
  add(name, count, { endpoint }, 'count')
}

function addQuantiles(name: MetricName, { count, p50Ms, p99Ms, maxMs }: DurationSummary, add: Add): void {
  if (count === 0) return
  add(name, p50Ms / MS, { quantile: '0.5' })
  add(name, p99Ms / MS, { quantile: '0.99' })
  add(name, maxMs / MS, { quantile: '1' })
}
