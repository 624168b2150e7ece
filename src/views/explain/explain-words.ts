import { cleanLine } from '../../lib/text/clean-text.ts'
import { DENIAL_CODES } from '../../domain/denial.ts'
import type { ClientOid } from '../../domain/ids.ts'
import type { Fill, FillKind } from '../../domain/fill.ts'
import { feeOf, profitOf, toFeesText } from '../../domain/fill-money.ts'
import type { InstrumentSteps } from '../../domain/instrument.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import { countLevels, levelsNamedBy } from '../../engine/book/apply-record.ts'
import type { SeenMarket } from '../../domain/seen-market.ts'
import type { OrderTerms } from '../../domain/order.ts'
import type { Holding } from '../../domain/position.ts'
import type {
  DecisionRecord,
  DenialRecord,
  ItemOutcome,
  LadderChange,
  OutcomeRecord,
  SendRecord,
  SettledOrder,
} from '../../domain/record.ts'
import { showOnGrid } from '../../lib/grid.ts'

const LEVELS_NAMED_MAX = 4

export interface Moment {
  readonly sequence: number
  readonly at: number
  readonly what: string
  readonly text: string
}

export interface Explanation {
  readonly title: string
  readonly moments: readonly Moment[]
  readonly verdict: string
}

/** Instruments that are missing are shown in ticks and lots. */
export type StepsBySymbol = ReadonlyMap<string, InstrumentSteps>

function priceOf(instruments: StepsBySymbol, symbol: string, ticks: number | undefined): string {
  if (ticks === undefined) return 'market'
  const tick = instruments.get(symbol)?.tick
  return tick ? showOnGrid(tick, ticks) : `${ticks} ticks`
}

export function sizeOf(instruments: StepsBySymbol, symbol: string, lots: number): string {
  const lot = instruments.get(symbol)?.lot
  return lot ? showOnGrid(lot, lots) : `${lots} lots`
}

export function wordsOfTerms(
  instruments: StepsBySymbol,
  { symbol, action, lots, ticks, force }: OrderTerms | OrderIntent,
): string {
  const at = ticks === undefined ? 'at the market' : `@ ${priceOf(instruments, symbol, ticks)}`
  return `${action} ${sizeOf(instruments, symbol, lots)} ${symbol} ${at} ${force}`
}

export function wordsOfHolding(
  instruments: StepsBySymbol,
  symbol: string,
  holding: Holding,
): string {
  const sides = [
    ...(holding.longLots === 0 ? [] : [`long ${sizeOf(instruments, symbol, holding.longLots)}`]),
    ...(holding.shortLots === 0 ? [] : [`short ${sizeOf(instruments, symbol, holding.shortLots)}`]),
  ]
  return sides.length === 0 ? 'flat' : sides.join(' and ')
}

function wordsOfSight({ bid, ask, ageMs }: SeenMarket): string {
  return bid > 0 ? `bid ${bid}, ask ${ask}, ${ageMs} ms old` : 'no prices'
}

function wordsOfLadder(instruments: StepsBySymbol, change: LadderChange): string {
  const levels = countLevels(change)
  if (levels === 0) return 'no ladder any more'
  const { symbol } = change
  const added = levelsNamedBy(change)
  const named = added.slice(0, LEVELS_NAMED_MAX).map(({ side, ticks, lots }) => {
    return `${side} ${sizeOf(instruments, symbol, lots)} @ ${priceOf(instruments, symbol, ticks)}`
  })
  if (added.length > named.length) named.push(`${added.length - named.length} more`)
  const what = `a ladder of ${levels} ${levels === 1 ? 'level' : 'levels'}`
  return named.length === 0 ? `${what}, none of them new` : `${what}, new: ${named.join('; ')}`
}

export function wordsOfWithdrawal({ strategyId, command }: DecisionRecord): string {
  return command === undefined
    ? `${strategyId} wants it no more`
    : cleanLine(`by ${command.by}: ${command.reason}`)
}

function wordsOfCommand({ command }: DecisionRecord): string {
  return command === undefined ? '' : cleanLine(` · by ${command.by}: ${command.reason}`)
}

export function wordsOfDecision(
  instruments: StepsBySymbol,
  record: DecisionRecord,
  symbol: string,
): string {
  const parts: string[] = []
  for (const quote of record.quotes ?? []) {
    if (quote.symbol !== symbol) continue
    parts.push(wordsOfLadder(instruments, quote))
  }
  for (const target of record.targets ?? []) {
    if (target.symbol === symbol)
      parts.push(`a position of ${sizeOf(instruments, symbol, target.lots)}${asTag(target)}`)
  }
  for (const place of record.places ?? []) {
    if (place.symbol === symbol)
      parts.push(`${place.key}: ${wordsOfTerms(instruments, place)}${asTag(place)}`)
  }
  if (record.withdrawn !== undefined) parts.push(`withdraws ${record.withdrawn.length} orders`)
  const sight = record.seen?.markets[symbol]
  const seen =
    sight === undefined ? '' : ` · snapshot ${record.seen?.snapshot}: ${wordsOfSight(sight)}`
  return `${record.strategyId} wants ${parts.join(', ') || 'nothing new'}${wordsOfCommand(record)}${seen}`
}

