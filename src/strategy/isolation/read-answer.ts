import { DENIAL_CODES, type DenialCode } from '../../domain/denial.ts'
import { isPlotName, type PlotPoint } from '../../domain/plot.ts'
import { isRecord } from '../../lib/plain-data.ts'
import type { IntentDenial } from '../read-intents.ts'
import { STRATEGY_FAILURES, type StrategyFailureCode } from '../strategy-failure.ts'
import type { SaidLine } from '../strategy-output.ts'

/** As much as an honest thread sends. */
const LINES_MAX = 11
const FIELDS_MAX = 20
const DENIALS_MAX = 501
const TEXT_MAX = 500
const PLOTS_MAX = 1000
const MESSAGE_MAX = 4000

export interface AnswerReading {
  readonly said: readonly SaidLine[]
  readonly denials: readonly IntentDenial[]
  readonly failure: { readonly code: StrategyFailureCode; readonly message: string } | undefined
  readonly plots: readonly PlotPoint[]
  readonly intents: readonly unknown[]
  readonly state: unknown
}

/**
 * A strategy can patch what our code calls there, so the answer may contain anything, even in
 * another strategy's name. @throws Error if it is no answer
 */
export function readAnswer(strategyId: string, message: unknown): AnswerReading {
  if (!isRecord(message)) throw new Error('an answer without words')
  const { kind, intents, state } = message
  if (kind !== 'decided' && kind !== 'failed') throw new Error('an answer of no kind')
  if (kind === 'decided' && !Array.isArray(intents)) throw new Error('an answer without intents')
  return {
    said: listOf(message['said'], LINES_MAX).map(readLine),
    denials: listOf(message['denials'], DENIALS_MAX).flatMap((one) => readDenial(strategyId, one)),
    plots: listOf(message['plots'], PLOTS_MAX).flatMap(readPlot),
    failure: kind === 'failed' ? readFailure(message) : undefined,
    intents: Array.isArray(intents) ? intents : [],
    state,
  }
}

function readPlot(point: unknown): readonly PlotPoint[] {
  const { symbol, name, value } = isRecord(point) ? point : {}
  const isWhole = isPlotName(name) && typeof value === 'number' && Number.isFinite(value)
  return isWhole ? [{ symbol: textOf(symbol), name, value }] : []
}

function readFailure({
  code,
  message,
}: Readonly<Record<string, unknown>>): AnswerReading['failure'] {
  const isKnown = typeof code === 'string' && Object.hasOwn(STRATEGY_FAILURES, code)
  return {
    code: isKnown ? (code as StrategyFailureCode) : 'STRATEGY_NO_DECISION',
    message: textOf(message, MESSAGE_MAX),
  }
}

function readLine(line: unknown): SaidLine {
  const { message, facts } = isRecord(line) ? line : {}
  const shown = Object.entries(isRecord(facts) ? facts : {}).slice(0, FIELDS_MAX)
  return {
    message: textOf(message),
    facts: Object.fromEntries(shown.map(([name, value]) => [textOf(name), readFact(value)])),
  }
}

function readFact(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? value : textOf(value)
}

function readDenial(strategyId: string, value: unknown): readonly IntentDenial[] {
  if (!isRecord(value)) return []
  const { index, symbol, code, detail } = value
  if (typeof code !== 'string' || !Object.hasOwn(DENIAL_CODES, code)) return []
  return [
    {
      index: typeof index === 'number' ? index : 0,
      strategyId,
      symbol: textOf(symbol),
      code: code as DenialCode,
      detail: textOf(detail),
    },
  ]
}

function listOf(value: unknown, max: number): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, max) : []
}

function textOf(value: unknown, max = TEXT_MAX): string {
  return typeof value === 'string' ? value.slice(0, max) : ''
}
