export interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
  /** A histogram or a summary has several. */
  readonly series?: 'bucket' | 'sum' | 'count'
}

export interface MetricDefinition {
  readonly type: 'gauge' | 'counter' | 'histogram' | 'summary'
  readonly help: string
}

/**
 * The source of docs/metrics.md. A clientOid is no label, since each would be a series. Known
 * series exist from the start with 0, for alert rules.
 */
export const METRICS = {
  intentd_build_info: { type: 'gauge', help: 'Always 1; labels: name, version, environment.' },
  intentd_ready: { type: 'gauge', help: '1 while /readyz says ok, else 0.' },
  intentd_alerts_failing: {
    type: 'gauge',
    help: '1 while alerts do not arrive there, else 0; label: target. One 0 without a label where no target is configured.',
  },
  intentd_control_refused_total: {
    type: 'counter',
    help: 'What was refused at the control interface; label: what, which is request (no token, another site, a command with the token that looks), connection (one too many: the oldest of its kind was closed) or follower (32 follow already).',
  },
  intentd_signals_total: {
    type: 'counter',
    help: 'Signals that were sent here; labels: signal (none where no secret was shown), result, which is taken, repeated (it was taken before), refused, limited (too many) or notNow (the account takes none). Only where signals are taken.',
  },
  intentd_signal_age_seconds: {
    type: 'gauge',
    help: 'Since the last signal was taken; +Inf before the first; label: signal. Only where signals are taken.',
  },
  intentd_accounts_off: {
    type: 'gauge',
    help: 'Further accounts of this daemon that could not be opened, or stopped trading for a defect.',
  },
  intentd_trading_mode: {
    type: 'gauge',
    help: '1 for the mode that holds now, 0 for the others; labels: scope (*, SYMBOL or strategy:ID), mode. What holds for the account holds for every scope. All are 0 once the run of the account is over.',
  },
  intentd_strategy_failed: {
    type: 'gauge',
    help: '1 while a strategy is halted because it failed, or its thread was lost and has not begun again, else 0; label: strategy.',
  },
  intentd_universe_instruments: {
    type: 'gauge',
    help: 'Instruments of a universe; labels: strategy, state, which is in, leaving, or blocked (its rule admits it, and the account keeps it out: no place, no room in the poll budget, restricted, too large an order). Only where a strategy has a universe.',
  },
  intentd_universe_joined_total: {
    type: 'counter',
    help: 'Instruments that joined a universe in this run; label: strategy.',
  },
  intentd_universe_left_total: {
    type: 'counter',
    help: 'Members of a universe that began to leave it in this run; label: strategy.',
  },
  intentd_universe_evaluated_age_seconds: {
    type: 'gauge',
    help: 'Since the rule of a universe was evaluated last; +Inf before the first; label: strategy.',
  },
  intentd_standby: {
    type: 'gauge',
    help: '1 for a standby, which follows a journal and shows nothing of trading; 0 for a daemon.',
  },
  intentd_standby_behind: {
    type: 'gauge',
    help: 'Transactions that the writer had made since the look before; NaN before the first.',
  },
  intentd_standby_differs: {
    type: 'gauge',
    help: 'Settings and strategy code with which a standby would trade otherwise than the writer.',
  },
  intentd_standby_seen_age_seconds: {
    type: 'gauge',
    help: 'Since a standby looked last; +Inf before.',
  },
  intentd_shared_limits_state: {
    type: 'gauge',
    help: '1 for the state that limits of the address are in, 0 for the others: joining, shared, alone, refused; label: state. Only where exchange.shared is set.',
  },
  intentd_shared_limits_since_seconds: {
    type: 'gauge',
    help: 'Unix time since when they are in it.',
  },
  intentd_shared_limits_members: {
    type: 'gauge',
    help: 'Daemons that share them now, this one too; 0 where it shares nothing.',
  },
  intentd_shared_limit_calls: {
    type: 'gauge',
    help: 'Calls in a window that all daemons of the address may make together; label: limit.',
  },
  intentd_shared_limit_gone: {
    type: 'gauge',
    help: 'Those of them that daemons which ended or are cut off may have made; nobody has them until they no longer count. Label: limit.',
  },
  intentd_shared_limit_held: {
    type: 'gauge',
    help: 'Those of them that this daemon may make; label: limit.',
  },
  intentd_restrictions: {
    type: 'gauge',
    help: 'Restrictions that are held, 0 for none; label: code, each reason of docs/trading-modes.md.',
  },
  intentd_snapshot_age_seconds: {
    type: 'gauge',
    help: 'Age of the last price; +Inf before the first; label: instrument.',
  },
  intentd_snapshot_age_limit_seconds: {
    type: 'gauge',
    help: 'How old a price may be: risk.dataAgeMaxMs. Nothing is decided on an older one.',
  },
  intentd_position_age_seconds: {
    type: 'gauge',
    help: 'Age of the last reading of the position that its fills explain; +Inf before the first; label: instrument.',
  },
  intentd_fills_age_seconds: {
    type: 'gauge',
    help: 'Age of the last reading of fills; +Inf before the first.',
  },
  intentd_read_failing: {
    type: 'gauge',
    help: '1 while the last reading failed, else 0; label: what (tickers, fills, position SYMBOL or feed ID).',
  },
  intentd_readings_stale: {
    type: 'gauge',
    help: 'Readings of the account that are too old: while there is one, nothing that adds risk leaves; label: what (fills, positions).',
  },
  intentd_readings_late: {
    type: 'gauge',
    help: '1 while readings come several times later than polling asks, else 0; label: what (fills, positions).',
  },
  intentd_exchange_silent: {
    type: 'gauge',
    help: '1 while calls have had no answer for ten seconds or more, else 0; label: calls (fills, positions, orders, cancel-alls).',
  },
  intentd_clock_offset_seconds: { type: 'gauge', help: "The exchange's clock less ours." },
  intentd_clock_public_apart_seconds: {
    type: 'gauge',
    help: 'How far public answers are ahead of signed ones; 0 while they agree.',
  },
  intentd_clock_machine_offset_seconds: {
    type: 'gauge',
    help: "The exchange's clock less this machine's.",
  },
  intentd_clock_synchronised: { type: 'gauge', help: '1 while both clocks agree.' },
  intentd_open_orders: {
    type: 'gauge',
    help: 'Orders that are not over, 0 for none; label: state.',
  },
  intentd_unknown_orders: { type: 'gauge', help: 'Orders whose fate is not known.' },
  intentd_unknown_order_age_seconds: {
    type: 'gauge',
    help: 'Age of the oldest of them; 0 for none.',
  },
  intentd_position_size: {
    type: 'gauge',
    help: 'Held, in base coin, short negative; label: instrument.',
  },
  intentd_liquidation_distance: {
    type: 'gauge',
    help: 'How far a liquidation is, as a share of the mark price, by the nearer side and figure; +Inf where nothing is held, no price liquidates, or it is not known; label: instrument.',
  },
  intentd_liquidation_moves: {
    type: 'gauge',
    help: 'The same in typical moves of an hour, the median of the last 24 hours; +Inf also while fewer than three hours are known; label: instrument.',
  },
  intentd_margin_ratio: {
    type: 'gauge',
    help: 'Maintenance margin and the fee of closing over what stands behind the position, by our own count, else by the exchange: at 1 it is liquidated; 0 where nothing is held or it is not known; label: instrument.',
  },
  intentd_position_unattended: {
    type: 'gauge',
    help: 'Of that what no strategy trades, both sides added up; 0 for none; in lots where no configuration ever said how large one is; label: instrument.',
  },
  intentd_profit_net: {
    type: 'gauge',
    help: 'Realised less fees, of all runs in the journal, margin coin; label: strategy.',
  },
  intentd_profit_net_with_unrealised: {
    type: 'gauge',
    help: 'The same with what is unrealised at the last prices; NaN where unknown; label: strategy.',
  },
  intentd_fees_uncounted: {
    type: 'gauge',
    help: 'Fees paid in a coin without a price, in that coin: in no other figure; label: coin. Always 0 for the margin coin.',
  },
  intentd_fills_without_fee: {
    type: 'gauge',
    help: 'Fills whose fee nobody has said: it is not counted.',
  },
  intentd_fills_without_profit: {
    type: 'gauge',
    help: 'Fills whose profit nobody has said: it is not counted.',
  },
  intentd_profit_realised: {
    type: 'gauge',
    help: 'Of its own lots at its own average price, of all runs in the journal, margin coin; label: strategy.',
  },
  intentd_profit_unrealised: {
    type: 'gauge',
    help: 'At the last prices, margin coin; NaN where unknown.',
  },
  intentd_fees_paid: {
    type: 'gauge',
    help: 'Of all runs in the journal, margin coin; label: strategy.',
  },
  intentd_funding_received: { type: 'gauge', help: 'Of all runs in the journal, margin coin.' },
  intentd_profit_today: {
    type: 'gauge',
    help: 'Realised less fees, with funding, since midnight in calendar.timezone.',
  },
  intentd_equity: {
    type: 'gauge',
    help: 'Capital and everything that was made; NaN where unknown.',
  },
  intentd_equity_peak: { type: 'gauge', help: 'The highest equity so far; NaN where unknown.' },
  intentd_drawdown: {
    type: 'gauge',
    help: 'Equity below its peak, margin coin; NaN where unknown.',
  },
  intentd_worst_case_used: {
    type: 'gauge',
    help: 'What the worst move of risk.survives would take with all that rests filled, as a share of the equity; NaN where it is not set or not known, and where nothing is at risk.',
  },
  intentd_disputes: { type: 'gauge', help: 'Figures whose two witnesses differ now.' },
  intentd_dispute_age_seconds: {
    type: 'gauge',
    help: 'For how long they have differed; 0 while they agree; labels: figure, scope.',
  },
  intentd_loss_used: {
    type: 'gauge',
    help: "Used of a limit on losses, margin coin, a share for the account's drawdown, trades for a streak; NaN where unknown; labels: scope, limit.",
  },
  intentd_loss_limit: {
    type: 'gauge',
    help: 'That limit, in the same unit; +Inf for one of the account that is off; labels: scope, limit.',
  },
  intentd_loss_peak: {
    type: 'gauge',
    help: 'Of a step of a drawdown: the equity, or net profit, from which it counts; labels: scope, limit.',
  },
  intentd_loss_level: {
    type: 'gauge',
    help: 'Of a step of a drawdown: the equity, or net profit, at which it is reached; labels: scope, limit.',
  },
  intentd_snapshots_total: { type: 'counter', help: 'Snapshots that strategies were shown.' },
  intentd_decisions_total: { type: 'counter', help: 'Decisions of strategies.' },
  intentd_batches_total: { type: 'counter', help: 'Batches of orders sent.' },
  intentd_orders_sent_total: { type: 'counter', help: 'Orders sent.' },
  intentd_orders_ended_total: {
    type: 'counter',
    help: 'Orders that ended in this run; label: state.',
  },
  intentd_cancel_alls_total: { type: 'counter', help: 'Cancel-alls sent.' },
  intentd_fills_total: { type: 'counter', help: 'Fills read in this run.' },
  intentd_denials_total: { type: 'counter', help: 'Wishes that risk denied; label: code.' },
  intentd_requests_total: { type: 'counter', help: 'Calls made; label: endpoint.' },
  intentd_request_seconds: {
    type: 'histogram',
    help: 'From the first byte of a call until its answer, or until that was given up; label: endpoint.',
  },
  intentd_rate_limited_total: { type: 'counter', help: 'Answers 429; label: endpoint.' },
  intentd_limit_used_ratio: {
    type: 'gauge',
    help: 'Share of the allowed calls that were made; label: endpoint.',
  },
  intentd_limit_waited_seconds: {
    type: 'gauge',
    help: 'Wait for a grant, 99th percentile; label: endpoint.',
  },
  intentd_decision_latency_seconds: {
    type: 'summary',
    help: 'From the last byte of the prices to the write of a batch; label: quantile.',
  },
  intentd_batches_late_total: {
    type: 'counter',
    help: 'Batches that were dropped since the journal took too long to make them durable.',
  },
  intentd_journal_late: { type: 'gauge', help: '1 while batches are dropped for that, else 0.' },
  intentd_journal_wait_seconds: {
    type: 'summary',
    help: "From a batch's record until it is durable; label: quantile.",
  },
  intentd_poll_lateness_seconds: {
    type: 'summary',
    help: 'How late price polls begin; label: quantile.',
  },
  intentd_event_loop_delay_seconds: {
    type: 'summary',
    help: 'How long the event loop was held up in the last 30 to 60 seconds; label: quantile.',
  },
  process_resident_memory_bytes: { type: 'gauge', help: 'Memory of the process.' },
  process_cpu_seconds_total: { type: 'counter', help: 'CPU time of the process.' },
  process_start_time_seconds: { type: 'gauge', help: 'Unix time of the start.' },
} as const satisfies Record<string, MetricDefinition>

export type MetricName = keyof typeof METRICS

/** Prometheus 0.0.4. An unknown value is NaN. */
export function renderMetrics(samples: ReadonlyMap<MetricName, readonly Sample[]>): string {
  return Object.entries(METRICS)
    .map(([name, { type, help }]) => {
      const lines = (samples.get(name as MetricName) ?? []).map(
        ({ labels, value, series }) =>
          `${name}${series ? `_${series}` : ''}${renderLabels(labels)} ${renderValue(value)}\n`,
      )
      return lines.length === 0
        ? ''
        : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
    })
    .join('')
}

/** Nanoseconds, and one digit more than money on the wire. */
const DIGITS = 9

function renderValue(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return String(Number(value.toFixed(DIGITS)))
}

function renderLabels(labels: Sample['labels'] = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeLabel(value: string): string {
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
}
