import { type Denial, detailOf, type LoggedDenial, type Undescribed } from '../../domain/denial.ts'
import { mutable } from '../../lib/mutable.ts'
import { announce, type Core, record } from './core.ts'

/** The next line of a kind counts the denials in between. */
const DENIAL_LOGGED_EVERY_MS = 60_000
/** A strategy may use a new key each time, so the oldest kinds are forgotten. */
const KINDS_MAX = 1000
/** Keys of one strategy and code that are named in a minute; a thousand orders may wait. */
const KEYS_NAMED_MAX = 20

export function forgetDenials({ denials }: Core, symbol: string): void {
  mutable(denials.logged).delete(symbol)
}

type AnyDenial = Denial | Undescribed<Denial>

export function denialKindsOf({ denials }: Core, symbol: string): readonly string[] {
  return [...(denials.logged.get(symbol)?.keys() ?? [])]
}

/**
 * Counts a kind of denial once a snapshot. A kind is recorded and logged when it comes first, then
 * once a minute.
 * @param symbol under which the denials are kept: an intent may name an unknown one
 */
export function noteDenials(core: Core, symbol: string, denied: readonly AnyDenial[]): void {
  const { snapshots } = core.market
  for (const [kind, group] of groupByKind(core, symbol, denied)) {
    const kinds = kindsOf(core, symbol)
    const logged = kinds.get(kind)
    const [first] = group
    if (first === undefined || logged?.snapshot === snapshots) continue
    const { counts } = mutable(core.denials)
    counts.set(first.code, (counts.get(first.code) ?? 0) + group.length)
    if (logged && core.now - logged.loggedAt < DENIAL_LOGGED_EVERY_MS) {
      kinds.set(kind, { ...logged, snapshot: snapshots, unlogged: logged.unlogged + group.length })
      continue
    }
    keepLatest(kinds, kind, { loggedAt: core.now, snapshot: snapshots, unlogged: 0 })
    logDenial(core, kind.endsWith('|') ? withoutKey(first) : first, {
      orders: group.length,
      unlogged: logged?.unlogged ?? 0,
    })
  }
}

function kindsOf({ denials }: Core, symbol: string): Map<string, LoggedDenial> {
  const { logged } = mutable(denials)
  const kinds = mutable(logged.get(symbol) ?? new Map<string, LoggedDenial>())
  logged.set(symbol, kinds)
  return kinds
}

function keepLatest(kinds: Map<string, LoggedDenial>, kind: string, logged: LoggedDenial): void {
  kinds.delete(kind)
  kinds.set(kind, logged)
  for (const oldest of kinds.keys()) {
    if (kinds.size <= KINDS_MAX) return
    kinds.delete(oldest)
  }
}

function logDenial(
  core: Core,
  denial: AnyDenial,
  { orders, unlogged }: { orders: number; unlogged: number },
): void {
  const { strategyId, symbol, code, key } = denial
  const detail = detailOf(denial)
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
