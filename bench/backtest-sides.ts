// Backtests of this checkout beside those of another one, in turn: CPU, its ratio by pairs, and whether both write the
// same bytes. `npm run bench:backtest -- --against PATH` runs it.

import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAll } from '../test/backtest/backtest-project.ts'
import { type PlayedLine, writeProject } from '../test/backtest/library-project.ts'
import type { BacktestRound, RoundOrder } from './backtest-round.ts'
import { medianOf } from './figures.ts'

export interface SidesOptions {
  readonly against: string
  /** The longest line plays so many days, the others a share of them. */
  readonly days: number
  readonly rounds: number
  /** A part of the names of the lines that are measured. */
  readonly only: string
}

interface MeasuredLine extends PlayedLine {
  readonly name: string
  /** The whole command in a process of its own, and not a run in a process of the bench's. */
  readonly isCommand?: boolean
}

interface PlayedPair {
  readonly here: BacktestRound
  readonly there: BacktestRound
}

const HERE = join(import.meta.dirname, '..')
/** The first is of code that is not compiled yet. */
const REPEATS = 3
/** It names the version, and where the code is. */
const RECIPE = 'run.json'

/** @returns whether both checkouts wrote the same in all lines. */
export function compareSides(options: SidesOptions): boolean {
  const { days, only, rounds } = options
  console.log(
    `CPU in seconds, least, median and most of ${rounds} pairs; ratio: the other over this one`,
  )
  const same = linesOf(days)
    .filter(({ name }) => name.includes(only))
    .map((line) => compareLine(line, options))
  return !same.includes(false)
}

function linesOf(days: number): readonly MeasuredLine[] {
  const trend = { strategy: 'trend', days, pollMs: 60_000, instruments: 1 } as const
  const lines: readonly Omit<MeasuredLine, 'name'>[] = [
    trend,
    { ...trend, pollMs: 15_000 },
    { ...trend, strategy: 'grid', pollMs: 15_000 },
    { ...trend, strategy: 'market-maker', days: Math.ceil(days / 3), pollMs: 15_000 },
    { ...trend, instruments: 2 },
    { ...trend, instruments: 8 },
    { ...trend, isCommand: true },
  ]
  return lines.map((line) => ({ ...line, name: nameOf(line) }))
}

function nameOf({
  strategy,
  days,
  pollMs,
  instruments,
  isCommand,
}: Omit<MeasuredLine, 'name'>): string {
  const how = isCommand ? ', the whole command' : ''
  const on = instruments === 1 ? '' : `, ${instruments} instruments`
  return `${strategy}, ${days} days, a look each ${pollMs / 1000} s${on}${how}`
}

function compareLine(line: MeasuredLine, { against, rounds }: SidesOptions): boolean {
  const { project, files } = writeProject(line)
  const pairs: PlayedPair[] = []
  const play = (checkout: string): BacktestRound =>
    line.isCommand
      ? playCommand(checkout, project.directory, files)
      : playRound(checkout, project.directory, { files, repeats: REPEATS })
  try {
    for (let round = 0; round < rounds; round++) {
      const there = play(against)
      pairs.push({ there, here: play(HERE) })
    }
  } finally {
    project.remove()
  }
  console.log(`\n${line.name}: ${pairs[0]?.here.fills ?? 0} fills`)
  printTimes('first in its process', pairs, (cpu) => cpu.slice(0, 1))
  if (!line.isCommand) printTimes('repeated in it', pairs, (cpu) => cpu.slice(1))
  const different = pairs.flatMap(({ here, there }) => differencesOf(here, there))
  for (const name of new Set(different)) console.log(`  DIFFERENT: ${name}`)
  return different.length === 0
}

function playRound(checkout: string, directory: string, order: RoundOrder): BacktestRound {
  const args = [
    join(import.meta.dirname, 'backtest-round.ts'),
    checkout,
    directory,
    JSON.stringify(order),
  ]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as BacktestRound
}

/** CPU is that of all its processes, as the system counts it for those that have ended. */
function playCommand(checkout: string, directory: string, files: readonly string[]): BacktestRound {
  const out = mkdtempSync(join(tmpdir(), 'bench-command-'))
  const report = join(out, 'report')
  const args = [
    '-c',
    'export TIMEFORMAT="%U %S"; time "$@" > /dev/null',
    'bash',
    process.execPath,
    join(checkout, 'bin/intentd.mjs'),
    'backtest',
    'main.yaml',
    ...files.flatMap((file) => ['--market', file]),
    '--out',
    report,
  ]
  try {
    const { status, stderr } = spawnSync('bash', args, { cwd: directory, encoding: 'utf8' })
    if (status !== 0) throw new Error(`the command in ${checkout} failed: ${stderr}`)
    const times = stderr.trim().split('\n').at(-1)?.split(' ').map(Number) ?? []
    const { [RECIPE]: _, ...written } = readAll(report)
    const { runs } = JSON.parse(readFileSync(join(report, 'report.json'), 'utf8')) as {
      readonly runs: readonly { readonly fills: { readonly count: number } }[]
    }
    return {
      cpu: [times.reduce((sum, seconds) => sum + seconds, 0)],
      fills: runs[0]?.fills.count ?? 0,
      hashes: Object.fromEntries(
        Object.entries(written).map(([name, text]) => [
          name,
          createHash('sha256').update(text).digest('hex'),
        ]),
      ),
    }
  } finally {
    rmSync(out, { recursive: true })
  }
}

function printTimes(
  title: string,
  pairs: readonly PlayedPair[],
  pick: (cpu: readonly number[]) => readonly number[],
): void {
  const of = (round: BacktestRound): number => medianOf(pick(round.cpu))
  const ratios = pairs.map(({ here, there }) => of(there) / of(here))
  console.log(
    `  ${title.padEnd(22)}there ${spreadOf(pairs.map(({ there }) => of(there)))}  here ` +
      `${spreadOf(pairs.map(({ here }) => of(here)))}  ratio ${spreadOf(ratios)}`,
  )
}

function spreadOf(figures: readonly number[]): string {
  const shown = [Math.min(...figures), medianOf(figures), Math.max(...figures)]
  return shown.map((figure) => figure.toFixed(2).padStart(6)).join('')
}

/** The names of files that one side alone wrote, or that are not the same. */
function differencesOf(here: BacktestRound, there: BacktestRound): readonly string[] {
  const names = new Set([...Object.keys(here.hashes), ...Object.keys(there.hashes)])
  return [...names].filter((name) => here.hashes[name] !== there.hashes[name])
}
