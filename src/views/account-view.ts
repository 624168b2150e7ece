import { isLossLimited } from '../config/live-checks.ts'
import type {
  AccountStatusView,
  CapitalView,
  FillView,
  OrderView,
  PositionView,
} from '../control/views.ts'
import type { JournalPlace } from '../domain/journal-place.ts'
import { toFeesText } from '../domain/fill-money.ts'
import { type StrategyId, toStrategyId } from '../domain/ids.ts'
import type { Order } from '../domain/order.ts'
import {
  type Restriction,
  strategyScope,
  toTradingState,
  TRADING_MODES,
  type TradingMode,
} from '../domain/trading-mode.ts'
import { EXIT_KINDS } from '../domain/exits.ts'
import { allOpenOrders, pairKey, pairOf, splitPair } from '../engine/book/book.ts'
import { listStops } from '../risk/exit-machine.ts'
import { isOpen } from '../engine/lifecycle/flatten.ts'
import { floatOnGrid, showOnGrid } from '../lib/grid.ts'
import {
  agesOf,
  findHindrances,
  findWarnings,
  isClockSynchronised,
  listPauses,
  listStrategyWaits,
} from './hindrances.ts'
import { listResolutions, listUnexplained } from './instrument-view.ts'
import { viewDisputes, viewEquity, viewLosses, viewWorstCase } from './losses-view.ts'
import { viewProfit } from './money-view.ts'
import type { ActivityFill } from './recent-activity.ts'
import { viewRestriction } from './restriction-view.ts'
import type { ShownAccount } from './shown-account.ts'
import { listUnattended } from './unattended.ts'
import { viewWishes } from './wishes.ts'

/** The core of a run that broke down stays as it was. */
const PHASES_BY_STATE: Readonly<
  Partial<Record<ShownAccount['state'], AccountStatusView['phase']>>
> = { new: 'new', atRest: 'stopped' }

export function viewAccount(account: ShownAccount, configOption: string): AccountStatusView {
  const { config, settings, engine, state } = account
  // At rest only recorded restrictions hold.
  const restrictions =
    state === 'atRest' ? [...account.book.restrictions.values()] : engine.restrictions
  const profit = viewProfit(account)
  const ages = agesOf(account)
  const orders = allOpenOrders(account.book)
  const unknown = orders.filter(({ state: standing }) => standing === 'unknown')
  return {
    name: config.name,
    journal: journalPlaceOf(account),
    coin: config.account.marginCoin,
    phase: PHASES_BY_STATE[state] ?? engine.phase,
    mode: toTradingState(restrictions.filter(({ scope }) => scope === '*')).mode,
    // Strategies never see prices that are too old.
    isTrading:
      state === 'begun' &&
      engine.isTrading &&
      Object.values(ages.tickersMs).some((ms) => ms !== null && ms <= settings.limits.dataAgeMaxMs),
    hindrances: [
      ...findHindrances(account),
      ...listResolutions(account),
      ...listUnexplained(account),
    ],
    warnings: [...findWarnings(account)],
    waits: [...listStrategyWaits(account)],
    pauses: [...listPauses(account)],
    restrictions: restrictions.map((one) =>
      viewRestriction(one, {
        configOption,
        isToClose: (scope) => isOpen(account, scope),
        coolDownMs: settings.losses?.coolDownMs ?? 0,
        openedAt: account.openedAt,
      }),
    ),
    kill: viewKill(account),
    ages,
    limits: {
      dataAgeMaxMs: settings.limits.dataAgeMaxMs,
      accountAgeMaxMs: settings.limits.accountAgeMaxMs,
    },
    clock: viewClock(account),
    positions: [...viewPositions(account)],
    unattended: viewUnattended(account),
    openOrders: countStates(orders),
    unknownSince:
      unknown.length === 0
        ? null
        : Math.round(Math.min(...unknown.map((order) => order.lastSentAt))),
    profit,
    ...viewEquity(account, profit),
    equityBefore: account.equityBefore ?? { day: null, week: null },
    losses: viewLosses(account),
    worstCase: viewWorstCase(account),
    isLossLimited: isLossLimited(config.risk.losses),
    disputes: viewDisputes(account),
    limiter: viewLimiter(account),
    strategies: [...settings.strategies.values()].map(({ id, symbols }) => ({
      id,
      mode: modeOnAll(symbols, (symbol) =>
        restrictions.filter(({ scope }) => ['*', symbol, strategyScope(id)].includes(scope)),
      ),
      symbols: [...symbols],
      openOrders: orders.filter(({ terms }) => terms.strategyId === id).length,
      ...viewCapital(account, id),
      wants: viewWishes(account, id, symbols),
    })),
  }
}

