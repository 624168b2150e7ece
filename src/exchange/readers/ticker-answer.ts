import type { Answer } from '../../domain/answer.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import { SUCCESS_CODE } from '../../protocol/envelope.ts'
import { type AnswerRules, readAnswer, unpackAnswer } from '../client/answer-reader.ts'
import type { WireAnswer } from '../client/pending-call.ts'
import type { TickersRead } from './ticker-reader.ts'
import type { TickerScanner } from './ticker-scanner.ts'

const NOT_TICKERS = { success: false, problem: 'the answer holds no list of tickers' } as const

/** Reads the bytes of an answer into the table. Whatever is not a list of tickers is read like any other answer. */
export function readTickerAnswer(
  wire: WireAnswer,
  { table, scanner }: { readonly table: TickerTable; readonly scanner: TickerScanner },
  rules: AnswerRules<unknown>,
): Answer<TickerTable> {
  const { status, receivedAt } = wire
  const bytes = unpackAnswer(wire, rules.answerBytesMax)
  const read: TickersRead =
    status !== 200 || typeof bytes === 'string' ? { kind: 'other' } : scanner.read(bytes, table)
  if (read.kind === 'other') return readAnswer(wire, { ...rules, parse: () => NOT_TICKERS })
  if (read.kind === 'malformed') {
    const { problem: message } = read
    return { kind: 'unknown', cause: 'unreadable', code: SUCCESS_CODE, message, status, receivedAt }
  }
  const { requestTime } = read
  table.readAt = receivedAt
  table.requestTime = requestTime ?? receivedAt
  const times = requestTime === undefined ? { receivedAt } : { receivedAt, requestTime }
  return { kind: 'accepted', data: table, ...times }
}
