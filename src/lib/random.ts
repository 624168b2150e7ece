/**
 * Random numbers that are the same on every machine and in every version of the runtime: integer
 * arithmetic, and floating point that IEEE 754 fixes to the last bit (+ - * / sqrt). The language leaves
 * the precision of Math.log and Math.exp open, so this file carries its own.
 *
 * The generator is xoshiro128** (Blackman and Vigna, 2018): 128 bits of state, period 2^128 - 1. Normal
 * numbers come from a ziggurat of 128 layers (Marsaglia and Tsang 2000, in the form of Doornik 2005, where
 * layer and abscissa use separate bits). Not for secrets.
 */
export interface Random {
  /** Uniform in [0, 1), 53 bits. */
  next(): number
  /** Uniform in 0..maxExclusive-1, unbiased. @throws RangeError unless it is a whole number in 1..2^32. */
  integer(maxExclusive: number): number
  /** Normal with mean 0 and standard deviation 1. */
  normal(): number
  /** A stream of its own: depends on this stream's seed and the name, not on how much was drawn. */
  fork(name: string): Random
  /** All there is to know, as JSON; {@link restoreRandom} goes on from it. */
  state(): RandomState
}

export interface RandomState {
  readonly seed: string
  /** Four unsigned 32-bit words. */
  readonly words: readonly [number, number, number, number]
}

/** A stream of random numbers. `1` and `'1'` are the same seed. */
export function createRandom(seed: string | number): Random {
  return new Xoshiro({ seed: String(seed), words: hashSeed(String(seed)) })
}

/** @throws RangeError when the words are not four unsigned 32-bit integers, or all zero. */
export function restoreRandom(state: RandomState): Random {
  const { words } = state
  const isWord = (word: number) => Number.isInteger(word) && word >= 0 && word < WORD
  if (words.length !== 4 || !words.every(isWord) || words.every((word) => word === 0)) {
    throw new RangeError(
      `a random state is four unsigned 32-bit words, not all zero; got ${words.join(', ')}`,
    )
  }
  return new Xoshiro(state)
}

const WORD = 2 ** 32

class Xoshiro implements Random {
  readonly #seed: string
  #a: number
  #b: number
  #c: number
  #d: number

  constructor({ seed, words }: RandomState) {
    this.#seed = seed
    this.#a = words[0] | 0
    this.#b = words[1] | 0
    this.#c = words[2] | 0
    this.#d = words[3] | 0
  }

