// What fires, and what does not: cases for `promtool test rules`. Each begins with an orderly daemon and changes one thing.

/** By series, `name{labels}`, what it is at each minute, in promtool's notation. */
export type SeriesValues = Readonly<Record<string, string>>

export interface RuleCase {
  /** Which rules fire after 40 minutes, and no others. */
  readonly fires: readonly string[]
  /** Series as they are beside those of {@link ORDERLY}; undefined: that one is not there. */
  readonly series: Readonly<Record<string, string | undefined>>
}

const TARGET = 'job="intentd",instance="a:1"'
/** Only numbers can be repeated with an x. */
const always = (value: number | 'Inf' | 'NaN'): string =>
  typeof value === 'number' ? `${value}x60` : `${value} `.repeat(61).trim()

/** What an orderly daemon with an account, an instrument and two strategies shows. */
export const ORDERLY: SeriesValues = {
  [`up{${TARGET}}`]: always(1),
  [`intentd_ready{${TARGET}}`]: always(1),
  [`intentd_standby{${TARGET}}`]: always(0),
  [`process_start_time_seconds{${TARGET}}`]: always(1000),
  [`intentd_accounts_off{${TARGET}}`]: always(0),
  [`intentd_journal_late{${TARGET}}`]: always(0),
  [`intentd_event_loop_delay_seconds{${TARGET},quantile="1"}`]: always(0.1),
  ...modeOf('*', 'active'),
  ...modeOf('BTCUSDT', 'active'),
  ...modeOf('strategy:grid', 'active'),
  ...modeOf('strategy:trend', 'active'),
  [`intentd_strategy_failed{${TARGET},strategy="grid"}`]: always(0),
  [`intentd_strategy_failed{${TARGET},strategy="trend"}`]: always(0),
  [`intentd_restrictions{${TARGET},code="operator"}`]: always(0),
  [`intentd_restrictions{${TARGET},code="dailyLoss"}`]: always(0),
  [`intentd_restrictions{${TARGET},code="drawdown"}`]: always(0),
  [`intentd_restrictions{${TARGET},code="drawdownFlatten"}`]: always(0),
  [`intentd_restrictions{${TARGET},code="losingStreak"}`]: always(0),
  [`intentd_position_unattended{${TARGET},instrument="BTCUSDT"}`]: always(0),
  [`intentd_unknown_order_age_seconds{${TARGET}}`]: always(3),
  [`intentd_loss_used{${TARGET},scope="*",limit="daily"}`]: always(100),
  [`intentd_loss_limit{${TARGET},scope="*",limit="daily"}`]: always(2000),
  [`intentd_loss_used{${TARGET},scope="*",limit="drawdown.warn"}`]: always(0.01),
  [`intentd_loss_limit{${TARGET},scope="*",limit="drawdown.warn"}`]: always(0.05),
  // A limit that is off.
  [`intentd_loss_used{${TARGET},scope="*",limit="drawdown.flatten"}`]: always(0),
  [`intentd_loss_limit{${TARGET},scope="*",limit="drawdown.flatten"}`]: always('Inf'),
  [`intentd_snapshot_age_seconds{${TARGET},instrument="BTCUSDT"}`]: always(0.3),
  [`intentd_snapshot_age_limit_seconds{${TARGET}}`]: always(1.5),
  [`intentd_read_failing{${TARGET},what="position BTCUSDT"}`]: always(0),
  [`intentd_readings_stale{${TARGET},what="fills"}`]: always(0),
  [`intentd_readings_late{${TARGET},what="fills"}`]: always(0),
  [`intentd_exchange_silent{${TARGET},calls="orders"}`]: always(0),
  [`intentd_dispute_age_seconds{${TARGET},figure="fills",scope="*"}`]: always(0),
  [`intentd_clock_synchronised{${TARGET}}`]: always(1),
  [`intentd_request_seconds_bucket{${TARGET},endpoint="tickers",le="1"}`]: '0+10x60',
  [`intentd_request_seconds_bucket{${TARGET},endpoint="tickers",le="10"}`]: '0+10x60',
  [`intentd_request_seconds_bucket{${TARGET},endpoint="tickers",le="+Inf"}`]: '0+10x60',
  [`intentd_rate_limited_total{${TARGET},endpoint="tickers"}`]: always(0),
  [`intentd_shared_limits_state{${TARGET},state="shared"}`]: always(1),
  [`intentd_shared_limits_state{${TARGET},state="alone"}`]: always(0),
  [`intentd_shared_limits_state{${TARGET},state="refused"}`]: always(0),
  [`intentd_alerts_failing{${TARGET},target="ops"}`]: always(0),
}

