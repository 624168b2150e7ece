/**
 * When the exchange changes tick or lot, all counts of the instrument are converted, if all convert
 * exactly.
 */
import type { Move, UnsettledAllocation } from '../../domain/allocation.ts'
import type { ExitState, ExitTrade } from '../../domain/exits.ts'
import type { Fill } from '../../domain/fill.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { QuoteLevel } from '../../domain/intent.ts'
import type { AccountEntry, Entry, OwnTrades } from '../../domain/own-trades.ts'
import type { Order } from '../../domain/order.ts'
import {
  type Holding,
  HOLD_SIDES,
  type KeptExits,
  type OrderedBySide,
} from '../../domain/position.ts'
import type { InstrumentGrids } from '../../domain/record.ts'
import { createGrid, type Grid, stepsMax } from '../../lib/grid.ts'
import { splitPair, storeOrder, type WritableBook, type Book, storePlace } from './book.ts'

/** `number` is one that does not convert. */
export interface GridConflict {
  readonly symbol: string
  readonly was: InstrumentGrids
  readonly is: InstrumentGrids
  readonly number: string
}

/** A start is refused for a conflict. */
export function findGridConflict(
  book: Book,
  instruments: ReadonlyMap<string, Instrument>,
): GridConflict | undefined {
  for (const [symbol, { tick, lot }] of instruments) {
    const was = book.grids.get(symbol)
    const is = { tick: tick.step, lot: lot.step }
    if (was === undefined) continue
    const number = planConversion(book, symbol, { was, is }).inexact[0]
    if (number !== undefined) return { symbol, was, is, number }
  }
  return undefined
}

export function applyGrids(book: WritableBook, symbol: string, is: InstrumentGrids): void {
  const was = book.grids.get(symbol) ?? is
  const { inexact, changes } = planConversion(book, symbol, { was, is })
  if (inexact.length > 0) return
  for (const change of changes) change(book)
  book.grids.set(symbol, is)
}

interface GridConversion {
  readonly inexact: readonly string[]
  readonly changes: readonly ((book: WritableBook) => void)[]
}

interface GridChange {
  readonly was: InstrumentGrids
  readonly is: InstrumentGrids
}

function planConversion(book: Book, symbol: string, { was, is }: GridChange): GridConversion {
  const inexact: string[] = []
  const changes: ((book: WritableBook) => void)[] = []
  const lots = createConverter(was.lot, is.lot, inexact)
  const ticks = createConverter(was.tick, is.tick, inexact)
  if (lots === undefined && ticks === undefined) return { inexact, changes }
  const counts = new Counts(lots ?? same, ticks ?? same)
  const isOf = (pair: string): boolean => splitPair(pair)[1] === symbol
  for (const order of book.orders.values()) {
    if (order.terms.symbol !== symbol) continue
    const converted = counts.order(order)
    changes.push((target) => storeOrder(target, converted))
  }
  for (const [orderId, fills] of book.orphans) {
    if (fills[0]?.symbol !== symbol) continue
    const converted = fills.map((fill) => counts.fill(fill))
    changes.push((target) => target.orphans.set(orderId, converted))
  }
  for (const [pair, holding] of book.holdings) {
    if (!isOf(pair)) continue
    const converted = counts.holding(holding)
    changes.push((target) => target.holdings.set(pair, converted))
  }
  const account = book.account.get(symbol)
  if (account) {
    const converted = counts.holding(account)
    changes.push((target) => target.account.set(symbol, converted))
  }
  const entry = book.entries.get(symbol)
  if (entry) {
    const converted = counts.accountEntry(entry, Number(was.tick) / Number(is.tick))
    changes.push((target) => target.entries.set(symbol, converted))
  }
  const unsettled = book.unsettled.get(symbol)
  if (unsettled) {
    const converted = counts.unsettled(unsettled, Number(was.tick) / Number(is.tick))
    changes.push((target) => target.unsettled.set(symbol, converted))
  }
  for (const [pair, move] of book.unsettledMoves) {
    if (splitPair(pair)[0] !== symbol) continue
    const converted = counts.move(move, Number(was.tick) / Number(is.tick))
    changes.push((target) => target.unsettledMoves.set(pair, converted))
  }
  for (const [pair, trades] of book.ownTrades) {
    if (!isOf(pair)) continue
    const converted = counts.trades(trades, Number(was.tick) / Number(is.tick))
    changes.push((target) => target.ownTrades.set(pair, converted))
  }
  for (const [pair, exits] of book.exits) {
    if (splitPair(pair)[0] !== symbol) continue
    const converted = counts.keptExits(exits)
    changes.push((target) => target.exits.set(pair, converted))
  }
  for (const [pair, ordered] of book.orderedExits) {
    if (!isOf(pair)) continue
    const converted = counts.orderedExits(ordered)
    changes.push((target) => target.orderedExits.set(pair, converted))
  }
  changes.push(...convertExits(book, counts, { symbol, ticks: Number(was.tick) / Number(is.tick) }))
  changes.push(...convertWishes(book, counts, symbol))
  return { inexact, changes }
}

