import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { readRecordedQuotes } from '../../assembly/recordings/recorded-quotes.ts'
import { listFollowingSeed } from '../../assembly/simulator/simulated-prices.ts'
import { shownPath } from '../../config/yaml/checked-file.ts'
import type { ConfigOptions, LoadedConfig } from '../../config/load-config.ts'
import type { Step } from '../../interpreter/ports.ts'
import { findSegments, type SegmentFile } from '../../recording/recordings.ts'
import type { BacktestReport, RunReport } from '../../report/run-report.ts'
import { writeReport } from '../../report/write-report.ts'
import { keepWritable } from '../../strategy/isolation/guard-thread.ts'
import { ReportedBacktest, type ReportedBacktestOptions } from '../reported-backtest.ts'
import { listAssumptions } from '../opening/assumptions.ts'
import type { PreparedBacktest } from '../opening/prepare-backtest.ts'
import type { PlayWatcher } from '../playing/thread-protocol.ts'
import { keepReportWritable, PARITY_FILES, ReportDirectory } from '../playing/report-directory.ts'
import { markDecisions, playRun, prepareWatched, watchForEnd } from '../playing/play-in-thread.ts'
import { compareFills, compareWishes, unmatched } from './compare-runs.ts'
import {
  asRecorded,
  playRecordedCandles,
  playRecordedFeeds,
  writeRecordedPrices,
} from './recorded-prices.ts'
import { reportRecorded } from './recorded-report.ts'
import { decidesUntil, readRecorded, type RecordedRun } from './recorded-run.ts'
import { describeGiven, loadRecordedConfig } from './recorded-config.ts'
import { RunTrace } from './run-trace.ts'

export interface ParityTask {
  readonly recording: string
  readonly options: ConfigOptions
  readonly out: string | undefined
  readonly version: string
}

const PLACES = ['recorded', 'backtest'] as const
const TOO_SHORT =
  'note: the backtest came to no decision before its prices ended: the recording is too short'
const NO_PROOF =
  'note: one of the two was restricted or released alone, so this is no proof: the backtest repeats no restriction, release or flatten of the recorded run'
const RECORDED_ASSUMPTIONS = [
  'From the records of the run: fills, fees and funding as the exchange stated them. What is held counts at the mark price of the last position read.',
  'It begins with the capital of its backtest, and with nothing held: earlier profit, deposits and withdrawals are not in it. Margin, limiter and slippage are not recorded.',
]
const CHUNK_MS = 100
/** A backtest decides only after a few polls. */
const LEAD_LOOKS = 10
const LEAD_MS_MIN = 10_000
interface ParityResult {
  readonly isDifferent: boolean
  readonly lines: readonly string[]
}

export async function checkParity(
  { recording, options, out, version }: ParityTask,
  watcher: PlayWatcher,
): Promise<ParityResult> {
  if (out !== undefined) for (const place of PLACES) keepReportWritable(join(out, place))
  const recorded = readRecorded(findSegments(resolve(recording)), watcher.marks)
  const { settings, segments } = recorded
  const loaded = withoutPollMs(loadRecordedConfig(recorded, options))
  const played = await playRecorded({ segments, recorded, loaded, version, watcher })
  const places =
    out === undefined ? [] : writeReports(resolve(out), { segments, recorded, loaded, played })
  const { instruments } = settings
  const both = [recorded.trace, played.trace] as const
  const restricted = describeRestricted(recorded.trace, played.trace)
  const traded = [...settings.strategies]
    .filter(([, { isByHand }]) => isByHand !== true)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const wishes = traded.map(([id, { symbols }]) =>
    compareWishes(id, [both[0].wishes.get(id) ?? [], both[1].wishes.get(id) ?? []], {
      instruments,
      symbols,
      fills: [both[0].fills, both[1].fills],
      lastReadAt: [both[0].lastReadAt, both[1].lastReadAt],
    }),
  )
  const parts = [
    ...wishes,
    compareFills(both[0].fills, both[1].fills, { instruments, byHand: recorded.trace.byHand }),
  ]
  return {
    isDifferent:
      restricted.length > 0 || parts.some(({ isSame, isNormal = false }) => !isSame && !isNormal),
    lines: [
      `configuration: ${shownPath(loaded.config.file, resolve())}`,
      ...restricted,
      ...describeGiven(recorded, options),
      ...recorded.remarks,
      ...(played.trace.firstReadAt === undefined ? [TOO_SHORT] : []),
      ...parts.flatMap(({ lines }) => lines),
      ...(out === undefined ? [] : [`side by side: intentd compare ${places.join(' ')}`]),
    ],
  }
}

