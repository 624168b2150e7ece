import type { Codec, StoredRows } from '../store/stored-rows.ts'
import { countFirst } from './history-page.ts'
import { isIdBefore } from './order-sequence.ts'

interface HistoryOptions<Row> {
  readonly codec: Codec<Row>
  readonly max: number
  readonly ownerOf: (row: Row) => string
  readonly mayGo?: (row: Row) => boolean
}

/** Records by owner, the oldest first in order of their ids. */
export class Histories<Row> {
  readonly #rows: StoredRows
  readonly #options: HistoryOptions<Row>
  readonly #byOwner = new Map<string, Row[]>()

  constructor(rows: StoredRows, options: HistoryOptions<Row>) {
    this.#rows = rows
    this.#options = options
    for (const row of rows.read(options.codec)) this.#listOf(row).push(row)
  }

  of(owner: string): readonly Row[] {
    return this.#byOwner.get(owner) ?? []
  }

  all(): readonly Row[] {
    return [...this.#byOwner.values()].flat()
  }

  find(owner: string, id: string): Row | undefined {
    const rows = this.of(owner)
    const found = rows[this.#placeOf(rows, id)]
    return found !== undefined && this.#options.codec.id(found) === id ? found : undefined
  }

  add(row: Row): void {
    const { codec, max, mayGo = () => true } = this.#options
    const list = this.#listOf(row)
    list.splice(this.#placeOf(list, codec.id(row)), 0, row)
    this.put(row)
    const oldest = list.length > max ? list.findIndex(mayGo) : -1
    for (const gone of oldest < 0 ? [] : list.splice(oldest, 1)) this.#rows.drop(codec, gone)
  }

  put(row: Row): void {
    this.#rows.put(this.#options.codec, row)
  }

  #listOf(row: Row): Row[] {
    const owner = this.#options.ownerOf(row)
    const list = this.#byOwner.get(owner) ?? []
    this.#byOwner.set(owner, list)
    return list
  }

  #placeOf(rows: readonly Row[], id: string): number {
    return countFirst(rows, (row) => isIdBefore(this.#options.codec.id(row), id))
  }
}
