import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { BacktestView } from '../../control/detail-views.ts'
import type { BacktestReport, RunReport } from '../../report/run-report.ts'
import { showCoin } from '../../domain/coin-amount.ts'
import { readReport, RECIPE_FILE, REPORT_FILE } from '../../report/read-report.ts'
import { listMadeUpSymbols } from '../../report/text/figures.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

const REPORTS_MAX = 12
const REPORT_BYTES_MAX = 64_000_000
const CURVE_POINTS = 200
const RATIOS_SHOWN = 12

const recipe = z.looseObject({ set: z.array(z.string()), param: z.array(z.string()) })

export function listBacktests(folder: string): readonly BacktestView[] {
  const names = readFolder(folder)
  const dated = names.flatMap((id) => {
    const stats = statSync(join(folder, id, REPORT_FILE), { throwIfNoEntry: false })
    return stats === undefined || stats.size > REPORT_BYTES_MAX
      ? []
      : [{ id, writtenAt: Math.round(stats.mtimeMs) }]
  })
  return dated
    .toSorted((one, other) => other.writtenAt - one.writtenAt)
    .slice(0, REPORTS_MAX)
    .flatMap(({ id, writtenAt }) => {
      const report = tryReport(join(folder, id))
      if (report === undefined) return []
      const { name, coin, runs, coverage } = report
      const madeUp = listMadeUpSymbols(coverage)
      const given = readGiven(join(folder, id, RECIPE_FILE))
      return [
        { id, name, coin, writtenAt, given, madeUp, runs: runs.map((run) => viewRun(run, coin)) },
      ]
    })
}

function viewRun(
  { model, fromAt, toAt, money, ratios, series }: RunReport,
  coin: string,
): BacktestView['runs'][number] {
  const equity = series.close.filter((value) => Number.isFinite(value))
  const step = Math.max(1, Math.floor(equity.length / CURVE_POINTS))
  return {
    model,
    fromAt,
    toAt,
    opening: money.opening,
    final: money.final,
    fees: money.fees,
    ratios: ratios.slice(0, RATIOS_SHOWN).map(({ name, value, unit }) => ({
      name,
      text: toText(value, unit, coin),
    })),
    curve: equity.filter((_, index) => index % step === 0 || index === equity.length - 1),
  }
}

function toText(
  value: number | null,
  unit: RunReport['ratios'][number]['unit'],
  coin: string,
): string {
  if (value === null) return '-'
  if (unit === 'share') return `${(100 * value).toFixed(2)} %`
  if (unit === 'money') return showCoin(value, coin)
  return unit === 'days' ? `${value.toFixed(1)} days` : value.toFixed(2)
}

function readGiven(file: string): string[] {
  try {
    const { set, param } = recipe.parse(parseBoundedJson(readFileSync(file, 'utf8')))
    return [...set, ...param]
  } catch {
    return []
  }
}

function tryReport(directory: string): BacktestReport | undefined {
  try {
    return readReport(directory)
  } catch {
    return undefined
  }
}

function readFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