function convertWishes(book: Book, counts: Counts, symbol: string): GridConversion['changes'] {
  const changes: ((book: WritableBook) => void)[] = []
  for (const [pair, levels] of book.quotes) {
    if (splitPair(pair)[1] !== symbol) continue
    const converted = levels.map((level) => counts.priced(level))
    changes.push((target) => target.quotes.set(pair, converted))
  }
  for (const [pair, target] of book.targets) {
    if (splitPair(pair)[1] !== symbol) continue
    const converted = counts.lots(target)
    changes.push((into) => into.targets.set(pair, converted))
  }
  for (const place of book.places.values()) {
    if (place.symbol !== symbol) continue
    const converted = counts.exits(counts.priced(place))
    changes.push((target) => storePlace(target, converted))
  }
  return changes
}

function convertExits(
  { exitStates }: Book,
  counts: Counts,
  { symbol, ticks }: { readonly symbol: string; readonly ticks: number },
): GridConversion['changes'] {
  const states = [...exitStates].filter(([pair]) => splitPair(pair)[1] === symbol)
  return states.map(([pair, state]) => {
    const converted = counts.exitState(state, ticks)
    return (target: WritableBook) => target.exitStates.set(pair, converted)
  })
}

type Convert = (steps: number) => number

const same: Convert = (steps) => steps

/** Undefined if the grid stays the same. A number that does not convert is noted, and stays. */
function createConverter(was: string, is: string, inexact: string[]): Convert | undefined {
  const [from, to] = [createGrid(was), createGrid(is)]
  const factor = (grid: Grid, other: Grid): bigint =>
    BigInt(grid.units) * 10n ** BigInt(other.decimals)
  const [numerator, denominator] = [factor(from, to), factor(to, from)]
  if (numerator === denominator) return undefined
  return (steps) => {
    const units = Number.isSafeInteger(steps) ? BigInt(steps) * numerator : undefined
    const converted = units === undefined ? Number.NaN : Number(units / denominator)
    const isExact =
      units !== undefined && units % denominator === 0n && Math.abs(converted) <= stepsMax(to)
    if (isExact) return converted
    inexact.push(`${steps} times ${was}`)
    return steps
  }
}

/** Converts everything that counts ticks or lots. */
class Counts {
  readonly lots: Convert
  readonly #ticks: Convert

  constructor(lots: Convert, ticks: Convert) {
    this.lots = lots
    this.#ticks = ticks
  }

