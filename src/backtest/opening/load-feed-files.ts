import type { LoadedStrategy } from '../../assembly/strategies/strategies.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { FeedId } from '../../domain/feed.ts'
import { readSignalFields } from '../../domain/signal-fields.ts'
import { nameOfSignal } from '../../domain/signal.ts'
import { Failure } from '../../lib/failure.ts'
import { isRecord } from '../../lib/plain-data.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import { showTime } from '../../report/text/figures.ts'
import { type FeedFile, loadFeedFile } from '../feed-file.ts'
import type { PlayedFeed } from '../virtual-pollers.ts'

type FeedAsker = Pick<LoadedStrategy, 'id' | 'feedNames' | 'feeds'>

/** `--feed`: `FILE`, `NAME=FILE` or `STRATEGY.NAME=FILE`. */
interface FeedSpec {
  readonly strategy: string | undefined
  readonly name: string | undefined
  readonly path: string
}

const SPEC = /^(?:([a-z][a-z0-9-]{0,31})\.)?([a-zA-Z][a-zA-Z0-9]{0,31})=(.+)$/s

/**
 * Loads each file for the request that its first line names.
 * @throws Failure FEED_UNKNOWN, FEED_OTHER, FEED_SIGNAL, FEED_TWICE, FEED_UNUSED, and those of
 * {@link loadFeedFile}
 */
export async function loadFeedFiles(
  specs: readonly string[],
  strategies: readonly FeedAsker[],
  signals: DaemonConfig['signals'],
): Promise<readonly FeedFile[]> {
  const files = new Map<FeedId, FeedFile>()
  for (const spec of specs.map(toSpec)) {
    const askers = findAskers(spec, strategies)
    const file = await loadFeedFile(spec.path)
    assertAsked(file, spec, askers)
    const before = files.get(file.feed)
    if (before !== undefined) throw twice(file, before)
    files.set(file.feed, file)
  }
  const all = [...files.values()]
  assertSignalsFit(all, signals)
  return all
}

/**
 * A live daemon refuses a signal that does not fit its schema, so a backtest does too.
 * @throws Failure FEED_SIGNAL
 */
function assertSignalsFit(files: readonly FeedFile[], signals: DaemonConfig['signals']): void {
  for (const file of files) {
    const name = nameOfSignal(file.feed)
    const fields = name === undefined ? undefined : signals?.accept[name]?.fields
    if (fields === undefined) continue
    for (const [index, at] of file.readAt.entries()) {
      const { data } = file.reading(index)
      const read = isRecord(data) ? readSignalFields(fields, data) : { problem: 'is no object' }
      if (!('problem' in read)) continue
      throw new Failure({
        code: 'FEED_SIGNAL',
        sentence: 'a signal in a file does not fit its schema',
        facts: {
          file: file.path,
          line: file.lineOf(index),
          readAt: new Date(at).toISOString(),
          signal: name ?? '',
          problem: read.problem,
        },
        hint: 'correct that line, or signals.accept in the main file',
      })
    }
  }
}

export function toPlayedFeed(file: FeedFile): PlayedFeed {
  return { feed: file.feed, heardAt: file.readAt, reading: (index) => file.reading(index) }
}

export function pathOfFeed(spec: string): string {
  return toSpec(spec).path
}

function toSpec(text: string): FeedSpec {
  const [, strategy, name, path = text] = SPEC.exec(text) ?? []
  return { strategy, name, path }
}

function findAskers(spec: FeedSpec, strategies: readonly FeedAsker[]): readonly FeedAsker[] {
  const { strategy, name } = spec
  if (name === undefined) return strategies
  const askers = strategies.filter(
    ({ id, feedNames }) => (strategy === undefined || id === strategy) && feedNames.has(name),
  )
  if (askers.length > 0) return askers
  throw new Failure({
    code: 'FEED_UNKNOWN',
    sentence: 'no strategy has a feed of this name',
    facts: { option: `--feed ${describeName(spec)}=${spec.path}`, feeds: listFeeds(strategies) },
    hint: 'name a feed as the file of its strategy names it, or give the file alone: --feed FILE',
  })
}

