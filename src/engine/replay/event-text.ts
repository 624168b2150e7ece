import type { Order } from '../../domain/order.ts'
import type { InstrumentMoment, Snapshot } from '../../domain/snapshot.ts'
import { type TickerRows, toTickerRows, toTickerTable } from '../../domain/ticker-rows.ts'
import { deepFreeze } from '../../lib/plain-data.ts'
import { parseValue, writeValue } from '../../lib/value-text.ts'
import type { Effect } from '../effect.ts'
import type { EngineEvent } from '../event.ts'

/** A ticker table is filled again later, so its rows are copied. */
export type KeptEvent =
  | Exclude<EngineEvent, { readonly kind: 'snapshotTaken' }>
  | { readonly kind: 'snapshotTaken'; readonly tickers: TickerRows }

/** @param symbols traded instruments: core and strategies see no others */
export function keepEvent(event: EngineEvent, symbols: Iterable<string>): KeptEvent {
  if (event.kind !== 'snapshotTaken') return event
  return { kind: 'snapshotTaken', tickers: toTickerRows(event.tickers, symbols) }
}

export function writeEvent(event: KeptEvent): string {
  return writeValue(event)
}

/** @throws SyntaxError or TypeError for a text that {@link writeEvent} did not write */
export function parseEvent(text: string): EngineEvent {
  const event = parseValue(text) as KeptEvent
  if (event.kind === 'snapshotTaken') return { ...event, tickers: toTickerTable(event.tickers) }
  // Strategies share the reading.
  if (event.kind === 'feedRead') return deepFreeze(event)
  return event
}

/**
 * A snapshot is written without prices, candles, own fills and money: these follow from the events
 * and the records before.
 */
export function writeEffect(effect: Effect): string {
  if (effect.kind !== 'decide') return writeValue(effect)
  const { strategyId, snapshot } = effect
  return `{"kind":"decide","strategyId":${writeValue(strategyId)},"snapshot":${writeSnapshot(snapshot)}}`
}

function writeSnapshot({
  tickers,
  instruments,
  candles: _candles,
  account: _account,
  market: _market,
  ...snapshot
}: Snapshot): string {
  const { readAt, requestTime } = tickers
  const moments = `[${instruments.map(writeMoment).join(',')}]`
  return `${writeValue({ ...snapshot, tickers: { readAt, requestTime } }).slice(0, -1)},"instruments":${moments}}`
}

function writeMoment({
  instrument,
  orders,
  trades: _trades,
  exchangeExits: _exits,
  money: _money,
  ...moment
}: InstrumentMoment): string {
  const shown = writeValue({ symbol: instrument.symbol, ...moment })
  return `${shown.slice(0, -1)},"orders":[${orders.map(writeOrder).join(',')}]}`
}

/** Texts are kept, because orders are never changed and are written again and again. */
const orderTexts = new WeakMap<Order, string>()

function writeOrder(order: Order): string {
  const known = orderTexts.get(order)
  if (known !== undefined) return known
  const text = writeValue(order)
  orderTexts.set(order, text)
  return text
}
