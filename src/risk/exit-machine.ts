import {
  type BelievedTicks,
  type EndedTrade,
  type EntryPause,
  type ExitKind,
  type ExitRules,
  type ExitState,
  type ExitTrade,
  NO_EXITS,
  type ExitDistance,
} from '../domain/exits.ts'
import { HOLD_SIDES, type Holding, type HoldSide } from '../domain/position.ts'

/** Shares are counted in millionths. */
const WHOLE = 1_000_000

export interface ExitHolding {
  readonly lots: number
  /** Null while own fills do not explain all lots. */
  readonly entryTicks: number | null
  /** Unix ms, exchange clock; undefined: not known. */
  readonly openedAt: number | undefined
}

export interface ExitMoment extends Readonly<Record<HoldSide, ExitHolding>> {
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly prices: BelievedTicks | undefined
  readonly atrTicks: number | undefined
  readonly lotsMin: number
  /** Signed lots; undefined without a target. */
  readonly target: number | undefined
  /** Margin coin: profit less fees, of all time and since the strategy was last flat. */
  readonly net: number
  readonly tradeNet: number
  /** @returns margin coin */
  readonly worthOf: (lots: number, ticks: number) => number
}

/**
 * Advances a strategy's exits on an instrument by one moment. A side goes
 *
 *     flat ──lots are held──► held ──an exit was met──► due ──only the kept lots are left──► held
 *      ▲                       │                         │
 *      └────────flat───────────┴──────────flat───────────┘
 *
 * Lots too few for an order count as flat. A due exit stays due at any price; a full one replaces a
 * partial one. docs/exits.md says when a price is met, and what is locked afterwards.
 * @returns the same state if nothing changed
 */
export function advanceExits(
  rules: ExitRules,
  state: ExitState | undefined,
  moment: ExitMoment,
): ExitState {
  let next = state ?? NO_EXITS
  for (const side of HOLD_SIDES) next = advanceSide(rules, next, { side, moment })
  return endPauses(rules, next, moment)
}

interface SideMoment {
  readonly side: HoldSide
  readonly moment: ExitMoment
}

function advanceSide(rules: ExitRules, state: ExitState, here: SideMoment): ExitState {
  const { side, moment } = here
  const { lots, openedAt } = moment[side]
  const known = state[side]
  if (lots < moment.lotsMin) {
    const ended = known === null ? state : endTrade(rules, state, { ...here, trade: known })
    return noteRest(ended, here)
  }
  if (known === null) return startTrade(rules, state, here)
  // Everything was closed and something opened again between two looks.
  if (openedAt !== undefined && openedAt > known.openedAt)
    return startTrade(rules, endTrade(rules, state, { ...here, trade: known }), here)
  const trade = judgeTrade(rules, followTrade(known, here), here)
  return trade === known ? state : { ...state, [side]: trade }
}

/** Lots too few to be closed are no trade: the next trade counts from its own opening. */
function noteRest(state: ExitState, { side, moment }: SideMoment): ExitState {
  const { [side]: known, ...others } = state.rests ?? {}
  if (moment[side].lots === 0) return known === undefined ? state : withRests(state, others)
  return known === undefined ? withRests(state, { ...others, [side]: moment.net }) : state
}

function withRests(
  { rests: _before, ...state }: ExitState,
  rests: NonNullable<ExitState['rests']>,
): ExitState {
  return Object.keys(rests).length === 0 ? state : { ...state, rests }
}

function startTrade(rules: ExitRules, state: ExitState, here: SideMoment): ExitState {
  const { [here.side]: restNet, ...others } = state.rests ?? {}
  const trade = judgeTrade(rules, beginTrade(here, restNet), here)
  return { ...(restNet === undefined ? state : withRests(state, others)), [here.side]: trade }
}

function beginTrade({ side, moment }: SideMoment, restNet: number | undefined): ExitTrade {
  const { lots, entryTicks, openedAt = moment.at } = moment[side]
  return {
    openedAt: restNet === undefined ? openedAt : moment.at,
    entryTicks,
    lotsMax: lots,
    bestTicks: null,
    atrTicks: null,
    taken: 0,
    capLots: null,
    due: null,
    leftBy: null,
    netBefore: restNet ?? moment.net - moment.tradeNet,
  }
}

