import { decimal, type Decimal, decimalOfInteger, ZERO, sumDecimals } from '../../lib/decimal.ts'
import { createRandom, type Random } from '../../lib/random.ts'
import type { WireRequestOf, WireResponseOf } from '../../protocol/endpoints.ts'
import { type CoreState, accountOf, coinOf, symbolOf } from '../futures/core-state.ts'
import { deliveryStatus } from '../futures/instruments/delivery-status.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import type { AccountRef } from '../shared/account.ts'
import type { Handlers } from '../shared/handlers.ts'
import { refusals } from '../shared/refusals.ts'
import { accept, type RefusedReply, type Reply } from '../shared/reply.ts'
import { negated } from '../wallet/rounding.ts'
import {
  closeDays,
  createTrader,
  DAY_MS,
  dayStart,
  type SymbolSetting,
  type Trader,
  type TraderDay,
  TRADERS,
} from './trader.ts'
import { unrealised } from '../futures/positions/position.ts'

/** Copy trading as the trader sees it: followers are only a number. */
export interface CopyState {
  readonly ports: ServicePorts
  readonly futures: CoreState
  readonly random: Random
  readonly traders: Map<string, Trader>
  nextDayAt: number
}

export function openCopy(ports: ServicePorts, futures: CoreState): CopyState {
  const state: CopyState = {
    ports,
    futures,
    random: createRandom(ports.seed).fork('copy'),
    traders: new Map(),
    nextDayAt: 0,
  }
  for (const { uid, role, balances } of ports.accounts) {
    if (role !== 'copyTrader') continue
    const opening = balances['USDT'] === undefined ? ZERO : decimal(balances['USDT'])
    state.traders.set(uid, createTrader(uid, ports.startAt, opening))
  }
  ports.rows.restore(TRADERS, state.traders)
  const market = state.traders.size === 0 ? undefined : ports.market(CLOCK_SYMBOL)
  market?.follow(() => playCopy(state, market.shown.at))
  return state
}

export function playCopy(state: CopyState, now: number): void {
  if (now < state.nextDayAt) return
  for (const [uid, trader] of state.traders) {
    if (dayStart(now) <= trader.today) continue
    const { profit } = takeResults(state, uid, trader)
    closeDays(trader, { now, profit, random: state.random.fork(uid) })
    state.ports.rows.put(TRADERS, trader)
  }
  state.nextDayAt = dayStart(now) + DAY_MS
}

export const copyHandlers = {
  copyOrderTotalDetail,
  copyConfigSettingSymbols,
} satisfies Handlers<CopyState>

function copyOrderTotalDetail(
  state: CopyState,
  { uid }: AccountRef,
): Reply<WireResponseOf<'copyOrderTotalDetail'>> {
  const trader = state.traders.get(uid)
  if (trader === undefined) return refusals.notTrader
  return accept(toSummary(trader, takeResults(state, uid, trader)))
}

function copyConfigSettingSymbols(
  state: CopyState,
  { uid }: AccountRef,
  { settingList }: WireRequestOf<'copyConfigSettingSymbols'>,
): Reply<WireResponseOf<'copyConfigSettingSymbols'>> {
  const trader = state.traders.get(uid)
  if (trader === undefined) return refusals.notTrader
  const changed = changeSettings(trader.settings, settingList, state.futures)
  if (!changed.ok) return changed
  trader.settings = changed.data
  state.ports.rows.put(TRADERS, trader)
  return accept('success')
}

export function copyLedger({ traders }: CopyState, uid: string) {
  const trader = traders.get(uid)
  return trader && { followers: trader.followersNow, settings: [...trader.settings.values()] }
}

export function firstSetting({ futures }: CopyState): SymbolSetting | undefined {
  const [first] = futures.symbols.values()
  if (first === undefined || !COPIED_TYPES.has(first.instrument.productType)) return undefined
  const { symbol, productType } = first.instrument
  return { symbol, productType, stopSurplusRatio: undefined, stopLossRatio: undefined }
}

function takeResults(state: CopyState, uid: string, trader: Trader): FuturesResults {
  const results = futuresResults(state.futures, uid, trader.tradeTaken)
  if (results.lastTrade === trader.tradeTaken) return results
  trader.gains += results.gains
  trader.losses += results.losses
  trader.tradeTaken = results.lastTrade
  state.ports.rows.put(TRADERS, trader)
  return results
}

const CLOCK_SYMBOL = 'BTCUSDT'
const COPIED_TYPES: ReadonlySet<string> = new Set(['USDT-FUTURES', 'COIN-FUTURES', 'USDC-FUTURES'])

type CopySettingChange = WireRequestOf<'copyConfigSettingSymbols'>['settingList'][number]

type SymbolSettings = ReadonlyMap<string, SymbolSetting>

/**
 * Applies all changes in order, or none.
 * - ADD replaces both ratios of an open symbol, so it can be repeated.
 * - UPDATE keeps a ratio that is empty, and removes one that is `0`.
 * - DELETE ignores the ratios.
 */
