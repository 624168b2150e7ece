import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, messageOf } from '../lib/failure.ts'
import { isRecord } from '../lib/plain-data.ts'
import type { BacktestReport, RunRecipe } from './run-report.ts'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'

export const REPORT_FILE = 'report.json'
/** Written last and removed first: without it no report is whole. */
export const RECIPE_FILE = 'run.json'

/** @throws Failure REPORT_UNREADABLE */
export function readReport(directory: string): BacktestReport {
  const file = join(directory, REPORT_FILE)
  try {
    const report: unknown = parseBoundedJson(readFileSync(file, 'utf8'))
    if (isReport(report)) return report
  } catch (cause) {
    throw unreadable(file, messageOf(cause))
  }
  throw unreadable(file, 'it is no report of this version')
}

/** Undefined if there is none, or if it cannot be read. */
export function readRecipe(directory: string): RunRecipe | undefined {
  try {
    const recipe: unknown = parseBoundedJson(readFileSync(join(directory, RECIPE_FILE), 'utf8'))
    return isRecord(recipe) ? recipe : undefined
  } catch {
    return undefined
  }
}

function isReport(value: unknown): value is BacktestReport {
  if (typeof value !== 'object' || value === null) return false
  if (!('format' in value && 'runs' in value && 'coverage' in value)) return false
  return value.format === 1 && Array.isArray(value.runs) && Array.isArray(value.coverage)
}

function unreadable(file: string, problem: string): Failure {
  return new Failure({
    code: 'REPORT_UNREADABLE',
    sentence: 'the report of a backtest cannot be read',
    facts: { file, problem },
    hint: 'name a directory that a backtest has written; for a recording, `intentd parity RECORDING --out DIR` writes two that can be compared',
  })
}
