import {
  type Denial,
  type DenialState,
  detailOf,
  type EndedDenial,
  type LoggedDenial,
  type StandingDenial,
  type Undescribed,
} from '../../domain/denial.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { strategyScope } from '../../domain/trading-mode.ts'
import { mutable } from '../../lib/mutable.ts'
import { announce, type Core, record } from './core.ts'

/** The next line of a kind counts the denials in between. */
const DENIAL_LOGGED_EVERY_MS = 60_000
/** A strategy may use a new key each time, so the oldest kinds are forgotten. */
const KINDS_MAX = 1000
/** Keys of one strategy and code that are named in a minute; a thousand orders may wait. */
const KEYS_NAMED_MAX = 20
/** Between two orders of a short ttl nothing may be denied for so long. */
const BREAK_MAX_MS = 5000

export function forgetDenials({ denials }: Core, symbol: string): void {
  mutable(denials.logged).delete(symbol)
  mutable(denials.standing).delete(symbol)
  mutable(denials.ended).delete(symbol)
}

type AnyDenial = Denial | Undescribed<Denial>

export function createDenials(): DenialState {
  return {
    counts: new Map(),
    logged: new Map(),
    named: new Map(),
    standing: new Map(),
    ended: new Map(),
  }
}

export function standingDenials({ denials }: Core): readonly StandingDenial[] {
  return [...denials.standing.values()].flat()
}

/** They stand since the last plan of the instrument. */
export function denialsOn({ denials }: Core, symbol: string): readonly StandingDenial[] {
  return denials.standing.get(symbol) ?? NONE
}

interface PlannedOrders {
  readonly items: readonly { readonly intent: { readonly strategyId: string } }[]
  readonly denials: readonly AnyDenial[]
}

/** Every order that is missing is planned each time, so what is not denied now is not denied any more. */
export function notePlanDenials(
  core: Core,
  symbol: string,
  { items, denials }: PlannedOrders,
): void {
  noteStanding(core, symbol, denials.length === 0 ? NONE : noteDenials(core, symbol, denials))
  forgetEnded(core, symbol, items)
}

export function noteDecisionDenials(
  core: Core,
  { id, symbols: [first] }: { readonly id: StrategyId; readonly symbols: readonly string[] },
  denied: readonly Denial[],
): void {
  const standing = denied.flatMap((denial) => {
    const symbol = core.instruments.has(denial.symbol) ? denial.symbol : first
    return symbol === undefined ? NONE : noteDenials(core, symbol, [denial])
  })
  noteStanding(core, strategyScope(id), standing)
}

function noteStanding({ denials, now }: Core, source: string, denied: readonly Denied[]): void {
  const earlier = denials.standing.get(source)
  if (denied.length === 0 && earlier === undefined) return
  const ended = mutable(denials.ended.get(source) ?? new Map<string, EndedDenial>())
  for (const { since, ...denial } of earlier ?? NONE) {
    const { strategyId } = denial
    keepLatest(ended, causeOf(denial), { strategyId, since, endedAt: now })
  }
  const standing = denied.map((denial) => {
    const before = ended.get(causeOf(denial))
    const goesOn = before !== undefined && now - before.endedAt <= BREAK_MAX_MS
    return { ...denial, since: goesOn ? before.since : now }
  })
  mutable(denials.ended).set(source, ended)
  if (denied.length === 0) mutable(denials.standing).delete(source)
  else mutable(denials.standing).set(source, standing)
}

/** A key is no part of it, because a strategy may use a new one each time. */
function causeOf({ strategyId, symbol, code }: Omit<Denied, 'detail' | 'orders'>): string {
  return `${strategyId}|${symbol}|${code}`
}

/** A denial that stands has its time itself. */
function forgetEnded({ denials }: Core, source: string, approved: PlannedOrders['items']): void {
  const ended = denials.ended.get(source)
  if (ended === undefined || ended.size === 0 || approved.length === 0) return
  const strategies = new Set(approved.map(({ intent }) => intent.strategyId))
  const left = [...ended].filter(([, { strategyId }]) => !strategies.has(strategyId))
  mutable(denials.ended).set(source, new Map(left))
}

type Denied = Omit<StandingDenial, 'since'>

const NONE: readonly never[] = []

