/**
 * All tickers of one answer as differences to the one before, exact to the bit.
 *
 * A cell is a whole number of units of 10^-decimals. Written is its difference to a guess, made of
 * the cell before and of earlier columns of the row; a cell that is no such number, or needs more
 * decimals than before, is written whole.
 *
 * A symbol keeps its place as long as the codec runs, so rows may change their order.
 */
import { Buffer } from 'node:buffer'
import { TICKER_COLUMNS, type TickerColumn, type TickerTable } from '../../domain/ticker-table.ts'

const FIRST_COLUMNS = ['lastPr', 'open24h', 'openUtc', 'baseVolume', 'quoteVolume'] as const

/** A guess needs columns that stand before. */
export const WRITTEN_COLUMNS: readonly string[] = [
  ...new Set([...FIRST_COLUMNS, ...TICKER_COLUMNS]),
]

const SCALES = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12]

/** For the number of decimals: a cell without a value, and one that is no decimal. */
const MISSING = 14
const FLOAT = 15

/** A difference is one more than written; zero announces an exception. */
const EXCEPTION = 0

const PLACES_MAX = 16_384

interface Cells {
  readonly values: Float64Array
  readonly decimals: Uint8Array
}

/** The answer before: the same for writer and reader. */
class TickerMemory {
  readonly symbols: string[] = []
  readonly places = new Map<string, number>()
  order: readonly number[] = []
  requestTime = 0
  readonly #columns = new Map<string, Cells>()

  get isFull(): boolean {
    return this.symbols.length >= PLACES_MAX
  }

  add(symbol: string): void {
    this.places.set(symbol, this.symbols.length)
    this.symbols.push(symbol)
  }

  column(name: string): Cells {
    const known = this.#columns.get(name)
    if (known !== undefined && known.values.length >= this.symbols.length) return known
    const capacity = 2 * this.symbols.length + 1
    const values = new Float64Array(capacity).fill(Number.NaN)
    const decimals = new Uint8Array(capacity).fill(MISSING)
    if (known !== undefined) {
      values.set(known.values)
      decimals.set(known.decimals)
    }
    const cells = { values, decimals }
    this.#columns.set(name, cells)
    return cells
  }

  values(column: TickerColumn): Float64Array {
    return this.column(column).values
  }
}

type Guess = (place: number) => number

function buildGuesses(memory: TickerMemory): Readonly<Partial<Record<string, Guess>>> {
  const last = memory.values('lastPr')
  const base = memory.values('baseVolume')
  const quote = memory.values('quoteVolume')
  const [lastBefore, baseBefore] = [last.slice(), base.slice()]
  const moveWithLast = (column: TickerColumn): Guess => {
    const own = memory.values(column)
    return (place) => at(own, place) + (at(last, place) - at(lastBefore, place))
  }
  const changeSince = (column: TickerColumn): Guess => {
    const open = memory.values(column)
    return (place) => at(last, place) / at(open, place) - 1
  }
  return {
    askPr: moveWithLast('askPr'),
    bidPr: moveWithLast('bidPr'),
    indexPrice: (place) => at(last, place),
    change24h: changeSince('open24h'),
    changeUtc24h: changeSince('openUtc'),
    quoteVolume: (place) =>
      at(quote, place) + (at(base, place) - at(baseBefore, place)) * at(last, place),
    usdtVolume: (place) => at(quote, place),
    ts: () => memory.requestTime,
  }
}

function at(values: Float64Array, place: number): number {
  return values[place] as number
}

function wholeOf(number: number, scale: number): number {
  const whole = Math.round(number * scale) + 0
  return Math.abs(whole) <= WHOLE_MAX && Object.is(whole / scale, number) ? whole : Number.NaN
}

function guessWhole(guessed: number, before: number, scale: number): number {
  const whole = Math.round(guessed * scale)
  return Math.abs(whole) <= WHOLE_MAX ? whole + 0 : Math.round(before * scale) + 0
}

/** {@link FLOAT} if none. */
function findDecimals(number: number, from: number): number {
  for (let decimals = from; decimals < SCALES.length; decimals++)
    if (!Number.isNaN(wholeOf(number, SCALES[decimals] as number))) return decimals
  return FLOAT
}

