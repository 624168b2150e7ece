import process from 'node:process'
import {
  replay,
  type StepDifference,
  type Replay,
  type ReplayWatcher,
} from '../../assembly/recordings/replay.ts'
import type { SegmentFile } from '../../recording/recordings.ts'
import {
  ChangedStrategy,
  type ChangedDecision,
  type Wishes,
  loadChangedStrategy,
} from '../../assembly/strategies/changed-strategy.ts'
import type { Instrument } from '../../domain/instrument.ts'
import { parseCore } from '../../engine/replay/core-image.ts'
import { DRAFT_INLINE, isAnyWithin, listDraftFolders } from '../../config/draft-strategies.ts'
import {
  type ConfigOptions,
  loadConfig,
  loadStrategyFile,
  toConfigRequest,
} from '../../config/load-config.ts'
import { ConfigError } from '../../config/yaml/problem.ts'
import { guardPlay } from '../../backtest/opening/load-warm.ts'
import { systemClock } from '../../lib/clock.ts'
import { openSegment } from '../../recording/segment-reader.ts'
import { refuseDrafts } from '../../strategy/isolation/refuse-drafts.ts'
import { toWords } from '../../views/explain/intent-words.ts'

const EXIT_DIFFERENT = 1

export interface ReplayTask {
  readonly segments: readonly SegmentFile[]
  readonly version: string
  readonly strategy: string | undefined
  /** The main file names the folder in which an assistant may write. */
  readonly main: ConfigOptions
  readonly shown: number
}

export interface ReplayResult {
  readonly lines: readonly string[]
  readonly damage: string
  readonly exit: number
}

export async function replaySegments(task: ReplayTask, onStep: () => void): Promise<ReplayResult> {
  const { segments, version, strategy } = task
  const comparison =
    strategy === undefined ? undefined : await openComparison({ ...task, strategy })
  const watcher: ReplayWatcher = {
    onBegin: (core) => comparison?.watcher.onBegin?.(core),
    onStep: (step) => {
      onStep()
      comparison?.watcher.onStep?.(step)
    },
  }
  const done = replay({ segments, version, watcher })
  return {
    lines: [
      ...describeReplay(done),
      ...(done.difference ? describeDifference(done.difference) : []),
      done.difference ? 'other effects than recorded' : 'same effects, to the byte',
      ...(comparison?.describe() ?? []),
    ],
    damage: done.damage ? `${done.damage.message}\n` : '',
    exit: done.difference || done.damage ? EXIT_DIFFERENT : 0,
  }
}

function describeReplay(done: Replay): readonly string[] {
  const { files, runs, steps, effects, batches, orders, from, to, remarks } = done
  const span =
    from === undefined || to === undefined ? 'nothing' : `${toTime(from)} to ${toTime(to)}`
  const seconds = ((to ?? 0) - (from ?? 0)) / 1000
  return [
    `replayed  ${countOf(files, 'file')} of ${countOf(runs.length, 'run')}: ${span}, ${seconds.toFixed(1)} s`,
    `          ${countOf(steps, 'event')}, ${countOf(effects, 'effect')}, ${countOf(orders, 'order')} in ${countOf(batches, 'batch', 'batches')}`,
    ...remarks.map((remark) => `note      ${remark}`),
  ]
}

const countOf = (amount: number, one: string, more = `${one}s`): string =>
  `${amount} ${amount === 1 ? one : more}`

function describeDifference(difference: StepDifference): readonly string[] {
  const { file, step, at, event, effect, counts, expected, actual } = difference
  const where =
    event === undefined ? `the core before step ${step + 1}` : `step ${step}, effect ${effect}`
  return [
    `differs   ${where}, ${toTime(at)}, ${file}`,
    ...(event === undefined ? [] : [`event     ${event}`]),
    `effects   ${counts[0]} recorded, ${counts[1]} now; the first that differs (- recorded, + now):`,
    ...showDifference(expected, actual),
  ]
}

function toTime(at: number): string {
  return new Date(at).toISOString()
}

const WISHES_SHOWN = 6

interface Comparison {
  readonly watcher: ReplayWatcher
  describe(): readonly string[]
}

