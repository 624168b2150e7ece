import { type Fill, fillKey } from '../../domain/fill.ts'
import type { AdoptRecord, JournalRecord } from '../../domain/record.ts'
import { type Decimal, decimal, sumDecimals, ZERO } from '../../lib/decimal.ts'
import { mutable } from '../../lib/mutable.ts'
import type { Book } from './book.ts'

/** From the records of fills alone, since the run began or the account was released. */
export interface InstrumentCount {
  /** In one-way mode the net position, negative for a short. */
  readonly longLots: number
  readonly shortLots: number
  /** Margin coin. */
  readonly profit: Decimal
  readonly fees: Decimal
}

/** Changed by `recount.ts`. */
export interface RecountState {
  readonly totals: ReadonlyMap<string, InstrumentCount>
  /** The minute, of our clock, of the last comparison with the book. */
  readonly comparedMinute: number
}

const NOTHING: InstrumentCount = { longLots: 0, shortLots: 0, profit: ZERO, fees: ZERO }

export function createRecount(book: Book): RecountState {
  return { totals: readTotals(book), comparedMinute: 0 }
}

/** Shares no function with the fold of the book, so that an error in either shows. */
export function recountRecord(recount: RecountState, entry: JournalRecord, book: Book): void {
  const isReleased = entry.kind === 'released' && entry.scope === '*' && entry.code !== 'kill'
  if (entry.kind === 'boot' || isReleased) Object.assign(mutable(recount), createRecount(book))
  const isNet = book.positionMode === 'one_way_mode'
  if (entry.kind === 'fills')
    for (const fill of onceEach(entry.fills)) countFill(recount, fill, isNet)
  if (entry.kind === 'adopt') countAdoption(recount, entry, isNet)
}

function onceEach(fills: readonly Fill[]): Iterable<Fill> {
  return new Map(fills.map((fill) => [fillKey(fill), fill])).values()
}

function countFill(recount: RecountState, fill: Fill, isNet: boolean): void {
  const { symbol, side, tradeSide, lots } = fill
  const before = recount.totals.get(symbol) ?? NOTHING
  const grows = isNet ? side === 'buy' : tradeSide === 'open'
  const change = grows ? lots : -lots
  const isLong = isNet || side === 'buy'
  mutable(recount.totals).set(symbol, {
    longLots: before.longLots + (isLong ? change : 0),
    shortLots: before.shortLots + (isLong ? 0 : change),
    profit: before.profit.plus(decimal(fill.profit ?? '0')),
    fees: before.fees.plus(countFees(fill)),
  })
}

function countFees({ fee = '0', otherFees = [] }: Fill): Decimal {
  const priced = otherFees.map(({ amount, price }) => decimal(amount).times(decimal(price ?? '0')))
  return sumDecimals([decimal(fee), ...priced])
}

function countAdoption(
  recount: RecountState,
  { symbol, holding, was }: AdoptRecord,
  isNet: boolean,
): void {
  const before = recount.totals.get(symbol) ?? NOTHING
  const long = holding.longLots - was.longLots
  const short = holding.shortLots - was.shortLots
  mutable(recount.totals).set(symbol, {
    ...before,
    longLots: before.longLots + (isNet ? long - short : long),
    shortLots: before.shortLots + (isNet ? 0 : short),
  })
}

/** Undefined if the recount agrees with the book. */
export function findDifference(
  recount: RecountState,
  book: Book,
): { readonly ours: string; readonly theirs: string } | undefined {
  const booked = readTotals(book)
  const symbols = new Set([...booked.keys(), ...recount.totals.keys()])
  const differences = [...symbols].flatMap((symbol) => {
    const ours = booked.get(symbol) ?? NOTHING
    const theirs = recount.totals.get(symbol) ?? NOTHING
    return isSame(ours, theirs)
      ? []
      : [{ ours: `${symbol} ${describe(ours)}`, theirs: `${symbol} ${describe(theirs)}` }]
  })
  if (differences.length === 0) return undefined
  return {
    ours: differences.map(({ ours }) => ours).join('; '),
    theirs: differences.map(({ theirs }) => theirs).join('; '),
  }
}

function isSame(one: InstrumentCount, other: InstrumentCount): boolean {
  return (
    one.longLots === other.longLots &&
    one.shortLots === other.shortLots &&
    one.profit.eq(other.profit) &&
    one.fees.eq(other.fees)
  )
}

/** @returns whether a new minute has begun */
export function beginMinute(recount: RecountState, now: number): boolean {
  const minute = Math.floor(now / 60_000)
  if (minute === recount.comparedMinute) return false
  mutable(recount).comparedMinute = minute
  return true
}

function describe({ longLots, shortLots, profit, fees }: InstrumentCount): string {
  return `${longLots} lots long, ${shortLots} short, profit ${profit.toString()}, fees ${fees.toString()}`
}

/** Adds up all owners. Waiting fills have moved the position in the book, but no money yet. */
function readTotals({ account, money, orphans, positionMode }: Book): Map<string, InstrumentCount> {
  const totals = new Map<string, InstrumentCount>()
  for (const [symbol, { longLots, shortLots }] of account) {
    const sides =
      positionMode === 'one_way_mode' ? [longLots - shortLots, 0] : [longLots, shortLots]
    totals.set(symbol, { ...NOTHING, longLots: sides[0] ?? 0, shortLots: sides[1] ?? 0 })
  }
  const add = (symbol: string, profit: Decimal, fees: Decimal): void => {
    const before = totals.get(symbol) ?? NOTHING
    totals.set(symbol, {
      ...before,
      profit: before.profit.plus(profit),
      fees: before.fees.plus(fees),
    })
  }
  for (const [pair, { profit, fees }] of money) add(pair.slice(pair.indexOf('|') + 1), profit, fees)
  for (const fill of [...orphans.values()].flat())
    add(fill.symbol, decimal(fill.profit ?? '0'), countFees(fill))
  return totals
}
