import { decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'

export interface StoredRow {
  readonly table: string
  readonly id: string
  /** Must be read at once; undefined if the row was removed. */
  readonly json: string | undefined
  /** Must be read at once, and never changed. */
  readonly entity?: unknown
}

export interface RowStore {
  load(): readonly StoredRow[] | undefined
  save(changes: readonly StoredRow[]): void
}

const STORE_VERSION = 6
/** Version 0.1.0 differs only in the state of markets that are not seeded. */
const VERSION_BEFORE = 5

export interface Codec<Entity, Row = Entity> {
  readonly table: string
  readonly id: (entity: Entity) => string
  readonly write?: (entity: Entity) => Row
  readonly isGone?: (entity: Entity) => boolean
  readonly decimals?: readonly string[]
}

export interface PlacedCodec<State, Entity, Row = Entity> extends Codec<Entity, Row> {
  readonly order?: (row: Row) => number
  readonly place: (state: State, row: Row) => void
}

/**
 * Holds loaded rows, each read once, and the changes of the present operation, which {@link save}
 * stores together. Without a store nothing is kept.
 */
export class StoredRows {
  readonly #store: RowStore | undefined
  readonly isFresh: boolean
  readonly isOfBefore: boolean
  readonly #loaded = new Map<string, Map<string, string>>()
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

  /** @throws Failure SIMULATOR_STORE_DAMAGED */
  restore<State, Row>(codec: PlacedCodec<State, never, Row>, state: State): void {
    for (const row of this.read(codec)) codec.place(state, row)
  }

  /**
   * May be called once for a table.
   * @throws Failure SIMULATOR_STORE_DAMAGED
   */
  read<Row>(codec: Codec<never, Row> & { readonly order?: (row: Row) => number }): Row[] {
    const { table, order } = codec
    // Shorter ids come first, because they are numbers.
    const ids = [...(this.#loaded.get(table)?.keys() ?? [])].sort(
      (a, b) => a.length - b.length || (a < b ? -1 : 1),
    )
    const rows = ids.flatMap((id) => this.readOne(codec, id) ?? [])
    return order === undefined ? rows : rows.sort((a, b) => order(a) - order(b))
  }

  /**
   * May be called once for a row.
   * @throws Failure SIMULATOR_STORE_DAMAGED
   */
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

  save(): void {
    if (this.#changed.size === 0) return
    this.#store?.save([...this.#changed.values()])
    this.#changed.clear()
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0
  }
}

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

export function singleRow<Entity>(id: string): Codec<Entity> & { readonly id: () => string } {
  return { table: 'meta', id: () => id }
}

const VERSION = singleRow<number>('version')

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
