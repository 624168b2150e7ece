import {
  type Difference,
  replay,
  type Replay,
  type ReplayWatcher,
} from '../../assembly/recordings/replay.ts'
import type { SegmentFile } from '../../recording/recordings.ts'
import { openComparison } from './replay-comparison.ts'
import { showDifference } from './text-difference.ts'

/** The effects are not the recorded ones, or the recording is damaged. */
const EXIT_DIFFERENT = 1

export interface ReplayTask {
  readonly segments: readonly SegmentFile[]
  readonly version: string
  /** A changed strategy file that is asked too. */
  readonly strategy: string | undefined
  /** Changed decisions that are shown one by one. */
  readonly shown: number
}

export interface ReplayResult {
  readonly lines: readonly string[]
  /** Why it ended before the recording did; empty: it did not. */
  readonly damage: string
  readonly exit: number
}

/** Makes a recording again, and asks the changed strategy beside it. @param onStep Hears of each step. */
export async function replaySegments(
  { segments, version, strategy, shown }: ReplayTask,
  onStep: () => void,
): Promise<ReplayResult> {
  const comparison =
    strategy === undefined ? undefined : await openComparison(strategy, segments, shown)
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
      ...describe(done),
      ...(done.difference ? describeDifference(done.difference) : []),
      done.difference ? 'other effects than recorded' : 'same effects, to the byte',
      ...(comparison?.describe() ?? []),
    ],
    damage: done.damage ? `${done.damage.message}\n` : '',
    exit: done.difference || done.damage ? EXIT_DIFFERENT : 0,
  }
}

function describe(done: Replay): readonly string[] {
  const { files, runs, steps, effects, batches, orders, from, to, remarks } = done
  const span =
    from === undefined || to === undefined ? 'nothing' : `${toTime(from)} to ${toTime(to)}`
  const seconds = ((to ?? 0) - (from ?? 0)) / 1000
  return [
    `replayed  ${count(files, 'file')} of ${count(runs.length, 'run')}: ${span}, ${seconds.toFixed(1)} s`,
    `          ${count(steps, 'event')}, ${count(effects, 'effect')}, ${count(orders, 'order')} in ${count(batches, 'batch', 'batches')}`,
    ...remarks.map((remark) => `note      ${remark}`),
  ]
}

const count = (amount: number, one: string, more = `${one}s`): string =>
  `${amount} ${amount === 1 ? one : more}`

function describeDifference(difference: Difference): readonly string[] {
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
