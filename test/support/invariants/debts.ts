import { NO_EXITS } from '../../../src/domain/exits.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { canRest } from '../../../src/domain/order.ts'
import { isClosing, tradesAs } from '../../../src/domain/order-action.ts'
import { type OrderIntent, type QuoteLevel } from '../../../src/domain/intent.ts'
import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { type Book, holdingOf, pairKey } from '../../../src/engine/book/book.ts'
import { hasRoom, hasRoomToTake, orderLotsMax, type RiskFacts } from './room.ts'

/**
 * A debt of the daemon to a strategy on an instrument: a missing rung, a resting one that is unwanted,
 * a withdrawn order that rests, an unreached target, an unsent order by name.
 */
export interface Debt {
  readonly kind: 'missing' | 'extra' | 'withdrawn' | 'target' | 'place'
  readonly strategyId: string
  readonly symbol: string
  /**
   * Identifies the unwanted rung, the withdrawn order or the key of a place; others come and go.
   */
  readonly rung?: string
  /**
   * For a missing rung, an order by name or a step to a target: every limit has room, whatever was
   * denied.
   */
  readonly hasRoom?: boolean
}

/** Debts at two looks are the same if their names are. */
export function nameDebt({ kind, strategyId, symbol, rung }: Debt): string {
  return `${kind} ${pairKey(strategyId, symbol)}${rung === undefined ? '' : ` ${rung}`}`
}

export function debtsOf(
  { book, settings }: Pick<RiskFacts, 'book' | 'settings'>,
  tickers: TickerTable | undefined,
): Debt[] {
  const debts: Debt[] = []
  for (const [pair, levels] of book.quotes) {
    const standing = rungsOf(book, pair)
    const wanted = new Set(levels.map(nameRung))
    const missing = isHeldByExits(book, pair)
      ? []
      : levels.filter((level) => !standing.has(nameRung(level)))
    if (missing.length > 0) {
      const { strategyId, symbol } = split(pair)
      const facts = tickers && { book, settings, tickers }
      const isOpen =
        facts !== undefined && missing.some((level) => hasRoom(facts, strategyId, symbol, level))
      debts.push({ kind: 'missing', strategyId, symbol, hasRoom: isOpen })
    }
    for (const rung of standing) {
      if (!wanted.has(rung)) debts.push({ kind: 'extra', ...split(pair), rung })
    }
  }
  for (const orders of book.open.values()) {
    for (const { terms, state } of orders.values()) {
      const { strategyId, symbol, clientOid } = terms
      const rests = state === 'live' && canRest(terms)
      if (rests && terms.purpose === 'place' && book.withdrawn.has(clientOid))
        debts.push({ kind: 'withdrawn', strategyId, symbol, rung: clientOid })
      const waits =
        state === 'queued' && terms.purpose === 'place' && !book.withdrawn.has(clientOid)
      if (waits) debts.push({ kind: 'place', strategyId, symbol, rung: terms.key })
    }
  }
  for (const [pair, target] of book.targets) {
    const { strategyId, symbol } = split(pair)
    const steps = stepsTowards(book, pair, target)
    if (steps.length === 0 || isHeldByExits(book, pair)) continue
    const facts = tickers && { book, settings, tickers }
    const isOpen =
      facts !== undefined &&
      steps.some(({ isOpening, side, lots }) => {
        const part = Math.min(lots, orderLotsMax(facts, strategyId, symbol))
        return isOpening && hasRoomToTake(facts, strategyId, symbol, { side, lots: part })
      })
    debts.push({ kind: 'target', strategyId, symbol, hasRoom: isOpen })
  }
  for (const place of book.places.values()) {
    const { strategyId, symbol, key } = place
    const last = book.keys.get(pairKey(strategyId, key))
    const isOut = last !== undefined && book.open.get(symbol)?.has(last.clientOid)
    const facts = tickers && { book, settings, tickers }
    if (!isOut && !isHeldByExits(book, pairKey(strategyId, symbol)))
      debts.push({
        kind: 'place',
        strategyId,
        symbol,
        rung: key,
        hasRoom: facts !== undefined && canLeave(facts, place),
      })
  }
  return debts
}

