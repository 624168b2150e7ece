import { type ScenarioName } from './scenario.ts'

/**
 * Which run is killed at the point.
 *
 * `trading` the first one, from its start on · `stopping`, `leaving`, `flattening` one that was told to stop after
 * it had traded, and whose policy says cancel, leave or flatten · `killing` one whose kill switch was thrown after it
 * had traded, `releasing` one in which it was taken back · `recovering` two runs, each before it says that
 * it runs, after one that died with a batch on the wire: the same point kills both.
 */
export type Phase =
  | 'trading'
  | 'stopping'
  | 'leaving'
  | 'flattening'
  | 'killing'
  | 'releasing'
  | 'recovering'

/** A named point in one phase. */
export interface CrashPoint {
  readonly phase: Phase
  /** As `watch-points.ts` calls it. */
  readonly name: string
  /** Killed at the first up to this occurrence, drawn for each case; all are reached within seconds. */
  readonly timesMax: number
  /** Where it can be met. */
  readonly scenarios: readonly ScenarioName[]
}

const ANYWHERE: readonly ScenarioName[] = ['normal', 'partial', 'lost', 'late', 'hostile']
/** A time-out or a reset is what makes a call lost. */
const UNRELIABLE: readonly ScenarioName[] = ['lost', 'late']

const OPENING = [
  ...around('file.mkdir.state'),
  ...around('lock.state.take'),
  ...around('lock.state.name'),
  ...around('lock.account.take'),
  ...around('lock.account.name'),
  ...around('journal.open'),
  ...around('file.open.journal.sqlite.mark'),
  'log.daemon.opened.before',
  'wire.connected',
  ...call('tickers'),
  ...durable('boot'),
  'log.recovery.started.before',
]

/** Only where there was no journal yet. */
const MAKING = [
  ...around('lock.state.layout'),
  ...around('file.chmod.journal.sqlite'),
  ...around('journal.layout'),
  ...around('journal.meta'),
  ...around('journal.commit.meta'),
  ...around('file.open.journal.sqlite.mark.new'),
  ...around('journal.mark.meta'),
  ...around('file.rename.journal.sqlite.mark.new'),
  ...around('file.sync'),
]

/** Only where there was one. */
const VERIFYING = [
  ...around('journal.verify.open'),
  ...around('journal.verify.read'),
  ...around('journal.verify.close'),
]

/** Every point, by phase. */
export const POINTS: readonly CrashPoint[] = [
  ...points('trading', 1, [...MAKING, ...OPENING]),
  ...points('trading', 1, [
    ...call('fills'),
    ...call('single-position'),
    'log.daemon.running.before',
  ]),
  ...points('trading', 6, [
    ...around('journal.record.decision'),
    ...around('journal.commit.decision'),
    ...durable('send'),
    ...call('batch-place-order'),
    ...around('journal.record.outcome'),
    ...around('journal.booking'),
    ...around('journal.record.fills'),
  ]),
  ...points('trading', 3, [
    ...durable('cancel'),
    ...call('cancel-all-orders'),
    ...around('journal.record.cancelAnswered'),
    ...durable('settle'),
    ...around('journal.record.expire'),
    ...around('journal.commit.expire'),
    ...around('journal.commit.outcome'),
  ]),
  ...points(
    'trading',
    2,
    ['wire.batch-place-order.lost', 'wire.cancel-all-orders.lost'],
    UNRELIABLE,
  ),
  ...points('trading', 1, call('fills-page'), ['many']),
  ...points('stopping', 1, [
    'log.daemon.stopping.before',
    ...durable('cancel'),
    ...call('cancel-all-orders'),
    ...durable('settle'),
    ...call('fills'),
    ...call('single-position'),
    'log.daemon.stopped.before',
    ...around('journal.checkpoint.row'),
    ...around('journal.checkpoint.drop'),
    ...around('journal.checkpoint'),
    ...around('journal.prune'),
    ...around('journal.commit.prune'),
    ...around('journal.mark.prune'),
    ...around('journal.close'),
    ...around('lock.account.close'),
    ...around('lock.state.close'),
    'log.run.summary.before',
  ]),
  ...points('leaving', 1, [
    'log.daemon.stopping.before',
    ...call('fills'),
    ...call('single-position'),
    'log.daemon.stopped.before',
    ...around('journal.commit.prune'),
  ]),
  ...points('flattening', 1, [
    ...durable('cancel'),
    ...call('cancel-all-orders'),
    ...durable('send'),
    ...call('batch-place-order'),
    ...around('journal.record.outcome'),
    ...around('journal.record.fills'),
    'log.daemon.stopped.before',
    ...around('journal.commit.prune'),
  ]),
  ...points('killing', 1, [
    'log.trading.killed.before',
    ...durable('kill'),
    ...around('file.rename.KILL.state.new'),
    ...durable('cancel'),
    ...call('cancel-all-orders'),
    ...call('fills'),
    ...call('single-position'),
    'log.kill.clean.before',
  ]),
  ...points('releasing', 1, [
    ...durable('kill'),
    ...around('file.rm.KILL'),
    ...around('file.rm.KILL.state'),
    'log.kill.released.before',
  ]),
  ...points('recovering', 1, [
    ...VERIFYING,
    ...OPENING,
    // Made durable by what comes next.
    ...around('journal.record.outcome'),
    ...durable('fills'),
    ...around('journal.record.cancelAnswered'),
    ...call('fills'),
    ...call('single-position'),
    ...durable('cancel'),
    ...call('cancel-all-orders'),
    ...durable('settle'),
    'log.daemon.running.before',
  ]),
]

/** Before and after something that is done at once. */
function around(name: string): readonly string[] {
  return [`${name}.before`, `${name}.after`]
}

/** A record that is made durable at once: written, committed, and marked as safe. */
function durable(kind: string): readonly string[] {
  return [
    ...around(`journal.record.${kind}`),
    ...around(`journal.commit.${kind}`),
    ...around(`journal.mark.${kind}`),
  ]
}

/** A request and its answer: the first byte out, the last one out, the head that comes in, and the last byte in. */
function call(name: string): readonly string[] {
  return ['first', 'sent', 'answer', 'answered'].map((stage) => `wire.${name}.${stage}`)
}

function points(
  phase: Phase,
  timesMax: number,
  names: readonly string[],
  scenarios: readonly ScenarioName[] = ANYWHERE,
): readonly CrashPoint[] {
  return names.map((name) => ({ phase, name, timesMax, scenarios }))
}
