import { type ContractRules, TRADABLE_STATUS } from '../domain/contract-rules.ts'
import type { TickerColumn, TickerTable } from '../domain/ticker-table.ts'
import {
  LEAVING_TIMES,
  type UniverseChoice,
  type UniverseMeasure,
  type UniverseMember,
  type UniverseMemory,
  type UniverseReason,
  type UniverseRule,
  type UniverseVerdict,
  type ValueRange,
} from '../domain/universe.ts'

const DAY_MS = 86_400_000

export interface UniverseInput {
  readonly rule: UniverseRule
  readonly tickers: Pick<TickerTable, 'symbols' | 'read' | 'rowOf'>
  readonly contracts: ReadonlyMap<string, ContractRules>
  readonly memory: UniverseMemory
  /** Unix ms, exchange clock. */
  readonly at: number
  /** They are never chosen. */
  readonly fixed: ReadonlySet<string>
  readonly room: UniverseRoom
}

export interface UniverseRoom {
  readonly read: ReadonlySet<string>
  readonly readMax: number
  readonly objectTo?:
    | ((symbol: string, rules: ContractRules) => UniverseVerdict | undefined)
    | undefined
}

/** The order of rows does not matter, names break ties, and a missing value is never zero. */
export function chooseUniverse(input: UniverseInput): UniverseChoice {
  const { memory, rule, at } = input
  const verdicts = new Map<string, UniverseVerdict>()
  const ages = noteAges(input)
  const candidates: UniverseCandidate[] = []
  for (const symbol of listSymbols(input)) {
    const judged = judge(input, symbol, ages.since)
    if (judged.verdict) verdicts.set(symbol, judged.verdict)
    else candidates.push({ symbol, isIncluded: judged.isIncluded, value: judged.value })
  }
  const ranks = rankCandidates(rule, candidates)
  const chosen = new Set(ranks.slice(0, rule.top.count).map(({ symbol }) => symbol))
  for (const [index, { symbol, isIncluded }] of ranks.entries()) {
    const isIn = chosen.has(symbol)
    const rank = { value: index + 1, limit: rule.top.count }
    if (isIncluded) verdicts.set(symbol, { isIn, reason: isIn ? 'included' : 'outranked', ...rank })
    else verdicts.set(symbol, { isIn, reason: isIn ? 'ranked' : 'outranked', ...rank })
  }
  const left = chooseLeaving({ rule, memory, at, verdicts })
  const joined = chooseJoining(input, { ranks, chosen, left, verdicts })
  return {
    joined: joined.toSorted(),
    left: left.toSorted(),
    verdicts: new Map([...verdicts].toSorted(byName)),
    seen: ages.seen,
    forgotten: ages.forgotten,
  }
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

function listSymbols({ tickers, memory }: UniverseInput): readonly string[] {
  return [...new Set([...tickers.symbols, ...memory.members.keys()])].toSorted()
}

const UNSEEN: ReadonlySet<UniverseReason> = new Set(['notListed', 'noTicker', 'noRule'])

export function countMissing(
  verdicts: Readonly<Record<string, UniverseVerdict>>,
  {
    tickers,
    contracts,
  }: Pick<UniverseInput, 'contracts'> & { readonly tickers: Pick<TickerTable, 'rowOf'> },
): { readonly known: number; readonly missing: number } {
  const known = Object.entries(verdicts).filter(
    ([, { reason, objection = reason }]) => !UNSEEN.has(objection),
  )
  const missing = known.filter(
    ([symbol, { reason, objection = reason }]) =>
      tickers.rowOf(symbol) < 0 || (objection !== 'noContract' && !contracts.has(symbol)),
  )
  return { known: known.length, missing: missing.length }
}

interface ListingAges {
  /** Unix ms, exchange clock; undefined at first sight without a stated listing. */
  readonly since: (symbol: string) => { readonly at: number; readonly isSeenOnly: boolean }
  readonly seen: readonly string[]
  readonly forgotten: readonly string[]
}

function noteAges({ rule, tickers, contracts, memory, at }: UniverseInput): ListingAges {
  const { firstSeen } = memory
  const needsAge = rule.ageMinMs !== undefined
  const seen = needsAge
    ? tickers.symbols.filter(
        (symbol) =>
          contracts.get(symbol)?.launchedAt === undefined && firstSeen.get(symbol) === undefined,
      )
    : []
  const forgotten = [...firstSeen.keys()].filter(
    (symbol) => !needsAge || (tickers.rowOf(symbol) < 0 && !contracts.has(symbol)),
  )
  return {
    since: (symbol) => {
      const launchedAt = contracts.get(symbol)?.launchedAt
      if (launchedAt !== undefined) return { at: launchedAt, isSeenOnly: false }
      return { at: firstSeen.get(symbol) ?? at, isSeenOnly: true }
    },
    seen: seen.toSorted(),
    forgotten: forgotten.toSorted(),
  }
}

type Judged =
  | { readonly verdict: UniverseVerdict }
  | { readonly verdict?: undefined; readonly isIncluded: boolean; readonly value: number }

function judge(input: UniverseInput, symbol: string, since: ListingAges['since']): Judged {
  const { rule } = input
  const objection = judgeListing(input, symbol)
  if (objection) return { verdict: objection }
  if (rule.include.some((pattern) => matchesPattern(pattern, symbol)))
    return { isIncluded: true, value: Number.NaN }
  const verdict = judgeValues(input, symbol, since)
  if (verdict) return { verdict }
  const value = measureOf(input.tickers, symbol, rule.top.by)
  return Number.isNaN(value) ? { verdict: out('noMeasure') } : { isIncluded: false, value }
}

function out(
  reason: UniverseReason,
  facts: Omit<UniverseVerdict, 'isIn' | 'reason'> = {},
): UniverseVerdict {
  return { isIn: false, reason, ...facts }
}

const AT_ONCE: ReadonlySet<UniverseReason> = new Set([
  'excluded',
  'otherQuote',
  'delivery',
  'notListed',
  'notTradable',
  'fixed',
])

/** One evaluation is enough: the operator says so, and no answer of the exchange. */
const BY_OPERATOR: ReadonlySet<UniverseReason> = new Set(['excluded', 'fixed'])

function judgeListing(input: UniverseInput, symbol: string): UniverseVerdict | undefined {
  const { rule, tickers, contracts, fixed, room, memory } = input
  if (fixed.has(symbol)) return out('fixed')
  if (rule.exclude.some((pattern) => matchesPattern(pattern, symbol))) return out('excluded')
  const hasRow = tickers.rowOf(symbol) >= 0
  const rules = contracts.get(symbol)
  if (!rules) return out(hasRow ? 'noContract' : 'notListed')
  if (rule.quote !== undefined && !isQuotedIn(symbol, rule.quote, rules)) return out('otherQuote')
  if (tickers.read(symbol, 'deliveryTime') > 0) return out('delivery')
  const { status = TRADABLE_STATUS } = rules
  if (status !== TRADABLE_STATUS) return out('notTradable', { text: status })
  if (!hasRow) return out('noTicker')
  return memory.members.has(symbol) ? undefined : room.objectTo?.(symbol, rules)
}

function isQuotedIn(symbol: string, quote: string, { quoteCoin }: ContractRules): boolean {
  return quoteCoin === undefined ? symbol.endsWith(quote) : quoteCoin === quote
}

export function matchesPattern(pattern: string, symbol: string): boolean {
  const parts = pattern.split('*')
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  if (parts.length === 1) return symbol === pattern
  if (symbol.length < first.length + last.length) return false
  if (!symbol.startsWith(first) || !symbol.endsWith(last)) return false
  let rest = symbol.slice(first.length, symbol.length - last.length)
  for (const part of parts.slice(1, -1)) {
    const place = rest.indexOf(part)
    if (place < 0) return false
    rest = rest.slice(place + part.length)
  }
  return true
}

function judgeValues(
  { rule, tickers, at }: UniverseInput,
  symbol: string,
  since: ListingAges['since'],
): UniverseVerdict | undefined {
  const price = tickers.read(symbol, 'lastPr')
  if (!(price > 0)) return out('noPrice')
  const priced = judgeRange(rule.price, price, { low: 'priceLow', high: 'priceHigh' })
  if (priced) return priced
  if (rule.volumeMin !== undefined) {
    const volume = measureOf(tickers, symbol, 'volume')
    if (Number.isNaN(volume)) return out('noVolume')
    if (volume < rule.volumeMin) return out('volumeLow', { value: volume, limit: rule.volumeMin })
  }
  if (rule.spreadMax !== undefined) {
    const spread = measureOf(tickers, symbol, 'spread')
    if (Number.isNaN(spread)) return out('noSpread')
    if (spread > rule.spreadMax) return out('spreadWide', { value: spread, limit: rule.spreadMax })
  }
  if (rule.ageMinMs !== undefined) {
    const { at: from, isSeenOnly } = since(symbol)
    const facts = { value: at - from, limit: rule.ageMinMs }
    if (at - from < rule.ageMinMs)
      return out('young', isSeenOnly ? { ...facts, isSeenOnly: true } : facts)
  }
  if (rule.volatility === undefined) return undefined
  const volatility = measureOf(tickers, symbol, 'volatility')
  if (Number.isNaN(volatility)) return out('noRange')
  return judgeRange(rule.volatility, volatility, { low: 'volatilityLow', high: 'volatilityHigh' })
}

function judgeRange(
  { min, max }: ValueRange = {},
  value: number,
  { low, high }: { readonly low: UniverseReason; readonly high: UniverseReason },
): UniverseVerdict | undefined {
  if (min !== undefined && value < min) return out(low, { value, limit: min })
  if (max !== undefined && value > max) return out(high, { value, limit: max })
  return undefined
}

/** NaN: the exchange does not state it, or it cannot be right. */
function measureOf(
  tickers: Pick<TickerTable, 'read'>,
  symbol: string,
  measure: UniverseMeasure,
): number {
  const read = (column: TickerColumn): number => tickers.read(symbol, column)
  switch (measure) {
    case 'volume':
      return read('usdtVolume') >= 0 ? read('usdtVolume') : Number.NaN
    case 'change':
      return read('change24h')
    case 'volatility': {
      const [high, low, last] = [read('high24h'), read('low24h'), read('lastPr')]
      return low > 0 && high >= low && last > 0 ? (high - low) / last : Number.NaN
    }
    case 'spread': {
      const [bid, ask] = [read('bidPr'), read('askPr')]
      return bid > 0 && ask >= bid ? (ask - bid) / ((ask + bid) / 2) : Number.NaN
    }
  }
}

interface UniverseCandidate {
  readonly symbol: string
  readonly isIncluded: boolean
  /** NaN for a member that `include` names. */
  readonly value: number
}

function rankCandidates(
  { top }: UniverseRule,
  candidates: UniverseCandidate[],
): readonly UniverseCandidate[] {
  const sign = top.order === 'highest' ? -1 : 1
  return candidates.toSorted((one, other) => {
    if (one.isIncluded !== other.isIncluded) return one.isIncluded ? -1 : 1
    if (!one.isIncluded && one.value !== other.value) return sign * (one.value - other.value)
    return one.symbol < other.symbol ? -1 : 1
  })
}

interface LeavingInput extends Pick<UniverseInput, 'rule' | 'memory' | 'at'> {
  readonly verdicts: Map<string, UniverseVerdict>
}

/**
 * Two evaluations in a row must say so before a member leaves. Members that stay although
 * not chosen get their verdict changed.
 */
function chooseLeaving(input: LeavingInput): string[] {
  const { memory, verdicts } = input
  return listUnwanted(input).filter((symbol) => {
    const verdict = verdicts.get(symbol)
    if (!verdict || BY_OPERATOR.has(verdict.reason) || memory.unconfirmed.has(symbol)) return true
    const { reason: objection } = verdict
    verdicts.set(symbol, { ...verdict, isIn: true, reason: 'unconfirmed', objection })
    return false
  })
}

function listUnwanted({ rule, memory, at, verdicts }: LeavingInput): string[] {
  const left: string[] = []
  const others: { readonly symbol: string; readonly verdict: UniverseVerdict }[] = []
  for (const [symbol, member] of memory.members) {
    const verdict = verdicts.get(symbol)
    if (member.leavingSince !== undefined || verdict === undefined || verdict.isIn) continue
    if (AT_ONCE.has(verdict.reason)) left.push(symbol)
    else if (at - member.since < rule.stickyMs)
      verdicts.set(symbol, stay('sticky', { limit: member.since + rule.stickyMs }))
    else others.push({ symbol, verdict })
  }
  const recent = memory.departures.filter((leftAt) => at - leftAt < DAY_MS).length + left.length
  const most = rule.changesPerDay ?? Number.POSITIVE_INFINITY
  const waitOf = ({ symbol }: { readonly symbol: string }): number =>
    memory.unconfirmed.has(symbol) ? 1 : 0
  // Members no longer admitted leave first.
  others.sort(
    (one, other) =>
      waitOf(other) - waitOf(one) ||
      rankOf(other.verdict) - rankOf(one.verdict) ||
      byNames(one, other),
  )
  for (const [index, { symbol }] of others.entries()) {
    if (recent + index < most) left.push(symbol)
    else verdicts.set(symbol, stay('changesUsed', { value: most, limit: most }))
  }
  return left
}

function stay(
  reason: UniverseReason,
  facts: Pick<UniverseVerdict, 'value' | 'limit'>,
): UniverseVerdict {
  return { isIn: true, reason, ...facts }
}

function rankOf({ reason, value }: UniverseVerdict): number {
  return reason === 'outranked' ? (value ?? 0) : Number.MAX_SAFE_INTEGER
}

function byNames(one: { readonly symbol: string }, other: { readonly symbol: string }): number {
  return one.symbol < other.symbol ? -1 : 1
}

interface JoiningInput {
  readonly ranks: readonly UniverseCandidate[]
  readonly chosen: ReadonlySet<string>
  readonly left: readonly string[]
  readonly verdicts: Map<string, UniverseVerdict>
}

/** A leaving one that is wanted again stays, without a place of its own. */
function chooseJoining(
  { rule, memory, room }: UniverseInput,
  { ranks, chosen, left, verdicts }: JoiningInput,
): string[] {
  const joined: string[] = []
  const isStaying = (symbol: string, { leavingSince }: UniverseMember): boolean =>
    leavingSince === undefined && !left.includes(symbol)
  let staying = [...memory.members].filter(([symbol, member]) => isStaying(symbol, member)).length
  let together = memory.members.size
  let read = room.read.size
  for (const { symbol } of ranks) {
    const member = memory.members.get(symbol)
    if (!chosen.has(symbol) || (member && isStaying(symbol, member))) continue
    const needsRead = !room.read.has(symbol)
    if (staying >= rule.top.count || (!member && together >= rule.top.count * LEAVING_TIMES))
      verdicts.set(symbol, out('waitsForPlace', { value: staying, limit: rule.top.count }))
    else if (needsRead && read >= room.readMax)
      verdicts.set(symbol, out('noRoom', { value: read, limit: room.readMax }))
    else {
      joined.push(symbol)
      staying += 1
      if (!member) together += 1
      if (needsRead) read += 1
    }
  }
  return joined
}
