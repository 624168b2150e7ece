import { showUntil } from '../lib/text/show-until.ts'
import { showDuration } from '../lib/text/show-duration.ts'
import { showUtc } from '../lib/text/show-utc.ts'
import type { Readiness } from '../control/controlled.ts'
import type { AccountStatusView } from '../control/views.ts'
import { candleKey, formatInterval } from '../domain/candles.ts'
import { DENIAL_CODES, type DenialCode, type StandingDenial } from '../domain/denial.ts'
import {
  dueExitOf,
  EXIT_KINDS,
  type ExitRules,
  type ExitState,
  PAUSE_CAUSES,
} from '../domain/exits.ts'
import type { StrategyId } from '../domain/ids.ts'
import { type DistanceTrust, LIQUIDATION_DISPUTE_MS } from '../domain/liquidation.ts'
import type { Dispute } from '../domain/loss-limits.ts'
import { type Restriction, strategyScope } from '../domain/trading-mode.ts'
import { WORST_CASE_WARN } from '../domain/worst-case.ts'
import { describeScenario, showUsed } from '../risk/worst-case.ts'
import { Failure, headlineOf } from '../lib/failure.ts'
import { isWriteFailure } from '../journal/journal-failures.ts'
import type { RunEnding } from '../engine/lifecycle/kill.ts'
import { describeOff, type ShownAccount } from './shown-account.ts'
import { describeStale, groupStale } from './stale-readings.ts'
import { ATR_CANDLES } from '../engine/state/candles.ts'
import { describeUnkept, findUnkeptExits } from '../engine/lifecycle/judge-kept-exits.ts'
import { exitStateOf } from '../engine/state/exits.ts'
import { NO_ANSWER } from '../engine/state/readings.ts'
import { listEmptyUniverses } from './universe-view.ts'
import { type LateBatches, roundWait } from './journal-pace.ts'

type ReadingAges = AccountStatusView['ages']
type ShownWait = AccountStatusView['waits'][number]

export function agesOf({
  settings,
  tickers,
  vanished,
  engine,
  trusted,
}: ShownAccount): ReadingAges {
  const now = trusted.clock.now()
  const exchangeNow = trusted.offset.exchangeNow(now)
  const since = (at: number): number | null => (at > 0 ? Math.max(0, Math.round(now - at)) : null)
  const symbols = [...settings.instruments.keys()]
  return {
    tickersMs: Object.fromEntries(
      symbols.map((symbol) => {
        const at = tickers?.read(symbol, 'ts') ?? Number.NaN
        if (!tickers || Number.isNaN(at)) return [symbol, since(vanished?.get(symbol)?.seenAt ?? 0)]
        return [symbol, Math.max(0, Math.round(exchangeNow - at), Math.round(now - tickers.readAt))]
      }),
    ),
    positionsMs: Object.fromEntries(
      symbols.map((symbol) => [symbol, since(engine.positionReadAt(symbol))]),
    ),
    fillsMs: since(engine.fillsAskedAt),
  }
}

