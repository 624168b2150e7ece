/** After so many items were taken from the front, the empty places before the first item are removed. */
const TAKEN_MAX = 1024

/** A queue, first in, first out. Taking the first item costs the same however many wait. */
export class Fifo<Item extends object> {
  readonly #items: (Item | undefined)[] = []
  /** The index of the first item; the places before it are empty. */
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