export const CASES: readonly RuleCase[] = [
  { fires: [], series: {} },
  // The daemon is gone, and so are its series.
  { fires: ['IntentdDown'], series: { ...nothing(ORDERLY), [`up{${TARGET}}`]: always(0) } },
  // Something else answers at the address.
  { fires: ['IntentdDown'], series: { ...nothing(ORDERLY), [`up{${TARGET}}`]: always(1) } },
  {
    fires: ['IntentdMissing'],
    series: { ...nothing(ORDERLY), 'up{job="node",instance="a:2"}': always(1) },
  },
  // A scrape or two without an answer.
  { fires: [], series: { [`up{${TARGET}}`]: '1x39 0 1x20' } },
  {
    fires: ['IntentdRestarting'],
    series: of('process_start_time_seconds', '', '0x14 1x4 2x4 3x40'),
  },
  { fires: [], series: of('process_start_time_seconds', '', '0x14 1x60') },
  { fires: ['IntentdNotReady'], series: of('intentd_ready', '', always(0)) },
  { fires: ['IntentdAccountOff'], series: of('intentd_accounts_off', '', always(1)) },
  { fires: ['IntentdJournalLate'], series: of('intentd_journal_late', '', always(1)) },
  {
    fires: ['IntentdLoopHeldUp'],
    series: of('intentd_event_loop_delay_seconds', 'quantile="1"', always(2.5)),
  },

  // What holds for the account is told once.
  ...['halted', 'killed'].map((held) => ({
    fires: ['IntentdHalted'],
    series: { ...modeOfAll(held), ...of('intentd_ready', '', always(0)) },
  })),
  { fires: ['IntentdReducing'], series: modeOfAll('reducing') },
  // It ends by itself within a scrape, as at a start.
  {
    fires: [],
    series: { [mode('*', 'halted')]: '0x39 1 0x20', [mode('*', 'active')]: '1x39 0 1x20' },
  },
  { fires: ['IntentdInstrumentRestricted'], series: modeOf('BTCUSDT', 'halted') },
  // An instrument is held more strictly than the account.
  {
    fires: ['IntentdInstrumentRestricted', 'IntentdReducing'],
    series: { ...modeOfAll('reducing'), ...modeOf('BTCUSDT', 'halted') },
  },
  { fires: ['IntentdStrategyPaused'], series: modeOf('strategy:grid', 'halted') },
  {
    fires: ['IntentdReducing', 'IntentdStrategyPaused'],
    series: { ...modeOfAll('reducing'), ...modeOf('strategy:grid', 'halted') },
  },
  { fires: ['IntentdStrategyReducing'], series: modeOf('strategy:grid', 'reducing') },
  {
    fires: ['IntentdStrategyFailed'],
    series: {
      ...modeOf('strategy:grid', 'halted'),
      ...of('intentd_strategy_failed', 'strategy="grid"', always(1)),
    },
  },
  // One has failed, and another is paused.
  {
    fires: ['IntentdStrategyFailed', 'IntentdStrategyPaused'],
    series: {
      ...modeOf('strategy:grid', 'halted'),
      ...modeOf('strategy:trend', 'halted'),
      ...of('intentd_strategy_failed', 'strategy="grid"', always(1)),
    },
  },
  {
    fires: ['IntentdPositionUnattended'],
    series: of('intentd_position_unattended', 'instrument="BTCUSDT"', always(0.02)),
  },
  // Of an instrument that is not configured any more.
  {
    fires: ['IntentdPositionUnattended'],
    series: of('intentd_position_unattended', 'instrument="XRPUSDT"', always(3)),
  },
  {
    fires: ['IntentdUnknownOrder'],
    series: of('intentd_unknown_order_age_seconds', '', always(121)),
  },

  ...[
    'dailyLoss',
    'drawdown',
    'drawdownFlatten',
    'losingStreak',
    'liquidationNear',
    'liquidationFlatten',
    'worstCase',
  ].map((code) => ({
    fires: ['IntentdLossLimitReached'],
    series: of('intentd_restrictions', `code="${code}"`, always(1)),
  })),
  { fires: [], series: of('intentd_restrictions', 'code="operator"', always(1)) },
  {
    fires: ['IntentdLiquidationNear'],
    series: of('intentd_liquidation_distance', 'instrument="BTCUSDT"', always(0.14)),
  },
  { fires: [], series: of('intentd_liquidation_distance', 'instrument="BTCUSDT"', always(0.16)) },
  { fires: ['IntentdWorstCaseNear'], series: of('intentd_worst_case_used', '', always(0.85)) },
  { fires: [], series: of('intentd_worst_case_used', '', always(0.75)) },
  { fires: [], series: of('intentd_worst_case_used', '', always('NaN')) },
  { fires: [], series: of('intentd_liquidation_distance', 'instrument="BTCUSDT"', always('Inf')) },
  {
    fires: ['IntentdDrawdownWarned'],
    series: of('intentd_loss_used', 'scope="*",limit="drawdown.warn"', always(0.05)),
  },
  {
    fires: ['IntentdLossLimitNear'],
    series: of('intentd_loss_used', 'scope="*",limit="daily"', always(1600)),
  },
  { fires: [], series: of('intentd_loss_used', 'scope="*",limit="daily"', always(1599)) },
  // Reached is not near any more: the restriction says it.
  { fires: [], series: of('intentd_loss_used', 'scope="*",limit="daily"', always(2000)) },
  {
    fires: ['IntentdLossUnknown'],
    series: of('intentd_loss_used', 'scope="*",limit="daily"', always('NaN')),
  },

  {
    fires: ['IntentdStalePrices'],
    series: of('intentd_snapshot_age_seconds', 'instrument="BTCUSDT"', always(2)),
  },
  // None has ever come.
  {
    fires: ['IntentdStalePrices'],
    series: of('intentd_snapshot_age_seconds', 'instrument="BTCUSDT"', always('Inf')),
  },
  {
    fires: ['IntentdReadFailing'],
    series: of('intentd_read_failing', 'what="position BTCUSDT"', always(1)),
  },
  {
    fires: ['IntentdReadingsStale'],
    series: of('intentd_readings_stale', 'what="fills"', always(1)),
  },
  {
    fires: ['IntentdReadingsLate'],
    series: of('intentd_readings_late', 'what="fills"', always(1)),
  },
  {
    fires: ['IntentdExchangeSilent'],
    series: of('intentd_exchange_silent', 'calls="orders"', always(1)),
  },
  {
    fires: ['IntentdFiguresDisputed'],
    series: of('intentd_dispute_age_seconds', 'figure="fills",scope="*"', always(61)),
  },
  {
    fires: ['IntentdClockUnsynchronised'],
    series: of('intentd_clock_synchronised', '', always(0)),
  },
  {
    fires: ['IntentdRequestsSlow'],
    series: of('intentd_request_seconds_bucket', 'endpoint="tickers",le="1"', '0+8x60'),
  },
  {
    fires: ['IntentdRateLimited'],
    series: of('intentd_rate_limited_total', 'endpoint="tickers"', '0x37 1x20'),
  },
  {
    fires: ['IntentdLimitsRefused'],
    series: of('intentd_shared_limits_state', 'state="refused"', always(1)),
  },
  {
    fires: ['IntentdLimitsAlone'],
    series: of('intentd_shared_limits_state', 'state="alone"', always(1)),
  },
  {
    fires: ['IntentdAlertsFailing'],
    series: of('intentd_alerts_failing', 'target="ops"', always(1)),
  },

  // A standby shows nothing of trading.
  { fires: [], series: standby({}) },
  {
    fires: ['IntentdStandbyBlind'],
    series: standby({ intentd_standby_seen_age_seconds: always('Inf') }),
  },
  { fires: ['IntentdStandbyDiffers'], series: standby({ intentd_standby_differs: always(2) }) },
]