function describeRestricted(recorded: RunTrace, played: RunTrace): readonly string[] {
  const alone = (name: string, one: RunTrace, other: RunTrace): readonly string[] =>
    unmatched(one.restricted, other.restricted, String).map((text) => `${name} only: ${text}`)
  const lines = [...alone('recorded run', recorded, played), ...alone('backtest', played, recorded)]
  return lines.length === 0 ? [] : [...lines, NO_PROOF]
}

function withoutPollMs({ config, ...rest }: LoadedConfig): LoadedConfig {
  const { pollMs: _pollMs, accountMs: _accountMs, ...backtest } = config.backtest
  return { ...rest, config: { ...config, backtest } }
}

/** The recorded run's candles came from the prices that it saw. */
function withoutRecordedCandles({ settings, ...backtest }: ReportedBacktestOptions['backtest']) {
  const { recordedCandle: _recordedCandle, ...seen } = settings
  return { ...backtest, settings: seen }
}

function withRecordedAge(
  { settings, ...backtest }: ReportedBacktestOptions['backtest'],
  recorded: Pick<RecordedRun, 'settings'>,
): ReportedBacktestOptions['backtest'] {
  const { accountAgeMaxMs } = recorded.settings.limits
  return { ...backtest, settings: { ...settings, limits: { ...settings.limits, accountAgeMaxMs } } }
}

interface PlayedRecording {
  readonly segments: readonly SegmentFile[]
  readonly recorded: RecordedRun
  readonly loaded: LoadedConfig
  readonly version: string
  readonly watcher: PlayWatcher
}

interface PlayedRun {
  readonly trace: RunTrace
  readonly prepared: PreparedBacktest
  readonly report: RunReport
}

async function playRecorded({
  segments,
  recorded,
  loaded,
  version,
  watcher,
}: PlayedRecording): Promise<PlayedRun> {
  const { marks, post } = watcher
  const watch = watchForEnd(marks)
  const directory = mkdtempSync(join(tmpdir(), PARITY_FILES))
  keepWritable(`${directory}${sep}`)
  post({ kind: 'unfinished', directory })
  const { tables } = readRecordedQuotes(segments)
  const firsts = [...tables.values()].flatMap(([table]) => table?.columns.get('at')?.[0] ?? [])
  const toAt = recorded.readsAt.at(-1) ?? Math.max(...firsts)
  const { latencyMs } = loaded.config.backtest
  const tickersAt = recorded.readsAt.map((at) => at - latencyMs)
  const read = { readsAt: recorded.allReadsAt, latencyMs }
  const feeds = playRecordedFeeds(recorded.feeds, read)
  const firstAt = recorded.readsAt[0] ?? toAt
  const events = playRecordedCandles(recorded.fetched, { ...read, firstAt })
  try {
    const open = async (fromAt: number) => {
      const files = writeRecordedPrices(tables, directory, { fromAt, toAt })
      const request = { files, days: 1, seed: undefined, balance: undefined, version, fromAt }
      const prepared = await prepareWatched(loaded, watcher, request)
      const quietFrom = recorded.stop && decidesUntil(recorded.stop, latencyMs)
      const opened = markDecisions(
        stopDecisions(prepared.optionsFor(prepared.fillModel, undefined), quietFrom),
        marks,
      )
      const backtest = withRecordedAge(withoutRecordedCandles(opened.backtest), recorded)
      const trace = new RunTrace(backtest.settings, { fromAt, quietFrom })
      const onStep = (step: Step): void => takeStep(trace, step)
      const polling = { ...backtest.polling, ...recorded.accountReads, tickersAt }
      const coverage = asRecorded(prepared.coverage, tables)
      return {
        prepared,
        trace,
        run: new ReportedBacktest({
          ...opened,
          coverage,
          backtest: { ...backtest, polling, feeds, events },
          onStep,
        }),
      }
    }
    // A trial measures how long a backtest takes to its first decision, so that the first decisions
    // of both runs fall on the same moment.
    const trialAt =
      Math.min(...firsts) - Math.max(LEAD_MS_MIN, LEAD_LOOKS * loaded.config.polling.tickersMs)
    const trial = await open(trialAt)
    while (trial.trace.firstReadAt === undefined && trial.run.runUntil(trial.run.now + CHUNK_MS))
      marks.beat(trial.run.now)
    const lead = (trial.trace.firstReadAt ?? trialAt) - trialAt
    const { run, trace, prepared } = await open((recorded.trace.firstReadAt ?? trialAt) - lead)
    await playRun(run, watch, (at) => marks.beat(at))
    if (watch.ended?.failure !== undefined) throw watch.ended.failure
    return { trace, prepared, report: run.finish() }
  } finally {
    watch.forget()
    rmSync(directory, { recursive: true, force: true })
  }
}