/** Restrictions are not among these. Without any hindrance, nothing is wanted. */
export function* findHindrances(account: ShownAccount): Generator<string> {
  const { settings, engine, state, fatal, paused, pace, journalTrouble } = account
  const { dataAgeMaxMs } = settings.limits
  const ages = agesOf(account)
  if (fatal !== undefined) {
    yield describeOff(headlineOf(fatal))
    if (account.killFile !== undefined)
      yield `a kill stands (${account.killFile}): a daemon that starts here obeys it before its first order`
    return
  }
  if (state === 'new') yield "it measures the exchange's clock, before anything else"
  else if (engine.phase === 'starting')
    yield 'it starts: it reads what the exchange holds, and proves what became of old orders'
  else if (engine.phase !== 'running') yield `it is ${engine.phase}`
  for (const ending of engine.endings) yield describeEnding(ending)
  if (journalTrouble !== undefined)
    yield `no order leaves, only cancel-alls do: the journal's server cannot be reached: ${journalTrouble}`
  else if (pace.late) yield describeLate(pace.late)
  for (const [symbol, ageMs] of Object.entries(ages.tickersMs)) {
    const gone = account.vanished?.get(symbol)
    if (gone)
      yield `${symbol}: the tickers lack it since ${showUtc(gone.seenAt)}${Number.isNaN(gone.last) ? '' : `, when its price was ${gone.last}`}: look whether the exchange still lists it`
    else if (ageMs === null || ageMs > dataAgeMaxMs)
      yield `${symbol}: the price is ${inWords(ageMs)}; ${inWords(dataAgeMaxMs)} is the most (risk.dataAgeMaxMs)`
  }
  const unproved = new Set(engine.unproved)
  if (engine.phase === 'running' && unproved.size > 0)
    yield `the start has yet to prove ${unproved.size} of ${settings.instruments.size} instruments, and trades the others: ${named(unproved)}`
  yield* listSilent(account)
  yield* listStale(account)
  const { late = [] } = account
  if (late.length > 0)
    yield `readings of ${late.join(' and ')} come several times later than polling asks: the exchange answers slowly, or calls wait for long (intentd_request_seconds, intentd_limit_waited_seconds)`
  for (const { strategyId, symbol, reason, retryAt } of engine.refusals) {
    const waitMs = retryAt - account.trusted.clock.now()
    const again = waitMs > 0 ? `, in ${Math.ceil(waitMs / 1000)} s` : ''
    yield `${symbol}: orders of ${strategyId} are ${reason}; until then one tries whether it is taken${again}`
  }
  for (const dispute of engine.disputes.values())
    if (dispute.figure !== 'liquidation') yield describeDispute(dispute)
  yield* listWorstCase(account, (used) => used > 1)
  for (const [id, reason] of paused)
    yield `strategy:${id} is not asked until its thread begins anew: ${reason}`
  yield* listDenied(account, account.trusted.clock.now())
  yield* listExits(account)
  yield* listEmptyUniverses(account)
}

/**
 * Wishes that were denied when they were last looked at.
 * @param now Unix ms, our clock
 */
export function* listDenied(
  { engine, settings }: Pick<ShownAccount, 'engine' | 'settings'>,
  now: number,
): Generator<string> {
  const shown = engine
    .standingDenials()
    .filter(
      (denial) =>
        !SAID_ELSEWHERE.has(denial.code) &&
        !mayPass(denial, now) &&
        settings.strategies.has(denial.strategyId as StrategyId),
    )
  const causes = Map.groupBy(shown, ({ symbol, strategyId, code }) =>
    [symbol, strategyId, code].join('|'),
  )
  for (const [first, ...others] of causes.values()) {
    if (first === undefined) continue
    const { symbol, strategyId, code, detail } = first
    const orders = others.reduce((sum, one) => sum + one.orders, first.orders)
    const what = orders === 1 ? 'an order that is' : `${orders} orders that are`
    const isKnown = settings.instruments.has(symbol)
    const wish = `${strategyId} wants ${what} denied, ${code}: ${DENIAL_CODES[code]} (${detail})`
    yield isKnown ? `${symbol}: ${wish}; since when: intentd explain ${symbol}` : wish
  }
}

/**
 * Restrictions, pauses and old data have lines of their own, and an order whose key was used exists.
 */
const SAID_ELSEWHERE: ReadonlySet<DenialCode> = new Set([
  'TRADING_REDUCING',
  'TRADING_HALTED',
  'TRADING_KILLED',
  'ENTRY_PAUSED',
  'CLOCK_UNSYNCHRONISED',
  'DATA_STALE',
  'ACCOUNT_STALE',
  'KEY_REUSED',
])

/** These are shown once they have stood for so long. */
const PASSING_MS = 5000

/** The next reading, price, fill or answer often ends these. Other denials wait for a person or the market. */
const PASSING: ReadonlySet<DenialCode> = new Set([
  'POSITION_UNEXPLAINED',
  'CLOSE_EXCEEDS_POSITION',
  'SELF_TRADE',
  'DATA_MISSING',
  'INTENT_EXPIRED',
])

/** After our clock was set back a denial is not hidden until it has caught up. */
function mayPass({ code, since }: StandingDenial, now: number): boolean {
  return PASSING.has(code) && now >= since && now - since < PASSING_MS
}

/** A warning holds nothing back, but a person should know of it. */
export function* findWarnings(account: ShownAccount): Generator<string> {
  for (const dispute of account.engine.disputes.values())
    if (dispute.figure === 'liquidation') yield describeDispute(dispute)
  for (const exits of findUnkeptExits(account)) yield describeUnkept(account, exits)
  yield* listNear(account)
  yield* listWorstCase(account, (used) => used >= WORST_CASE_WARN && used <= 1)
}

