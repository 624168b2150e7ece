import type { ExpireRecord, JournalRecord } from '../../domain/record.ts'
import { mutable } from '../../lib/mutable.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { type Book, pairKey } from '../book/book.ts'
import type { ClientOid, StrategyId, InstrumentSymbol } from '../../domain/ids.ts'
import {
  type KeptTotals,
  type TotalsOwner,
  forgetTotals,
  type KeptSettled,
  forgetLadders,
  forgetSettled,
  type KeptLadders,
} from './totals.ts'

/**
 * Which instruments are planned, or resolved further (BND2): a settled one when something of it has
 * changed, any other once in each new moment too.
 *
 *     settled ──a record concerns it, or what is not recorded marks it──► changed
 *     changed ──planned──► open ──all that is wanted stands, and nothing else──► settled
 *     open ──all that is missing was denied──► denied ──another snapshot, or data too old──► open
 *
 * Within a moment only decisions change something, and their records name instruments. While the
 * account starts, stops or is killed, all are planned. Changed by `changes.ts`.
 */
export interface ChangeState {
  /** A settled instrument without a change is absent. */
  readonly notes: ReadonlyMap<InstrumentSymbol, PlanNote>
  readonly moment: number
}

export interface PlanNote {
  readonly isChanged: boolean
  /** The moment of the last plan; undefined: the instrument was settled then. */
  readonly plannedIn: number | undefined
  /** All missing orders were denied at the last plan, on this basis. */
  readonly denied: DenialBasis | undefined
  /** Nothing was to be done for these in the plans since the last change: they are passed over. */
  readonly satisfied: ReadonlySet<StrategyId>
}

/** The same basis gives the same denial. */
export interface DenialBasis {
  readonly snapshot: number
  /** Prices and readings were younger than their limits. */
  readonly isFresh: boolean
  readonly isAccountFresh: boolean
}

export function createChanges(symbols: Iterable<string>): ChangeState {
  const changes: ChangeState = { notes: new Map(), moment: 0 }
  for (const symbol of symbols) noteChanged(changes, symbol)
  return changes
}

/** Time, prices, clocks, readings or exposure may have changed. */
export function beginMoment(changes: ChangeState): void {
  mutable(changes).moment += 1
}

export function noteChanged(changes: ChangeState, symbol: string): void {
  const known = changes.notes.get(symbol) ?? SETTLED
  if (!known.isChanged) mutable(changes.notes).set(symbol, { ...known, isChanged: true })
}

const SETTLED: PlanNote = {
  isChanged: false,
  plannedIn: undefined,
  denied: undefined,
  satisfied: new Set(),
}

export function isPlanDue({ notes, moment }: ChangeState, symbol: string): boolean {
  const note = notes.get(symbol)
  if (note === undefined) return false
  return note.isChanged || note.plannedIn !== moment
}

export function mayDependOnTime({ notes }: ChangeState): boolean {
  for (const { isChanged, denied } of notes.values())
    if (isChanged || denied === undefined) return true
  return false
}

/** Called before the plan, so that changes during it make the instrument due again. */
export function beginPlanning(changes: ChangeState, symbol: string): void {
  const { isChanged, satisfied } = changes.notes.get(symbol) ?? SETTLED
  const kept = isChanged ? SETTLED.satisfied : satisfied
  mutable(changes.notes).set(symbol, { ...SETTLED, plannedIn: changes.moment, satisfied: kept })
}

export function noteSatisfied(
  changes: ChangeState,
  symbol: string,
  satisfied: ReadonlySet<StrategyId>,
): void {
  const note = changes.notes.get(symbol)
  if (note) mutable(changes.notes).set(symbol, { ...note, satisfied })
}

export function noteDenied(changes: ChangeState, symbol: string, denied: DenialBasis): void {
  mutable(changes.notes).set(symbol, { ...(changes.notes.get(symbol) ?? SETTLED), denied })
}

export function noteSettled(changes: ChangeState, symbol: string): void {
  const isChanged = changes.notes.get(symbol)?.isChanged === true
  if (isChanged) mutable(changes.notes).set(symbol, { ...SETTLED, isChanged })
  else mutable(changes.notes).delete(symbol)
}