function takeStep(trace: RunTrace, { at, event, effects }: Step): void {
  trace.take(at, event)
  for (const effect of effects) if (effect.kind === 'record') trace.recorded(effect.record)
}

function writeReports(
  directory: string,
  {
    segments,
    recorded,
    loaded,
    played,
  }: Pick<PlayedRecording, 'segments' | 'recorded' | 'loaded'> & { readonly played: PlayedRun },
): readonly string[] {
  const { prepared, report } = played
  const { name, account } = loaded.config
  const coin = account.marginCoin
  const madeUp = listFollowingSeed(loaded.config, recorded.given?.recorded)
  // Prices that a simulator made up count as seeded.
  const coverage = prepared.coverage.map((one) =>
    madeUp.includes(one.symbol) ? ({ ...one, kind: 'seeded' } as const) : one,
  )
  const common = { format: 1, name, coin, coverage } as const
  const write = (
    place: (typeof PLACES)[number],
    run: (unfinished: string) => RunReport,
    ran: Pick<BacktestReport, 'assumptions' | 'params'>,
  ): string => {
    const target = new ReportDirectory(join(directory, place))
    try {
      const written = {
        ...common,
        ...ran,
        remarks: recorded.remarks,
        runs: [run(target.unfinished)],
      }
      writeReport(target.unfinished, written, {
        recipe: { recording: segments[0]?.file ?? '' },
        models: 1,
      })
      return target.install(true)
    } finally {
      target.discard()
    }
  }
  const { fromAt, toAt, money } = report
  const frame = { fromAt, toAt, opening: money.opening, coin }
  return [
    write(
      'recorded',
      (unfinished) => reportRecorded(segments, { ...frame, directory: unfinished }),
      { assumptions: RECORDED_ASSUMPTIONS },
    ),
    write('backtest', () => report, {
      assumptions: listAssumptions(prepared, [prepared.fillModel]),
      params: prepared.params,
    }),
  ]
}

/**
 * A stopping daemon reads prices until everything in flight is settled, but asks no strategy.
 * @param from exchange clock: no strategy is asked from then on; undefined for a run that never
 * stopped
 */
export function stopDecisions(
  opened: ReportedBacktestOptions,
  from: number | undefined,
): ReportedBacktestOptions {
  if (from === undefined) return opened
  const { backtest } = opened
  const quiet = [...backtest.strategies].map(([id, { strategy, params }]) => {
    const decide: typeof strategy.decide = (snapshot, context) =>
      snapshot.exchangeTime >= from
        ? { intents: [], state: context.state }
        : strategy.decide(snapshot, context)
    return [id, { strategy: { ...strategy, decide }, params }] as const
  })
  return { ...opened, backtest: { ...backtest, strategies: new Map(quiet) } }
}
