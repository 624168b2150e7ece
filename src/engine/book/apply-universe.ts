import { canRest } from '../../domain/order.ts'
import type { BootRecord, DepartedRecord, UniverseRecord } from '../../domain/record.ts'
import type {
  KeptUniverse,
  UniverseMember,
  UniverseMemory,
  UniverseVerdict,
} from '../../domain/universe.ts'
import { openOrdersOf, pairOf, placesOf, removePlace, pairKey, type WritableBook } from './book.ts'
import { applyGrids } from './convert-grids.ts'

const DAY_MS = 86_400_000

const NOT_LISTED: UniverseVerdict = { isIn: false, reason: 'notListed' }

const NEVER_EVALUATED: KeptUniverse = {
  evaluatedAt: 0,
  rule: '',
  members: {},
  departures: [],
  firstSeen: {},
  verdicts: {},
}

/** @param rule as JSON; what another rule left unconfirmed does not count */
export function toUniverseMemory(
  kept: KeptUniverse = NEVER_EVALUATED,
  rule = kept.rule,
): UniverseMemory {
  const { evaluatedAt, departures } = kept
  return {
    evaluatedAt,
    departures,
    members: new Map(Object.entries(kept.members)),
    firstSeen: new Map(Object.entries(kept.firstSeen)),
    unconfirmed: new Set(kept.rule === rule ? listUnconfirmed(kept) : []),
  }
}

function listUnconfirmed({ members, verdicts }: KeptUniverse): readonly string[] {
  return Object.keys(members).filter((symbol) => verdicts[symbol]?.reason === 'unconfirmed')
}

export function hasUnconfirmed(kept: KeptUniverse): boolean {
  return listUnconfirmed(kept).length > 0
}

export function applyUniverse(book: WritableBook, record: UniverseRecord): void {
  const { strategyId, marketAt } = record
  const kept = book.universes.get(strategyId) ?? NEVER_EVALUATED
  const members = new Map(Object.entries(kept.members))
  for (const { symbol, rules, grids } of record.joined) {
    const isBack = book.leavings.delete(pairOf(strategyId, symbol))
    const known = isBack ? members.get(symbol) : undefined
    if (!known) applyGrids(book, symbol, grids)
    members.set(symbol, { since: marketAt, rules: known?.rules ?? rules })
  }
  for (const { symbol } of record.left) {
    const member = members.get(symbol)
    if (member) members.set(symbol, { ...member, leavingSince: marketAt })
  }
  for (const left of record.left) applyLeaving(book, record, left)
  const recent = kept.departures.filter((at) => marketAt - at < DAY_MS)
  book.universes.set(strategyId, {
    evaluatedAt: marketAt,
    rule: record.rule,
    members: Object.fromEntries(members),
    departures: [...recent, ...record.left.map(() => marketAt)],
    firstSeen: changeFirstSeen(kept, record),
    verdicts: changeVerdicts(kept, record),
  })
}

/** The exchange has changed these rules since members joined. */
export function applyRules(book: WritableBook, changed: NonNullable<BootRecord['rules']>): void {
  for (const [id, kept] of Array.from(book.universes)) {
    const members = Object.entries(kept.members).map(([symbol, member]) => {
      const rules = changed[symbol]
      return [symbol, rules ? { ...member, rules } : member] as const
    })
    book.universes.set(id, { ...kept, members: Object.fromEntries(members) })
  }
}

function changeFirstSeen(
  { firstSeen }: KeptUniverse,
  { seen, forgotten, marketAt }: UniverseRecord,
): KeptUniverse['firstSeen'] {
  if (seen.length + forgotten.length === 0) return firstSeen
  const changed = new Map(Object.entries(firstSeen))
  for (const symbol of forgotten) changed.delete(symbol)
  for (const symbol of seen) changed.set(symbol, marketAt)
  return Object.fromEntries(changed)
}

function changeVerdicts(
  { verdicts }: KeptUniverse,
  record: UniverseRecord,
): KeptUniverse['verdicts'] {
  const changed = new Map(Object.entries(verdicts))
  for (const [symbol, verdict] of Object.entries(record.verdicts)) {
    if (verdict === null) changed.delete(symbol)
    else changed.set(symbol, { ...verdict, at: record.marketAt })
  }
  return Object.fromEntries(changed)
}

/** Wishes end with the membership, unless the strategy may trade until it is flat. */
function applyLeaving(
  book: WritableBook,
  { strategyId, marketAt: since, verdicts }: UniverseRecord,
  { symbol, policy }: UniverseRecord['left'][number],
): void {
  const pair = pairOf(strategyId, symbol)
  const verdict = verdicts[symbol] ?? NOT_LISTED
  book.leavings.set(pair, { policy, since, verdict })
  if (policy === 'keep') return
  book.quotes.delete(pair)
  for (const { key } of Array.from(placesOf(book, strategyId, symbol)))
    removePlace(book, pairKey(strategyId, key))
  for (const { terms } of openOrdersOf(book, symbol))
    if (terms.strategyId === strategyId && canRest(terms)) book.withdrawn.add(terms.clientOid)
  if (policy === 'close') book.targets.set(pair, 0)
  else book.targets.delete(pair)
}

/** Profits of the strategy, and what it may still hold, stay. */
export function applyDeparture(
  book: WritableBook,
  { strategyId, symbol, isFixed }: DepartedRecord,
): void {
  const pair = pairOf(strategyId, symbol)
  const kept = book.universes.get(strategyId)
  book.leavings.delete(pair)
  if (isFixed !== true)
    for (const wishes of [book.quotes, book.targets, book.exitStates]) wishes.delete(pair)
  if (!kept) return
  const members = new Map<string, UniverseMember>(Object.entries(kept.members))
  members.delete(symbol)
  book.universes.set(strategyId, { ...kept, members: Object.fromEntries(members) })
}
