import { basename } from 'node:path'
import { readRecordedFeeds, type RecordedFeeds } from '../../assembly/recordings/recorded-feeds.ts'
import type { JournalRecord } from '../../domain/record.ts'
import type { Book } from '../../engine/book/book.ts'
import { parseCore } from '../../engine/replay/core-image.ts'
import { parseEvent } from '../../engine/replay/event-text.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { parseValue } from '../../lib/value-text.ts'
import type { SegmentFile } from '../../recording/recordings.ts'
import { openSegment } from '../../recording/segment-reader.ts'
import type { SegmentHead } from '../../recording/segment.ts'
import type { PlayMarks } from '../playing/thread-protocol.ts'
import type { PlayedEvent } from '../virtual-pollers.ts'
import { RunTrace } from './run-trace.ts'

const READ = /^\{"kind":"(?:snapshotTaken|decided|fillsRead|clockSynchronised)"/
const RESTRICTED = /^\{"kind":"record".*"kind":"(?:restricted|released)"/
const FETCHED = '{"kind":"candlesFetched"'
const STOP = /^\{"kind":"commanded","command":\{"kind":"stop"/

export interface RecordedRun extends Pick<SegmentHead, 'configFile' | 'given'> {
  readonly segments: readonly SegmentFile[]
  readonly settings: EngineSettings
  readonly trace: RunTrace
  /** Exchange clock: reads of prices since the first decision. */
  readonly readsAt: readonly number[]
  readonly feeds: RecordedFeeds
  readonly allReadsAt: readonly number[]
  /** Exchange clock; `after`: readings of prices before it. */
  readonly fetched: readonly (PlayedEvent & { readonly after: number })[]
  readonly accountReads: { readonly fillsMs?: number; readonly positionsMs?: number }
  readonly stop: RecordedStop | undefined
  readonly remarks: readonly string[]
}

/** Exchange clock. */
interface RecordedStop {
  readonly at: number
  /** Exchange clock: the last prices before the stop, and the first after it. */
  readonly readBeforeAt: number | undefined
  readonly readAfterAt: number | undefined
}

/**
 * After the stop no strategy is asked, on prices or on fills. The last prices before the stop were
 * decided on, even if they arrive later in the backtest than they did in the recorded run.
 */
export function decidesUntil(
  { at, readBeforeAt = 0, readAfterAt = Number.POSITIVE_INFINITY }: RecordedStop,
  latencyMs: number,
): number {
  return Math.min(readAfterAt, Math.max(at, readBeforeAt + latencyMs + 1))
}

export function readRecorded(found: readonly SegmentFile[], marks: PlayMarks): RecordedRun {
  const { image, head } = openSegment(found[0]?.file ?? '')
  const { settings, book } = parseCore(image)
  const restrictions = book.restrictions.values()
  const trace = new RunTrace(settings, { fromAt: head.startedAt, restrictions })
  const readsAt: number[] = []
  const fetched: RecordedRun['fetched'][number][] = []
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
      if (event.startsWith(FETCHED))
        fetched.push({ at: at + offsetMs, after: readsAt.length, event: parseEvent(event) })
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
    fetched,
    feeds: readRecordedFeeds(segments),
    accountReads: polls.everyMs,
    remarks: [
      ...describeBeginning(book),
      ...(next === undefined
        ? []
        : [
            `note: ${next}: only the files before it are compared (${segments.length} of ${found.length})`,
          ]),
    ],
  }
}

function describeBeginning(book: Book): readonly string[] {
  const open = [...book.open.values()].reduce((sum, orders) => sum + orders.size, 0)
  const held = [...book.account.values()].filter(
    ({ longLots, shortLots }) => longLots + shortLots > 0,
  ).length
  const counts: readonly (readonly [number, string])[] = [
    [open, 'open orders'],
    [held, 'positions'],
    [book.candles.size, 'kept series of candles'],
    [book.strategyStates.size, 'states of strategies'],
  ]
  const begun = counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]))
  if (begun.length === 0) return []
  return [
    `note: the recording begins with ${begun.join(', ')}; the backtest begins with nothing, so what follows from that differs`,
  ]
}

const GAP_STEP_MS = 10

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
    const gap = Math.max(GAP_STEP_MS, Math.round((at - lastAt) / GAP_STEP_MS) * GAP_STEP_MS)
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
