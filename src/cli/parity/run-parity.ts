import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BacktestRun } from '../../backtest/backtest-run.ts'
import { loadConfig, type LoadedConfig } from '../../config/load-config.ts'
import { readRecordedQuotes } from '../../daemon/recording/recorded-quotes.ts'
import { type Fill } from '../../domain/fill.ts'
import { type Instrument } from '../../domain/instrument.ts'
import { parseCore } from '../../engine/replay/core-image.ts'
import { parseEvent } from '../../engine/replay/event-text.ts'
import { type Step } from '../../interpreter/ports.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import { writePrices } from '../../prices/import/import-prices.ts'
import { findSegments, type SegmentFile } from '../../recording/recordings.ts'
import { openSegment } from '../../recording/segment-reader.ts'
import { type PlayMarks } from '../backtest/play-marks.ts'
import { type PlayWatcher } from '../backtest/play-message.ts'
import { markDecisions, playRun, prepareWatched, watchForEnd } from '../backtest/run-backtest.ts'
import { toWords } from '../explain/intent-words.ts'
import { type ConfigOptions, toConfigRequest } from '../process/options.ts'
import { firstOther, RunTrace, unmatched, type Wish } from './run-trace.ts'

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
/** Most of the events are none of these, and reading them takes long. */
const READ = /^\{"kind":"(?:snapshotTaken|decided|fillsRead)"/

/** Plays the prices that a daemon saw through the backtest, and sets what was wanted and filled side by side. */
export async function checkParity(
  { recording, options, version }: ParityTask,
  watcher: PlayWatcher,
): Promise<Parity> {
  const segments = findSegments(resolve(recording))
  const { instruments, recorded, remarks } = readRecorded(segments, watcher.marks)
  const loaded = withoutPollMs(loadConfig(toConfigRequest(options)))
  const played = await playRecorded(segments, { loaded, version, firstAt: recorded.firstAt, watcher })
  const ids = [...new Set([...recorded.wishes.keys(), ...played.wishes.keys()])].toSorted()
  const wishes = ids.map((id) =>
    compareWishes(id, [recorded.wishes.get(id) ?? [], played.wishes.get(id) ?? []], instruments),
  )
  const fills = compareFills(recorded.fills, played.fills, instruments)
  const parts = [...wishes, fills]
  return {
    isSame: parts.every(({ isSame }) => isSame),
    lines: [
      ...remarks,
      ...(played.firstAt === undefined ? [TOO_SHORT] : []),
      ...parts.flatMap(({ lines }) => lines),
    ],
  }
}

/** The market is looked at as often as it was then. */
function withoutPollMs({ config, documents }: LoadedConfig): LoadedConfig {
  const { pollMs: _pollMs, ...backtest } = config.backtest
  return { config: { ...config, backtest }, documents }
}

function readRecorded(segments: readonly SegmentFile[], marks: PlayMarks) {
  const { image, head } = openSegment(segments[0]?.file ?? '')
  const { settings, book } = parseCore(image)
  const recorded = new RunTrace([...settings.instruments.keys()], head.startedAt)
  for (const { file } of segments) {
    for (const { at, event } of openSegment(file).steps()) {
      marks.beat()
      if (READ.test(event)) recorded.take(at, parseEvent(event))
    }
  }
  const held = [...book.orders.values()].length
  const remarks =
    held === 0
      ? []
      : [`note: the recording begins with ${held} orders in the book; the backtest begins with none`]
  return { instruments: settings.instruments, recorded, remarks }
}

interface PlayedRecording {
  readonly loaded: LoadedConfig
  readonly version: string
  /** Unix ms: when the recorded run decided for the first time. */
  readonly firstAt: number | undefined
  readonly watcher: PlayWatcher
}

async function playRecorded(
  segments: readonly SegmentFile[],
  { loaded, version, firstAt, watcher }: PlayedRecording,
): Promise<RunTrace> {
  const { marks, post } = watcher
  const watch = watchForEnd(marks)
  const directory = mkdtempSync(join(tmpdir(), 'intentd-parity-'))
  post({ kind: 'unfinished', directory })
  try {
    const options = { directory, market: 'futures', isStrict: false, isReplacing: false } as const
    const files = [...readRecordedQuotes(segments).tables].flatMap(([symbol, quotes]) =>
      [...writePrices(new Map([[undefined, quotes]]), { symbol, options })].flatMap(({ written }) =>
        written ? [`${symbol}=${written.file}`] : [],
      ),
    )
    const open = async (fromAt: number | undefined) => {
      const request = { files, days: 1, seed: undefined, balance: undefined, version, fromAt }
      const prepared = await prepareWatched(loaded, watcher, request)
      const trace = new RunTrace(Object.keys(prepared.config.instruments), prepared.fromAt)
      const onStep = ({ at, event }: Step): void => trace.take(at, event)
      const opened = markDecisions(prepared.open(prepared.fillModel, undefined), marks)
      return { prepared, trace, run: new BacktestRun({ ...opened, onStep }) }
    }
    // A daemon takes its time to start, a backtest another: it begins so that both decide for the first time at once.
    const trial = await open(undefined)
    while (trial.trace.firstAt === undefined && trial.run.playTo(trial.run.now + CHUNK_MS))
      marks.beat(trial.run.now)
    const lead = (trial.trace.firstAt ?? trial.prepared.fromAt) - trial.prepared.fromAt
    const { run, trace } = await open(firstAt === undefined ? undefined : firstAt - lead)
    await playRun(run, watch, (at) => marks.beat(at))
    if (watch.ended?.failure !== undefined) throw watch.ended.failure
    return trace
  } finally {
    watch.forget()
    rmSync(directory, { recursive: true, force: true })
  }
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
  return JSON.stringify(was.shown) === JSON.stringify(is.shown)
    ? 'it was shown the same prices: its state, its orders or its position were others'
    : 'it was shown other prices: the market was read at another moment'
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
  const shown = Object.entries(wish.shown).map(([symbol, prices]) => `${symbol} ${prices}`)
  return [
    `  ${name} ${new Date(wish.at).toISOString()}, shown ${shown.join(', ')}`,
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
