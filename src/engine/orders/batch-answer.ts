import { readBatchOutcome } from '../../execution/batch-outcome.ts'
import type { Answer } from '../../domain/answer.ts'
import type { AnswerFacts, ItemOutcome } from '../../domain/record.ts'
import { errorCode } from '../../protocol/error-codes.ts'
import type { BatchResult } from '../../protocol/values.ts'
import { noteModeRefused } from '../resolution/account-setup.ts'
import { judgeFills, judgeNames } from '../resolution/older-state.ts'
import { announce, type Core, instrumentOf, record } from '../state/core.ts'
import { noteBatchClockAccepted, noteBatchClockRefused } from '../state/market-state.ts'
import { judgeRejection } from '../state/limit-pace.ts'
import { holdQuote } from '../state/decision-state.ts'
import { noteAnswered } from '../state/refusals.ts'
import { halt, haltForKey } from '../state/trading-mode.ts'
import { leavePlacing } from '../state/instrument-state.ts'
import { closeBatch } from '../state/open-calls.ts'

/**
 * Every item gets an outcome, and the instrument may be planned again. No answer is an outcome too.
 */
export function answerBatch(core: Core, batchId: number, answer: Answer<BatchResult>): void {
  const batch = closeBatch(core, batchId)
  if (!batch) return
  const items = readBatchOutcome(batch.clientOids, answer)
  judgeFills(core, items)
  record(
    core,
    { kind: 'outcome', at: core.now, batchId, items, answer: toFacts(answer) },
    items.some((item) => item.outcome === 'unknown'),
  )
  announce(core, answer.kind === 'unknown' ? 'warn' : 'debug', 'batch.answered', {
    batchId,
    symbol: batch.symbol,
    answer: answer.kind,
    ...(answer.kind === 'accepted' ? {} : { code: answer.code, message: answer.message }),
  })
  for (const item of items) announceItem(core, batchId, batch.symbol, item)
  noteOutcomes(core, items)
  for (const item of items) judgeRejection(core, item)
  const refused = items.find(({ outcome }) => outcome === 'clockRefused')
  if (refused) noteBatchClockRefused(core, refused.code ?? '')
  else if (answer.kind === 'accepted') noteBatchClockAccepted(core)
  judgeCodes(core, batch.symbol, answer, items)
  leavePlacing(instrumentOf(core, batch.symbol))
  judgeNames(core, batch.symbol, items)
}

function toFacts(answer: Answer<BatchResult>): AnswerFacts {
  const { kind, requestTime } = answer
  const time = requestTime === undefined ? {} : { requestTime }
  if (answer.kind === 'accepted') return { kind, code: '00000', ...time }
  const { status } = answer
  const code = answer.code || (answer.kind === 'unknown' ? answer.cause : answer.class)
  return { kind, code, ...(status === undefined ? {} : { status }), ...time }
}

const LEVELS: Readonly<Record<ItemOutcome['outcome'], 'info' | 'warn'>> = {
  accepted: 'info',
  exists: 'warn',
  rejected: 'warn',
  clockRefused: 'warn',
  notSent: 'warn',
  unknown: 'warn',
}

function announceItem(core: Core, batchId: number, symbol: string, item: ItemOutcome): void {
  const { clientOid, outcome, orderId, code, message } = item
  const state = core.book.orders.get(clientOid)?.state
  announce(core, LEVELS[outcome], `order.${outcome}`, {
    clientOid,
    symbol,
    batchId,
    state,
    ...(orderId === undefined ? {} : { orderId }),
    ...(code === undefined ? {} : { code, message }),
  })
}

/** A refused order is not placed again on the same prices: the strategy decides first. */
function noteOutcomes(core: Core, items: readonly ItemOutcome[]): void {
  const answered = items.flatMap(({ clientOid, outcome, code, message }) => {
    const terms = core.book.orders.get(clientOid)?.terms
    return terms === undefined ? [] : [{ terms, outcome, code, message }]
  })
  for (const { terms, outcome } of answered) {
    if (outcome === 'rejected') holdQuote(core, terms.strategyId, terms.symbol)
  }
  noteAnswered(core, answered)
}

/**
 * Codes that say something of the account. These would only come again: refused keys, missing
 * permissions, the wrong position mode.
 */
function judgeCodes(
  core: Core,
  symbol: string,
  answer: Answer<BatchResult>,
  items: readonly ItemOutcome[],
): void {
  const codes = [
    ...items.map((item) => item.code),
    answer.kind === 'refused' ? answer.code : undefined,
  ]
  for (const code of codes) {
    if (code === undefined) continue
    const { topic } = errorCode(code)
    if (topic === 'auth') return haltForKey(core, code)
    if (topic === 'marginMode') noteModeRefused(instrumentOf(core, symbol))
    if (topic === 'positionMode')
      return halt(
        core,
        symbol,
        'refused',
        `account.positionMode ${core.settings.positionMode} of the configuration is not the account's. Set it at the exchange, or change the setting and restart, before the release, or the next order is refused again: ${code}`,
      )
    if (topic === 'accountRisk')
      return halt(core, symbol, 'refused', `the exchange restricts the account: ${code}`)
  }
}
