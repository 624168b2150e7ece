import { symbolOf, type Account, type CoreState } from './core-state.ts'
import { priceText, sizeText } from './instruments.ts'
import {
  type LedgerCoin,
  type LedgerOrder,
  type LedgerPosition,
  type LedgerStatement,
} from './ledger-statement.ts'
import { type CoinBalance } from './ledger.ts'
import { orderIdText, wireSide, type Order } from './order.ts'
import { averageEntry, unrealised, type Position } from './position.ts'

/** The account's statement at the present moment. */
export function ledgerStatement(state: CoreState, account: Account): LedgerStatement {
  const { ordersAccepted, ordersRefused, ordersFilled, ordersCancelled, fills, liquidations } = account.counts
  const pendingPlans = [...account.planOrders.values()].filter(({ status }) => status === 'pending')
  return {
    uid: account.setup.uid,
    label: account.setup.label,
    at: state.clock.now,
    coins: [...account.coins].map(([marginCoin, coin]) => toCoin(marginCoin, coin)),
    positions: [...account.positions.values()].map((position) => toPosition(state, position)),
    openOrders: [...account.openOrders.values()].map((order) => toOrder(state, order)),
    counts: {
      ordersAccepted,
      ordersRefused,
      ordersOpen: account.openOrders.size,
      ordersFilled,
      ordersCancelled,
      planOrdersOpen: pendingPlans.length,
      fills,
      liquidations,
    },
  }
}

function toCoin(marginCoin: string, coin: CoinBalance): LedgerCoin {
  return {
    marginCoin,
    opening: coin.opening.toString(),
    deposits: coin.deposits.toString(),
    realisedProfit: coin.realisedProfit.toString(),
    fees: coin.fees.toString(),
    funding: coin.funding.toString(),
    insurance: coin.insurance.toString(),
    balance: coin.balance.toString(),
  }
}

function toPosition(state: CoreState, position: Position): LedgerPosition {
  const { instrument, markTicks } = symbolOf(state, position.symbol)
  return {
    symbol: position.symbol,
    holdSide: position.holdSide,
    marginMode: position.marginMode,
    size: sizeText(instrument, position.lots),
    openPriceAvg: averageEntry(instrument, position).toString(),
    unrealised: unrealised(instrument, position, markTicks).toString(),
  }
}

function toOrder(state: CoreState, order: Order): LedgerOrder {
  const { instrument } = symbolOf(state, order.symbol)
  return {
    orderId: orderIdText(order.sequence),
    clientOid: order.clientOid,
    symbol: order.symbol,
    side: wireSide(order.slot, order.direction),
    tradeSide: order.action === 'net' ? undefined : order.action,
    reduceOnly: order.reduceOnly,
    price: order.priceTicks === 0 ? '' : priceText(instrument, order.priceTicks),
    size: sizeText(instrument, order.lots),
    filled: sizeText(instrument, order.filledLots),
  }
}