function followTrade(trade: ExitTrade, { side, moment }: SideMoment): ExitTrade {
  const { lots, entryTicks } = moment[side]
  if (lots <= trade.lotsMax && entryTicks === trade.entryTicks) return trade
  return { ...trade, entryTicks, lotsMax: Math.max(lots, trade.lotsMax) }
}

function judgeTrade(rules: ExitRules, followed: ExitTrade, here: SideMoment): ExitTrade {
  const { moment } = here
  const trade = endDue(noteBest(rules, noteAtr(rules, followed, moment), here), here)
  const isPart = trade.due !== null && trade.due.keptLots > 0
  if (trade.due !== null && !isPart) return trade
  const kind = findFullExit(rules, trade, here)
  if (kind !== undefined)
    return { ...trade, due: { kind, keptLots: 0, since: moment.at }, leftBy: kind }
  return isPart ? trade : judgePartialExits(rules, trade, here)
}

function noteAtr({ atr }: ExitRules, trade: ExitTrade, { atrTicks }: ExitMoment): ExitTrade {
  if (atr === undefined || trade.atrTicks !== null || atrTicks === undefined) return trade
  return { ...trade, atrTicks }
}

function noteBest(
  { trailing, breakEven }: ExitRules,
  trade: ExitTrade,
  { side, moment: { prices } }: SideMoment,
): ExitTrade {
  if (prices === undefined || (trailing === undefined && breakEven === undefined)) return trade
  const ticks = side === 'long' ? prices.low : prices.high
  if (trade.bestTicks !== null && reaches(side, trade.bestTicks, ticks)) return trade
  return { ...trade, bestTicks: ticks }
}

function endDue(trade: ExitTrade, { side, moment }: SideMoment): ExitTrade {
  const { due } = trade
  if (due === null || moment[side].lots - due.keptLots >= Math.max(1, moment.lotsMin)) return trade
  return { ...trade, due: null, capLots: due.keptLots }
}

function findFullExit(
  rules: ExitRules,
  trade: ExitTrade,
  { side, moment: { at, prices } }: SideMoment,
): ExitKind | undefined {
  if (prices) {
    const stop = passedStop(rules, side, trade, prices)
    if (stop) return stop.kind
  }
  const heldMs = at - trade.openedAt
  if (rules.timeLimitMs !== undefined && heldMs >= rules.timeLimitMs) return 'timeLimit'
  const row = rules.profitTable?.findLast(({ fromMs }) => fromMs <= heldMs)
  if (!row || !prices || trade.entryTicks === null) return undefined
  return hasBrought(side, trade.entryTicks, prices, row.least) ? 'profitTable' : undefined
}

function judgePartialExits(
  { takeProfits = [] }: ExitRules,
  trade: ExitTrade,
  { side, moment }: SideMoment,
): ExitTrade {
  const { prices, lotsMin, at } = moment
  const { entryTicks, taken, lotsMax } = trade
  if (!prices || entryTicks === null) return trade
  const reached = takeProfits
    .slice(taken)
    .filter((part) => hasBrought(side, entryTicks, prices, part.at))
  if (reached.length === 0) return trade
  const { lots } = moment[side]
  const share = reached.reduce((sum, { close }) => sum + close, 0)
  const product = lotsMax * share
  const closed = Math.max(lotsMin, (product - (product % WHOLE)) / WHOLE)
  // A rest that would be too small to be closed later is closed too.
  const kept = lots - closed < lotsMin ? 0 : lots - closed
  const due = { kind: 'takeProfit', keptLots: kept, since: at } as const
  const leftBy = kept === 0 ? 'takeProfit' : trade.leftBy
  return { ...trade, taken: taken + reached.length, due, leftBy }
}

const STOPS: ReadonlySet<ExitKind | null> = new Set(['stop', 'trailing', 'breakEven'])

function endTrade(
  rules: ExitRules,
  state: ExitState,
  { side, moment, trade }: SideMoment & { readonly trade: ExitTrade },
): ExitState {
  const { at, net, target = 0 } = moment
  const { leftBy, netBefore, lotsMax, entryTicks } = trade
  const made = net - netBefore
  const wants = side === 'long' ? target > 0 : target < 0
  const ended = keepEnded(rules, state.ended, {
    at,
    isStop: STOPS.has(leftBy) && made < 0,
    net: made,
    worth: entryTicks === null ? 0 : moment.worthOf(lotsMax, entryTicks),
  })
  const coolDown: EntryPause | null =
    leftBy !== null && rules.coolDownMs !== undefined
      ? { cause: 'coolDown', untilAt: at + rules.coolDownMs }
      : null
  return {
    ...state,
    [side]: null,
    lock: leftBy !== null && wants ? side : state.lock,
    ended,
    pause: laterOf(laterOf(state.pause, coolDown), protect(rules, ended, at)),
  }
}

