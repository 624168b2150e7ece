/** So many taken places at the front are kept before the others move up. */
const TAKEN_MAX = 1024

/** First in, first out: taking the first costs the same however many wait. */
export class Fifo<Item extends object> {
  readonly #items: (Item | undefined)[] = []
  /** Where the first one stands; what stands before it was taken. */
  #start = 0

  get length(): number {
    return this.#items.length - this.#start
  }

  get first(): Item | undefined {
    return this.#items[this.#start]
  }

  /** Returns how many wait now. */
  push(item: Item): number {
    this.#items.push(item)
    return this.length
  }

  /** Before all others. */
  putFirst(item: Item): void {
    if (this.#start > 0) this.#items[--this.#start] = item
    else this.#items.unshift(item)
  }

  take(): Item | undefined {
    if (this.#start === 0 && this.#items.length <= 1) return this.#items.pop()
    const item = this.#items[this.#start]
    this.#items[this.#start++] = undefined
    if (this.#start === this.#items.length || this.#start > TAKEN_MAX) {
      this.#items.splice(0, this.#start)
      this.#start = 0
    }
    return item
  }
}
