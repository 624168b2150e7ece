import { type ServiceStore } from '../../../src/simulator/service-store.ts'

/** Keeps what was put as long as the object lives. */
export function createMemoryServiceStore(): ServiceStore {
  const rows = new Map<string, string>()
  return {
    rows: (prefix) =>
      [...rows]
        .filter(([id]) => id.startsWith(prefix))
        .map(([id, json]) => ({ id, json }))
        .sort((one, other) => (one.id < other.id ? -1 : 1)),
    put: (id, json) => void rows.set(id, json),
    drop: (id) => void rows.delete(id),
  }
}
