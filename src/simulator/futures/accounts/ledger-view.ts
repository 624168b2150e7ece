import { symbolOf, type Account, type CoreState } from '../core-state.ts'
import { priceText, sizeText } from '../instruments/instruments.ts'
import { type CoinBalance } from './ledger.ts'
import { orderIdText, wireSide, type Order } from '../orders/order.ts'
import { averageEntry, unrealised, type Position } from '../positions/position.ts'

/** What an account owns and how it came to it. Every amount is an exact decimal in a string. */
export type LedgerStatement = Readonly<ReturnType<typeof ledgerStatement>>

/** The account's statement at the present moment. */
export function ledgerStatement(state: CoreState, account: Account) {
  const { ordersAccepted, ordersRefused, ordersFilled, ordersCancelled, fills, liquidations } = account.counts
  const pendingPlans = [...account.planOrders.values()].filter(({ status }) => status === 'pending')
  return {
    uid: account.setup.uid,
    label: account.setup.label,
    /** Unix ms of the exchange's clock. */
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

export type LedgerCoin = Readonly<ReturnType<typeof toCoin>>

/** balance = opening + deposits + realisedProfit - fees + funding + insurance, exactly. */
function toCoin(marginCoin: string, coin: CoinBalance) {
  return {
    marginCoin,
    opening: coin.opening.toString(),
    deposits: coin.deposits.toString(),
    /** Profit and loss that closed positions realised, before fees and funding. */
    realisedProfit: coin.realisedProfit.toString(),
    /** What was paid, positive. */
    fees: coin.fees.toString(),
    /** What was received, negative when paid. */
    funding: coin.funding.toString(),
    /** What the insurance fund paid so that a liquidation could not leave a debt. */
    insurance: coin.insurance.toString(),
    balance: coin.balance.toString(),
  }
}

function toPosition(state: CoreState, position: Position) {
  const { instrument, markTicks } = symbolOf(state, position.symbol)
  return {
    symbol: position.symbol,
    holdSide: position.holdSide,
    marginMode: position.marginMode,
    /** Base coin. */
    size: sizeText(instrument, position.lots),
    openPriceAvg: averageEntry(instrument, position).toString(),
    /** At the mark price, in the margin coin. */
    unrealised: unrealised(instrument, position, markTicks).toString(),
  }
}

function toOrder(state: CoreState, order: Order) {
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