function viewClock(account: ShownAccount): AccountStatusView['clock'] {
  const { offset, aheadOfMachineMs } = account.trusted
  return {
    isSynchronised: isClockSynchronised(account),
    offsetMs: offset.offsetMs,
    publicMs: offset.apart?.publicMs ?? null,
    machineMs: Math.round(aheadOfMachineMs),
  }
}

function viewLimiter({ limiter }: ShownAccount): AccountStatusView['limiter'] {
  return limiter
    .filter(({ granted }) => granted > 0)
    .map(({ endpoint, calls, perMs, made, usedShare, waiting, waitedMsP99, rateLimited }) => ({
      endpoint,
      made,
      usedShare,
      waiting,
      waitedMsP99,
      rateLimited,
      limit: `${calls} in ${perMs} ms`,
    }))
}

function modeOnAll(
  symbols: Iterable<string>,
  restrictionsOn: (symbol: string) => readonly Restriction[],
): TradingMode {
  const modes = new Set([...symbols].map((symbol) => toTradingState(restrictionsOn(symbol)).mode))
  return TRADING_MODES.find((mode) => modes.has(mode)) ?? 'active'
}

function viewKill({ engine, state }: ShownAccount): AccountStatusView['kill'] {
  const { kill } = engine
  if (kill === undefined || state === 'atRest') return null
  return { phase: kill.phase, isReleaseAsked: kill.release !== undefined }
}

function journalPlaceOf({ book, sequence }: ShownAccount): JournalPlace {
  return { run: book.epoch, sequence }
}

export function viewPositions(account: ShownAccount): readonly PositionView[] {
  const { positionsMs } = agesOf(account)
  return [...account.book.account].flatMap(([symbol, { longLots, shortLots }]) => {
    const view = (side: PositionView['side'], lots: number): PositionView => ({
      ...viewPosition(account, symbol, side, lots),
      readAgeMs: positionsMs[symbol] ?? null,
    })
    if (longLots === 0 && shortLots === 0) {
      const flat = view('flat', 0)
      return Object.keys(flat.strategies).length === 0 ? [] : [flat]
    }
    return [
      ...(longLots === 0 ? [] : [view('long', longLots)]),
      ...(shortLots === 0 ? [] : [view('short', shortLots)]),
    ]
  })
}

function viewUnattended({
  config,
  settings,
  book,
  grids,
}: ShownAccount): AccountStatusView['unattended'] {
  return listUnattended({ settings, strategies: config.strategies, book, grids }).map(
    ({ strategy, symbol, side, size, why }) => ({
      strategy: strategy ?? null,
      symbol,
      side,
      size,
      why,
    }),
  )
}

function viewPosition(
  account: ShownAccount,
  symbol: string,
  side: PositionView['side'],
  lots: number,
): Omit<PositionView, 'readAgeMs'> {
  const { grids, positions } = account
  const lot = grids.get(symbol)?.lot
  const row = positions.get(symbol)?.rows.find(({ holdSide }) => holdSide === side)
  const holders = holdersOf(account, symbol, side)
  return {
    journal: journalPlaceOf(account),
    symbol,
    side,
    size: lot ? showOnGrid(lot, lots) : `${lots} lots`,
    ...viewEntry(account, { symbol, side, stated: orNull(row?.openPriceAvg) }),
    markPrice: orNull(row?.markPrice),
    coin: account.config.account.marginCoin,
    // After a fill the last reading has another size.
    unrealisedProfit: (row?.lots === lots && String(row.unrealisedProfit)) || null,
    // Exchanges state zero where there is none.
    liquidationPrice: orNull(row && row.liquidationPrice > 0 ? row.liquidationPrice : undefined),
    keptByExchange: viewKept(account, symbol, side),
    ...viewStops(account, symbol, Object.keys(holders)),
    liquidation: viewDistance(account, symbol, side),
    strategies: holders,
    ...viewCapitals(account, Object.keys(holders)),
  }
}

