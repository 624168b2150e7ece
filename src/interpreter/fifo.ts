/** After so many items were taken from the front, the empty places before the first item are removed. */
const TAKEN_MAX = 1024

/**
 * A queue, first in, first out. Taking the first item costs the same however many wait, and a queue that becomes empty
 * again and again keeps its places: nothing is allocated for them.
 */
export class Fifo<Item extends object> {
  readonly #items: (Item | undefined)[] = []
  /** Where the first item is, and the place behind the last one; all other places are empty. */
  #start = 0
  #end = 0

  get length(): number {
    return this.#end - this.#start
  }

  get first(): Item | undefined {
    return this.#items[this.#start]
  }

  /** Returns how many wait now. */
  push(item: Item): number {
    this.#items[this.#end++] = item
    return this.length
  }

  /** Before all others. */
  putFirst(item: Item): void {
    if (this.#start === 0) {
      this.#items.unshift(undefined)
      this.#end++
    } else this.#start--
    this.#items[this.#start] = item
  }

  take(): Item | undefined {
    if (this.#start === this.#end) return undefined
    const item = this.#items[this.#start]
    this.#items[this.#start++] = undefined
    if (this.#start === this.#end) this.#start = this.#end = 0
    else if (this.#start > TAKEN_MAX) this.#removeTaken()
    return item
  }

  #removeTaken(): void {
    this.#items.splice(0, this.#start)
    this.#end -= this.#start
    this.#start = 0
  }
}
