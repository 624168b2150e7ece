import type { ContractRules } from '../../domain/contract-rules.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { buildInstrument, type Instrument, lotsMax } from '../../domain/instrument.ts'
import type { UniverseRefusal } from '../../domain/universe.ts'
import { mutable } from '../../lib/mutable.ts'
import type { StrategyLimits } from '../../risk/risk-context.ts'
import type { Book } from '../book/book.ts'
import { findGridConflict, type GridConflict } from '../book/convert-grids.ts'
import type { EngineSettings, StrategySettings, StrategyUniverse } from '../settings.ts'
import { showUtc } from '../../lib/text/show-utc.ts'
import type { Core } from './core.ts'

/**
 * Configured instruments never change; members of universes come and go with records, so settings
 * and book together always give the same roster.
 */

/**
 * Enters members of strategies without a universe too: a start lets them leave.
 * @returns the instruments that are new
 */
export function enterMembers(
  settings: EngineSettings,
  { universes }: Pick<Book, 'universes'>,
): readonly string[] {
  const entered: string[] = []
  for (const [id, kept] of settings.roster ? universes : []) {
    const strategy = settings.strategies.get(id)
    for (const [symbol, { rules }] of Object.entries(kept.members)) {
      if (!settings.instruments.has(symbol)) {
        enterInstrument(settings, symbol, rules)
        entered.push(symbol)
      }
      if (strategy) enterStrategy(strategy, settings.instruments.get(symbol))
    }
  }
  return entered
}

export function tradersOf(
  { strategies }: Pick<EngineSettings, 'strategies'>,
  symbol: string,
): readonly StrategyId[] {
  return [...strategies.values()].flatMap(({ id, symbols }) =>
    symbols.includes(symbol) ? [id] : [],
  )
}

/** Rules of a contract that orders and positions are counted by. */
const COUNTED = ['tickSize', 'lotSize', 'minSize', 'minNotional', 'leverageMax'] as const

export interface ChangedRules {
  readonly symbol: string
  readonly was: ContractRules
  readonly is: ContractRules
  readonly differing: readonly (typeof COUNTED)[number][]
  /** A count of the journal does not convert to the new grids, so the rules stay as they were. */
  readonly conflict: GridConflict | undefined
}

/** Members whose rules the exchange has changed since they joined. */
export function listChangedRules(
  { roster }: EngineSettings,
  book: Book,
): ReadonlyMap<string, ChangedRules> {
  const changed = new Map<string, ChangedRules>()
  if (roster?.stated === undefined) return changed
  for (const { members } of book.universes.values()) {
    for (const [symbol, { rules: was }] of Object.entries(members)) {
      const stated = roster.stated.get(symbol)
      if (stated === undefined || roster.fixed.has(symbol) || changed.has(symbol)) continue
      const differing = COUNTED.filter(
        (name) => stated[name] !== undefined && stated[name] !== was[name],
      )
      if (differing.length === 0) continue
      const news = Object.fromEntries(differing.map((name) => [name, stated[name]]))
      const is: ContractRules = { ...was, ...news }
      const conflict = findGridConflict(
        book,
        new Map([[symbol, buildInstrument(symbol, is, roster.frame)]]),
      )
      changed.set(symbol, { symbol, was, is, differing, conflict })
    }
  }
  return changed
}

/** Called at a start; members get the rules that the exchange states now. */
export function enterPresentMembers(settings: EngineSettings, book: Book): void {
  const changed = listChangedRules(settings, book)
  for (const { symbol, is, conflict } of changed.values())
    if (conflict === undefined && !settings.instruments.has(symbol))
      enterInstrument(settings, symbol, is)
  enterMembers(settings, book)
}

/** A copy that one run may change, if a rule chooses instruments. */
export function copyRoster(settings: EngineSettings): EngineSettings {
  if (![...settings.strategies.values()].some(({ universe }) => universe)) return settings
  const strategies = [...settings.strategies].map(
    ([id, strategy]) => [id, { ...strategy, limits: new Map(strategy.limits) }] as const,
  )
  return {
    ...settings,
    instruments: new Map(settings.instruments),
    strategies: new Map(strategies),
  }
}

function enterInstrument(settings: EngineSettings, symbol: string, rules: ContractRules): void {
  const { roster } = settings
  if (roster)
    mutable(settings.instruments).set(symbol, buildInstrument(symbol, rules, roster.frame))
}

function enterStrategy(strategy: StrategySettings, instrument: Instrument | undefined): void {
  const { symbols, limits, universe } = strategy
  if (!instrument || symbols.includes(instrument.symbol)) return
  mutable(strategy).symbols = [...symbols, instrument.symbol]
  if (universe) mutable(limits).set(instrument.symbol, limitsOf(instrument, universe.limits))
}

/** A size in the base coin means something else on each member, so only values are limited. */
function limitsOf(instrument: Instrument, limits: StrategyUniverse['limits']): StrategyLimits {
  const most = lotsMax(instrument)
  return { ...limits, positionMax: most, orderSizeMax: most }
}

/** @returns whether the account does not need the instrument any more */
export function dismissMember(
  settings: EngineSettings,
  { strategyId, symbol }: { readonly strategyId: StrategyId; readonly symbol: string },
): boolean {
  const strategy = settings.strategies.get(strategyId)
  if (strategy) {
    mutable(strategy).symbols = strategy.symbols.filter((one) => one !== symbol)
    mutable(strategy.limits).delete(symbol)
  }
  if (!isReadFor(settings, strategyId, symbol)) return false
  mutable(settings.instruments).delete(symbol)
  return true
}

export function isReadFor(
  { strategies, roster }: EngineSettings,
  strategyId: StrategyId,
  symbol: string,
): boolean {
  if (roster === undefined || roster.fixed.has(symbol)) return false
  for (const { id, symbols } of strategies.values())
    if (id !== strategyId && symbols.includes(symbol)) return false
  return true
}

export function noteRefusal(core: Core, id: StrategyId, refusal: UniverseRefusal): void {
  mutable(core.universeRefusals).set(id, refusal)
}

export function endRefusal(core: Core, id: StrategyId): void {
  if (core.universeRefusals.has(id)) mutable(core.universeRefusals).delete(id)
}

/** Undefined: the rule is evaluated when it is due. */
export function whyNotEvaluated(core: Core, id: StrategyId): string | undefined {
  const refusal = core.universeRefusals.get(id)
  if (refusal) {
    return `most of the list: ${refusal.missing} of ${refusal.known} instruments are missing from what the exchange answers, since ${showUtc(refusal.since)}`
  }
  const isKnown = core.market.contracts !== undefined || core.book.universes.has(id)
  return isKnown ? undefined : 'the contracts of the exchange'
}
