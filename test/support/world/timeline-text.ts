import { type Answer } from '../../../src/domain/answer.ts'
import { type Intent } from '../../../src/domain/intent.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import {
  type BatchPlaceItem,
  type BatchPlaceRequest,
} from '../../../src/protocol/futures/batch-place-order.ts'
import { type CancelAllRequest } from '../../../src/protocol/futures/cancel-all-orders.ts'
import { type BatchResult } from '../../../src/protocol/values.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'
import { type TrueOrder } from '../virtual/exchange-truth.ts'

/** Further orders of a ladder are not shown one by one. */
const ORDERS_SHOWN_MAX = 8

/** Lines for some kinds of a union; other kinds are not shown. */
type Describers<Union extends { readonly kind: string }> = {
  readonly [Kind in Union['kind']]?: (
    one: Extract<Union, { readonly kind: Kind }>,
  ) => readonly string[]
}

function describe<Union extends { readonly kind: string }>(
  describers: Describers<Union>,
  one: Union,
): readonly string[] | undefined {
  const describer = describers[one.kind as Union['kind']] as
    | ((one: Union) => readonly string[])
    | undefined
  return describer?.(one)
}

/** Events of the client. */
export function describeEvent(event: EngineEvent): readonly string[] {
  return describe<EngineEvent>(EVENTS, event) ?? []
}

const EVENTS: Describers<EngineEvent> = {
  decided: ({ strategyId, intents }) =>
    intents.length === 0 ? [] : [`${strategyId} wants ${intents.map(describeIntent).join(', ')}`],
  decisionFailed: ({ strategyId, reason }) => [`${strategyId} fails: ${reason}`],
  batchAnswered: ({ batchId, answer }) => [`◄── batch ${batchId}: ${describeAnswer(answer)}`],
  cancelAnswered: ({ cancelId, answer }) => [
    `◄── cancel-all ${cancelId}: ${describeAnswer(answer)}`,
  ],
  readFailed: ({ what, reason }) => [`◄── ${what}: ${reason}`],
  commanded: ({ command }) => [`operator: ${JSON.stringify(command)}`],
}

function describeIntent(intent: Intent): string {
  if (intent.kind === 'quote') return `a ladder of ${intent.levels.length}`
  if (intent.kind === 'target') return `a position of ${intent.lots}`
  if (intent.kind === 'place')
    return `${intent.action} ${intent.lots} @ ${intent.ticks ?? 'market'} (${intent.key})`
  return intent.kind
}

function describeAnswer(answer: Answer<BatchResult>): string {
  if (answer.kind === 'refused') return `refused (${answer.class}) ${answer.code}`
  if (answer.kind === 'unknown') return `unknown (${answer.cause}) ${answer.code}`
  const { successList, failureList } = answer.data
  return `${successList.length} succeeded, ${failureList.length} failed`
}

/** Actions of the client, and its new beliefs. */
export function describeEffect(effect: Effect): readonly string[] {
  return describe<Effect>(EFFECTS, effect) ?? []
}

const EFFECTS: Describers<Effect> = {
  record: ({ record }) =>
    describe<JournalRecord>(RECORDS, record) ?? [`record: ${listFacts(record)}`],
  sendBatch: ({ batch }) => describeBatch(JSON.parse(batch.body) as BatchPlaceRequest),
  sendCancelAll: ({ cancelId, body }) => [
    `cancel-all ${cancelId} ${(JSON.parse(body) as CancelAllRequest).symbol ?? ''} ──►`,
  ],
  announce: ({ level, event, fields }) =>
    level === 'warn' || level === 'error' ? [`${level}: ${event} ${listFacts(fields)}`] : [],
}

/** States of strategies and passing time are omitted. */
const RECORDS: Describers<JournalRecord> = {
  send: ({ batchId, orders, again }) => [
    `record: batch ${batchId} of ${orders.length + again.length}`,
  ],
  outcome: ({ items }) =>
    items.map(({ clientOid, outcome, code }) =>
      `record: ${shorten(clientOid)} ${outcome} ${code ?? ''}`.trimEnd(),
    ),
  fills: ({ fills }) =>
    fills.map(
      ({ side, lots, ticks, orderId }) =>
        `record: fill ${side} ${lots} @ ${ticks} of …${orderId.slice(-6)}`,
    ),
  settle: ({ orders }) =>
    orders.map(({ clientOid, state, reason, replacement }) => {
      const again = replacement ? `, again ${replacement.lots}` : ''
      return `record: ${shorten(clientOid)} ${state}${again} (${reason})`
    }),
  expire: ({ orders, places, reason }) => [
    ...orders.map(({ clientOid, state }) => `record: ${shorten(clientOid)} ${state}`),
    ...places.map(({ key }) => `record: ${key} dropped, ${reason}`),
  ],
  decision: () => [],
  boot: () => [],
  cancelAnswered: () => [],
  funding: () => [],
  prune: () => [],
  cancel: () => [],
}

function listFacts(facts: object): string {
  return Object.entries(facts)
    .filter(([name]) => name !== 'at')
    .map(([, value]) => shorten(typeof value === 'object' ? JSON.stringify(value) : String(value)))
    .join(' ')
}

function describeBatch({ symbol, orderList }: BatchPlaceRequest): readonly string[] {
  const shown = orderList.slice(0, ORDERS_SHOWN_MAX).map((item) => `   ${describeItem(item)}`)
  const rest = orderList.length - shown.length
  return [
    `sends ${orderList.length} of ${symbol}`,
    ...shown,
    ...(rest > 0 ? [`   and ${rest} more`] : []),
  ]
}

function describeItem({
  clientOid,
  side,
  tradeSide,
  reduceOnly,
  size,
  price,
  force,
}: BatchPlaceItem): string {
  const way = [side, tradeSide, reduceOnly === 'YES' ? 'reduce-only' : undefined]
    .filter(Boolean)
    .join(' ')
  return `${shorten(clientOid ?? '')} ${way} ${size} @ ${price ?? 'market'} ${force ?? ''}`.trimEnd()
}

/** The exchange's reply: all of it for orders, else only refusals. */
export function describeReply(site: string, reply: Reply<unknown>): readonly string[] {
  if (!reply.ok) return [`${site}: ${reply.code} ${reply.message}`]
  if (site !== 'batchPlaceOrder' && site !== 'cancelAllOrders') return []
  const { successList, failureList } = reply.data as BatchResult
  const failed = failureList.map(
    ({ clientOid, errorCode, errorMsg }) =>
      `   ${shorten(clientOid ?? '')} ${errorCode} ${errorMsg}`,
  )
  return [`${site}: ${successList.length} succeeded, ${failureList.length} failed`, ...failed]
}

export function describeOrder(order: TrueOrder, before: TrueOrder | undefined): string {
  const { clientOid, direction, lots, filledLots, status, cancelReason } = order
  const name = shorten(clientOid)
  if (filledLots > (before?.filledLots ?? 0))
    return `${name} ${direction} filled ${filledLots} of ${lots}`
  if (!before) return `${name} ${direction} ${lots} is ${status}`
  return `${name} is ${status}${cancelReason === undefined ? '' : `: ${cancelReason}`}`
}

/** Enough of a clientOid to tell a world's orders apart; other texts unchanged. */
function shorten(text: string): string {
  return /^t[a-z2-7]{26}-/.test(text) ? text.slice(1, 7) + text.slice(27) : text
}
