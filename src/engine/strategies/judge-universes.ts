import type { ContractRules } from '../../domain/contract-rules.ts'
import { capitalAt } from '../../domain/capital.ts'
import { buildInstrument, isInverse } from '../../domain/instrument.ts'
import type { InstrumentGrids, UniverseRecord } from '../../domain/record.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import {
  isUniverseDue,
  type KeptUniverse,
  type UniverseChoice,
  type UniverseVerdict,
} from '../../domain/universe.ts'
import { chooseUniverse, countMissing } from '../../market/choose-universe.ts'
import { hasUnconfirmed, toUniverseMemory } from '../book/apply-universe.ts'
import { capitalOf, holdingOf, restrictionsOn } from '../book/book.ts'
import { findGridConflict } from '../book/convert-grids.ts'
import type { StrategySettings, StrategyUniverse } from '../settings.ts'
import { followRoster } from '../state/candles.ts'
import { noteChanged } from '../state/changes.ts'
import { announce, type Core, record } from '../state/core.ts'
import { forgetSpentPauses } from '../state/exits.ts'
import { addInstrument } from '../state/instrument-state.ts'
import { exchangeNow } from '../state/market-state.ts'
import { enterMembers, endRefusal, noteRefusal } from '../state/roster.ts'
import { noteStartProgress } from '../state/run-state.ts'

/*
 * How a rule's instruments come and go:
 *
 *     (out) ──chosen──► in, proved as at a start ──not chosen, twice──► leaving ──nothing open, and flat or handed back──► (out)
 *                        ▲                                                 │
 *                        └───────────────────chosen again──────────────────┘
 *
 * Evaluations are due by the exchange's time alone, so that a replay agrees.
 */

/** Called before any strategy sees the tickers. */
export function judgeUniverses(core: Core, tickers: TickerTable): void {
  const { phase, startedAt, kill } = core.run
  const { contracts } = core.market
  if (startedAt === 0 || kill || !contracts || (phase !== 'starting' && phase !== 'running')) return
  // The wrong time of one answer must not make later evaluations wait.
  const at = Math.min(tickers.requestTime, exchangeNow(core))
  for (const strategy of core.settings.strategies.values()) {
    const { universe } = strategy
    if (!universe) continue
    const evaluation = { universe, contracts: contracts.believed, tickers, at }
    if (isDue(core, strategy, evaluation)) evaluate(core, strategy, evaluation)
  }
}

function isDue(
  { book, universeRefusals }: Core,
  { id }: StrategySettings,
  { universe: { rule }, at }: Evaluation,
): boolean {
  const kept = book.universes.get(id)
  const refused = universeRefusals.get(id)
  if (refused) return isUniverseDue(rule, { evaluatedAt: refused.at, hasUnconfirmed: true }, at)
  if (kept === undefined || kept.rule !== JSON.stringify(rule)) return true
  return isUniverseDue(
    rule,
    { evaluatedAt: kept.evaluatedAt, hasUnconfirmed: hasUnconfirmed(kept) },
    at,
  )
}

interface Evaluation {
  readonly universe: StrategyUniverse
  readonly contracts: ReadonlyMap<string, ContractRules>
  readonly tickers: TickerTable
  readonly at: number
}

function evaluate(core: Core, strategy: StrategySettings, evaluation: Evaluation): void {
  const { universe, contracts, tickers, at } = evaluation
  const { book, settings } = core
  const kept = book.universes.get(strategy.id)
  if (kept && isRefused(core, strategy, { ...evaluation, kept })) return
  const choice = chooseUniverse({
    rule: universe.rule,
    tickers,
    contracts,
    memory: toUniverseMemory(kept, JSON.stringify(universe.rule)),
    at,
    fixed: universe.fixed,
    room: {
      read: new Set(settings.instruments.keys()),
      readMax: settings.roster?.readMax ?? 0,
      objectTo: (symbol, rules) => objectToMember(core, strategy, { symbol, rules, tickers }),
    },
  })
  record(core, toRecord(core, strategy, { ...evaluation, choice, kept }), true)
  takeIn(core)
  forgetSpentPauses(core, strategy)
  logChange(core, strategy, choice)
}

/**
 * If most of what the last evaluation saw is missing, the answer is wrong rather than the market, so
 * nothing is decided until it has lasted.
 */
function isRefused(
  core: Core,
  { id }: StrategySettings,
  { kept, tickers, contracts, at }: Evaluation & { readonly kept: KeptUniverse },
): boolean {
  const { known, missing } = countMissing(kept.verdicts, { tickers, contracts })
  const { since = at } = core.universeRefusals.get(id) ?? {}
  const isMost = missing >= MISSING_LEAST && missing * 2 > known
  if (!isMost || at - since >= REFUSED_MS_MAX) {
    endRefusal(core, id)
    return false
  }
  if (!core.universeRefusals.has(id))
    announce(core, 'warn', 'universe.refused', { strategy: id, missing, known })
  noteRefusal(core, id, { since, at, known, missing })
  return true
}

/** Fewer missing instruments refuse no evaluation. */
const MISSING_LEAST = 3
/** If most of the list is missing for longer, the exchange has changed. */
const REFUSED_MS_MAX = 3_600_000

