import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BacktestRun } from '../../backtest/backtest-run.ts'
import { loadConfig, type LoadedConfig } from '../../config/load-config.ts'
import { readRecordedQuotes } from '../../daemon/recording/recorded-quotes.ts'
import { type Fill } from '../../domain/fill.ts'
import { type Instrument } from '../../domain/instrument.ts'
import { type JournalRecord } from '../../domain/record.ts'
import { type Snapshot } from '../../domain/snapshot.ts'
import { parseCore } from '../../engine/replay/core-image.ts'
import { parseEvent } from '../../engine/replay/event-text.ts'
import { type EngineSettings } from '../../engine/settings.ts'
import { type Step } from '../../interpreter/ports.ts'
import { Failure } from '../../lib/failure.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import { parseValue } from '../../lib/value-text.ts'
import { findSegments, type SegmentFile } from '../../recording/recordings.ts'
import { openSegment } from '../../recording/segment-reader.ts'
import { type PlayMarks } from '../backtest/play-marks.ts'
import { type PlayWatcher } from '../backtest/play-message.ts'
import { markDecisions, playRun, prepareWatched, watchForEnd } from '../backtest/run-backtest.ts'
import { toWords } from '../explain/intent-words.ts'
import { type ConfigOptions, toConfigRequest } from '../process/options.ts'
import { firstOther, firstShownOther, unmatched } from './differences.ts'
import { writeRecordedPrices } from './recorded-prices.ts'
import { RunTrace, type SnapshotSeen, type Wish } from './run-trace.ts'

/** What is compared. */
export interface ParityTask {
  readonly recording: string
  readonly options: ConfigOptions
  readonly version: string
}

export interface Parity {
  readonly isSame: boolean
  readonly lines: readonly string[]
}

/** Wishes of one change that are shown: a ladder may have hundreds. */
const WISHES_SHOWN = 4
const TOO_SHORT = 'note: the backtest came to no decision before its prices ended: the recording is too short'
/** Virtual time between two looks whether anything was decided. */
const CHUNK_MS = 100
/** A backtest decides for the first time a few looks at the market after its beginning. */
const LEAD_LOOKS = 10
const LEAD_MS_MIN = 10_000
/** Most of the events are none of these, and reading them takes long. */
const READ = /^\{"kind":"(?:snapshotTaken|decided|fillsRead)"/

/** Plays the prices that a daemon saw through the backtest, and sets what was wanted and filled side by side. */
export async function checkParity(
  { recording, options, version }: ParityTask,
  watcher: PlayWatcher,
): Promise<Parity> {
  const segments = findSegments(resolve(recording))
  const recorded = readRecorded(segments, watcher.marks)
  const { settings } = recorded
  const loaded = withoutPollMs(loadRecordedConfig(recorded, options))
  const played = await playRecorded({ segments, recorded, loaded, version, watcher })
  const ids = [...settings.strategies.keys()].toSorted()
  const wishes = ids.map((id) =>
    compareWishes(
      id,
      [recorded.trace.wishes.get(id) ?? [], played.wishes.get(id) ?? []],
      settings.instruments,
    ),
  )
  const fills = compareFills(recorded.trace.fills, played.fills, settings.instruments)
  const parts = [...wishes, fills]
  return {
    isSame: parts.every(({ isSame }) => isSame),
    lines: [
      ...recorded.remarks,
      ...(played.firstReadAt === undefined ? [TOO_SHORT] : []),
      ...parts.flatMap(({ lines }) => lines),
    ],
  }
}

/** The market is looked at as often as it was then. */
function withoutPollMs({ config, documents }: LoadedConfig): LoadedConfig {
  const { pollMs: _pollMs, ...backtest } = config.backtest
  return { config: { ...config, backtest }, documents }
}

interface RecordedRun {
  readonly configFile: string | undefined
  readonly settings: EngineSettings
  readonly trace: RunTrace
  /** Unix ms, exchange clock: when prices were read, from those on which was decided first. */
  readonly readsAt: readonly number[]
  readonly remarks: readonly string[]
}

function readRecorded(segments: readonly SegmentFile[], marks: PlayMarks): RecordedRun {
  const { image, head } = openSegment(segments[0]?.file ?? '')
  const { settings, book } = parseCore(image)
  const trace = new RunTrace(settings, { fromAt: head.startedAt, book })
  const readsAt: number[] = []
  for (const { file } of segments) {
    for (const { at, event, effects } of openSegment(file).steps()) {
      marks.beat()
      if (READ.test(event)) {
        const parsed = parseEvent(event)
        trace.take(at, parsed)
        if (parsed.kind === 'snapshotTaken') readsAt.push(parsed.tickers.requestTime)
      }
      for (const effect of effects) takeEffect(trace, effect)
    }
  }
  const held = [...book.orders.values()].length
  const remarks =
    held === 0
      ? []
      : [`note: the recording begins with ${held} orders in the book; the backtest begins with none`]
  const firstAt = trace.firstReadAt ?? Number.POSITIVE_INFINITY
  const decidedOn = readsAt.filter((at) => at >= firstAt)
  return { configFile: head.configFile, settings, trace, readsAt: decidedOn, remarks }
}

/** Only two of the effects say what a strategy saw, and reading the others takes long. */
function takeEffect(trace: RunTrace, text: string): void {
  const strategyId = /^\{"kind":"decide","strategyId":"([^"]*)"/.exec(text)?.[1]
  if (strategyId !== undefined)
    trace.asked(strategyId, () => (parseValue(text) as { readonly snapshot: SnapshotSeen }).snapshot)
  else if (text.startsWith('{"kind":"record"') && text.includes('"kind":"candles"'))
    trace.recorded((parseValue(text) as { readonly record: JournalRecord }).record)
}

