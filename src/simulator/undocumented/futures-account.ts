import { z } from 'zod'
import { ZERO, type Decimal } from '../../lib/decimal.ts'
import { textOrNull } from '../../protocol/answer-values.ts'
import { position } from '../../protocol/futures/single-position.ts'
import { marginMode, productType, symbol } from '../../protocol/values.ts'
import {
  accountOf,
  applyChoices,
  leverageOf,
  symbolOf,
  type ExchangeAccount,
  type CoreState,
} from '../futures/core-state.ts'
import { isOfAsked, namedSymbol } from '../futures/instruments/asked-symbols.ts'
import type { ListedContract } from '../futures/instruments/instruments.ts'
import { isPending } from '../futures/plans/plan-order.ts'
import {
  availableMargin,
  crossedStanding,
  heldMargin,
  positionsOfCoin,
  unsetBalance,
} from '../futures/positions/margin.ts'
import { positionsOf, toWirePosition } from '../futures/positions/position-view.ts'
import { unrealised } from '../futures/positions/position.ts'
import { refusals } from '../shared/refusals.ts'
import { ACCOUNTS } from '../futures/stored-entities.ts'
import type { AccountChoices, AccountRef } from '../shared/account.ts'
import { accept } from '../shared/reply.ts'
import { larger } from '../wallet/rounding.ts'
import { exitFields } from './position-exits.ts'
import { change, read, textRow, type RowRequest } from './undocumented-row.ts'

const anyMarginCoin = z.string().regex(/^[A-Za-z0-9]{2,20}$/, 'a margin coin such as USDT')
const named = { symbol, productType, marginCoin: anyMarginCoin }
const leverageText = z.string().optional()
const leverages = {
  ...named,
  leverage: leverageText,
  longLeverage: leverageText,
  shortLeverage: leverageText,
  holdSide: z.enum(['long', 'short']).optional(),
}
const modes = { ...named, marginMode }
const positionModes = { productType, posMode: z.enum(['one_way_mode', 'hedge_mode']) }
const positionsOfProduct = { productType, marginCoin: anyMarginCoin.optional() }
const exits = {
  takeProfit: textOrNull,
  stopLoss: textOrNull,
  takeProfitId: textOrNull,
  stopLossId: textOrNull,
}

export const futuresAccountRows = {
  account: read('/mix/account/account', {
    asks: named,
    shows: textRow('marginCoin'),
    answer: showAccount,
  }),
  accounts: read('/mix/account/accounts', {
    asks: { productType },
    shows: z.array(
      z.looseObject({ marginCoin: z.string(), assetList: z.array(textRow('coin')).nullish() }),
    ),
    answer: showAccounts,
  }),
  allPositions: read('/mix/position/all-position', {
    calls: 5,
    asks: positionsOfProduct,
    shows: z.array(position.extend(exits)),
    answer: showPositions,
  }),
  setLeverage: change('/mix/account/set-leverage', {
    calls: 5,
    asks: leverages,
    shows: textRow('symbol'),
    answer: setLeverage,
  }),
  setMarginMode: change('/mix/account/set-margin-mode', {
    calls: 5,
    asks: modes,
    shows: textRow('symbol'),
    answer: setMarginMode,
  }),
  setPositionMode: change('/mix/account/set-position-mode', {
    calls: 5,
    asks: positionModes,
    shows: textRow('posMode'),
    answer: setPositionMode,
  }),
}

function showAccount(state: CoreState, { uid }: AccountRef, request: RowRequest<typeof named>) {
  const symbolNamed = namedSymbol(state, request)
  if (!symbolNamed.ok) return symbolNamed
  const { instrument } = symbolNamed.data
  const account = accountOf(state, uid)
  const leverage = String(leverageOf(account, instrument))
  return accept({
    ...moneyFields(state, account, instrument.marginCoin).fields,
    crossedMarginLeverage: leverage,
    isolatedLongLever: leverage,
    isolatedShortLever: leverage,
    marginMode: shownMarginMode(account, instrument),
    posMode: account.setup.positionMode,
    assetMode: 'single',
  })
}

function showAccounts(state: CoreState, { uid }: AccountRef, request: { productType: string }) {
  const account = accountOf(state, uid)
  const listed = [...state.symbols.values()].filter(
    ({ instrument }) => instrument.productType === request.productType,
  )
  const coins = new Set(listed.map(({ instrument }) => instrument.marginCoin))
  return accept(
    [...coins]
      .filter((coin) => account.coins.has(coin))
      .map((coin) => {
        const { fields, held } = moneyFields(state, account, coin)
        return {
          ...fields,
          isolatedMargin: plain(held.isolated),
          crossedMargin: plain(held.crossed),
          unionTotalMagin: '0',
          unionAvailable: '0',
          unionMm: '0',
          assetList: [],
          assetMode: 'single',
        }
      }),
  )
}

function showPositions(
  state: CoreState,
  { uid }: AccountRef,
  request: RowRequest<typeof positionsOfProduct>,
) {
  const account = accountOf(state, uid)
  const asked = { productType: request.productType, marginCoin: request.marginCoin }
  const held = [...account.positions.values()].filter(isOfAsked(state, asked))
  const symbols = [...new Set(held.map((one) => one.symbol))].sort()
  return accept(
    symbols
      .flatMap((name) => positionsOf(account, name))
      .map((one) => ({ ...toWirePosition(state, account, one), ...exitFields(state, one) })),
  )
}

