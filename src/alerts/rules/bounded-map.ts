/** Forgets its oldest entry when full (BND1). */
export class BoundedMap<Value> {
  readonly #entries = new Map<string, Value>()
  readonly #sizeMax: number

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)
  }

  set(key: string, value: Value): Value | undefined {
    const [oldest] = this.#entries
    const isFull = this.#entries.size >= this.#sizeMax && !this.#entries.has(key)
    if (isFull && oldest) this.#entries.delete(oldest[0])
    this.#entries.set(key, value)
    return isFull ? oldest?.[1] : undefined
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  get size(): number {
    return this.#entries.size
  }

  list(isWanted: (value: Value) => boolean): readonly (readonly [string, Value])[] {
    return [...this.#entries].filter(([, value]) => isWanted(value))
  }
}
