import type { Order } from '../../domain/order.ts'
import type { InstrumentMoment, Snapshot } from '../../domain/snapshot.ts'
import { type TickerRows, toTickerRows, toTickerTable } from '../../domain/ticker-rows.ts'
import { deepFreeze } from '../../lib/plain-data.ts'
import { parseValue, writeValue } from '../../lib/value-text.ts'
import type { Effect } from '../effect.ts'
import type { EngineEvent } from '../event.ts'

/** Ticker tables are filled again later, so their rows are copied. */
export type KeptEvent =
  | Exclude<EngineEvent, { readonly kind: 'snapshotTaken' }>
  | { readonly kind: 'snapshotTaken'; readonly tickers: TickerRows }

/** The core and its strategies see only traded instruments. */
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
  // Strategies share it.
  if (event.kind === 'feedRead') return deepFreeze(event)
  return event
}

/**
 * A snapshot names only its instruments and the tickers' read: values are those of the last
 * accepted `snapshotTaken`, and candles, own fills and money follow from the records.
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

/** An order is replaced, never changed, and written again and again. */
const orderTexts = new WeakMap<Order, string>()

function writeOrder(order: Order): string {
  const known = orderTexts.get(order)
  if (known !== undefined) return known
  const text = writeValue(order)
  orderTexts.set(order, text)
  return text
}