function assertAsked(file: FeedFile, spec: FeedSpec, askers: readonly FeedAsker[]): void {
  const { name } = spec
  if (name === undefined) {
    if (askers.some(({ feedNames }) => [...feedNames.values()].includes(file.feed))) return
    throw new Failure({
      code: 'FEED_UNUSED',
      sentence: 'no strategy asks for what this file answers',
      facts: { file: spec.path, answers: file.feed, feeds: listFeeds(askers) },
      hint: 'leave the file out, or correct the feed in the file of the strategy',
    })
  }
  const other = askers.find(({ feedNames }) => feedNames.get(name) !== file.feed)
  if (other === undefined) return
  throw new Failure({
    code: 'FEED_OTHER',
    sentence: 'the file answers another request than the feed asks',
    facts: {
      file: spec.path,
      answers: file.feed,
      feed: `${other.id}.${name}`,
      asks: other.feedNames.get(name) ?? '',
    },
    hint: 'give the file of this request; where two strategies use the name for different ones: --feed STRATEGY.NAME=FILE',
  })
}

function twice(file: FeedFile, before: FeedFile): Failure {
  return new Failure({
    code: 'FEED_TWICE',
    sentence: 'two files answer the same request',
    facts: { answers: file.feed, files: `${before.source}, ${file.source}` },
    hint: 'give one of them',
  })
}

function describeName({ strategy, name = '' }: FeedSpec): string {
  return strategy === undefined ? name : `${strategy}.${name}`
}

function listFeeds(strategies: readonly FeedAsker[]): string {
  const feeds = strategies.flatMap(({ id, feedNames }) =>
    [...feedNames].map(([name, feed]) => `${id}.${name} (${feed})`),
  )
  return feeds.length === 0 ? 'none' : feeds.join(', ')
}

/** The report names a time without readings that is longer than so many intervals. */
const INTERVALS_MAX = 3

export function describeFeeds(
  strategies: readonly FeedAsker[],
  files: readonly FeedFile[],
  { fromAt, toAt }: { readonly fromAt: number; readonly toAt: number },
): readonly string[] {
  return strategies.flatMap(({ id, feeds, feedNames }) =>
    [...feedNames].map(([name, feed]) => {
      const file = files.find((one) => one.feed === feed)
      const whose = `${id}: its feed "${name}"`
      if (file === undefined && nameOfSignal(feed) !== undefined)
        return `${id}: its signal "${name}" is not played; snapshot.signal gives undefined. --feed ${name}=FILE plays a file of signals.`
      if (file === undefined)
        return `${whose} is not played; snapshot.feed gives undefined. --feed ${name}=FILE plays its readings.`
      if (nameOfSignal(feed) !== undefined)
        return `${id}: its signal "${name}" is played from ${file.source}: ${describeSignals(file.readAt, { fromAt, toAt })}.`
      const everyMs = feeds.find((one) => one.id === feed)?.everyMs ?? 0
      return `${whose} is played from ${file.source}: ${describePlayed(file.readAt, { fromAt, toAt, everyMs })}.`
    }),
  )
}

function describeSignals(
  readAt: readonly number[],
  { fromAt, toAt }: { readonly fromAt: number; readonly toAt: number },
): string {
  const played = readAt.filter((at) => at > fromAt && at < toAt).length
  return played === 1 ? '1 signal' : `${played.toLocaleString('en')} signals`
}

function describePlayed(
  readAt: readonly number[],
  {
    fromAt,
    toAt,
    everyMs,
  }: { readonly fromAt: number; readonly toAt: number; readonly everyMs: number },
): string {
  const first = Math.max(
    0,
    readAt.findLastIndex((at) => at <= fromAt),
  )
  const shown = readAt.slice(first).filter((at) => at < toAt)
  if (shown.length === 0) return 'no reading of it lies before the end of the run'
  const { longestMs, atMs } = longestWait(shown, { fromAt, toAt })
  const wait =
    longestMs > INTERVALS_MAX * everyMs
      ? `; the longest time without one is ${showDuration(longestMs)}, from ${showTime(atMs)} on`
      : ''
  return `${shown.length.toLocaleString('en')} readings, one each ${showDuration(everyMs)} in a live run${wait}`
}

function longestWait(
  shown: readonly number[],
  { fromAt, toAt }: { readonly fromAt: number; readonly toAt: number },
): { readonly longestMs: number; readonly atMs: number } {
  let [longestMs, atMs] = [0, fromAt]
  const ends = [...shown.slice(shown[0] !== undefined && shown[0] <= fromAt ? 1 : 0), toAt]
  let before = fromAt
  for (const at of ends) {
    if (at - before > longestMs) [longestMs, atMs] = [at - before, before]
    before = at
  }
  return { longestMs, atMs }
}