function changeSettings(
  settings: SymbolSettings,
  changes: readonly CopySettingChange[],
  futures: Pick<CoreState, 'symbols' | 'clock'>,
): Reply<SymbolSettings> {
  const changed = new Map(settings)
  for (const change of changes) {
    const refusal = refusalOf(change, changed, futures)
    if (refusal !== undefined) return refusal
    if (change.settingType === 'DELETE') changed.delete(change.symbol)
    else changed.set(change.symbol, toSetting(change, changed.get(change.symbol)))
  }
  return accept<SymbolSettings>(changed)
}

function refusalOf(
  change: CopySettingChange,
  changed: SymbolSettings,
  { symbols, clock }: Pick<CoreState, 'symbols' | 'clock'>,
): RefusedReply | undefined {
  const symbol = symbols.get(change.symbol)
  const isListed = symbol !== undefined && clock.now >= symbol.listedAt
  if (!isListed || symbol.instrument.productType !== change.productType)
    return refusals.copiedSymbolUnknown
  if (change.settingType === 'DELETE') return undefined
  if (change.settingType === 'UPDATE' && !changed.has(change.symbol))
    return refusals.copiedSymbolNotOpened
  return deliveryStatus(symbol, clock.now) === 'delivery_normal'
    ? undefined
    : refusals.copiedSymbolClosed
}

function toSetting(change: CopySettingChange, existing: SymbolSetting | undefined): SymbolSetting {
  const { symbol, productType, settingType } = change
  const kept = settingType === 'UPDATE' ? existing : undefined
  return {
    symbol,
    productType,
    stopSurplusRatio: changedRatio(change.stopSurplusRatio, kept?.stopSurplusRatio),
    stopLossRatio: changedRatio(change.stopLossRatio, kept?.stopLossRatio),
  }
}

function changedRatio(text: string | undefined, kept: string | undefined): string | undefined {
  if (text === undefined || text === '') return kept
  return text === '0' ? undefined : text
}

const WEEK_DAYS = 7
const RATE_DECIMALS = 6
const PERCENT_DECIMALS = 2

/** Ratios are in percent: ROI of the capital, the rate of a day of the equity at its beginning. */
function toSummary(
  trader: Trader,
  present: FuturesResults,
): WireResponseOf<'copyOrderTotalDetail'> {
  const { days, gains, losses } = trader
  const week = days.slice(-WEEK_DAYS)
  const total = trader.totalProfit.plus(present.profit).minus(trader.profitTaken)
  const orders = gains + losses
  return {
    roi: percent(total, trader.capital, PERCENT_DECIMALS),
    tradingOrderNum: String(orders),
    totalFollowerNum: String(trader.followersEver),
    currentFollowerNum: String(trader.followersNow),
    totalpl: dollars(total),
    gainNum: shareOf(gains, orders),
    lossNum: shareOf(losses, orders),
    winRate: shareOf(gains, orders),
    totalEquity: present.equity.round(PERCENT_DECIMALS).toString(),
    tradingPairsAvailableList: [...trader.settings.keys()],
    lastWeekRoiList: week.map(toRate),
    lastMonthRoiList: days.map(toRate),
    lastWeekProfitList: week.map(toProfit),
    lastMonthProfitList: days.map(toProfit),
  }
}

function toRate({ startAt, profit, equity }: TraderDay) {
  return { rate: percent(profit, equity, RATE_DECIMALS), ctime: String(startAt) }
}

function toProfit({ startAt, profit }: TraderDay) {
  return { amount: profit.toString(), ctime: String(startAt) }
}

function shareOf(part: number, whole: number): string {
  return percent(decimalOfInteger(part), decimalOfInteger(whole), PERCENT_DECIMALS)
}

function percent(part: Decimal, whole: Decimal, decimals: number): string {
  if (whole.lte(ZERO)) return '0'
  return part.times(decimal('100')).div(whole).round(decimals).toString()
}

function dollars(amount: Decimal): string {
  const rounded = amount.round(PERCENT_DECIMALS)
  return rounded.lt(ZERO) ? `-$${negated(rounded).toString()}` : `$${rounded.toString()}`
}

const COIN = 'USDT'

type FuturesResults = Readonly<ReturnType<typeof futuresResults>>

function futuresResults(state: CoreState, uid: string, afterTrade: number) {
  const account = accountOf(state, uid)
  const { balance, realisedProfit, fees, funding, insurance } = coinOf(account, COIN)
  const open = [...account.positions.values()].flatMap((position) => {
    const { instrument, markTicks } = symbolOf(state, position.symbol)
    return instrument.marginCoin === COIN ? [unrealised(instrument, position, markTicks)] : []
  })
  let gains = 0
  let losses = 0
  let lastTrade = afterTrade
  for (let index = account.fills.length - 1; index >= 0; index--) {
    const fill = account.fills[index]
    if (fill === undefined || fill.sequence <= afterTrade) break
    lastTrade = Math.max(lastTrade, fill.sequence)
    if (fill.profit.gt(ZERO)) gains++
    else if (fill.profit.lt(ZERO)) losses++
  }
  return {
    profit: realisedProfit.minus(fees).plus(funding).plus(insurance),
    equity: balance.plus(sumDecimals(open)),
    gains,
    losses,
    lastTrade,
  }
}