async function openComparison({
  strategy: file,
  main,
  segments,
  shown,
}: ReplayTask & { readonly strategy: string }): Promise<Comparison> {
  const { settings } = parseCore(openSegment(segments[0]?.file ?? '').image)
  const changed = loadStrategyFile({ file, cwd: process.cwd() })
  if (changed.strategy.isolation === 'inline') closeDrafts(changed, main)
  guardPlay({ strategies: [changed.strategy] })
  const strategy = await loadChangedStrategy(changed, settings)
  const lines: string[] = []
  const counts = new Map<string, number>()
  const watcher = new ChangedStrategy({
    strategy,
    clock: systemClock,
    onChange: (change) => {
      const before = [...counts.values()].reduce((sum, count) => sum + count, 0)
      counts.set(change.symbol, (counts.get(change.symbol) ?? 0) + 1)
      if (before < shown)
        lines.push(...describeChange(change, settings.instruments.get(change.symbol)))
    },
  })
  const describe = () => [
    '',
    `${strategy.id} as in ${file}: what it would have wished for, shown what the recorded one was shown`,
    'an open loop: positions, orders and fills are those of the recording',
    ...lines,
    ...describeCounts(watcher, counts),
  ]
  return { watcher, describe }
}

function closeDrafts(
  { strategy, document }: ReturnType<typeof loadStrategyFile>,
  main: ConfigOptions,
): void {
  const drafts = listDraftFolders(loadConfig(toConfigRequest(main)).config)
  if (drafts.some((folder) => isAnyWithin(folder, [strategy.file, strategy.moduleFile])))
    throw new ConfigError([document.problem(['isolation'], DRAFT_INLINE)])
  refuseDrafts(drafts)
}

function describeCounts(
  { decisions, changed }: ChangedStrategy,
  counts: ReadonlyMap<string, number>,
): readonly string[] {
  const bySymbol = [...counts].map(([symbol, count]) => `${symbol} ${count}`).join(', ')
  const same = `${decisions} decisions, ${decisions - changed} the same`
  return [changed === 0 ? `${same}: no intent differs` : `${same}, ${changed} differ: ${bySymbol}`]
}

function describeChange(
  { at, symbol, was, now }: ChangedDecision,
  instrument: Instrument | undefined,
): readonly string[] {
  const [before, after] = [wordsOf(was, instrument), wordsOf(now, instrument)]
  const [gone, come] = [without(before, after), without(after, before)]
  const kept = before.length - gone.length
  return [
    `${new Date(at).toISOString()}  ${symbol}${kept > 0 ? `, ${kept} the same` : ''}`,
    ...limit(gone).map((wish) => `  - ${wish}`),
    ...limit(come).map((wish) => `  + ${wish}`),
    ...(gone.length + come.length === 0 ? ['  the same wishes in another order'] : []),
  ]
}

function wordsOf(wishes: Wishes, instrument: Instrument | undefined): readonly string[] {
  if (typeof wishes === 'string') return [`failed: ${wishes.split('\n', 1)[0]}`]
  return instrument ? toWords(wishes, instrument) : wishes.map((intent) => JSON.stringify(intent))
}

function without(words: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others)
  return words.filter((word) => !known.has(word))
}

function limit(wishes: readonly string[]): readonly string[] {
  if (wishes.length <= WISHES_SHOWN) return wishes
  return [...wishes.slice(0, WISHES_SHOWN), `and ${wishes.length - WISHES_SHOWN} more`]
}

const CONTEXT_LINES = 3
const LINES_MAX = 40

function showDifference(
  expected: string | undefined,
  actual: string | undefined,
): readonly string[] {
  const [was, is] = [toLines(expected), toLines(actual)]
  let start = 0
  while (start < was.length && start < is.length && was[start] === is[start]) start += 1
  let end = 0
  const common = Math.min(was.length, is.length) - start
  while (end < common && was.at(-1 - end) === is.at(-1 - end)) end += 1
  return [
    ...was.slice(Math.max(0, start - CONTEXT_LINES), start).map((line) => `    ${line}`),
    ...limitLines(was.slice(start, was.length - end)).map((line) => `  - ${line}`),
    ...limitLines(is.slice(start, is.length - end)).map((line) => `  + ${line}`),
    ...was.slice(was.length - end, was.length - end + CONTEXT_LINES).map((line) => `    ${line}`),
  ]
}

function toLines(text: string | undefined): readonly string[] {
  return text === undefined
    ? ['nothing']
    : JSON.stringify(JSON.parse(text), undefined, 2).split('\n')
}

function limitLines(lines: readonly string[]): readonly string[] {
  if (lines.length <= LINES_MAX) return lines
  return [...lines.slice(0, LINES_MAX), `… and ${lines.length - LINES_MAX} lines more`]
}
