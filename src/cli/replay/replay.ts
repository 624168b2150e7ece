import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { type Difference, replay, type Replay } from '../../daemon/recording/replay.ts'
import { findSegments, type SegmentFile } from '../../recording/recordings.ts'
import { parseCount } from '../process/options.ts'
import { openComparison } from './replay-comparison.ts'
import { showDifference } from './text-difference.ts'
import { writeAside, writeOut } from '../process/write-out.ts'

/** The effects are not the recorded ones, or the recording is damaged. */
const EXIT_DIFFERENT = 1

/** Changed decisions that are shown one by one; the rest is counted. */
const SHOWN_DEFAULT = 20

interface ReplayCommandOptions {
  readonly strategy?: string
  readonly show: number
}

/** `intentd replay`: a recording made again, held against itself or against a changed strategy. */
export function addReplayCommand(program: Command, { version, setExit }: VerbFrame): void {
  program
    .command('replay')
    .argument('<recording>', 'a .rec file, or a directory of them')
    .description('repeat a recorded run, and compare its effects byte for byte')
    .option('--strategy <file>', 'also ask this strategy file, and show where its intents differ')
    .option('--show <n>', 'how many differing decisions to show', parseCount, SHOWN_DEFAULT)
    .action(async (recording: string, options: ReplayCommandOptions) => {
      const segments = findSegments(resolve(recording))
      setExit(await replaySegments(segments, version, options))
    })
}

async function replaySegments(
  segments: readonly SegmentFile[],
  version: string,
  { strategy, show }: ReplayCommandOptions,
): Promise<number> {
  const comparison = strategy === undefined ? undefined : await openComparison(strategy, segments, show)
  const done = replay({ segments, version, ...(comparison && { watcher: comparison.watcher }) })
  print(describe(done))
  if (done.difference) print(describeDifference(done.difference))
  if (done.damage) writeAside(`${done.damage.message}\n`)
  print([done.difference ? 'other effects than recorded' : 'same effects, to the byte'])
  if (comparison) print(comparison.describe())
  return done.difference || done.damage ? EXIT_DIFFERENT : 0
}

function print(lines: readonly string[]): void {
  writeOut(lines.map((line) => `${line}\n`).join(''))
}

function describe(done: Replay): readonly string[] {
  const { files, runs, steps, effects, batches, orders, from, to, remarks } = done
  const span = from === undefined || to === undefined ? 'nothing' : `${toTime(from)} to ${toTime(to)}`
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
  const where = event === undefined ? `the core before step ${step + 1}` : `step ${step}, effect ${effect}`
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