function viewStops(
  { book, grids, settings }: ShownAccount,
  symbol: string,
  holders: readonly string[],
): Pick<PositionView, 'stops'> {
  const tick = grids.get(symbol)?.tick
  const stops = holders.flatMap((strategy) => {
    const rules = settings.strategies.get(toStrategyId(strategy))?.exits
    const state = book.exitStates.get(pairOf(strategy, symbol))
    if (!rules || !state || !tick) return []
    const levels = (['long', 'short'] as const).flatMap((side) => {
      const trade = state[side]
      return trade === null ? [] : listStops(rules, side, trade)
    })
    return levels.map(({ kind, ticks }) => ({
      strategy,
      kind: EXIT_KINDS[kind],
      price: showOnGrid(tick, ticks),
    }))
  })
  return stops.length === 0 ? {} : { stops }
}

function viewKept(
  { book, grids, settings }: ShownAccount,
  symbol: string,
  side: PositionView['side'],
): PositionView['keptByExchange'] {
  const kept = book.exits.get(pairKey(symbol, side))
  const tick = grids.get(symbol)?.tick
  if (!kept || !tick) return null
  const show = (ticks: number | undefined): string | null =>
    ticks === undefined ? null : showOnGrid(tick, ticks)
  const { stopLossTicks, takeProfitTicks, strategyId, listed } = kept
  const isListed = listed?.some(({ kind }) => kind === 'stopLoss')
  const { listsExits, strategies } = settings
  const follows = strategies.get(strategyId)?.exits?.stopAtExchange !== undefined
  return {
    stopLoss: show(stopLossTicks),
    takeProfit: show(takeProfitTicks),
    setBy: strategyId,
    moves: listsExits === true && follows && isListed === true,
    isMissing: listsExits === true && isListed === false && stopLossTicks !== undefined,
  }
}

function viewDistance(
  { engine }: ShownAccount,
  symbol: string,
  side: PositionView['side'],
): PositionView['liquidation'] {
  const distance = engine.distances.get(symbol)?.find(({ holdSide }) => holdSide === side)
  if (distance === undefined || (distance.trust === 'none' && distance.ratioTrust === 'none'))
    return null
  const { ourPrice, nearest, moves, trust, ratio, statedRatio, ratioTrust } = distance
  return {
    ourPrice: orNull(ourPrice),
    distance: orNull(nearest),
    moves: orNull(moves),
    trust,
    ratio: orNull(ratio),
    statedRatio: orNull(statedRatio),
    ratioTrust,
  }
}

/** The exchange's entry counts where our fills do not explain all lots. */
export function viewEntry(
  { book, grids }: Pick<ShownAccount, 'book' | 'grids'>,
  {
    symbol,
    side,
    stated,
  }: {
    readonly symbol: string
    readonly side: PositionView['side']
    readonly stated: number | null
  },
): Pick<PositionView, 'entryPrice' | 'entryFrom'> {
  const entry = book.entries.get(symbol)
  const held = book.account.get(symbol)
  const tick = grids.get(symbol)?.tick
  if (!entry || !held || !tick || side === 'flat') return { entryPrice: stated, entryFrom: null }
  const isLong = side === 'long'
  const isKnown = isLong ? entry.longLots >= held.longLots : entry.shortLots >= held.shortLots
  if (!isKnown) return { entryPrice: stated, entryFrom: null }
  const ticks = isLong ? entry.longTicks : entry.shortTicks
  const statedLots = isLong ? entry.statedLongLots : entry.statedShortLots
  const entryPrice = Number(floatOnGrid(tick, ticks).toPrecision(12))
  return { entryPrice, entryFrom: statedLots > 0 ? 'exchange' : 'fills' }
}

