import type { CoinFee, Fill } from '../../domain/fill.ts'
import { sumMoney, uncountedOf } from '../../domain/fill-money.ts'
import type { FillsRecord } from '../../domain/record.ts'
import { decimal } from '../../lib/decimal.ts'
import { floatOnGrid, showOnGrid } from '../../lib/grid.ts'
import { moneyOf } from '../book/apply-fill.ts'
import { accountHoldingOf, type Book, splitPair } from '../book/book.ts'
import { findFilledExit } from '../book/kept-exits.ts'
import { announce, type Core, record, specOf } from '../state/core.ts'
import { marketOf } from '../state/market-state.ts'

/** Fees are small, so that a price of within an hour is better than none. */
const FEE_PRICE_AGE_MAX_MS = 3_600_000
/** Profits that are worked out here have as many decimals as the exchange's. */
const PROFIT_DECIMALS = 8

/**
 * Records fills, with what the exchange left out and we know: the price of a fee in another coin, the profit of a fill
 * that came without one, and the exit of ours that a close by the system was. What stays unknown is said (MON2). The record holds the results, so that a restart counts
 * the same.
 * @returns The fills as they were recorded.
 */
export function recordFills(
  core: Core,
  fills: readonly Fill[],
  bound: Pick<FillsRecord, 'throughAt' | 'waiting'>,
): readonly Fill[] {
  const recorded: Fill[] = []
  let together: Fill[] = []
  const flush = (): void => {
    if (together.length > 0) record(core, { kind: 'fills', at: core.now, fills: together, ...bound })
    recorded.push(...together)
    together = []
  }
  for (const fill of fills) {
    // What it has realised follows from what was held, so the fills before it have to be in the book.
    if (fill.profit === undefined) flush()
    const complete = withExit(core, withProfit(core, withPrices(core, fill)))
    sayUnknown(core, complete)
    together.push(complete)
  }
  flush()
  return recorded
}

/** An ordinary close by the system may be an exit that we have set. */
function withExit(core: Core, fill: Fill): Fill {
  const found = core.book.byOrderId.has(fill.orderId) ? undefined : findFilledExit(core.book, fill)
  if (!found) return fill
  const { kind, clientOid, strategyId, ticks } = found
  const price = showOnGrid(specOf(core, fill.symbol).tick, ticks)
  return { ...fill, fillKind: kind, exit: { clientOid, strategyId, price } }
}

function withPrices(core: Core, fill: Fill): Fill {
  if (fill.otherFees === undefined) return fill
  const { marginCoin } = specOf(core, fill.symbol)
  const otherFees = fill.otherFees.map(({ coin, amount }): CoinFee => {
    const price = priceOf(core, coin, marginCoin)
    return { coin, amount, ...(price !== undefined && { price }) }
  })
  return { ...fill, otherFees }
}

/** What one of a coin is worth in the margin coin: by its own ticker, held inside bid and ask, else by the configuration. */
function priceOf(core: Core, coin: string, marginCoin: string): string | undefined {
  const symbols = [`${coin}${marginCoin}`, ...(marginCoin === 'USDC' ? [`${coin}PERP`] : [])]
  for (const { bid, ask, last, ageMs } of symbols.map((symbol) => marketOf(core, symbol))) {
    if (bid > 0 && ask >= bid && last > 0 && ageMs <= FEE_PRICE_AGE_MAX_MS)
      return decimal(String(Math.min(ask, Math.max(bid, last)))).toString()
  }
  return core.settings.feeCoins?.get(coin)
}

function withProfit(core: Core, fill: Fill): Fill {
  if (fill.profit !== undefined) return fill
  const side = closedSide(core.book, fill)
  // The document: 0 or empty when it opened.
  if (side === undefined) return { ...fill, profit: '0' }
  const entryTicks = entryOf(core.book, fill.symbol, side)
  const held = accountHoldingOf(core.book, fill.symbol)[`${side}Lots`]
  const { tick, lot, productType } = specOf(core, fill.symbol)
  if (entryTicks === undefined || productType.endsWith('COIN-FUTURES')) return fill
  const gained = (fill.ticks - entryTicks) * (side === 'long' ? 1 : -1)
  const amount = gained * floatOnGrid(tick, 1) * floatOnGrid(lot, Math.min(fill.lots, held))
  const profit = decimal(amount.toFixed(PROFIT_DECIMALS)).toString()
  return { ...fill, profit, isProfitOurs: true }
}

/** The side of the account's position that a fill closes; undefined for one that only opens. */
function closedSide(book: Book, { symbol, side, tradeSide }: Fill): 'long' | 'short' | undefined {
  if (book.positionMode === 'hedge_mode') {
    if (tradeSide === 'open') return undefined
    return side === 'buy' ? 'long' : 'short'
  }
  const { longLots, shortLots } = accountHoldingOf(book, symbol)
  if (side === 'sell' && longLots > 0) return 'long'
  return side === 'buy' && shortLots > 0 ? 'short' : undefined
}

/**
 * The average price, in ticks, of what the account holds on a side, by our own fills. Undefined where they do not
 * explain all of it: something was adopted, or strategies hold against each other.
 */
function entryOf(book: Book, symbol: string, side: 'long' | 'short'): number | undefined {
  const held = accountHoldingOf(book, symbol)[`${side}Lots`]
  let [lots, worth] = [0, 0]
  for (const [pair, { entry }] of book.ownTrades) {
    if (splitPair(pair)[1] !== symbol) continue
    const ours = Math.min(entry[`${side}Lots`], book.holdings.get(pair)?.[`${side}Lots`] ?? 0)
    lots += ours
    worth += ours * entry[`${side}Ticks`]
  }
  return lots > 0 && lots === held ? worth / lots : undefined
}

/** The first amount of a coin that is not counted, and every fill that lacks its fee or profit. */
function sayUnknown(core: Core, fill: Fill): void {
  const { symbol, tradeId, orderId, otherFees = [] } = fill
  const missing = [
    ...(fill.fee === undefined ? ['fee'] : []),
    ...(fill.profit === undefined ? ['profit'] : []),
  ]
  if (missing.length > 0) announce(core, 'warn', 'fill.incomplete', { symbol, tradeId, orderId, missing })
  const unpriced = otherFees.filter(({ price }) => price === undefined)
  if (unpriced.length === 0) return
  const known = uncountedOf(sumMoney(moneyOf(core.book).values()))?.coins ?? {}
  for (const { coin, amount } of unpriced) {
    if (coin in known) continue
    announce(core, 'warn', 'fees.uncounted', { coin, amount, symbol, tradeId, setting: 'account.feeCoins' })
  }
}
