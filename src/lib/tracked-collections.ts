import { SegmentedMap } from './segmented-map.ts'

/** Changes since they were last taken. */
interface ChangedKeys<Key> {
  readonly removed: Iterable<Key>
  /** In the order of the map, if they are still there. */
  readonly put: Iterable<Key>
}

/** Remembers what changed until it is taken. */
class ChangedKeyLog<Key> {
  #removed = new Set<Key>()
  #put = new Set<Key>()

  get size(): number {
    return this.#removed.size + this.#put.size
  }

  notePut(key: Key): void {
    this.#put.add(key)
  }

  noteRemoved(key: Key): void {
    this.#put.delete(key)
    this.#removed.add(key)
  }

  take(): ChangedKeys<Key> {
    const taken = { removed: this.#removed, put: this.#put }
    this.#removed = new Set()
    this.#put = new Set()
    return taken
  }
}

/** For the next checkpoint. */
export class TrackedMap<Key, Value> extends Map<Key, Value> {
  readonly #changes = new ChangedKeyLog<Key>()

  constructor() {
    super()
  }

  get changedSize(): number {
    return this.#changes.size
  }

  override set(key: Key, value: Value): this {
    this.#changes.notePut(key)
    return super.set(key, value)
  }

  override delete(key: Key): boolean {
    const isGone = super.delete(key)
    if (isGone) this.#changes.noteRemoved(key)
    return isGone
  }

  override clear(): void {
    for (const key of Array.from(this.keys())) this.delete(key)
  }

  /** As in the journal, so it is no change. */
  restore(key: Key, value: Value): void {
    super.set(key, value)
  }

  takeChanges(): ChangedKeys<Key> {
    return this.#changes.take()
  }
}

/** For hundreds of thousands of entries. */
export class TrackedSegmentedMap<Key, Value> extends SegmentedMap<Key, Value> {
  readonly #changes = new ChangedKeyLog<Key>()

  get changedSize(): number {
    return this.#changes.size
  }

  override set(key: Key, value: Value): this {
    super.set(key, value)
    this.#changes.notePut(key)
    return this
  }

  override delete(key: Key): boolean {
    const isGone = super.delete(key)
    if (isGone) this.#changes.noteRemoved(key)
    return isGone
  }

  override clear(): void {
    for (const key of Array.from(this.keys())) this.delete(key)
  }

  restore(key: Key, value: Value): void {
    super.set(key, value)
  }

  takeChanges(): ChangedKeys<Key> {
    return this.#changes.take()
  }
}

export class TrackedSet<Key> extends Set<Key> {
  readonly #changes = new ChangedKeyLog<Key>()

  constructor() {
    super()
  }

  get changedSize(): number {
    return this.#changes.size
  }

  override add(key: Key): this {
    if (!this.has(key)) this.#changes.notePut(key)
    return super.add(key)
  }

  override delete(key: Key): boolean {
    const isGone = super.delete(key)
    if (isGone) this.#changes.noteRemoved(key)
    return isGone
  }

  override clear(): void {
    for (const key of Array.from(this)) this.delete(key)
  }

  restore(key: Key): void {
    super.add(key)
  }

  takeChanges(): ChangedKeys<Key> {
    return this.#changes.take()
  }
}