function holdersOf(
  { book, grids }: ShownAccount,
  symbol: string,
  side: PositionView['side'],
): Record<string, string> {
  const lot = grids.get(symbol)?.lot
  const held: Record<string, string> = {}
  for (const [pair, { longLots, shortLots }] of book.holdings) {
    const [strategy, of] = splitPair(pair)
    if (of !== symbol || !lot || strategy.startsWith('~')) continue
    const hedged = side === 'long' ? longLots : shortLots
    const lots = book.positionMode === 'hedge_mode' ? hedged : longLots - shortLots
    if (lots !== 0) held[strategy === '' ? '(nobody)' : strategy] = showOnGrid(lot, lots)
  }
  return held
}

export function viewOrders(account: ShownAccount): readonly OrderView[] {
  return allOpenOrders(account.book).map((order) => viewOrder(account, order))
}

function viewOrder(
  { grids }: ShownAccount,
  { terms, orderId, state, filledLots, reason }: Order,
): OrderView {
  const { clientOid, strategyId, symbol, action, ticks, lots, force, purpose, key, exit, tag } =
    terms
  const grid = grids.get(symbol)
  const size = (count: number): string => (grid ? showOnGrid(grid.lot, count) : `${count} lots`)
  return {
    clientOid,
    symbol,
    action,
    state,
    force,
    purpose: exit ?? purpose,
    key,
    tag: tag ?? '',
    reason,
    orderId: orderId ?? null,
    strategy: strategyId,
    price: ticks === undefined ? null : grid ? showOnGrid(grid.tick, ticks) : `${ticks} ticks`,
    size: size(lots),
    filled: size(filledLots),
  }
}

export function viewFill(
  account: ShownAccount,
  { fill, strategyId, clientOid, reason, tag }: ActivityFill,
): FillView {
  const { tradeId, orderId, symbol, side, ticks, lots, profit, fee, scope, filledAt } = fill
  const grid = account.grids.get(symbol)
  return {
    tradeId,
    orderId,
    symbol,
    side,
    clientOid,
    profit: profit ?? null,
    fee: fee ?? null,
    otherFees: toFeesText(fill.otherFees),
    kind: fill.fillKind ?? null,
    at: Math.round(filledAt),
    strategy: strategyId,
    price: grid ? showOnGrid(grid.tick, ticks) : `${ticks} ticks`,
    size: grid ? showOnGrid(grid.lot, lots) : `${lots} lots`,
    coin: account.settings.instruments.get(symbol)?.marginCoin ?? '',
    isMaker: scope === 'maker',
    reason,
    tag,
  }
}

function countStates(orders: readonly Order[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { state } of orders) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

function orNull(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : value
}

function viewCapital(
  account: ShownAccount,
  id: StrategyId,
): Pick<AccountStatusView['strategies'][number], 'capital'> {
  const capital = capitalOf(account, id)
  return capital ? { capital } : {}
}

function viewCapitals(
  account: ShownAccount,
  ids: readonly string[],
): Pick<PositionView, 'capitals'> {
  const capitals = ids.flatMap((id) => {
    const capital = capitalOf(account, toStrategyId(id))
    return capital ? [[id, capital] as const] : []
  })
  return capitals.length === 0 ? {} : { capitals: Object.fromEntries(capitals) }
}

function capitalOf({ config, engine }: ShownAccount, id: StrategyId): CapitalView | undefined {
  const set = config.strategies.find((strategy) => strategy.id === id)?.capital
  const use = set === undefined ? undefined : engine.capitalUse(id)
  if (set === undefined || use === undefined) return undefined
  return { set, max: finite(use.max), used: finite(use.used) }
}

function finite(amount: number): number | null {
  return Number.isFinite(amount) ? amount : null
}
