import type { UniverseView } from '../control/universe-view.ts'
import type { KeptUniverse } from '../domain/universe.ts'
import { pairOf } from '../engine/book/book.ts'
import type { StrategySettings } from '../engine/settings.ts'
import type { ShownAccount } from './shown-account.ts'
import { wordsOfVerdict } from './universe-words.ts'

const DAY_MS = 86_400_000

export function viewUniverses(account: ShownAccount): readonly UniverseView[] {
  return [...account.settings.strategies.values()].flatMap((strategy) => {
    const { universe } = strategy
    return universe ? [viewUniverse(account, strategy, universe)] : []
  })
}

export function* listEmptyUniverses({
  settings,
  book,
}: Pick<ShownAccount, 'settings' | 'book'>): Generator<string> {
  for (const { id, universe, symbols } of settings.strategies.values()) {
    if (universe === undefined || symbols.length > 0) continue
    const { count } = universe.rule.top
    const kept = book.universes.get(id)
    if (kept === undefined)
      yield `universe of ${id}: it was not evaluated yet; its first tickers and contracts are waited for`
    else
      yield `universe of ${id}: 0 of ${count} chosen: ${wordsOfAll(kept)} (intentd universe names each)`
  }
}

function wordsOfAll({ verdicts }: KeptUniverse): string {
  const all = Object.entries(verdicts)
  if (all.length === 0) return 'the exchange listed nothing'
  const groups = [...Map.groupBy(all, ([, { reason }]) => reason).values()]
    .toSorted((one, other) => other.length - one.length)
    .slice(0, REASONS_SHOWN)
  return groups
    .map((group) => {
      const [[symbol, verdict]] = group as [(typeof all)[number]]
      return `${group.length} out like ${symbol} (${wordsOfVerdict(verdict)})`
    })
    .join(', ')
}

const REASONS_SHOWN = 3

function viewUniverse(
  account: ShownAccount,
  { id }: StrategySettings,
  { rule }: NonNullable<StrategySettings['universe']>,
): UniverseView {
  const kept = account.book.universes.get(id)
  const { clock, offset } = account.trusted
  const now = offset.exchangeNow(clock.now())
  return {
    strategy: id,
    evaluatedAt: kept?.evaluatedAt ?? null,
    dueAt: kept ? (Math.floor(kept.evaluatedAt / rule.everyMs) + 1) * rule.everyMs : null,
    waitsFor: account.engine.whyNotEvaluated(id) ?? null,
    count: rule.top.count,
    left: (kept?.departures ?? []).filter((at) => now - at < DAY_MS).length,
    leftMax: rule.changesPerDay ?? null,
    instruments: kept ? listInstruments(account, id, kept) : [],
  }
}

function listInstruments(
  { book, engine }: ShownAccount,
  id: StrategySettings['id'],
  { verdicts, members }: KeptUniverse,
): UniverseView['instruments'] {
  const rows = Object.entries(verdicts).map(([symbol, { at, ...verdict }]) => {
    const member = members[symbol]
    const leaving = book.leavings.get(pairOf(id, symbol))
    const state = leaving ? ('leaving' as const) : member ? ('in' as const) : ('out' as const)
    return {
      symbol,
      state,
      reason: verdict.reason,
      words: wordsOfVerdict(verdict),
      at,
      since: member?.since ?? null,
      waitsFor: (leaving && engine.whyNotGone(id, symbol)) ?? null,
    }
  })
  const order = { in: 0, leaving: 1, out: 2 }
  return rows.toSorted(
    (one, other) => order[one.state] - order[other.state] || (one.symbol < other.symbol ? -1 : 1),
  )
}