function asTag({ tag }: { readonly tag?: string }): string {
  return tag === undefined ? '' : ` as ${tag}`
}

export function wordsOfDenial({
  strategyId,
  code,
  detail,
  orders,
  unlogged,
}: DenialRecord): string {
  const times = orders > 1 ? `, ${orders} orders` : ''
  const since = unlogged > 0 ? `, ${unlogged} more since it was last logged` : ''
  return `${strategyId}: ${code}, ${DENIAL_CODES[code]} (${detail}${times}${since})`
}

/** @param clientOid names the item of the batch */
export function wordsOfSend(record: SendRecord, clientOid?: ClientOid): string {
  const { batchId, orders, again, requestAt, seen } = record
  const clientOids = [...orders.map((order) => order.clientOid), ...again]
  const item = clientOid === undefined ? '' : `item ${clientOids.indexOf(clientOid) + 1} `
  const count = clientOids.length
  const waited = seen.waitedMs > 0 ? `waited ${seen.waitedMs} ms for its grant` : 'granted at once'
  return (
    `batch ${batchId}, ${item}of ${count}, ${waited}, signed ${clockTime(requestAt)} exchange time` +
    ` · snapshot ${seen.snapshot}: ${wordsOfSight(seen.market)}`
  )
}

export function wordsOfOutcome(item: ItemOutcome, { answer, batchId }: OutcomeRecord): string {
  const id = item.orderId === undefined ? '' : `orderId ${item.orderId}`
  const why = item.code === undefined ? '' : `${item.code} ${item.message ?? ''}`.trim()
  const context = answer === undefined ? '' : wordsOfAnswer(answer)
  return [`batch ${batchId}`, id, why, context].filter((part) => part !== '').join(', ')
}

export function wordsOfAnswer({
  kind,
  code,
  status,
  requestTime,
}: NonNullable<OutcomeRecord['answer']>): string {
  const http = status === undefined ? '' : ` HTTP ${status}`
  const time = requestTime === undefined ? '' : ` at ${clockTime(requestTime)} exchange time`
  return `answer ${kind} ${code}${http}${time}`
}

export function wordsOfFill(instruments: StepsBySymbol, fill: Fill): string {
  const {
    symbol,
    side,
    lots,
    ticks,
    scope,
    tradeId,
    source,
    fillKind = 'trade',
    systemWord,
    exit,
  } = fill
  const set =
    exit === undefined
      ? ''
      : ` at ${exit.price}, set by order ${exit.clientOid} (${exit.strategyId})`
  const word = systemWord === undefined ? set : ` "${systemWord}"`
  const what = fillKind === 'trade' ? '' : `${KIND_WORDS[fillKind]}${word}: `
  const whose = source === 'API' ? '' : `, made by ${source}`
  return (
    `${what}${side} ${sizeOf(instruments, symbol, lots)} @ ${priceOf(instruments, symbol, ticks)} as ${scope}` +
    `, ${wordsOfMoney(fill)}, trade ${tradeId}${whose}`
  )
}

const KIND_WORDS: Readonly<Record<Exclude<FillKind, 'trade'>, string>> = {
  liquidation: 'liquidated',
  partialLiquidation: 'partly liquidated',
  netting: 'partly liquidated by netting both sides',
  delivery: 'delivered',
  autoDeleveraging: 'auto-deleveraged',
  takeProfit: 'take-profit',
  stopLoss: 'stop-loss',
  system: 'closed by the exchange as',
}

function wordsOfMoney(fill: Fill): string {
  const { profit, fee, otherFees, isProfitOurs } = fill
  const ours = isProfitOurs ? ' by our own count' : ''
  const others = otherFees === undefined ? '' : `, fees in other coins ${toFeesText(otherFees)}`
  const parts = `profit ${profit ?? 'unknown'}${ours}, fee ${fee ?? 'unknown'}${others}`
  if (profit === undefined || fee === undefined) return parts
  return `net ${profitOf(fill).minus(feeOf(fill)).toString()} (${parts})`
}

export function wordsOfSettled(
  instruments: StepsBySymbol,
  { reason, replacement }: SettledOrder,
): string {
  if (replacement === undefined) return reason
  return `${reason}; placed again as ${wordsOfTerms(instruments, replacement)}`
}

export function clockTime(at: number): string {
  return new Date(at).toISOString().slice(11, 23)
}