export function forgetInstrument(
  {
    changes,
    totals,
    ladders,
  }: {
    readonly changes: ChangeState
    readonly totals: KeptTotals
    readonly ladders: KeptLadders
  },
  symbol: string,
): void {
  mutable(changes.notes).delete(symbol)
  forgetTotals(totals, symbol)
  forgetLadders(ladders, symbol)
}

interface RecordOwner extends TotalsOwner {
  readonly changes: ChangeState
  readonly settled: KeptSettled
  readonly instruments: ReadonlyMap<string, unknown>
}

/** Called before the record is applied: what it concerns is planned and counted anew. */
export function noteRecord(owner: RecordOwner, record: JournalRecord): void {
  const { book, changes, totals, instruments, settled } = owner
  for (const symbol of concernedBy(book, record) ?? instruments.keys()) {
    noteChanged(changes, symbol)
    forgetTotals(totals, symbol)
  }
  // The account's limits count all instruments.
  if (CHANGE_NO_LIMIT.has(record.kind)) return
  beginMoment(changes)
  forgetSettled(settled)
}

/** These change nothing for other instruments, and move no money. */
const CHANGE_NO_LIMIT = new Set<JournalRecord['kind']>([
  'decision',
  'denial',
  'candles',
  'watermark',
  'exits',
  'exitsListed',
  'signal',
])

/** Undefined: the record concerns all instruments. */
function concernedBy(book: Book, record: JournalRecord): Iterable<string> | undefined {
  switch (record.kind) {
    case 'reload':
      return []
    case 'boot':
    case 'deposit':
    case 'restricted':
    case 'released':
    case 'repaired':
      return undefined
    case 'decision':
      return [
        ...symbolsOf(record.quotes),
        ...symbolsOf(record.targets),
        ...symbolsOf(record.places),
        ...symbolsOfOrders(book, record.withdrawn),
      ]
    case 'send':
    case 'adopt':
    case 'assigned':
    case 'exits':
    case 'exitsListed':
    case 'departed':
      return [record.symbol]
    case 'universe':
      return symbolsOf([...record.joined, ...record.left])
    case 'settle':
    case 'foreign':
      return [record.symbol, ...symbolsOfOrphans(book)]
    case 'outcome':
      return [...symbolsOfOrders(book, record.items.map(nameOf)), ...symbolsOfOrphans(book)]
    case 'cancelAnswered':
      return [...symbolsOfOrders(book, record.listed.map(nameOf)), ...symbolsOfOrphans(book)]
    case 'fills':
      return symbolsOf(record.fills)
    case 'cancel':
      return record.symbols
    case 'expire':
      return [...symbolsOfOrders(book, record.orders.map(nameOf)), ...symbolsOfPlaces(book, record)]
    case 'archived':
    case 'candles':
    case 'watermark':
    case 'signal':
    case 'call':
    case 'callEnded':
    case 'denial':
    case 'funding':
    case 'unseenFunding':
    case 'entry':
    case 'prune':
      return NONE
    default:
      return unreachable(record)
  }
}

const NONE: readonly string[] = []

function nameOf({ clientOid }: { readonly clientOid: ClientOid }): ClientOid {
  return clientOid
}

function symbolsOf(parts: readonly { readonly symbol: string }[] = []): readonly string[] {
  return parts.map(({ symbol }) => symbol)
}

function symbolsOfOrders(
  { orders }: Book,
  clientOids: readonly ClientOid[] = [],
): readonly string[] {
  return clientOids.flatMap((clientOid) => orders.get(clientOid)?.terms.symbol ?? [])
}

/** A new orderId may be the one that waiting fills name. */
function symbolsOfOrphans({ orphans }: Book): readonly string[] {
  return [...orphans.values()].flatMap(symbolsOf)
}

function symbolsOfPlaces({ places }: Book, record: ExpireRecord): readonly string[] {
  return record.places.flatMap(
    ({ strategyId, key }) => places.get(pairKey(strategyId, key))?.symbol ?? [],
  )
}