function describeEnding({ kind, phase, unproved }: RunEnding): string {
  const what = kind === 'kill' ? 'a kill is under way' : `a stop is under way (${kind})`
  const names = [...unproved].map(([symbol, why]) => (why === '' ? symbol : `${symbol} (${why})`))
  const left = names.length === 0 ? '' : `; not proved yet: ${named(new Set(names))}`
  return `${what}: it ${WAITS[phase]}${left}`
}

const WAITS: Readonly<Record<RunEnding['phase'], string>> = {
  closing: 'closes everything first',
  killing: 'waits until the kill is proved',
  cutting: 'cancels everything',
  draining: 'waits for calls that are on the wire',
  cancelling: 'cancels what rests',
  clearing: 'cancels what rests',
  waiting: 'waits until no order on its way can be accepted any more',
  confirming: 'cancels once more, which must find nothing',
  proving: 'reads fills and positions',
  clean: 'has proved everything',
}

function* listNear({ engine, settings }: ShownAccount): Generator<string> {
  const warn = settings.liquidation?.steps?.warn ?? 0
  for (const { symbol, holdSide, nearest, moves, trust } of [...engine.distances.values()].flat()) {
    if (!(nearest <= warn)) continue
    const ofMoves = Number.isNaN(moves) ? '' : ` (${moves.toFixed(1)} typical moves of an hour)`
    yield `${symbol}: the ${holdSide} position is ${(nearest * 100).toFixed(1)} % from its liquidation${ofMoves}${BY_TRUST[trust]}`
  }
}

const BY_TRUST: Readonly<Record<DistanceTrust, string>> = {
  agreed: '',
  ours: '',
  none: '',
  stated: ', as the exchange states it',
  disputed: ', by the nearer of two figures',
  alone: ', by our own figure alone',
}

function* listWorstCase(
  { engine }: ShownAccount,
  isShown: (used: number) => boolean,
): Generator<string> {
  const { worstCase } = engine
  if (worstCase === undefined || !isShown(worstCase.used)) return
  const { scenario, used } = worstCase
  const more = used > 1 ? 'nothing that adds to it leaves' : 'little more of it can be held'
  yield `${describeScenario(scenario)} would take ${showUsed(used)} of the equity with all that rests filled: ${more}`
}

/** A start shows the readings that it has yet to make only after they failed. */
function* listStale({ engine, settings, trusted }: ShownAccount): Generator<string> {
  const now = trusted.clock.now()
  const resolving = new Set(engine.unproved.map((symbol) => `position ${symbol}`))
  const stale = engine
    .staleReadings(now)
    .filter(
      ({ readAt, reason }) => engine.unproved.length === 0 || readAt > 0 || reason !== NO_ANSWER,
    )
    .map((one) =>
      one.reason === NO_ANSWER && resolving.has(one.what) ? { ...one, reason: RESOLVES } : one,
    )
  const most = (settings.limits.accountAgeMaxMs / 1000).toFixed(1)
  for (const group of groupStale(stale, now))
    yield `nothing that adds risk leaves: ${describeStale(group)} (${most} s is the most)`
}

const RESOLVES = 'the start resolves earlier orders first'

function* listSilent({ engine, trusted }: ShownAccount): Generator<string> {
  const now = trusted.clock.now()
  for (const [kind, { since, times, reason }] of engine.silentCalls(now))
    yield `the exchange does not answer ${kind} since ${new Date(since).toISOString().slice(11, 19)} UTC, ${times} calls so far (${reason}): it goes on by itself, and finds out first what happened meanwhile`
}

function describeDispute({ figure, scope, ours, theirs, countedFrom }: Dispute): string {
  if (figure === 'fills')
    return `two counts of all fills differ: the book says ${ours}; its fills say ${theirs}`
  if (figure === 'liquidation') {
    const aloneAt = new Date(countedFrom + LIQUIDATION_DISPUTE_MS).toISOString().slice(11, 19)
    return `${scope}: its liquidation is at ${ours} by our own count, at ${theirs} by the exchange; from ${aloneAt} UTC on ours alone takes the steps of risk.liquidation`
  }
  return `${scope}: the unrealised profit is ${ours} by our own figure, ${theirs} by the exchange; while they differ the worse one counts for what reduces, and no peak rises (risk.disputeToleranceRatio)`
}