function keepEnded(
  { protections }: ExitRules,
  before: readonly EndedTrade[],
  trade: EndedTrade,
): readonly EndedTrade[] {
  const withinMs = lookedAtMs(protections)
  if (withinMs === 0) return before
  return [...before, trade].filter(({ at }) => trade.at - at < withinMs).slice(-ENDED_MAX)
}

function lookedAtMs({ stops, lowProfit }: ExitRules['protections'] = {}): number {
  return Math.max(stops?.withinMs ?? 0, lowProfit?.withinMs ?? 0)
}

/**
 * Pauses and ended trades count on while the strategy does not trade the instrument.
 * @returns undefined when none of them counts any more
 */
export function pausesOf(
  { protections }: ExitRules,
  { pause, ended }: ExitState,
  at: number,
): ExitState | undefined {
  const lasting = pause !== null && at < pause.untilAt ? pause : null
  const counted = ended.filter((trade) => at - trade.at < lookedAtMs(protections))
  if (lasting === null && counted.length === 0) return undefined
  return { ...NO_EXITS, pause: lasting, ended: counted }
}

/** The configuration lets no protection count more trades. */
const ENDED_MAX = 100

function protect(
  { protections }: ExitRules,
  ended: readonly EndedTrade[],
  now: number,
): EntryPause | null {
  const { stops, lowProfit } = protections ?? {}
  const within = (ms: number): readonly EndedTrade[] => ended.filter(({ at }) => now - at < ms)
  let pause: EntryPause | null = null
  const last = ended.at(-1)
  if (stops && last?.isStop === true) {
    const count = within(stops.withinMs).filter(({ isStop }) => isStop).length
    if (count >= stops.count) pause = { cause: 'stops', untilAt: now + stops.pauseMs }
  }
  if (!lowProfit) return pause
  const trades = within(lowProfit.withinMs)
  const net = trades.reduce((sum, trade) => sum + trade.net, 0)
  const worth = trades.reduce((sum, trade) => sum + trade.worth, 0)
  const isLow = trades.length >= lowProfit.trades && net * WHOLE < lowProfit.below * worth
  return isLow ? laterOf(pause, { cause: 'lowProfit', untilAt: now + lowProfit.pauseMs }) : pause
}

function laterOf(one: EntryPause | null, other: EntryPause | null): EntryPause | null {
  if (one === null || other === null) return one ?? other
  return other.untilAt > one.untilAt ? other : one
}

function endPauses(
  { coolDownMs }: ExitRules,
  state: ExitState,
  { at, target = 0 }: ExitMoment,
): ExitState {
  const pause = state.pause !== null && at >= state.pause.untilAt ? null : state.pause
  const isWanted = state.lock === 'long' ? target > 0 : target < 0
  const isOver = !isWanted || (coolDownMs !== undefined && pause === null)
  const lock = isOver ? null : state.lock
  return pause === state.pause && lock === state.lock ? state : { ...state, pause, lock }
}

/** Exits let the target be neither enlarged nor turned to the other side of what is held. */
export function boundTarget(
  state: ExitState | undefined,
  target: number,
  holding: Holding,
): number {
  if (state === undefined) return target
  const { lock, pause } = state
  const side = target > 0 ? 'long' : 'short'
  const here = holding[`${side}Lots`]
  const cap = state[side]?.capLots ?? Number.POSITIVE_INFINITY
  const most = lock === side || pause !== null ? Math.min(cap, here) : cap
  const lots = Math.min(Math.abs(target), most)
  return lots === 0 ? 0 : target > 0 ? lots : -lots
}

export interface PassedLevel {
  readonly kind: ExitKind
  /** Whole ticks. */
  readonly ticks: number
}

/** The level is rounded to where more is gained. */
function gainTicks(side: HoldSide, entryTicks: number, share: number): number {
  return side === 'long' ? scaleUp(entryTicks, WHOLE + share) : scaleDown(entryTicks, WHOLE - share)
}

