import { type ServiceRow, type ServiceStore } from '../service-store.ts'
import { type ChangeSet } from '../store/stored-rows.ts'
import { type StoredRow } from '../store/row-store.ts'

/**
 * The services' rows in the core's store: they are written with the operation that changed them, in one
 * transaction with whatever it changed at the futures side. Bounded by what the services keep.
 */
export class StoredServices implements ServiceStore {
  readonly #changes: ChangeSet
  readonly #rows = new Map<string, string>()

  constructor(changes: ChangeSet, stored: readonly StoredRow[] = []) {
    this.#changes = changes
    for (const { table, id, json } of stored) {
      if (table === 'services' && json !== undefined) this.#rows.set(id, json)
    }
  }

  rows(prefix: string): readonly ServiceRow[] {
    const found: ServiceRow[] = []
    for (const [id, json] of this.#rows) if (id.startsWith(prefix)) found.push({ id, json })
    return found.sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  put(id: string, json: string): void {
    this.#rows.set(id, json)
    if (this.#changes.isEnabled) this.#changes.putJson('services', id, json)
  }

  drop(id: string): void {
    this.#rows.delete(id)
    if (this.#changes.isEnabled) this.#changes.drop('services', id)
  }
}
