import { writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Command } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import { type NamedRun, renderComparisonPage } from '../report/page/comparison-page.ts'
import { listDifferences } from '../report/text/recipe-differences.ts'
import { readRecipe, readReport } from '../report/read-report.ts'
import { describeMadeUp, MADE_UP } from '../report/text/figures.ts'
import { describeComparison } from '../report/text/terminal-report.ts'
import { writeOut } from '../lib/write-out.ts'

interface CompareOptions {
  readonly out: string
}

export function addCompareCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('compare')
    .argument('<run>', 'the directory of a report, from `backtest` or `parity --out`')
    .argument('<other>', 'another one')
    .description('show two backtests side by side')
    .option('--out <file>', 'the page to write', 'comparison.html')
    .action((run: string, other: string, { out }: CompareOptions) => {
      const isSamePlace = basename(resolve(run)) === basename(resolve(other))
      const named = [run, other].flatMap((directory) =>
        readRuns(directory, isSamePlace ? directory : basename(resolve(directory))),
      )
      const differences = listDifferences(readRecipe(run), readRecipe(other))
      writeFileSync(out, renderComparisonPage(named, differences))
      writeOut([...describeComparison(named, differences), `  ${resolve(out)}`, ''].join('\n'))
      setExit(0)
    })
}

function readRuns(directory: string, place: string): readonly NamedRun[] {
  const { runs, coin, coverage } = readReport(directory)
  const madeUp = describeMadeUp(coverage)
  const mark = madeUp.length === 0 ? '' : `, ${MADE_UP}`
  return runs.map((run) => ({
    place,
    madeUp,
    run,
    coin,
    name: `${runs.length === 1 ? place : `${place} ${run.model}`}${mark}`,
  }))
}