/** The level is rounded to where less is gained. A negative share is a loss. */
export function stopTicks(side: HoldSide, fromTicks: number, share: number): number {
  return side === 'long' ? scaleDown(fromTicks, WHOLE + share) : scaleUp(fromTicks, WHOLE - share)
}

/** Levels whose distance is not known yet are left out. */
export function listStops(
  rules: ExitRules,
  side: HoldSide,
  trade: Pick<ExitTrade, 'entryTicks' | 'bestTicks' | 'atrTicks'>,
): readonly PassedLevel[] {
  const { entryTicks, bestTicks, atrTicks } = trade
  const { stop, trailing, breakEven } = rules
  const levels: PassedLevel[] = []
  if (entryTicks === null) return levels
  const at = (from: number, distance: ExitDistance): number | undefined =>
    distanceFrom(side, { from, distance, atrTicks })
  const add = (kind: ExitKind, ticks: number | undefined): void => {
    if (ticks !== undefined) levels.push({ kind, ticks })
  }
  const hasGained = (share: number): boolean =>
    bestTicks !== null && reaches(side, bestTicks, gainTicks(side, entryTicks, share))
  if (stop) add('stop', at(entryTicks, stop))
  // With 0 the stop trails at once, even before the best price has reached the entry.
  const trails = trailing && (trailing.after === 0 || hasGained(trailing.after))
  if (trails && bestTicks !== null) add('trailing', at(bestTicks, trailing.distance))
  if (breakEven && hasGained(breakEven.after))
    add('breakEven', stopTicks(side, entryTicks, breakEven.offset))
  return levels
}

/**
 * A stop at the exchange belongs as far beyond the nearest protective level as it was beyond the
 * stop-loss.
 * @returns undefined while that level is not known
 */
export function exchangeStopTicks(
  rules: ExitRules,
  side: HoldSide,
  trade: ExitTrade,
): { readonly ticks: number; readonly marginTicks: number } | undefined {
  const { stop, stopAtExchange } = rules
  if (stopAtExchange === undefined || stop?.kind !== 'share' || trade.entryTicks === null)
    return undefined
  const levels = listStops(rules, side, trade).map(({ ticks }) => ticks)
  if (levels.length === 0) return undefined
  const marginTicks = (trade.entryTicks * (stopAtExchange - stop.millionths)) / WHOLE
  const ticks =
    side === 'long'
      ? Math.floor(Math.max(...levels) - marginTicks)
      : Math.ceil(Math.min(...levels) + marginTicks)
  return ticks > 0 ? { ticks, marginTicks } : undefined
}

/** Both prices have passed the level. Of several the one that was met first counts. */
function passedStop(
  rules: ExitRules,
  side: HoldSide,
  trade: ExitTrade,
  { low, high }: BelievedTicks,
): PassedLevel | undefined {
  const better = side === 'long' ? high : low
  return listStops(rules, side, trade)
    .filter(({ ticks }) => reaches(side, ticks, better))
    .reduce<PassedLevel | undefined>(
      (first, level) =>
        first !== undefined && reaches(side, first.ticks, level.ticks) ? first : level,
      undefined,
    )
}

function hasBrought(
  side: HoldSide,
  entryTicks: number,
  { low, high }: BelievedTicks,
  share: number,
): boolean {
  return reaches(side, side === 'long' ? low : high, gainTicks(side, entryTicks, share))
}

function reaches(side: HoldSide, ticks: number, other: number): boolean {
  return side === 'long' ? ticks >= other : ticks <= other
}

function distanceFrom(
  side: HoldSide,
  {
    from,
    distance,
    atrTicks,
  }: {
    readonly from: number
    readonly distance: ExitDistance
    readonly atrTicks: number | null
  },
): number | undefined {
  if (distance.kind === 'share') return stopTicks(side, from, -distance.millionths)
  if (atrTicks === null) return undefined
  const away = (atrTicks * distance.millionths) / WHOLE
  return side === 'long' ? Math.floor(from - away) : Math.ceil(from + away)
}

/** The product is exact for ticks below nine thousand million. */
function scaleDown(ticks: number, millionths: number): number {
  const product = ticks * millionths
  return Math.floor((product - (product % WHOLE)) / WHOLE)
}

function scaleUp(ticks: number, millionths: number): number {
  const product = ticks * millionths
  const rest = product % WHOLE
  return (product - rest) / WHOLE + (rest > 0 ? 1 : 0)
}