function mode(scope: string, name: string): string {
  return `intentd_trading_mode{${TARGET},scope="${scope}",mode="${name}"}`
}

function modeOf(scope: string, held: string): Record<string, string> {
  const modes = ['active', 'reducing', 'halted', 'killed']
  return Object.fromEntries(modes.map((name) => [mode(scope, name), always(Number(name === held))]))
}

/** What holds for the account holds for all scopes. */
function modeOfAll(held: string): Record<string, string> {
  const scopes = ['*', 'BTCUSDT', 'strategy:grid', 'strategy:trend']
  return Object.assign({}, ...scopes.map((scope) => modeOf(scope, held))) as Record<string, string>
}

function of(name: string, labels: string, values: string): Record<string, string> {
  return { [`${name}{${[TARGET, labels].filter((part) => part !== '').join(',')}}`]: values }
}

function nothing(series: SeriesValues): Record<string, undefined> {
  return Object.fromEntries(Object.keys(series).map((name) => [name, undefined]))
}

function standby(changed: Readonly<Record<string, string>>): RuleCase['series'] {
  const shown = {
    up: always(1),
    intentd_ready: always(1),
    intentd_standby: always(1),
    intentd_standby_behind: always(0),
    intentd_standby_seen_age_seconds: always(1),
    intentd_standby_differs: always(0),
    process_start_time_seconds: always(1000),
    ...changed,
  }
  const series = Object.entries(shown).map(([name, values]) => of(name, '', values))
  return Object.assign(nothing(ORDERLY), ...series) as RuleCase['series']
}
