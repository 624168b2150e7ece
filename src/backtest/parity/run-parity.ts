import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve, sep } from 'node:path'
import { readRecordedFeeds, type RecordedFeeds } from '../../assembly/recordings/recorded-feeds.ts'
import { readRecordedQuotes } from '../../assembly/recordings/recorded-quotes.ts'
import { listFollowingSeed } from '../../assembly/simulator/simulated-exchange.ts'
import {
  type ConfigOptions,
  loadConfig,
  type LoadedConfig,
  toConfigRequest,
} from '../../config/load-config.ts'
import type { JournalRecord } from '../../domain/record.ts'
import { parseCore } from '../../engine/replay/core-image.ts'
import { parseEvent } from '../../engine/replay/event-text.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { Step } from '../../interpreter/ports.ts'
import { Failure } from '../../lib/failure.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'
import { parseValue } from '../../lib/value-text.ts'
import { findSegments, type SegmentFile } from '../../recording/recordings.ts'
import { openSegment } from '../../recording/segment-reader.ts'
import type { SegmentHead } from '../../recording/segment.ts'
import type { RunReport } from '../../report/run-report.ts'
import { writeReport } from '../../report/write-report.ts'
import { keepWritable } from '../../strategy/isolation/guard-thread.ts'
import { BacktestRun, type BacktestRunOptions } from '../backtest-run.ts'
import { listAssumptions } from '../opening/assumptions.ts'
import type { PreparedBacktest } from '../opening/prepare-backtest.ts'
import type { PlayMarks, PlayWatcher } from '../playing/watched-thread.ts'
import { keepReportWritable, PARITY_FILES, ReportDirectory } from '../playing/report-directory.ts'
import { markDecisions, playRun, prepareWatched, watchForEnd } from '../playing/run-backtest.ts'
import { compareFills, compareWishes, unmatched } from './compare-runs.ts'
import {
  asRecorded,
  playRecordedFeeds,
  reportRecorded,
  writeRecordedPrices,
} from './recorded-report.ts'
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
  'It begins with the capital of its backtest, and with nothing held. Margin, limiter and slippage are not recorded.',
]
const CHUNK_MS = 100
/** A backtest decides only after a few polls. */
const LEAD_LOOKS = 10
const LEAD_MS_MIN = 10_000
/** Parsing all events takes long, and most are none of these. */
const READ = /^\{"kind":"(?:snapshotTaken|decided|fillsRead|clockSynchronised)"/
const RESTRICTED = /^\{"kind":"record".*"kind":"(?:restricted|released)"/
const STOP = /^\{"kind":"commanded","command":\{"kind":"stop"/

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
  const traded = [...settings.strategies].toSorted(([one], [other]) => (one < other ? -1 : 1))
  const wishes = traded.map(([id, { symbols }]) =>
    compareWishes(id, [both[0].wishes.get(id) ?? [], both[1].wishes.get(id) ?? []], {
      instruments,
      symbols,
      fills: [both[0].fills, both[1].fills],
      lastReadAt: [both[0].lastReadAt, both[1].lastReadAt],
    }),
  )
  const parts = [...wishes, compareFills(both[0].fills, both[1].fills, instruments)]
  return {
    isDifferent:
      restricted.length > 0 || parts.some(({ isSame, isNormal = false }) => !isSame && !isNormal),
    lines: [
      ...restricted,
      ...describeGiven(recorded, options),
      ...recorded.remarks,
      ...(played.trace.firstReadAt === undefined ? [TOO_SHORT] : []),
      ...parts.flatMap(({ lines }) => lines),
      ...(out === undefined ? [] : [`side by side: intentd compare ${places.join(' ')}`]),
    ],
  }
}

/** Empty if both reached the same limits. */
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
function withoutRecordedCandles({ settings, ...backtest }: BacktestRunOptions['backtest']) {
  const { recordedCandle: _recordedCandle, ...seen } = settings
  return { ...backtest, settings: seen }
}

function withRecordedAge(
  { settings, ...backtest }: BacktestRunOptions['backtest'],
  recorded: Pick<RecordedRun, 'settings'>,
): BacktestRunOptions['backtest'] {
  const { accountAgeMaxMs } = recorded.settings.limits
  return { ...backtest, settings: { ...settings, limits: { ...settings.limits, accountAgeMaxMs } } }
}

interface RecordedRun extends Pick<SegmentHead, 'configFile' | 'given'> {
  readonly segments: readonly SegmentFile[]
  readonly settings: EngineSettings
  readonly trace: RunTrace
  /** Exchange clock: reads of prices since the first decision. */
  readonly readsAt: readonly number[]
  readonly feeds: RecordedFeeds
  readonly allReadsAt: readonly number[]
  readonly accountReads: { readonly fillsMs?: number; readonly positionsMs?: number }
  readonly stop: RecordedStop | undefined
  readonly remarks: readonly string[]
}

/** Exchange clock. */
interface RecordedStop {
  readonly at: number
  /** The last prices before it, and the first after it. */
  readonly readBeforeAt: number | undefined
  readonly readAfterAt: number | undefined
}

/**
 * After the stop no strategy is asked, on prices or on its own fills. The last prices before it were
 * decided on, also where they take longer to arrive in the backtest than in the recorded run.
 */
export function decidesUntil(
  { at, readBeforeAt = 0, readAfterAt = Number.POSITIVE_INFINITY }: RecordedStop,
  latencyMs: number,
): number {
  return Math.min(readAfterAt, Math.max(at, readBeforeAt + latencyMs + 1))
}

function readRecorded(found: readonly SegmentFile[], marks: PlayMarks): RecordedRun {
  const { image, head } = openSegment(found[0]?.file ?? '')
  const { settings, book } = parseCore(image)
  const restrictions = book.restrictions.values()
  const trace = new RunTrace(settings, { fromAt: head.startedAt, restrictions })
  const readsAt: number[] = []
  const polls = new RecordedPolls()
  let stop: Pick<RecordedStop, 'at' | 'readBeforeAt'> | undefined
  let [offsetMs, readsBeforeStop] = [0, 0]
  const segments: SegmentFile[] = []
  let next: string | undefined
  for (const segment of found) {
    const opened = openSegment(segment.file)
    const core = parseCore(opened.image)
    next = describeNext(segment.file, {
      isOtherConfig: core.settings.configHash !== settings.configHash,
      isAfterStop: opened.head.run !== head.run && stop !== undefined,
    })
    if (next !== undefined) break
    segments.push(segment)
    for (const { at, event, effects } of opened.steps()) {
      marks.beat()
      polls.hear(event, at)
      if (STOP.test(event) && stop === undefined) {
        stop = { at: at + offsetMs, readBeforeAt: readsAt.at(-1) }
        readsBeforeStop = readsAt.length
      }
      if (READ.test(event)) {
        const parsed = parseEvent(event)
        trace.take(at, parsed)
        if (parsed.kind === 'snapshotTaken') readsAt.push(parsed.tickers.requestTime)
        if (parsed.kind === 'clockSynchronised') offsetMs = parsed.offsetMs
      }
      for (const effect of effects)
        if (RESTRICTED.test(effect))
          trace.recorded((parseValue(effect) as { readonly record: JournalRecord }).record)
    }
  }
  const held = book.orders.size
  const firstAt = trace.firstReadAt ?? Number.POSITIVE_INFINITY
  const decidedOn = readsAt.filter((at) => at >= firstAt)
  return {
    configFile: head.configFile,
    given: head.given,
    segments,
    settings,
    trace,
    stop: stop && { ...stop, readAfterAt: readsAt[readsBeforeStop] },
    readsAt: decidedOn,
    allReadsAt: readsAt,
    feeds: readRecordedFeeds(segments),
    accountReads: polls.everyMs,
    remarks: [
      ...(held === 0
        ? []
        : [
            `note: the recording begins with ${held} orders in the book; the backtest begins with none`,
          ]),
      ...(next === undefined
        ? []
        : [
            `note: ${next}: only the files before it are compared (${segments.length} of ${found.length})`,
          ]),
    ],
  }
}

const GRID_MS = 10

class RecordedPolls {
  readonly #lastAt = new Map<string, number>()
  readonly #gaps = { fills: new Map<number, number>(), positions: new Map<number, number>() }

  get everyMs(): RecordedRun['accountReads'] {
    const [fillsMs, positionsMs] = [
      mostFrequent(this.#gaps.fills),
      mostFrequent(this.#gaps.positions),
    ]
    return {
      ...(fillsMs !== undefined && { fillsMs }),
      ...(positionsMs !== undefined && { positionsMs }),
    }
  }

  hear(event: string, at: number): void {
    const what = /^\{"kind":"pollDue","what":"(fills|positions)"/.exec(event)?.[1]
    if (what !== 'fills' && what !== 'positions') return
    const lastAt = this.#lastAt.get(what)
    this.#lastAt.set(what, at)
    if (lastAt === undefined) return
    const gap = Math.max(GRID_MS, Math.round((at - lastAt) / GRID_MS) * GRID_MS)
    const gaps = this.#gaps[what]
    gaps.set(gap, (gaps.get(gap) ?? 0) + 1)
  }
}

function mostFrequent(counts: ReadonlyMap<number, number>): number | undefined {
  const [most] = [...counts].toSorted((one, other) => other[1] - one[1])
  return most?.[0]
}

function describeNext(
  file: string,
  {
    isOtherConfig,
    isAfterStop,
  }: { readonly isOtherConfig: boolean; readonly isAfterStop: boolean },
): string | undefined {
  if (isOtherConfig)
    return `the configuration changed with ${basename(file)}, and the backtest needs the one of before (-c FILE)`
  return isAfterStop ? `${basename(file)} begins another run, after a stop` : undefined
}

const NOTHING_GIVEN = { set: [], params: [] }

/** `--set` only applies to the recorded run's own file. */
function isRepeated({ configFile }: RecordedRun, { config }: ConfigOptions): boolean {
  return configFile !== undefined && (config === undefined || resolve(config) === configFile)
}

function describeGiven(recorded: RecordedRun, options: ConfigOptions): readonly string[] {
  if (recorded.given === undefined)
    return [
      'note: the recording does not say which --set and --param its run was given; give them again',
    ]
  const { set, params } = recorded.given
  const words = [...set.map((text) => ['--set', text]), ...params.map((text) => ['--param', text])]
  if (words.length === 0) return []
  const given = words.map(([option = '', text = '']) => `${option} ${toShellWord(text)}`).join(' ')
  return [
    isRepeated(recorded, options)
      ? `note: as in the recorded run: ${given}`
      : `note: -c names another file, so this was not repeated from the recorded run: ${given}`,
  ]
}

/**
 * The named configuration, else the recorded run's. @throws ConfigError; Failure
 * PARITY_CONFIG_OTHER if it trades something else
 */
function loadRecordedConfig(recorded: RecordedRun, options: ConfigOptions): LoadedConfig {
  const { configFile, settings } = recorded
  const found = configFile !== undefined && existsSync(configFile) ? configFile : undefined
  const { set, params } = isRepeated(recorded, options)
    ? (recorded.given ?? NOTHING_GIVEN)
    : NOTHING_GIVEN
  const loaded = loadConfig(
    toConfigRequest({
      config: options.config ?? found,
      set: [...set, ...options.set],
      param: [...params, ...(options.param ?? [])],
    }),
  )
  const enabled = loaded.config.strategies.filter((strategy) => strategy.enabled)
  const given = describeTraded(enabled)
  const traded = describeTraded(
    [...settings.strategies.values()].map(({ id, symbols }) => ({ id, instruments: symbols })),
  )
  if (given === traded) return loaded
  throw new Failure({
    code: 'PARITY_CONFIG_OTHER',
    sentence: 'the configuration does not trade what the recorded run traded',
    facts: {
      recorded: traded,
      ...(configFile !== undefined && { of: configFile }),
      given,
      from: loaded.config.file,
    },
    hint: 'name the configuration of the recorded run: -c FILE, with its --set and --param',
  })
}

function describeTraded(
  strategies: readonly { readonly id: string; readonly instruments: readonly string[] }[],
): string {
  return strategies
    .map(({ id, instruments }) => `${id} (${instruments.toSorted().join(' ')})`)
    .toSorted()
    .join(', ')
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
  const feeds = playRecordedFeeds(recorded.feeds, { readsAt: recorded.allReadsAt, latencyMs })
  try {
    const open = async (fromAt: number) => {
      const files = writeRecordedPrices(tables, directory, { fromAt, toAt })
      const request = { files, days: 1, seed: undefined, balance: undefined, version, fromAt }
      const prepared = await prepareWatched(loaded, watcher, request)
      const quietFrom = recorded.stop && decidesUntil(recorded.stop, latencyMs)
      const opened = markDecisions(
        stopDecisions(prepared.open(prepared.fillModel, undefined), quietFrom),
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
        run: new BacktestRun({
          ...opened,
          coverage,
          backtest: { ...backtest, polling, feeds },
          onStep,
        }),
      }
    }
    // A trial measures how long a backtest takes to its first decision, so that both decide first
    // at the same moment.
    const trialAt =
      Math.min(...firsts) - Math.max(LEAD_MS_MIN, LEAD_LOOKS * loaded.config.polling.tickersMs)
    const trial = await open(trialAt)
    while (trial.trace.firstReadAt === undefined && trial.run.playTo(trial.run.now + CHUNK_MS))
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
  // A simulator's own prices are not a market's.
  const coverage = prepared.coverage.map((one) =>
    madeUp.includes(one.symbol) ? ({ ...one, kind: 'seeded' } as const) : one,
  )
  const common = { format: 1, name, coin, coverage } as const
  const write = (
    place: (typeof PLACES)[number],
    run: (unfinished: string) => RunReport,
    assumptions: readonly string[],
  ): string => {
    const target = new ReportDirectory(join(directory, place))
    try {
      const written = {
        ...common,
        assumptions,
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
      RECORDED_ASSUMPTIONS,
    ),
    write('backtest', () => report, listAssumptions(prepared, [prepared.fillModel])),
  ]
}

/**
 * A stopping daemon reads prices until everything in flight is settled, but asks no strategy.
 * @param from exchange clock: nobody is asked from then on; undefined for a run that never
 * stopped
 */
export function stopDecisions(
  opened: BacktestRunOptions,
  from: number | undefined,
): BacktestRunOptions {
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