function moneyFields(state: CoreState, account: ExchangeAccount, coin: string) {
  const held = { crossed: ZERO, isolated: ZERO }
  const profit = { crossed: ZERO, isolated: ZERO }
  for (const one of positionsOfCoin(state, account, coin)) {
    const entry = symbolOf(state, one.symbol)
    held[one.marginMode] = held[one.marginMode].plus(heldMargin(entry, one))
    profit[one.marginMode] = profit[one.marginMode].plus(
      unrealised(entry.instrument, one, entry.markTicks),
    )
  }
  const { equity } = crossedStanding(state, account, coin)
  const available = availableMargin(state, account, coin)
  const spendable = plain(larger(ZERO, available))
  const whole = plain(equity.plus(held.isolated).plus(profit.isolated))
  const fields = {
    marginCoin: coin,
    locked: plain(equity.minus(held.crossed).minus(available)),
    available: plain(unsetBalance(state, account, coin)),
    crossedMaxAvailable: spendable,
    isolatedMaxAvailable: spendable,
    maxTransferOut: spendable,
    accountEquity: whole,
    usdtEquity: coin.endsWith('USDT') ? whole : '',
    btcEquity: coin.endsWith('BTC') ? whole : '',
    crossedRiskRate: '0',
    unrealizedPL: plain(profit.crossed.plus(profit.isolated)),
    coupon: '0',
    crossedUnrealizedPL: plain(profit.crossed),
    isolatedUnrealizedPL: plain(profit.isolated),
  }
  return { fields, held }
}

const MONEY_DECIMALS = 12

function plain(amount: Decimal): string {
  return amount.round(MONEY_DECIMALS).toString()
}

function setLeverage(state: CoreState, { uid }: AccountRef, request: RowRequest<typeof leverages>) {
  const account = accountOf(state, uid)
  const symbolNamed = namedSymbol(state, request)
  if (!symbolNamed.ok) return symbolNamed
  const { instrument } = symbolNamed.data
  const leverage = Number(request.leverage ?? request.longLeverage ?? request.shortLeverage)
  if (!(leverage >= 1) || !Number.isInteger(leverage)) return refusals.parameter('leverage')
  if (leverage > instrument.leverageMax) return refusals.leverageTooHigh
  if (isHeld(account, instrument)) return refusals.leverageHeld
  if (isOrdered(account, instrument)) return refusals.leverageOrdered
  const { leverageBySymbol } = account.choices
  choose(state, account, {
    leverageBySymbol: { ...leverageBySymbol, [instrument.symbol]: leverage },
  })
  return accept(toSymbolAnswer(account, instrument))
}

/** The mode appears only in the account's answers, because each order states its own. */
function setMarginMode(state: CoreState, { uid }: AccountRef, request: RowRequest<typeof modes>) {
  const account = accountOf(state, uid)
  const symbolNamed = namedSymbol(state, request)
  if (!symbolNamed.ok) return symbolNamed
  const { instrument } = symbolNamed.data
  if (isHeld(account, instrument) || isOrdered(account, instrument)) return refusals.marginModeFixed
  const { marginModeBySymbol } = account.choices
  choose(state, account, {
    marginModeBySymbol: { ...marginModeBySymbol, [instrument.symbol]: request.marginMode },
  })
  return accept(toSymbolAnswer(account, instrument))
}

export function setPositionMode(
  state: CoreState,
  { uid }: AccountRef,
  { posMode }: Pick<RowRequest<typeof positionModes>, 'posMode'>,
) {
  const account = accountOf(state, uid)
  const { positions, openOrders, planOrders } = account
  if (positions.size > 0 || openOrders.size > 0 || [...planOrders.values()].some(isPending))
    return refusals.positionModeFixed
  choose(state, account, { positionMode: posMode })
  return accept({ posMode })
}

function choose(state: CoreState, account: ExchangeAccount, choices: AccountChoices): void {
  applyChoices(account, choices)
  state.rows.put(ACCOUNTS, account)
}

function isHeld({ positions }: ExchangeAccount, instrument: ListedContract): boolean {
  return [...positions.values()].some((one) => one.symbol === instrument.symbol)
}

function isOrdered(
  { openOrders, planOrders }: ExchangeAccount,
  instrument: ListedContract,
): boolean {
  return [...openOrders.values(), ...[...planOrders.values()].filter(isPending)].some(
    (order) => order.symbol === instrument.symbol,
  )
}

function toSymbolAnswer(account: ExchangeAccount, instrument: ListedContract) {
  const leverage = String(leverageOf(account, instrument))
  return {
    symbol: instrument.symbol,
    marginCoin: instrument.marginCoin,
    longLeverage: leverage,
    shortLeverage: leverage,
    crossMarginLeverage: leverage,
    marginMode: shownMarginMode(account, instrument),
  }
}

function shownMarginMode({ choices }: ExchangeAccount, { symbol: name }: ListedContract): string {
  return choices.marginModeBySymbol?.[name] ?? 'crossed'
}
