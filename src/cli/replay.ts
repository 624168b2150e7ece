import { resolve } from 'node:path'
import { type Command } from 'commander'
import { type Difference, replay, type Replay } from '../daemon/replay.ts'
import { findSegments } from '../recording/recordings.ts'
import { type RunFrame } from './run.ts'
import { showDifference } from './text-difference.ts'

/** The effects are not the recorded ones, or the recording is damaged. */
const EXIT_DIFFERENT = 1

/** `intentd replay`: a recording made again, held against itself. */
export function addReplayCommand(program: Command, { version, setExit }: RunFrame): void {
  program
    .command('replay')
    .argument('<recording>', 'a .rec file, or a directory of them')
    .description('run the core again on what was recorded, and compare what it does to the byte')
    .action((recording: string) => setExit(replayFiles(resolve(recording), version)))
}

function replayFiles(path: string, version: string): number {
  const done = replay({ segments: findSegments(path), version })
  print(describe(done))
  if (done.difference) print(describeDifference(done.difference))
  else if (done.damage) process.stderr.write(`${done.damage.message}\n`)
  print([done.difference ? 'other effects than recorded' : 'same effects, to the byte'])
  return done.difference || done.damage ? EXIT_DIFFERENT : 0
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

function describe({
  files,
  lives,
  steps,
  effects,
  batches,
  orders,
  from,
  to,
  remarks,
}: Replay): readonly string[] {
  const span = from === undefined || to === undefined ? 'nothing' : `${toTime(from)} to ${toTime(to)}`
  const seconds = ((to ?? 0) - (from ?? 0)) / 1000
  return [
    `replayed  ${files} files of ${lives.length} lives: ${span}, ${seconds.toFixed(1)} s`,
    `          ${steps} events, ${effects} effects, ${orders} orders in ${batches} batches`,
    ...remarks.map((remark) => `note      ${remark}`),
  ]
}

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