export class TickerEncoder {
  readonly #memory = new TickerMemory()
  readonly #out = new PackedWriter()

  get isFull(): boolean {
    return this.#memory.isFull
  }

  encode(table: TickerTable): Buffer {
    const memory = this.#memory
    this.#writeTime(table.requestTime, memory.requestTime)
    this.#writeTime(table.readAt, table.requestTime)
    memory.requestTime = table.requestTime
    this.#writeOrder(table.symbols)
    this.#out.unsigned(table.unreadable.size)
    for (const texts of table.unreadable) for (const text of texts) this.#out.text(text)
    const guesses = buildGuesses(memory)
    for (const column of WRITTEN_COLUMNS) {
      const numbers = table.columns[column as TickerColumn]
      const cells = memory.column(column)
      for (const [row, place] of memory.order.entries())
        this.#writeCell(at(numbers, row), { cells, place, guess: guesses[column] })
    }
    return this.#out.take()
  }

  #writeTime(time: number, before: number): void {
    const difference = time - before
    const isWhole = Number.isSafeInteger(time) && Math.abs(difference) <= WHOLE_MAX
    this.#out.unsigned(isWhole ? 0 : 1)
    if (isWhole) this.#out.signed(difference)
    else this.#out.float(time)
  }

  #writeOrder(symbols: readonly string[]): void {
    const [memory, out] = [this.#memory, this.#out]
    const added = symbols.filter((symbol) => !memory.places.has(symbol))
    out.unsigned(added.length)
    for (const symbol of added) {
      memory.add(symbol)
      out.text(symbol)
    }
    const { order } = memory
    const isSame =
      symbols.length === order.length &&
      symbols.every((symbol, row) => memory.symbols[order[row] as number] === symbol)
    out.unsigned(isSame ? 0 : 1)
    if (isSame) return
    memory.order = symbols.map((symbol) => memory.places.get(symbol) as number)
    out.unsigned(memory.order.length)
    for (const [row, place] of memory.order.entries())
      out.signed(place - (memory.order[row - 1] ?? -1) - 1)
  }

  #writeCell(number: number, { cells, place, guess }: CellPlace): void {
    const before = at(cells.values, place)
    const known = cells.decimals[place] as number
    const scale = SCALES[known]
    const whole = scale === undefined ? Number.NaN : wholeOf(number, scale)
    if (scale === undefined ? !Object.is(number, before) : Number.isNaN(whole)) {
      this.#writeException(number, { cells, place })
      return
    }
    const difference =
      scale === undefined ? 0 : whole - guessWhole(guess?.(place) ?? before, before, scale)
    if (Math.abs(difference) >= WHOLE_MAX) this.#writeException(number, { cells, place })
    else this.#out.unsigned(1 + (difference < 0 ? -2 * difference - 1 : 2 * difference))
    cells.values[place] = number
  }

  #writeException(number: number, { cells, place }: CellPlace): void {
    const known = cells.decimals[place] as number
    const decimals = Number.isNaN(number)
      ? MISSING
      : findDecimals(number, known < SCALES.length ? known : 0)
    const scale = SCALES[decimals]
    this.#out.unsigned(EXCEPTION)
    this.#out.unsigned(decimals)
    if (scale !== undefined) this.#out.signed(wholeOf(number, scale))
    else if (decimals === FLOAT) this.#out.float(number)
    cells.decimals[place] = decimals
    cells.values[place] = number
  }
}

interface CellPlace {
  readonly cells: Cells
  readonly place: number
  readonly guess?: Guess | undefined
}

export class TickerDecoder {
  readonly #memory = new TickerMemory()
  readonly #columns: readonly string[]

  /** @param columns Those of the file, in its order. */
  constructor(columns: readonly string[]) {
    this.#columns = columns
  }

