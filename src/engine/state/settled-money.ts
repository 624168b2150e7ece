import { own } from '../../lib/own.ts'
import { moneyOf } from '../book/apply-fill.ts'
import { type Book, splitPair } from '../book/book.ts'

/** Summed on demand, until a record may move money. Changed by `settled-money.ts`. */
export interface KeptSettled {
  readonly bySymbol: ReadonlyMap<string, number>
  /** Undefined until asked for. */
  readonly symbols: ReadonlySet<string> | undefined
}

interface SettledOwner {
  readonly book: Book
  readonly settled: KeptSettled
}

export function createSettled(): KeptSettled {
  return { bySymbol: new Map(), symbols: undefined }
}

/** Realised less fees, and funding, of all owners. */
export function settledOf({ book, settled }: SettledOwner, symbol: string): number {
  const known = settled.bySymbol.get(symbol)
  if (known !== undefined) return known
  const net = sumSettled(book, symbol)
  own(settled.bySymbol).set(symbol, net)
  return net
}

/** {@link settledOf} keeps it. */
export function sumSettled(book: Book, symbol: string): number {
  let net = Number(book.funding.get(symbol)?.toString() ?? 0)
  for (const [pair, { profit, fees }] of moneyOf(book)) {
    if (splitPair(pair)[1] === symbol) net += Number(profit.minus(fees).toString())
  }
  return net
}

/** In the order in which they are counted. */
export function settledSymbols({ book, settled }: SettledOwner): ReadonlySet<string> {
  if (settled.symbols) return settled.symbols
  const ofFills = [...moneyOf(book).keys()].map((pair) => splitPair(pair)[1])
  const symbols = new Set([...book.funding.keys(), ...ofFills])
  own(settled).symbols = symbols
  return symbols
}

export function forgetSettled(settled: KeptSettled): void {
  if (settled.bySymbol.size > 0) own(settled.bySymbol).clear()
  own(settled).symbols = undefined
}