function describeLate({ batches, wait }: LateBatches): string {
  const { waitedMs, mostMs } = roundWait(wait)
  const dropped = batches === 1 ? 'the last batch was' : `the last ${batches} batches were`
  return `no order leaves, only cancel-alls do: the journal took ${waitedMs} ms to make the last batch durable, ${mostMs} ms was the most, and ${dropped} dropped`
}

function named(symbols: ReadonlySet<string>): string {
  const shown = [...symbols].slice(0, NAMED_MAX).join(', ')
  return symbols.size > NAMED_MAX ? `${shown} …` : shown
}

const NAMED_MAX = 5

export function* listExits({
  settings,
  book,
  engine,
}: Pick<ShownAccount, 'settings' | 'book' | 'engine'>): Generator<string> {
  for (const { id, symbols, exits } of settings.strategies.values()) {
    if (exits === undefined) continue
    for (const symbol of symbols) {
      const state = exitStateOf({ settings, book }, id, symbol)
      if (state) yield* describeExits(engine, { id, symbol, state })
      if (exits.atr && isAtrMissing(book, symbol, exits.atr))
        yield `${symbol}: distances of ${id} in ATR wait for ${exits.atr.period * ATR_CANDLES} candles of ${formatInterval(exits.atr.intervalMs)}: until then these stops do not count`
    }
  }
}

interface ShownExits {
  readonly id: string
  readonly symbol: string
  readonly state: ExitState
}

function* describeExits(
  engine: ShownAccount['engine'],
  { id, symbol, state }: ShownExits,
): Generator<string> {
  const due = dueExitOf(state)
  if (due) {
    const scopes = new Set(['*', symbol, strategyScope(id)])
    const held = engine.restrictions.find(
      ({ scope, mode }) => scopes.has(scope) && mode !== 'reducing',
    )
    yield held
      ? `${symbol}: ${EXIT_KINDS[due.kind]} of ${id} is due, and waits: ${held.scope} is ${held.mode} (${held.code}: ${held.reason})`
      : `${symbol}: ${EXIT_KINDS[due.kind]} of ${id} is due`
  }
  for (const side of ['long', 'short'] as const) {
    if (state[side]?.entryTicks === null)
      yield `${symbol}: the fills of ${id} do not explain at which price it is ${side}: of its exits only the time limit counts`
  }
}

export function* listPauses({
  settings,
  book,
  trusted,
}: Pick<ShownAccount, 'settings' | 'book' | 'trusted'>): Generator<string> {
  const now = trusted.clock.now()
  for (const { id, symbols, exits } of settings.strategies.values()) {
    for (const symbol of exits === undefined ? [] : symbols) {
      const { pause, lock } = exitStateOf({ settings, book }, id, symbol) ?? {}
      if (pause)
        yield `${symbol}: ${id} enters nothing: ${PAUSE_CAUSES[pause.cause]}, until ${showUntil(pause.untilAt, now)}`
      else if (lock)
        yield `${symbol}: ${id} was exited, and its ${lock} target counts again once it has wanted something else`
    }
  }
}

function isAtrMissing(
  book: ShownAccount['book'],
  symbol: string,
  { intervalMs, period }: NonNullable<ExitRules['atr']>,
): boolean {
  const length = book.candles.get(candleKey(symbol, intervalMs))?.length ?? 0
  return length < period * ATR_CANDLES
}

/** A wait is no hindrance: a strategy that warms up wants nothing yet. */
export function* listStrategyWaits(
  account: Pick<ShownAccount, 'settings' | 'book' | 'wishes'>,
): Generator<ShownWait> {
  yield* listWarmUps(account)
  yield* listWaiting(account)
}

export function describeWait({ symbol, strategy, what }: ShownWait): string {
  return `${symbol}: ${strategy} waits for ${what}`
}

function* listWarmUps({
  settings,
  book,
}: Pick<ShownAccount, 'settings' | 'book'>): Generator<ShownWait> {
  for (const { id, symbols, candles = NO_CANDLES } of settings.strategies.values()) {
    for (const symbol of symbols) {
      for (const [intervalMs, needed] of candles) {
        const length = book.candles.get(candleKey(symbol, intervalMs))?.length ?? 0
        if (length < needed)
          yield {
            symbol,
            strategy: id,
            what: `candles of ${formatInterval(intervalMs)}, ${length} of ${needed}: it needs ${showDuration((needed - length) * intervalMs)} of prices`,
          }
      }
    }
  }
}

