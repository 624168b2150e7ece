import { symbolOf, type ExchangeAccount, type CoreState } from '../core-state.ts'
import { priceText, sizeText } from '../instruments/instruments.ts'
import { referenceOf, wireSide, type FuturesOrder } from '../orders/order.ts'
import { isPending } from '../plans/plan-order.ts'
import { averageEntry, unrealised, type Position } from '../positions/position.ts'
import { textsOf } from '../../wallet/rounding.ts'
import type { CoinBalance } from './ledger.ts'

export type LedgerStatement = Readonly<ReturnType<typeof ledgerStatement>>

export function ledgerStatement(state: CoreState, account: ExchangeAccount) {
  const { setup, coins, positions, openOrders, planOrders, counts } = account
  return {
    uid: setup.uid,
    label: setup.label,
    at: state.clock.now,
    coins: [...coins].map(([marginCoin, coin]) => toCoin(marginCoin, coin)),
    positions: [...positions.values()].map((position) => toPosition(state, position)),
    openOrders: [...openOrders.values()].map((order) => toOrder(state, order)),
    counts: {
      ...counts,
      ordersOpen: openOrders.size,
      planOrdersOpen: [...planOrders.values()].filter(isPending).length,
    },
  }
}

export type LedgerCoin = Readonly<ReturnType<typeof toCoin>>

function toCoin(marginCoin: string, { balanceFloat: _float, ...amounts }: CoinBalance) {
  return { marginCoin, ...textsOf(amounts) }
}

function toPosition(state: CoreState, position: Position) {
  const { instrument, markTicks } = symbolOf(state, position.symbol)
  return {
    symbol: position.symbol,
    holdSide: position.holdSide,
    marginMode: position.marginMode,
    size: sizeText(instrument, position.lots),
    openPriceAvg: averageEntry(instrument, position).toString(),
    markPrice: priceText(instrument, markTicks),
    unrealised: unrealised(instrument, position, markTicks).toString(),
  }
}

function toOrder(state: CoreState, order: FuturesOrder) {
  const { instrument } = symbolOf(state, order.symbol)
  return {
    ...referenceOf(order),
    symbol: order.symbol,
    side: wireSide(order),
    tradeSide: order.action === 'net' ? undefined : order.action,
    reduceOnly: order.reduceOnly,
    price: order.priceTicks === 0 ? '' : priceText(instrument, order.priceTicks),
    size: sizeText(instrument, order.lots),
    filled: sizeText(instrument, order.filledLots),
  }
}
