import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { ConfigOptions } from '../../config/load-config.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { findSegments } from '../../recording/recordings.ts'
import { addConfigOptions, hungAfterOption, parseCount } from '../process/options.ts'
import { playWatched } from '../../backtest/playing/watched-play.ts'
import { replaySegments, type ReplayTask } from './replay-segments.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'

const SHOWN_DEFAULT = 20

interface ReplayCommandOptions extends ConfigOptions {
  readonly strategy?: string
  readonly show: number
  readonly hungAfter: number
}

export function addReplayCommand(program: Command, { version, setExit }: VerbFrame): void {
  addConfigOptions(program.command('replay'))
    .argument('<recording>', 'a .rec file, or a directory of them')
    .description('repeat a recorded run, and compare its effects byte for byte')
    .option('--strategy <file>', 'also ask this strategy file, and show where its intents differ')
    .option('--show <n>', 'how many differing decisions to show', parseCount, SHOWN_DEFAULT)
    .addOption(hungAfterOption())
    .action(
      async (
        recording: string,
        { strategy, show: shown, hungAfter, ...main }: ReplayCommandOptions,
      ) => {
        const segments = findSegments(resolve(recording))
        const task = { segments, version, strategy, main, shown }
        setExit(await (strategy === undefined ? replayHere(task) : replayWatched(task, hungAfter)))
      },
    )
}

async function replayHere(task: ReplayTask): Promise<number> {
  const { lines, damage, exit } = await replaySegments(task, () => undefined)
  writeAside(damage)
  writeOut(lines.map((line) => `${line}\n`).join(''))
  return exit
}

function replayWatched(task: ReplayTask, hungAfterMs: number): Promise<number> {
  return playWatched({ file: './replay-thread', askedBy: import.meta.url, task, hungAfterMs })
}