  /** A column that the file lacks has no values. @throws RangeError for bytes that are no answer */
  decode(bytes: Buffer, table: TickerTable): void {
    const memory = this.#memory
    const reader = new PackedReader(bytes)
    memory.requestTime = readTime(reader, memory.requestTime)
    const readAt = readTime(reader, memory.requestTime)
    this.#readOrder(reader)
    const unreadable = new Map<string, string>()
    for (let count = reader.unsigned(); count > 0; count--)
      unreadable.set(reader.text(), reader.text())
    table.clear()
    for (const place of memory.order) table.claimRow(memory.symbols[place] as string)
    table.readAt = readAt
    table.requestTime = memory.requestTime
    table.unreadable = unreadable
    const guesses = buildGuesses(memory)
    for (const column of TICKER_COLUMNS)
      if (!this.#columns.includes(column)) table.columns[column].fill(Number.NaN)
    for (const column of this.#columns) {
      readCells(reader, {
        cells: memory.column(column),
        order: memory.order,
        guess: guesses[column],
        numbers: table.columns[column as TickerColumn],
      })
    }
    if (!reader.isAtEnd) throw new RangeError('there is more behind an answer')
  }

  #readOrder(reader: PackedReader): void {
    const memory = this.#memory
    for (let count = reader.unsigned(); count > 0; count--) memory.add(reader.text())
    if (reader.unsigned() === 0) return
    let before = -1
    memory.order = Array.from({ length: Math.min(PLACES_MAX, reader.unsigned()) }, () => {
      before += reader.signed() + 1
      if (memory.symbols[before] === undefined) throw new RangeError('a row has no symbol')
      return before
    })
  }
}

function readTime(reader: PackedReader, before: number): number {
  return reader.unsigned() === 0 ? before + reader.signed() : reader.float()
}

interface ReadColumn {
  readonly cells: Cells
  readonly order: readonly number[]
  readonly guess: Guess | undefined
  readonly numbers: Float64Array | undefined
}

/** It loops over all cells of a month, so it makes no objects. */
function readCells(reader: PackedReader, { cells, order, guess, numbers }: ReadColumn): void {
  const { values, decimals } = cells
  for (let row = 0; row < order.length; row++) {
    const place = order[row] as number
    const written = reader.unsigned()
    if (written === EXCEPTION) readException(reader, { cells, place })
    else {
      const scale = SCALES[decimals[place] as number]
      if (scale !== undefined) {
        const before = values[place] as number
        const guessed = guessWhole(guess === undefined ? before : guess(place), before, scale)
        const zigzag = written - 1
        const difference = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
        values[place] = (guessed + difference) / scale
      }
    }
    if (numbers !== undefined) numbers[row] = values[place] as number
  }
}

function readException(reader: PackedReader, { cells, place }: CellPlace): void {
  const decimals = reader.unsigned()
  const scale = SCALES[decimals]
  let number = Number.NaN
  if (scale !== undefined) number = reader.signed() / scale
  else if (decimals === FLOAT) number = reader.float()
  cells.decimals[place] = decimals
  cells.values[place] = number
}

// Variable length: seven bits a byte, the lowest first; the eighth says that more follow.

/** Twice as much is still exact in a float. */
const WHOLE_MAX = 2 ** 51

class PackedWriter {
  #bytes = Buffer.allocUnsafe(65_536)
  #length = 0

  /** @param value 0 to twice {@link WHOLE_MAX} */
  unsigned(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) + 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  /** @param value within ± {@link WHOLE_MAX} */
  signed(value: number): void {
    this.unsigned(value < 0 ? -2 * value - 1 : 2 * value)
  }

  float(value: number): void {
    this.#reserve(8)
    this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  text(value: string): void {
    const bytes = Buffer.from(value)
    this.unsigned(bytes.length)
    this.#reserve(bytes.length)
    this.#length += bytes.copy(this.#bytes, this.#length)
  }

  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return taken
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * this.#bytes.length + bytes)
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** @throws RangeError at the end of the bytes */
class PackedReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  unsigned(): number {
    const first = this.#bytes[this.#at]
    if (first !== undefined && first < 0x80) {
      this.#at++
      return first
    }
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined || scale > WHOLE_MAX) throw new RangeError('a number has no end')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }

  signed(): number {
    const value = this.unsigned()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  float(): number {
    const value = this.#bytes.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  text(): string {
    const length = this.unsigned()
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError('a text has no end')
    const text = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end
    return text
  }
}