/** An exit, or a pause after one, stands between a wish and its orders. */
function isHeldByExits({ exitStates }: Book, pair: string): boolean {
  const { long, short, lock, pause } = exitStates.get(pair) ?? NO_EXITS
  const trades = [long, short].filter((trade) => trade !== null)
  const isBound = trades.some(({ due, capLots }) => due !== null || capLots !== null)
  return isBound || lock !== null || pause !== null
}

/** Every limit has room for an order by name; closes depend on others. */
function canLeave(
  facts: RiskFacts,
  { strategyId, symbol, action, lots, ticks }: OrderIntent,
): boolean {
  if (isClosing(action)) return false
  const side = tradesAs(action)
  if (ticks === undefined) return hasRoomToTake(facts, strategyId, symbol, { side, lots })
  const orders = [...(facts.book.open.get(symbol)?.values() ?? [])]
  return (
    orders.every(({ orderId }) => orderId !== undefined) &&
    hasRoom(facts, strategyId, symbol, { side, ticks, lots })
  )
}

/** Debts that a record pays or shows to be worked on: a cancel-all takes all unwanted rungs. */
export function paidBy(record: JournalRecord, strategyIds: readonly string[]): Debt[] {
  if (record.kind === 'send') {
    return record.orders.flatMap(({ strategyId, symbol, purpose, key }): Debt[] => {
      if (purpose === 'quote') return [{ kind: 'missing', strategyId, symbol }]
      if (purpose === 'place') return [{ kind: 'place', strategyId, symbol, rung: key }]
      return purpose === 'flatten' ? [] : [{ kind: purpose, strategyId, symbol }]
    })
  }
  if (record.kind !== 'cancel') return []
  return record.symbols.flatMap((symbol) =>
    strategyIds.flatMap((strategyId): Debt[] => [
      { kind: 'extra', strategyId, symbol },
      { kind: 'withdrawn', strategyId, symbol },
    ]),
  )
}

/** Both are the same debt. */
export function isSameDebt(one: Debt, other: Debt): boolean {
  const isAlike = one.rung === undefined || other.rung === undefined || one.rung === other.rung
  return (
    isAlike &&
    one.kind === other.kind &&
    one.strategyId === other.strategyId &&
    one.symbol === other.symbol
  )
}

/** No denial elsewhere explains it. */
export function isUnexplained(debt: Debt): boolean {
  return isToCancel(debt) || debt.hasRoom === true
}

/** An unwanted resting order is owed a cancel-all. */
export function isToCancel({ kind }: Debt): boolean {
  return kind === 'extra' || kind === 'withdrawn'
}

function nameRung({ side, ticks }: QuoteLevel): string {
  return `${side} ${ticks}`
}

function split(pair: string): Pick<Debt, 'strategyId' | 'symbol'> {
  const at = pair.indexOf('|')
  return { strategyId: pair.slice(0, at), symbol: pair.slice(at + 1) }
}

/** The rungs that rest, or are on their way. */
function rungsOf(book: Book, pair: string): ReadonlySet<string> {
  const { strategyId, symbol } = split(pair)
  const rungs = new Set<string>()
  for (const { terms, state } of book.open.get(symbol)?.values() ?? []) {
    if (terms.strategyId !== strategyId || terms.purpose !== 'quote') continue
    if (state === 'live' || state === 'sent') rungs.add(`${tradesAs(terms.action)} ${terms.ticks}`)
  }
  return rungs
}

interface Step {
  readonly side: 'buy' | 'sell'
  readonly lots: number
  readonly isOpening: boolean
}

/** Lots still to trade: the difference in one-way mode, each leg's in hedge mode. */
function stepsTowards(book: Book, pair: string, target: number): readonly Step[] {
  const { strategyId, symbol } = split(pair)
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  if (book.positionMode === 'one_way_mode') {
    const change = target - (longLots - shortLots)
    if (change === 0) return []
    const isOpening = Math.abs(target) > Math.abs(longLots - shortLots)
    return [{ side: change > 0 ? 'buy' : 'sell', lots: Math.abs(change), isOpening }]
  }
  const long = Math.max(0, target) - longLots
  const short = Math.max(0, -target) - shortLots
  const steps: Step[] = []
  if (long !== 0)
    steps.push({ side: long > 0 ? 'buy' : 'sell', lots: Math.abs(long), isOpening: long > 0 })
  if (short !== 0)
    steps.push({ side: short > 0 ? 'sell' : 'buy', lots: Math.abs(short), isOpening: short > 0 })
  return steps
}
