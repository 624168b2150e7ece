/**
 * The same on every machine and runtime: integers, and floats that IEEE 754 fixes to the last bit
 * (+ - * / sqrt). Math.log and Math.exp are not fixed, so this file has its own.
 *
 * xoshiro128** (Blackman and Vigna, 2018), period 2^128 - 1. Normal numbers: ziggurat of 128 layers
 * (Marsaglia and Tsang 2000; Doornik 2005, with separate bits for layer and abscissa). Not for
 * secrets.
 */
export interface Random {
  next(): number
  /** Uniform in 0..maxExclusive-1, unbiased. @throws RangeError unless a whole number in 1..2^32 */
  integer(maxExclusive: number): number
  normal(): number
  pick(values: Float64Array): number
  /** Depends on seed and name, not on how much was drawn. */
  fork(name: string): Random
  state(): RandomState
}

export interface RandomState {
  readonly seed: string
  readonly words: readonly [number, number, number, number]
}

export function createRandom(seed: string | number): Random {
  return new Xoshiro({ seed: String(seed), words: hashSeed(String(seed)) })
}

/** @throws RangeError when the words are not four unsigned 32-bit integers, or all zero */
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
    return (high * 0x4000000 + (this.#word() >>> 6)) * 2 ** -53
  }

  integer(maxExclusive: number): number {
    if (!Number.isInteger(maxExclusive) || maxExclusive < 1 || maxExclusive > WORD) {
      throw new RangeError(`expected a whole number in 1..2^32, got ${maxExclusive}`)
    }
    // An incomplete run of 0..maxExclusive-1 below 2^32 is drawn again: at most every second draw.
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

  pick(values: Float64Array): number {
    return values[Math.floor(((this.#word() >>> 0) * values.length) / WORD)] as number
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

  /** Marsaglia's tail, beyond the ziggurat's base: one draw in 3,800. */
  #tail(isNegative: boolean): number {
    for (;;) {
      const x = logarithm(1 - this.next()) / BASE
      const y = logarithm(1 - this.next())
      if (-2 * y >= x * x) return isNegative ? x - BASE : BASE - x
    }
  }
}

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
  // xoshiro must not start from four zeros.
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

const PARTS = 128
const PART = LN2 / PARTS
const ROOTS_OF_TWO = Float64Array.from({ length: PARTS }, (_, part) => {
  let sum = 1
  for (let term = 20; term > 0; term--) sum = 1 + (part * PART * sum) / term
  return sum
})

/** Clamped beyond |x| = 44, relative error below 1e-14, the same bits everywhere. */
export function exponential(x: number): number {
  const clamped = x > 44 ? 44 : x < -44 ? -44 : x
  const parts = Math.round(clamped / PART)
  const rest = clamped - parts * PART
  const series = 1 + rest * (1 + rest * (1 / 2 + rest * (1 / 6 + rest * (1 / 24))))
  const part = parts & (PARTS - 1)
  const power = POWERS_OF_TWO[(parts - part) / PARTS + 64] as number
  return series * (ROOTS_OF_TWO[part] as number) * power
}

const LOGARITHMS = Float64Array.from({ length: PARTS }, (_, part) => {
  const z = part / (2 * PARTS + part)
  let sum = 0
  for (let term = 31; term > 0; term -= 2) sum = sum * z * z + 1 / term
  return 2 * z * sum
})
const INVERSES = Float64Array.from({ length: PARTS }, (_, part) => PARTS / (PARTS + part))
/** All machines of Node are little-endian: the exponent's word is second. */
const FLOAT = new Float64Array(1)
const WORDS = new Uint32Array(FLOAT.buffer)

/** 2^-64..2^64, error below 1e-14, the same bits everywhere. Exactly 0 at 1. */
export function logarithm(x: number): number {
  FLOAT[0] = x
  const high = WORDS[1] as number
  WORDS[1] = (high & 0xfffff) | 0x3ff00000
  const part = (high >>> 13) & (PARTS - 1)
  const from = 1 + part / PARTS
  const rest = (FLOAT[0] - from) * (INVERSES[part] as number)
  const high4 = 1 / 4 - rest * (1 / 5 - rest * (1 / 6 - rest / 7))
  const series = rest * (1 - rest * (1 / 2 - rest * (1 / 3 - rest * high4)))
  return ((high >>> 20) - 1023) * LN2 + (LOGARITHMS[part] as number) + series
}

export function clamp(value: number, reach: number): number {
  return Math.max(-reach, Math.min(reach, value))
}

/** Acklam's rational approximations, relative error 1e-9. @param share above 0, below 1 */
export function normalQuantile(share: number): number {
  if (share > 0.5) return -normalQuantile(1 - share)
  if (share < 0.02425) {
    const q = Math.sqrt(-2 * logarithm(share))
    return polynomial(TAIL, q) / (q * polynomial(TAIL_BELOW, q) + 1)
  }
  const q = share - 0.5
  return (q * polynomial(CENTRE, q * q)) / (q * q * polynomial(CENTRE_BELOW, q * q) + 1)
}

export function likelyValues(count: number, quantile: (share: number) => number): Float64Array {
  return Float64Array.from({ length: count }, (_, index) => quantile((index + 0.5) / count))
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0)
}

const CENTRE = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
  2.506628277459239,
]
const CENTRE_BELOW = [
  -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572,
]
const TAIL = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734,
  4.374664141464968, 2.938163982698783,
]
const TAIL_BELOW = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416]

/** Doornik's table for 128 layers. */
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
