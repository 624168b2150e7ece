import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CsvFile } from './collect/trade-table.ts'
import { renderPage } from './page/page.ts'
import { RECIPE_FILE, REPORT_FILE } from './read-report.ts'
import { DIGITS, roundNumbers } from './round-numbers.ts'
import type { BacktestReport, RunRecipe, RunReport } from './run-report.ts'
import { makeDirectory } from '../lib/durable-file.ts'

interface WrittenRun {
  readonly recipe: RunRecipe
  readonly models: number
  readonly command?: string
}

/**
 * Each fill model has a folder of CSV files; a single one has the directory itself.
 * @returns the path of the page
 */
export function writeReport(
  directory: string,
  report: BacktestReport,
  { recipe, models, command }: WrittenRun,
): string {
  makeDirectory(directory)
  for (const run of report.runs) writeColumns(directoryOf(directory, run.model, models), run)
  writeFileSync(join(directory, REPORT_FILE), `${JSON.stringify(report, roundNumbers)}\n`)
  writeFileSync(join(directory, RECIPE_FILE), `${JSON.stringify(recipe, undefined, 2)}\n`)
  const page = join(directory, 'report.html')
  writeFileSync(page, renderPage(report, recipe, command))
  return page
}

export function directoryOf(directory: string, model: string, models: number): string {
  return models === 1 ? directory : join(directory, model)
}

function writeColumns(directory: string, { series, dailyReturns }: RunReport): void {
  const equity = new CsvFile(join(directory, 'equity.csv'), [
    'time',
    'equity',
    'low',
    'high',
    'drawdown',
    'exposure',
  ])
  const { close, low, high, drawdown, gross } = series
  for (const [bucket, value] of close.entries()) {
    if (Number.isNaN(value)) continue
    const cells = [value, low[bucket], high[bucket], drawdown[bucket], gross[bucket]]
    const time = new Date(series.startAt + bucket * series.stepMs).toISOString()
    equity.add([time, ...cells.map((cell) => Number((cell ?? 0).toPrecision(DIGITS)))])
  }
  equity.close()
  const returns = new CsvFile(join(directory, 'returns.csv'), ['date', 'return'])
  for (const { startAt, value } of dailyReturns) {
    returns.add([new Date(startAt).toISOString().slice(0, 10), Number(value.toPrecision(DIGITS))])
  }
  returns.close()
}