function toRecord(
  core: Core,
  { id: strategyId }: StrategySettings,
  {
    universe: { rule },
    contracts,
    at: marketAt,
    choice,
    kept,
  }: Evaluation & { readonly choice: UniverseChoice; readonly kept: KeptUniverse | undefined },
): UniverseRecord {
  const joined = choice.joined.flatMap((symbol) => {
    const rules = contracts.get(symbol)
    return rules ? [{ symbol, rules, grids: gridsOf(core, symbol, rules) }] : []
  })
  return {
    kind: 'universe',
    at: core.now,
    strategyId,
    marketAt,
    rule: JSON.stringify(rule),
    joined,
    left: choice.left.map((symbol) => ({ symbol, policy: rule.leaving })),
    verdicts: changedVerdicts(kept?.verdicts ?? {}, choice.verdicts),
    seen: choice.seen,
    forgotten: choice.forgotten,
  }
}

/** An instrument that is traded already keeps its grid. */
function gridsOf({ settings }: Core, symbol: string, rules: ContractRules): InstrumentGrids {
  const known = settings.instruments.get(symbol)
  return {
    tick: known?.tick.step ?? rules.tickSize,
    lot: known?.lot.step ?? rules.lotSize,
    ...(isInverse(settings) && { isInverse: true }),
  }
}

function changedVerdicts(
  known: KeptUniverse['verdicts'],
  verdicts: UniverseChoice['verdicts'],
): UniverseRecord['verdicts'] {
  const changed: [string, UniverseVerdict | null][] = []
  for (const [symbol, verdict] of verdicts) {
    const before = known[symbol]
    const isSame =
      before?.reason === verdict.reason &&
      before.isIn === verdict.isIn &&
      before.text === verdict.text &&
      before.objection === verdict.objection
    if (!isSame) changed.push([symbol, verdict])
  }
  for (const symbol of Object.keys(known)) if (!verdicts.has(symbol)) changed.push([symbol, null])
  return Object.fromEntries(changed)
}

/** Why no order on the instrument could leave, although the rule would choose it. */
function objectToMember(
  { book, settings }: Core,
  { universe, capital }: StrategySettings,
  {
    symbol,
    rules,
    tickers,
  }: {
    readonly symbol: string
    readonly rules: ContractRules
    readonly tickers: TickerTable
  },
): UniverseVerdict | undefined {
  const { roster } = settings
  if (!roster) return undefined
  const isRestricted = restrictionsOn(book, symbol).some(({ scope }) => scope === symbol)
  if (isRestricted) return { isIn: false, reason: 'restricted' }
  if (settings.instruments.has(symbol)) return undefined
  const instrument = buildInstrument(symbol, rules, roster.frame)
  if (findGridConflict(book, new Map([[symbol, instrument]])))
    return { isIn: false, reason: 'gridConflict' }
  const price = isInverse(instrument) ? Number.NaN : tickers.read(symbol, 'lastPr')
  const bySize = Number(rules.minSize) * price
  const least = Math.max(Number(rules.minNotional), Number.isNaN(bySize) ? 0 : bySize)
  const most = Math.min(
    settings.limits.orderNotionalMax,
    settings.limits.grossNotionalMax,
    universe?.limits.positionNotionalMax ?? Number.POSITIVE_INFINITY,
  )
  if (least > most) return { isIn: false, reason: 'orderTooLarge', value: least, limit: most }
  // A share counts from the capital without profits, so that a replay judges the same.
  const own = capital && capitalAt(capital, capitalOf({ settings, book })?.toNumber())
  const margin = least / (instrument.leverage ?? 1)
  const isTooMuch = own !== undefined && margin > own
  return isTooMuch
    ? { isIn: false, reason: 'marginTooLarge', value: margin, limit: own }
    : undefined
}

function takeIn(core: Core): void {
  for (const symbol of enterMembers(core.settings, core.book)) {
    addInstrument(core, symbol)
    noteChanged(core.changes, symbol)
    noteStartProgress(core.run, { isOver: false })
  }
  followRoster(core)
}

/** A log line names so many instruments. */
const NAMED_MAX = 20

function logChange(core: Core, { id, symbols }: StrategySettings, choice: UniverseChoice): void {
  const { joined, left, verdicts } = choice
  if (joined.length + left.length === 0) return
  const nameOf = (symbol: string): string => `${symbol} ${verdicts.get(symbol)?.reason ?? ''}`
  announce(core, 'info', 'universe.changed', {
    strategy: id,
    joined: joined.slice(0, NAMED_MAX).map(nameOf),
    left: left.slice(0, NAMED_MAX).map(nameOf),
    changes: joined.length + left.length,
    instruments: symbols.length,
  })
}

/**
 * At the beginning of a run, instruments that the configuration names by now are members no more,
 * and those of strategies without a universe are handed back, as by a reload.
 */
export function endUnconfiguredUniverses(core: Core): void {
  for (const [strategyId, { members, evaluatedAt }] of Array.from(core.book.universes)) {
    const universe = core.settings.strategies.get(strategyId)?.universe
    const symbols = Object.keys(members)
    for (const symbol of symbols.filter((one) => universe?.fixed.has(one)))
      record(core, {
        kind: 'departed',
        at: core.now,
        strategyId,
        symbol,
        holding: holdingOf(core.book, strategyId, symbol),
        isFixed: true,
      })
    const staying = symbols.filter((one) => members[one]?.leavingSince === undefined)
    if (universe || staying.length === 0) continue
    record(core, {
      kind: 'universe',
      at: core.now,
      strategyId,
      marketAt: evaluatedAt,
      rule: '',
      joined: [],
      left: staying.map((symbol) => ({ symbol, policy: 'handBack' })),
      verdicts: Object.fromEntries(staying.map((symbol) => [symbol, NO_RULE])),
      seen: [],
      forgotten: [],
    })
  }
}

const NO_RULE: UniverseVerdict = { isIn: false, reason: 'noRule' }
