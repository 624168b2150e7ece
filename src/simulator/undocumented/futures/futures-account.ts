import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import { type WirePosition } from '../../../protocol/futures/single-position.ts'
import { type AccountRef } from '../../shared/account.ts'
import { accountOf, leverageOf, symbolOf, type Account, type CoreState } from '../../futures/core-state.ts'
import { type Instrument } from '../../futures/instruments/instruments.ts'
import {
  availableMargin,
  crossedStanding,
  heldMargin,
  positionsOfCoin,
  unsetBalance,
} from '../../futures/positions/margin.ts'
import { positionRows } from '../../futures/positions/position-view.ts'
import { unrealised, type Position } from '../../futures/positions/position.ts'
import { accept, refuse } from '../../shared/reply.ts'
import { exitFields } from './futures-exits.ts'
import { namedSymbol } from './listed-symbols.ts'

const MONEY_DECIMALS = 12

/** Every margin coin of a product type, as far as the account has touched it. */
export function futuresAccounts(
  state: CoreState,
  { uid }: AccountRef,
  { productType }: { productType: string },
) {
  const account = accountOf(state, uid)
  const coins = new Set<string>()
  for (const { instrument } of state.symbols.values()) {
    if (instrument.productType === productType && account.coins.has(instrument.marginCoin))
      coins.add(instrument.marginCoin)
  }
  return accept(
    [...coins].map((coin) => ({
      ...moneyFields(state, account, coin),
      isolatedMargin: plain(isolatedMargin(state, account, coin)),
      crossedMargin: plain(crossedMargin(state, account, coin)),
      unionTotalMagin: '0',
      unionAvailable: '0',
      unionMm: '0',
      assetList: [],
      assetMode: 'single',
    })),
  )
}

/** One margin coin, and the settings of one symbol. */
export function futuresAccount(
  state: CoreState,
  { uid }: AccountRef,
  request: { readonly symbol: string; readonly productType: string; readonly marginCoin: string },
) {
  const named = namedSymbol(state, request)
  if (!named.ok) return refuse(named.refusal)
  const { instrument } = named.value
  const account = accountOf(state, uid)
  return accept({
    ...moneyFields(state, account, instrument.marginCoin),
    ...leverageFields(account, instrument),
    marginMode: account.choices.marginModeBySymbol?.[instrument.symbol] ?? 'crossed',
    posMode: account.setup.positionMode,
    assetMode: 'single',
  })
}

/** Every position of a product type with its exits. Document: Futures position, as in single-position. */
export function futuresAllPositions(
  state: CoreState,
  { uid }: AccountRef,
  { productType, marginCoin }: { readonly productType: string; readonly marginCoin?: string | undefined },
) {
  const account = accountOf(state, uid)
  const positions = [...account.positions.values()]
  const symbols = new Set(positions.map(({ symbol }) => symbol))
  const withExits = (row: WirePosition) => {
    const isShown = ({ symbol, holdSide }: Position) => symbol === row.symbol && holdSide === row.holdSide
    const position = positions.find(isShown)
    return { ...row, ...(position && exitFields(state, position)) }
  }
  return accept(
    [...symbols].sort().flatMap((symbol) => {
      const { instrument } = symbolOf(state, symbol)
      const isAsked =
        instrument.productType === productType &&
        (marginCoin === undefined || marginCoin.toUpperCase() === instrument.marginCoin)
      return isAsked ? positionRows(state, account, symbol).map(withExits) : []
    }),
  )
}

/** The leverage of each direction is the same here: the account has one a symbol. */
export function leverageFields(account: Account, instrument: Instrument) {
  const leverage = String(leverageOf(account, instrument))
  return {
    crossedMarginLeverage: leverage,
    isolatedLongLever: leverage,
    isolatedShortLever: leverage,
  }
}

function moneyFields(state: CoreState, account: Account, coin: string) {
  const { equity } = crossedStanding(state, account, coin)
  const available = availableMargin(state, account, coin)
  const spendable = plain(available.lt(ZERO) ? ZERO : available)
  const whole = equity
    .plus(isolatedMargin(state, account, coin))
    .plus(profitOf(state, account, coin).isolated)
  const { crossed, isolated } = profitOf(state, account, coin)
  return {
    marginCoin: coin,
    locked: plain(equity.minus(crossedMargin(state, account, coin)).minus(available)),
    available: plain(unsetBalance(state, account, coin)),
    crossedMaxAvailable: spendable,
    isolatedMaxAvailable: spendable,
    maxTransferOut: spendable,
    accountEquity: plain(whole),
    usdtEquity: coin.endsWith('USDT') ? plain(whole) : '',
    btcEquity: coin.endsWith('BTC') ? plain(whole) : '',
    crossedRiskRate: '0',
    unrealizedPL: plain(crossed.plus(isolated)),
    coupon: '0',
    crossedUnrealizedPL: plain(crossed),
    isolatedUnrealizedPL: plain(isolated),
  }
}

function profitOf(state: CoreState, account: Account, coin: string) {
  const sums = { crossed: ZERO, isolated: ZERO }
  for (const position of positionsOfCoin(state, account, coin)) {
    const { instrument, markTicks } = symbolOf(state, position.symbol)
    const { marginMode } = position
    sums[marginMode] = sums[marginMode].plus(unrealised(instrument, position, markTicks))
  }
  return sums
}

function isolatedMargin(state: CoreState, account: Account, coin: string): Decimal {
  return sumOf(positionsOfCoin(state, account, coin), ({ margin }) => margin)
}

function crossedMargin(state: CoreState, account: Account, coin: string): Decimal {
  const crossed = positionsOfCoin(state, account, coin).filter(({ marginMode }) => marginMode === 'crossed')
  return sumOf(crossed, (position) => heldMargin(symbolOf(state, position.symbol), position))
}

function sumOf(positions: readonly Position[], amountOf: (position: Position) => Decimal): Decimal {
  let sum = ZERO
  for (const position of positions) sum = sum.plus(amountOf(position))
  return sum
}

function plain(amount: Decimal): string {
  return amount.round(MONEY_DECIMALS).toString()
}
