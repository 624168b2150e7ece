import type { InstrumentDetail } from '../control/detail-views.ts'
import type { Instrument } from '../domain/instrument.ts'
import { isFlat } from '../domain/position.ts'
import { strategyScope } from '../domain/trading-mode.ts'
import {
  accountHoldingOf,
  holdingOf,
  unownedOf,
  backedHolding,
  unclaimedHolding,
} from '../engine/book/book.ts'
import type { InstrumentState, Resolution } from '../engine/state/core.ts'
import { showOnGrid } from '../lib/grid.ts'
import type { ShownAccount } from './shown-account.ts'
import { describeWait, findHindrances, listPauses, listStrategyWaits } from './hindrances.ts'

const CAUSES: Readonly<Record<Resolution['cause'], string>> = {
  unwanted: 'orders rest that nobody wants',
  unknown: 'it is not known what became of an order',
  missing: 'an order that should rest does not',
  command: 'an operator or a strategy wants everything cancelled',
  restart: 'what an earlier run has left is cleared up',
  released: 'it was released',
  cancelledAlong: 'the cancel-all of another instrument met it',
}

const STAGES: Readonly<Record<Resolution['stage'], string>> = {
  waiting: 'waits until no request of an unknown order can be accepted any more',
  cancelling: 'waits for the answer to a cancel-all',
  settling: 'waits for fills and a position that were read after that',
}

/** A moving ladder has these causes all the time. */
const ORDINARY: ReadonlySet<Resolution['cause']> = new Set(['unwanted', 'command'])

export function* listResolutions({ settings, engine }: ShownAccount): Generator<string> {
  for (const symbol of settings.instruments.keys()) {
    const resolution = engine.instrument(symbol)?.resolution
    if (resolution === undefined) continue
    if (!ORDINARY.has(resolution.cause) || resolution.silentSince !== undefined)
      yield `${symbol}: ${inWords(resolution)}`
  }
}

/** Fills without a known order, and lots without a strategy, which block an exit. */
export function* listUnexplained(account: ShownAccount): Generator<string> {
  for (const instrument of account.settings.instruments.values())
    yield* explainLack(account, instrument)
}

function* explainLack(
  { settings, engine, book }: ShownAccount,
  { symbol, lot }: Instrument,
): Generator<string> {
  const orderIds = unownedOf(book, symbol)
  if (orderIds.length > 0) {
    if (engine.instrument(symbol)?.phase === 'placing') return
    const shown = `${orderIds.slice(0, ORDERS_SHOWN_MAX).join(', ')}${orderIds.length > ORDERS_SHOWN_MAX ? ' …' : ''}`
    yield `${symbol}: fills of no known order (${shown}): nothing that opens is placed until it is known what became of the order that may have made them; if none has, they are foreign`
    return
  }
  const lacking = [...settings.strategies.keys()].filter((id) => {
    const held = holdingOf(book, id, symbol)
    const backed = backedHolding(book, id, symbol)
    return backed.longLots < held.longLots || backed.shortLots < held.shortLots
  })
  if (lacking.length === 0) return
  if (isFlat(accountHoldingOf(book, symbol))) {
    yield `${symbol}: ${lacking.join(', ')} holds on paper what is not in the account any more, because somebody else has closed it: nothing is placed for it, and a flatten counts it as closed`
    return
  }
  const { longLots, shortLots } = unclaimedHolding(book, symbol)
  const size = showOnGrid(lot, longLots + shortLots)
  const side = longLots > 0 ? 'long' : 'short'
  yield `${symbol}: the account is ${side} ${size} that no strategy holds, against what ${lacking.join(', ')} holds: an exit of that is refused, since it would open a position; close it by hand`
}

const ORDERS_SHOWN_MAX = 5

function inWords({ cause, stage, refusals, silentSince }: Resolution): string {
  if (silentSince !== undefined)
    return `${CAUSES[cause]}: nothing is placed before the exchange answers; then it is found out what rests and what was filled`
  const isRefused = stage === 'waiting' && refusals > 0
  return `${CAUSES[cause]}: it ${isRefused ? 'cancels again after a pause: the exchange has refused it' : STAGES[stage]}`
}

export function viewInstrument(
  account: ShownAccount,
  symbol: string,
): InstrumentDetail | undefined {
  const { settings, engine, tickers } = account
  const instrument = settings.instruments.get(symbol)
  if (instrument === undefined) return undefined
  const state = engine.instrument(symbol)
  const read = (column: 'bidPr' | 'askPr' | 'lastPr'): number | null => {
    const value = tickers?.read(symbol, column) ?? Number.NaN
    return value > 0 ? value : null
  }
  return {
    symbol,
    tickSize: showOnGrid(instrument.tick, 1),
    lotSize: showOnGrid(instrument.lot, 1),
    marginCoin: instrument.marginCoin,
    bid: read('bidPr'),
    ask: read('askPr'),
    last: read('lastPr'),
    phase: state?.phase ?? 'idle',
    waits: [...listWaits(account, symbol, state)],
    displaced: (state?.displaced ?? []).map(({ terms }) => terms.clientOid),
  }
}

function* listWaits(
  account: ShownAccount,
  symbol: string,
  state: InstrumentState | undefined,
): Generator<string> {
  const { settings, engine, trusted } = account
  const strategies = [...settings.strategies.values()].filter(({ symbols }) =>
    symbols.includes(symbol),
  )
  const scopes = new Set(['*', symbol, ...strategies.map(({ id }) => strategyScope(id))])
  for (const { scope, mode, reason } of engine.restrictions)
    if (scopes.has(scope)) yield `${scope === '*' ? 'the account' : scope} is ${mode}: ${reason}`
  for (const hindrance of findHindrances(account)) {
    const isOther = [...settings.instruments.keys()].some(
      (one) => one !== symbol && hindrance.startsWith(`${one}:`),
    )
    if (!isOther) yield hindrance
  }
  for (const wait of listStrategyWaits(account))
    if (wait.symbol === symbol) yield describeWait(wait)
  for (const pause of listPauses(account)) if (pause.startsWith(`${symbol}:`)) yield pause
  const instrument = settings.instruments.get(symbol)
  if (instrument !== undefined) yield* explainLack(account, instrument)
  if (state === undefined) return
  const { phase, resolution, wantsBatchSince, wantsCancel, displaced } = state
  if (phase === 'placing')
    yield 'a batch is on the wire: nothing else is placed before it is answered'
  if (resolution !== undefined) yield inWords(resolution)
  if (wantsBatchSince !== undefined) {
    const waitedMs = Math.max(0, Math.round(trusted.clock.now() - wantsBatchSince))
    yield `it has orders to send, and waits for a call within the exchange's limit, for ${waitedMs} ms now`
  }
  if (wantsCancel) yield 'a cancel-all is due, and waits for its call'
  if (displaced.length > 0)
    yield `${displaced.length} wanted orders were cancelled along, and are placed again when their fills are known`
}
