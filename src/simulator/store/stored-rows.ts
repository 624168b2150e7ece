import { decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import type { RowStore, StoredRow } from './row-store.ts'

/** Rows are written in this form. */
const STORE_VERSION = 6
/** Of 0.1.0: as now, but for the state of markets that are not seeded. */
const VERSION_BEFORE = 5

/** How one kind of entity is stored, and read back. Decimals write themselves as strings. */
export interface Codec<Entity, Row = Entity> {
  readonly table: string
  /** Unique in the table. */
  readonly id: (entity: Entity) => string
  /** What is written, where that is not the entity as it stands. */
  readonly write?: (entity: Entity) => Row
  /** The entity is no more: its row goes, instead of being written. */
  readonly isGone?: (entity: Entity) => boolean
  /** Fields that are decimals, at any depth of the row. */
  readonly decimals?: readonly string[]
}

/** A codec that knows where the entity stands in the state. */
export interface PlacedCodec<State, Entity, Row = Entity> extends Codec<Entity, Row> {
  /** Rows are placed in ascending order of this; left out, of their ids. */
  readonly order?: (row: Row) => number
  /** Puts a row that was read back into a fresh state. */
  readonly place: (state: State, row: Row) => void
}

/**
 * The rows of one exchange, of every part of it: what was stored when it started, to be read back once, and what the
 * operation under way has changed, which is stored as a whole by {@link save}. Without a store nothing is kept and
 * nothing written out. Bounded by what one operation can touch.
 */
export class StoredRows {
  readonly #store: RowStore | undefined
  readonly isFresh: boolean
  /** Whether an earlier version wrote them. */
  readonly isOfBefore: boolean
  /** By table and id: what nobody has read back yet. */
  readonly #loaded = new Map<string, Map<string, string>>()
  /** By table and id. A row writes itself when its `json` is read. */
  readonly #changed = new Map<string, StoredRow>()

  /** @throws Failure SIMULATOR_STORE_VERSION, SIMULATOR_STORE_DAMAGED */
  constructor(store?: RowStore) {
    this.#store = store
    const rows = store?.load()
    this.isFresh = rows === undefined
    for (const { table, id, json } of rows ?? []) {
      const found = this.#loaded.get(table) ?? new Map<string, string>()
      if (json !== undefined) this.#loaded.set(table, found.set(id, json))
    }
    const version = this.readOne(VERSION, VERSION.id())
    this.isOfBefore = version === VERSION_BEFORE
    if (!this.isFresh && !this.isOfBefore && version !== STORE_VERSION) throw otherVersion(version)
    if (this.isFresh || this.isOfBefore) this.put(VERSION, STORE_VERSION)
  }

  get isKept(): boolean {
    return this.#store !== undefined
  }

  /** Reads the rows of a table back, each into its place. @throws Failure SIMULATOR_STORE_DAMAGED */
  restore<State, Row>(codec: PlacedCodec<State, never, Row>, state: State): void {
    for (const row of this.read(codec)) codec.place(state, row)
  }

  /** Reads the rows of a table back: once. @throws Failure SIMULATOR_STORE_DAMAGED */
  read<Row>(codec: Codec<never, Row> & { readonly order?: (row: Row) => number }): Row[] {
    const { table, order } = codec
    // Shorter ids first: numbers stand in their order.
    const ids = [...(this.#loaded.get(table)?.keys() ?? [])].sort(
      (a, b) => a.length - b.length || (a < b ? -1 : 1),
    )
    const rows = ids.flatMap((id) => this.readOne(codec, id) ?? [])
    return order === undefined ? rows : rows.sort((a, b) => order(a) - order(b))
  }

  /** Reads one row back: once. @throws Failure SIMULATOR_STORE_DAMAGED */
  readOne<Row>({ table, decimals }: Codec<never, Row>, id: string): Row | undefined {
    const json = this.#loaded.get(table)?.get(id)
    if (json === undefined) return undefined
    this.#loaded.get(table)?.delete(id)
    try {
      return JSON.parse(json, decimals && reviver(decimals)) as Row
    } catch (cause) {
      throw damagedRow({ table, id, cause })
    }
  }

  /** The row is written as it is when the operation is over. */
  put<Entity>(codec: Codec<Entity, unknown>, entity: Entity): void {
    if (this.#store === undefined) return
    if (codec.isGone?.(entity)) return this.drop(codec, entity)
    const { table, write } = codec
    const id = codec.id(entity)
    this.#changed.set(`${table} ${id}`, {
      table,
      id,
      get json() {
        return JSON.stringify(write === undefined ? entity : write(entity))
      },
      entity,
    })
  }

  drop<Entity>({ table, id }: Codec<Entity, unknown>, entity: Entity): void {
    if (this.#store === undefined) return
    this.#changed.set(`${table} ${id(entity)}`, { table, id: id(entity), json: undefined })
  }

  /** Stores what has changed, all of it or nothing. */
  save(): void {
    if (this.#changed.size === 0) return
    this.#store?.save([...this.#changed.values()])
    this.#changed.clear()
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0
  }
}

/** For what stands in a table that no part of the exchange can read. */
export function damagedRow({
  table,
  id,
  cause,
}: {
  table: string
  id: string
  cause?: unknown
}): Failure {
  return new Failure({
    code: 'SIMULATOR_STORE_DAMAGED',
    sentence: 'a stored row of the simulator cannot be read',
    facts: { table, id },
    hint: 'remove the stored state to start afresh',
    cause,
  })
}

/** A row of its own: there is one of its kind. @param id Unique among such rows. */
export function singleRow<Entity>(id: string): Codec<Entity> & { readonly id: () => string } {
  return { table: 'meta', id: () => id }
}

const VERSION = singleRow<number>('version')

/** For what is stored in a form that is read no more. */
export function otherVersion(stored: number | undefined = VERSION_BEFORE): Failure {
  return new Failure({
    code: 'SIMULATOR_STORE_VERSION',
    sentence: 'the stored state of the simulator was written by another version of it',
    facts: { stored: String(stored), read: STORE_VERSION },
    hint: 'remove the stored state to start afresh',
  })
}

function reviver(decimals: readonly string[]) {
  return (name: string, value: unknown): unknown =>
    typeof value === 'string' && decimals.includes(name) ? decimal(value) : value
}