  next(): number {
    const high = this.#word() >>> 5
    return (high * 0x4000000 + (this.#word() >>> 6)) / 0x20000000000000
  }

  integer(maxExclusive: number): number {
    if (!Number.isInteger(maxExclusive) || maxExclusive < 1 || maxExclusive > WORD) {
      throw new RangeError(`expected a whole number in 1..2^32, got ${maxExclusive}`)
    }
    // The last, incomplete run of 0..maxExclusive-1 below 2^32 is drawn again: at most every second draw.
    const limit = WORD - (WORD % maxExclusive)
    let word = this.#word() >>> 0
    while (word >= limit) word = this.#word() >>> 0
    return word % maxExclusive
  }

  normal(): number {
    for (;;) {
      const layer = this.#word() & 127
      const u = (this.#word() >>> 0) * (2 / WORD) - 1 + 1 / WORD
      const edge = EDGES[layer] as number
      const x = u * edge
      const inner = EDGES[layer + 1] as number
      if (Math.abs(x) < inner) return x
      if (layer === 0) return this.#tail(u < 0)
      const low = exponential(-0.5 * (edge * edge - x * x))
      const high = exponential(-0.5 * (inner * inner - x * x))
      if (high + this.next() * (low - high) < 1) return x
    }
  }

  fork(name: string): Random {
    return createRandom(`${this.#seed}/${name}`)
  }

  state(): RandomState {
    return { seed: this.#seed, words: [this.#a >>> 0, this.#b >>> 0, this.#c >>> 0, this.#d >>> 0] }
  }

  #word(): number {
    const five = Math.imul(this.#b, 5)
    const result = Math.imul((five << 7) | (five >>> 25), 9)
    const shifted = this.#b << 9
    this.#c ^= this.#a
    this.#d ^= this.#b
    this.#b ^= this.#c
    this.#a ^= this.#d
    this.#c ^= shifted
    this.#d = (this.#d << 11) | (this.#d >>> 21)
    return result
  }

  /** Marsaglia's tail: beyond the ziggurat's base, one draw in 3,800. */
  #tail(isNegative: boolean): number {
    for (;;) {
      const x = logarithm(1 - this.next()) / BASE
      const y = logarithm(1 - this.next())
      if (-2 * y >= x * x) return isNegative ? x - BASE : BASE - x
    }
  }
}

/** cyrb128: four 32-bit instruments over the text's UTF-16 units. */
function hashSeed(text: string): [number, number, number, number] {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762]
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    a = b ^ Math.imul(a ^ unit, 597399067)
    b = c ^ Math.imul(b ^ unit, 2869860233)
    c = d ^ Math.imul(c ^ unit, 951274213)
    d = a ^ Math.imul(d ^ unit, 2716044179)
  }
  a = Math.imul(c ^ (a >>> 18), 597399067)
  b = Math.imul(d ^ (b >>> 22), 2869860233)
  c = Math.imul(a ^ (c >>> 17), 951274213)
  d = Math.imul(b ^ (d >>> 19), 2716044179)
  a ^= b ^ c ^ d
  // The last instrument is made odd: xoshiro must not start from four zeros.
  return [a >>> 0, (b ^ a) >>> 0, (c ^ a) >>> 0, ((d ^ a) | 1) >>> 0]
}

const LN2 = 0.6931471805599453
/** 2^-64..2^64, exact. */
const POWERS_OF_TWO = Array.from({ length: 129 }, (_, index) => {
  let power = 1
  for (let step = 64; step < index; step++) power *= 2
  for (let step = index; step < 64; step++) power /= 2
  return power
})

/** e^x for |x| <= 44, to a relative error below 1e-14; the same bits everywhere. Beyond 44 x is clamped. */
export function exponential(x: number): number {
  const clamped = Math.max(-44, Math.min(44, x))
  const power = Math.round(clamped / LN2)
  const rest = clamped - power * LN2
  let sum = 1
  for (let term = 13; term > 0; term--) sum = 1 + (rest * sum) / term
  return sum * (POWERS_OF_TWO[power + 64] as number)
}

/** The natural logarithm of a number in 2^-64..2^64, error below 1e-14; the same bits everywhere. */
export function logarithm(x: number): number {
  let mantissa = x
  let power = 0
  for (; mantissa > 1.4142135623730951 && power < 64; power++) mantissa /= 2
  for (; mantissa < 0.7071067811865476 && power > -64; power--) mantissa *= 2
  const z = (mantissa - 1) / (mantissa + 1)
  let sum = 0
  for (let term = 21; term > 0; term -= 2) sum = sum * z * z + 1 / term
  return 2 * z * sum + power * LN2
}

/** Where the ziggurat's base ends and its tail begins, and the area of every layer: Doornik's table for 128. */
const BASE = 3.442619855899
const LAYER_AREA = 9.91256303526217e-3
const EDGES = ziggurat()

function ziggurat(): number[] {
  let density = exponential(-0.5 * BASE * BASE)
  const edges = [LAYER_AREA / density, BASE]
  for (let layer = 2; layer < 128; layer++) {
    const edge = Math.sqrt(-2 * logarithm(LAYER_AREA / (edges[layer - 1] as number) + density))
    density = exponential(-0.5 * edge * edge)
    edges.push(edge)
  }
  return [...edges, 0]
}