/** In the words of the strategies (`market.waitsFor`). */
function* listWaiting({
  settings,
  wishes,
}: Pick<ShownAccount, 'settings' | 'wishes'>): Generator<ShownWait> {
  for (const { id, symbols } of settings.strategies.values()) {
    for (const { symbol, what } of wishes?.waitsOf(id) ?? [])
      if (symbols.includes(symbol)) yield { symbol, strategy: id, what }
  }
}

const NO_CANDLES: ReadonlyMap<number, number> = new Map()

function inWords(ageMs: number | null): string {
  return ageMs === null ? 'not there yet' : `${(ageMs / 1000).toFixed(1)} s old`
}

export function checkReadiness(accounts: readonly ShownAccount[]): Readiness {
  const checks: Record<string, { ok: boolean; found: string }> = {}
  for (const account of accounts) {
    const { config, engine, settings, trusted, state, fatal, pace } = account
    const ages = agesOf(account)
    const { dataAgeMaxMs } = settings.limits
    const now = trusted.clock.now()
    const stale = groupStale(engine.staleReadings(now), now)
    const held = engine.restrictions.filter(({ scope }) => scope === '*')
    const halted = held.find(({ mode }) => mode !== 'reducing') ?? haltOfAll(account)
    const strictest = halted ?? held[0]
    const oldest = worstOf(Object.values(ages.tickersMs))
    const oldestReading = worstOf([...Object.values(ages.positionsMs), ages.fillsMs])
    const name = (check: string): string =>
      accounts.length === 1 ? check : `${config.name} ${check}`
    checks[name('running')] = {
      ok: state === 'begun' && engine.phase === 'running' && fatal === undefined,
      found:
        fatal === undefined
          ? engine.phase
          : `off: ${fatal instanceof Failure ? fatal.code : 'broken'}`,
    }
    checks[name('journal')] = {
      ok: !isWriteFailure(fatal) && pace.late === undefined,
      found: isWriteFailure(fatal)
        ? 'broken'
        : pace.late
          ? 'too slow: orders are dropped'
          : 'written',
    }
    const isClockKnown = isClockSynchronised(account)
    checks[name('clock')] = {
      ok: isClockKnown,
      found: isClockKnown ? 'synchronised' : 'not synchronised',
    }
    checks[name('prices')] = { ok: oldest <= dataAgeMaxMs, found: showAge(oldest) }
    checks[name('account')] = {
      ok: stale.length === 0,
      found: stale.length === 0 ? showAge(oldestReading) : stale.map(describeStale).join('; '),
    }
    const disputed = [...engine.disputes.values()].filter(({ figure }) => figure !== 'liquidation')
    checks[name('figures')] = {
      ok: disputed.length === 0,
      found:
        disputed
          .map(({ scope, ours, theirs }) => `${scope}: ours ${ours}, theirs ${theirs}`)
          .join('; ') || 'agree',
    }
    const isOver = state === 'atRest'
    const unrestricted = state === 'begun' && engine.isTrading ? 'trading' : 'not restricted'
    const mode = strictest === undefined ? unrestricted : `${strictest.mode}: ${strictest.code}`
    checks[name('mode')] = { ok: !isOver && halted === undefined, found: isOver ? 'off' : mode }
  }
  return { isReady: Object.values(checks).every(({ ok }) => ok), checks }
}

/** True if the core measured the clock lately and without contradiction. */
export function isClockSynchronised({
  trusted,
  engine,
}: Pick<ShownAccount, 'trusted' | 'engine'>): boolean {
  return (
    trusted.isSynchronised &&
    !engine.restrictions.some(({ code }) => code === 'clockUnsynchronised')
  )
}

function haltOfAll({ settings, engine }: ShownAccount): Restriction | undefined {
  const held = engine.restrictions.filter(({ mode }) => mode !== 'reducing')
  const halts = [...settings.strategies.values()].flatMap(({ id, symbols }) =>
    symbols.map((symbol) =>
      held.find(({ scope }) => scope === symbol || scope === strategyScope(id)),
    ),
  )
  return halts.includes(undefined) ? undefined : halts[0]
}

const showAge = (ageMs: number): string =>
  Number.isFinite(ageMs) ? `${ageMs} ms old` : 'not read yet'

function worstOf(ages: readonly (number | null)[]): number {
  return Math.max(0, ...ages.map((ageMs) => ageMs ?? Number.POSITIVE_INFINITY))
}
