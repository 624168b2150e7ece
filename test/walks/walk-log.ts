import { readFileSync } from 'node:fs'

/** The functions that a run entered and left, in order, as `note-functions.ts` wrote them. */
export class WalkLog {
  readonly #names: readonly string[]
  readonly #marks: Int32Array

  constructor(names: readonly string[], marks: Int32Array) {
    this.#names = names
    this.#marks = marks
  }

  /** `out`: as WALK_OUT. The main thread is 0. */
  static read(out: string, thread: number): WalkLog {
    const path = `${out}-${thread}`
    const names: readonly string[] = JSON.parse(readFileSync(`${path}.json`, 'utf8'))
    const bytes = readFileSync(`${path}.bin`)
    return new WalkLog(names, new Int32Array(new Uint8Array(bytes).buffer))
  }

  /** Places at which the function (`file:name`) is entered, in order. */
  entriesOf(name: string): readonly number[] {
    const ids = new Set(this.#names.flatMap((known, id) => (known === name ? [id + 1] : [])))
    if (ids.size === 0)
      throw new Error(`no function ${name}: it has been renamed, so name it anew in walks.ts`)
    const places: number[] = []
    for (const [place, mark] of this.#marks.entries()) if (ids.has(mark)) places.push(place)
    return places
  }

  /** The place at which the call that is entered at `place` returns. Only for functions that run in one go. */
  returnOf(place: number): number {
    const entered = this.#marks[place] ?? 0
    let depth = 0
    for (let at = place; at < this.#marks.length; at += 1) {
      const mark = this.#marks[at]
      if (mark === entered) depth += 1
      else if (mark === -entered && --depth === 0) return at
    }
    throw new Error(`${this.#names[entered - 1]} did not return`)
  }

  /** Lists what is entered from one place to another, both included: `file:name` in order of first entry, without the simulator. */
  functionsBetween(from: number, to: number): readonly string[] {
    const entered = new Set<number>()
    for (const mark of this.#marks.subarray(from, to + 1)) if (mark > 0) entered.add(mark)
    return [...entered]
      .map((mark) => this.#names[mark - 1] ?? '')
      .filter((name) => !name.startsWith('simulator/'))
  }
}