/**
 * The configuration that is named, else the one of the recorded run, where it still is.
 * @throws ConfigError; Failure PARITY_CONFIG_OTHER for one that trades something else
 */
function loadRecordedConfig({ configFile, settings }: RecordedRun, options: ConfigOptions): LoadedConfig {
  const found = configFile !== undefined && existsSync(configFile) ? configFile : undefined
  const loaded = loadConfig(toConfigRequest({ ...options, config: options.config ?? found }))
  const enabled = loaded.config.strategies.filter((strategy) => strategy.enabled)
  const given = describeTraded(enabled)
  const recorded = describeTraded(
    [...settings.strategies.values()].map(({ id, symbols }) => ({ id, instruments: symbols })),
  )
  if (given === recorded) return loaded
  throw new Failure({
    code: 'PARITY_CONFIG_OTHER',
    sentence: 'the configuration does not trade what the recorded run did',
    facts: { recorded, ...(configFile !== undefined && { of: configFile }), given, from: loaded.config.file },
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

async function playRecorded({
  segments,
  recorded,
  loaded,
  version,
  watcher,
}: PlayedRecording): Promise<RunTrace> {
  const { marks, post } = watcher
  const watch = watchForEnd(marks)
  const directory = mkdtempSync(join(tmpdir(), 'intentd-parity-'))
  post({ kind: 'unfinished', directory })
  const { tables } = readRecordedQuotes(segments)
  const firsts = [...tables.values()].flatMap(([table]) => table?.columns.get('at')?.[0] ?? [])
  const toAt = recorded.readsAt.at(-1) ?? Math.max(...firsts)
  const { latencyMs } = loaded.config.backtest
  const tickersAt = recorded.readsAt.map((at) => at - latencyMs)
  try {
    const open = async (fromAt: number) => {
      const files = writeRecordedPrices(tables, directory, { fromAt, toAt })
      const request = { files, days: 1, seed: undefined, balance: undefined, version, fromAt }
      const prepared = await prepareWatched(loaded, watcher, request)
      const opened = markDecisions(prepared.open(prepared.fillModel, undefined), marks)
      const { backtest } = opened
      const trace = new RunTrace(backtest.settings, { fromAt })
      const onStep = (step: Step): void => takeStep(trace, step)
      const polling = { ...backtest.polling, tickersAt }
      return { trace, run: new BacktestRun({ ...opened, backtest: { ...backtest, polling }, onStep }) }
    }
    // A daemon takes its time to start, a backtest another: it begins so that both decide for the first time at once.
    const trialAt = Math.min(...firsts) - Math.max(LEAD_MS_MIN, LEAD_LOOKS * loaded.config.polling.tickersMs)
    const trial = await open(trialAt)
    while (trial.trace.firstReadAt === undefined && trial.run.playTo(trial.run.now + CHUNK_MS))
      marks.beat(trial.run.now)
    const lead = (trial.trace.firstReadAt ?? trialAt) - trialAt
    const { run, trace } = await open((recorded.trace.firstReadAt ?? trialAt) - lead)
    await playRun(run, watch, (at) => marks.beat(at))
    if (watch.ended?.failure !== undefined) throw watch.ended.failure
    return trace
  } finally {
    watch.forget()
    rmSync(directory, { recursive: true, force: true })
  }
}

function takeStep(trace: RunTrace, { at, event, effects }: Step): void {
  trace.take(at, event)
  for (const effect of effects) {
    if (effect.kind === 'decide') trace.asked(effect.strategyId, () => toSeen(effect.snapshot))
    else if (effect.kind === 'record') trace.recorded(effect.record)
  }
}

function toSeen({ feeds, instruments }: Snapshot): SnapshotSeen {
  const moments = instruments.map(({ instrument: { symbol }, holding, orders }) => ({
    symbol,
    holding,
    orders,
  }))
  return { feeds, instruments: moments }
}

function compareWishes(
  id: string,
  [recorded, played]: readonly [readonly Wish[], readonly Wish[]],
  instruments: ReadonlyMap<string, Instrument>,
): Parity {
  const index = firstOther(recorded, played, ({ text }) => text)
  const counts = `${id}: ${recorded.length} changes of what it wants recorded, ${played.length} in the backtest`
  if (index === undefined) return { isSame: true, lines: [`${counts}, all the same`] }
  const [was, is] = [recorded[index], played[index]]
  return {
    isSame: false,
    lines: [
      `${counts}; the first ${index} are the same, then`,
      ...describeWish('recorded', was, instruments),
      ...describeWish('backtest', is, instruments),
      `  why: ${explainWishes(was, is)}`,
    ],
  }
}

function explainWishes(was: Wish | undefined, is: Wish | undefined): string {
  if (was === undefined || is === undefined) return 'one of the two ended before'
  const other = firstShownOther(was.shown, is.shown)
  if (other !== undefined) return `it was shown another moment: ${other}`
  return 'it was shown the same prices, candles, orders, position and state: its parameters, its code or the equity are others'
}

function describeWish(
  name: string,
  wish: Wish | undefined,
  instruments: ReadonlyMap<string, Instrument>,
): readonly string[] {
  if (wish === undefined) return [`  ${name}: nothing more`]
  const words = wish.intents.flatMap((intent) => {
    const instrument = 'symbol' in intent ? instruments.get(intent.symbol) : undefined
    return instrument ? toWords([intent], instrument) : [JSON.stringify(intent)]
  })
  const shown = [...wish.shown].filter(([what]) => what.startsWith('prices of'))
  return [
    `  ${name} ${new Date(wish.at).toISOString()}, shown ${shown.map(([what, prices]) => `${what} ${prices}`).join('; ')}`,
    ...words.slice(0, WISHES_SHOWN).map((text) => `    ${text}`),
    ...(words.length > WISHES_SHOWN ? [`    and ${words.length - WISHES_SHOWN} more`] : []),
  ]
}

/** Fills of one of the two that are shown. */
const FILLS_SHOWN = 3

function compareFills(
  recorded: readonly Fill[],
  played: readonly Fill[],
  instruments: ReadonlyMap<string, Instrument>,
): Parity {
  const textOf = ({ symbol, side, ticks, lots, scope }: Fill): string => {
    const { tick, lot } = instruments.get(symbol) ?? {}
    return tick && lot
      ? `${symbol} ${side} ${formatOnGrid(lot, lots)} at ${formatOnGrid(tick, ticks)} ${scope}`
      : symbol
  }
  const index = firstOther(recorded, played, textOf)
  const counts = `fills: ${recorded.length} recorded, ${played.length} in the backtest`
  if (index === undefined) return { isSame: true, lines: [`${counts}, all the same`] }
  const describe = (name: string, fills: readonly Fill[]): readonly string[] => [
    ...fills
      .slice(0, FILLS_SHOWN)
      .flatMap((fill) => [
        `  ${name} only: ${new Date(fill.filledAt).toISOString()} ${textOf(fill)}`,
        `    why: ${explainFill(fill)}`,
      ]),
    ...(fills.length > FILLS_SHOWN ? [`  and ${fills.length - FILLS_SHOWN} more that are ${name} only`] : []),
  ]
  return {
    isSame: false,
    lines: [
      `${counts}; the first ${index} are the same`,
      ...describe('recorded', unmatched(recorded, played, textOf)),
      ...describe('backtest', unmatched(played, recorded, textOf)),
    ],
  }
}

function explainFill({ source, scope }: Fill): string {
  if (source !== 'API') return `no order of a strategy (source ${source}): a backtest has none of these`
  if (scope === 'maker')
    return 'it rested: a recording knows the prices of each read, not what was traded between two'
  return 'it took what stood there: the prices of that moment, or what was wanted, were others'
}