  priced<Priced extends Pick<QuoteLevel, 'lots'> & { readonly ticks?: number | undefined }>(
    priced: Priced,
  ): Priced {
    const lots = this.lots(priced.lots)
    return priced.ticks === undefined
      ? { ...priced, lots }
      : { ...priced, lots, ticks: this.#ticks(priced.ticks) }
  }

  exits<
    Exits extends {
      readonly takeProfitTicks?: number | undefined
      readonly stopLossTicks?: number | undefined
    },
  >(exits: Exits): Exits {
    const converted = { ...exits }
    for (const name of ['takeProfitTicks', 'stopLossTicks'] as const) {
      const ticks = exits[name]
      if (ticks !== undefined) Object.assign(converted, { [name]: this.#ticks(ticks) })
    }
    return converted
  }

  keptExits(kept: KeptExits): KeptExits {
    // The exchange's list is read again.
    const { listed: _, ...set } = kept
    return this.exits(set)
  }

  orderedExits(ordered: OrderedBySide): OrderedBySide {
    const sides = HOLD_SIDES.flatMap((side) => {
      const exits = ordered[side]
      return exits === undefined ? [] : [[side, this.exits(exits)] as const]
    })
    return Object.fromEntries(sides)
  }

  /** Rounds prices. @param ticks as for {@link trades} */
  exitState({ long, short, ...rest }: ExitState, ticks: number): ExitState {
    const price = (was: number | null): number | null => was && Math.round(was * ticks)
    const lotsOf = (was: number | null): number | null => was && this.lots(was)
    const convert = (trade: ExitTrade | null): ExitTrade | null =>
      trade && {
        ...trade,
        entryTicks: trade.entryTicks && trade.entryTicks * ticks,
        lotsMax: this.lots(trade.lotsMax),
        bestTicks: price(trade.bestTicks),
        atrTicks: price(trade.atrTicks),
        capLots: lotsOf(trade.capLots),
        due: trade.due && { ...trade.due, keptLots: this.lots(trade.due.keptLots) },
      }
    return { ...rest, long: convert(long), short: convert(short) }
  }

  order(order: Order): Order {
    const terms = this.exits(this.priced(order.terms))
    return { ...order, terms, filledLots: this.lots(order.filledLots) }
  }

  fill(fill: Fill): Fill {
    return this.priced(fill)
  }

  holding({ longLots, shortLots }: Holding): Holding {
    return { longLots: this.lots(longLots), shortLots: this.lots(shortLots) }
  }

  /** @param ticks so many new ticks are an old one; averages need not be on the grid */
  trades({ entry, fills, ...day }: OwnTrades, ticks: number): OwnTrades {
    return {
      ...day,
      entry: this.#entry(entry, ticks),
      fills: fills.map((fill) => this.priced(fill)),
    }
  }

  accountEntry(entry: AccountEntry, ticks: number): AccountEntry {
    const { longLots: statedLongLots, shortLots: statedShortLots } = this.holding({
      longLots: entry.statedLongLots,
      shortLots: entry.statedShortLots,
    })
    return { ...this.#entry(entry, ticks), statedLongLots, statedShortLots }
  }

  #entry(entry: Entry, ticks: number): Entry {
    const averages = { longTicks: entry.longTicks * ticks, shortTicks: entry.shortTicks * ticks }
    return { ...this.holding(entry), ...averages }
  }

  /** @param ticks as for {@link trades} */
  unsettled(
    { account, holdings, trades, exits, orderedExits, ...numbers }: UnsettledAllocation,
    ticks: number,
  ): UnsettledAllocation {
    return {
      ...numbers,
      ...(trades && {
        trades: trades.map(([pair, known]) => [pair, this.trades(known, ticks)] as const),
      }),
      ...(exits && { exits: exits.map(([key, kept]) => [key, this.keptExits(kept)] as const) }),
      ...(orderedExits && {
        orderedExits: orderedExits.map(([pair, one]) => [pair, this.orderedExits(one)] as const),
      }),
      account: this.holding(account),
      holdings: holdings.map(([pair, holding]) => [pair, this.holding(holding)] as const),
    }
  }

  /** @param ticks as for {@link trades} */
  move(move: Move, ticks: number): Move {
    if (move.kind === 'fill') {
      const { priced, exits } = move
      const change = this.priced(move.change)
      return {
        ...move,
        change,
        ...(priced && { priced: { ...priced, fill: this.fill(priced.fill) } }),
        ...(exits && { exits: this.exits(exits) }),
      }
    }
    if (move.kind === 'streakForgotten') return move
    if (move.kind === 'exitsListed') {
      const listed = move.listed.map((exit) => ({ ...exit, ticks: this.#ticks(exit.ticks) }))
      return { ...move, listed }
    }
    if (move.kind === 'assign') {
      const taken = move.taken.map((change) => ({
        ...change,
        lots: this.lots(change.lots),
        ticks: change.ticks === undefined ? undefined : change.ticks * ticks,
      }))
      return { ...move, taken }
    }
    const taken = move.taken.map((change) => this.priced(change))
    return { ...move, holding: this.holding(move.holding), taken }
  }
}