/**
 * Counts a kind of denial once a snapshot. A kind is recorded and logged when it comes first, then
 * once a minute.
 * @param symbol under which the denials are kept: an intent may name an unknown one
 */
export function noteDenials(
  core: Core,
  symbol: string,
  denied: readonly AnyDenial[],
): readonly Denied[] {
  return [...groupByKind(core, symbol, denied)].flatMap(([kind, [first, ...others]]) =>
    first === undefined
      ? NONE
      : noteKind(core, kindsOf(core, symbol), { kind, first, orders: others.length + 1 }),
  )
}

interface DeniedGroup {
  readonly kind: string
  readonly first: AnyDenial
  readonly orders: number
}

function noteKind(
  core: Core,
  kinds: Map<string, LoggedDenial>,
  { kind, first, orders }: DeniedGroup,
): Denied {
  const { snapshots } = core.market
  const logged = kinds.get(kind)
  if (logged?.snapshot === snapshots) return { ...first, detail: logged.detail, orders }
  const { counts } = mutable(core.denials)
  counts.set(first.code, (counts.get(first.code) ?? 0) + orders)
  if (logged && core.now - logged.loggedAt < DENIAL_LOGGED_EVERY_MS) {
    kinds.set(kind, { ...logged, snapshot: snapshots, unlogged: logged.unlogged + orders })
    return { ...first, detail: logged.detail, orders }
  }
  const denial = { ...(kind.endsWith('|') ? withoutKey(first) : first), detail: detailOf(first) }
  const { detail } = denial
  keepLatest(kinds, kind, { loggedAt: core.now, snapshot: snapshots, unlogged: 0, detail })
  logDenial(core, denial, { orders, unlogged: logged?.unlogged ?? 0 })
  return { ...denial, orders }
}

function kindsOf({ denials }: Core, symbol: string): Map<string, LoggedDenial> {
  const { logged } = mutable(denials)
  const kinds = mutable(logged.get(symbol) ?? new Map<string, LoggedDenial>())
  logged.set(symbol, kinds)
  return kinds
}

function keepLatest<Kept>(kinds: Map<string, Kept>, kind: string, logged: Kept): void {
  kinds.delete(kind)
  kinds.set(kind, logged)
  for (const oldest of kinds.keys()) {
    if (kinds.size <= KINDS_MAX) return
    kinds.delete(oldest)
  }
}

function logDenial(
  core: Core,
  { strategyId, symbol, code, detail, key }: Denial,
  { orders, unlogged }: { orders: number; unlogged: number },
): void {
  const named = key === undefined ? {} : { key }
  record(core, {
    kind: 'denial',
    at: core.now,
    strategyId,
    symbol,
    code,
    detail,
    ...named,
    orders,
    unlogged,
  })
  announce(core, 'info', 'intent.denied', {
    strategy: strategyId,
    symbol,
    code,
    detail,
    ...named,
    ...(orders > 1 ? { orders } : {}),
    ...(unlogged > 0 ? { sinceLastLogged: unlogged } : {}),
  })
}

/**
 * Each denied `place` is a kind, because an operator may look for its key. Keys beyond the maximum
 * are one kind.
 */
function groupByKind(
  core: Core,
  symbol: string,
  denied: readonly AnyDenial[],
): ReadonlyMap<string, AnyDenial[]> {
  return Map.groupBy(denied, (denial) => {
    const { strategyId, code, key } = denial
    return `${strategyId}|${code}|${key !== undefined && isNamed(core, symbol, { ...denial, key }) ? key : ''}`
  })
}

function isNamed(
  core: Core,
  symbol: string,
  { strategyId, code, key }: Pick<Denial, 'strategyId' | 'code'> & { readonly key: string },
): boolean {
  const { named } = core.denials
  const what = `${symbol}|${strategyId}|${code}`
  const known = named.get(what)
  const isOver = known === undefined || core.now - known.since >= DENIAL_LOGGED_EVERY_MS
  const keys = isOver ? new Set<string>() : known.keys
  if (keys.has(key) || keys.size >= KEYS_NAMED_MAX) return keys.has(key)
  const since = isOver ? core.now : known.since
  mutable(core.denials.named).set(what, { since, keys: new Set([...keys, key]) })
  return true
}

function withoutKey(denial: AnyDenial): AnyDenial {
  const { key: _, ...unnamed } = denial
  return unnamed
}
