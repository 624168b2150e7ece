/** Constants of murmur3's finalizer, and the golden ratio in 32 bits. */
const [FIRST, SECOND, GOLDEN] = [0x85ebca6b, 0xc2b2ae35, 0x9e3779b9]
const WORD = 2 ** 32

/**
 * The n-th number of a site follows from seed, site and n alone, so further draws elsewhere change
 * nothing.
 */
export class SeededDraws {
  readonly #seed: string
  readonly #keys = new Map<string, number>()

  constructor(seed: string) {
    this.#seed = seed
  }

  unit(site: string, n: number): number {
    let key = this.#keys.get(site)
    if (key === undefined) {
      key = hashText(`${this.#seed}/${site}`)
      this.#keys.set(site, key)
    }
    return finish(finish(key ^ Math.imul(n + 1, GOLDEN)) + key) / WORD
  }

  /** A whole number in [from, to); `from` where there is none. */
  integer(site: string, n: number, [from, to]: readonly [number, number]): number {
    return from + Math.floor(this.unit(site, n) * Math.max(1, to - from))
  }
}

function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return finish(hash)
}

/** Every bit of the input moves every bit of the output. */
function finish(value: number): number {
  let hash = value | 0
  hash = Math.imul(hash ^ (hash >>> 16), FIRST)
  hash = Math.imul(hash ^ (hash >>> 13), SECOND)
  return (hash ^ (hash >>> 16)) >>> 0
}
