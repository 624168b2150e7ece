import { decimal, ZERO } from '../../lib/decimal.ts'
import { createRandom, type Random } from '../../lib/random.ts'
import type { WireRequestOf, WireResponseOf } from '../../protocol/endpoints.ts'
import type { AccountRef } from '../shared/account.ts'
import type { CoreState } from '../futures/core-state.ts'
import { accept, type Reply } from '../shared/reply.ts'
import type { Handlers } from '../shared/handlers.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import { refusals } from '../shared/refusals.ts'
import { futuresResults, type FuturesResults } from './futures-results.ts'
import { changeSettings } from './symbol-settings.ts'
import {
  closeDays,
  createTrader,
  DAY_MS,
  dayStart,
  TRADERS,
  type SymbolSetting,
  type Trader,
} from './trader.ts'
import { toSummary } from './trader-summary.ts'

/** Copy trading, seen by the trader. Followers are only a number. */
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
  // A day closes at the first quote after it, so the result does not depend on requests.
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
