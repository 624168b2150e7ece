/**
 * A number is written as a whole multiple of the column's unit, less that of the row before. A
 * column on no grid is written as floats. Decoding returns every number to the bit.
 */
import { createGrid, formatOnGrid } from '../lib/grid.ts'

const ELEMENT_BYTES = { int8: 1, int16: 2, int32: 4, float64: 8 } as const

export type ElementType = keyof typeof ELEMENT_BYTES

export interface EncodedColumn {
  readonly type: ElementType
  /** Decimal text such as `0.1`; absent for float64. */
  readonly unit?: string
  readonly first?: number
}

/** Prices and sizes in files have no more decimals. */
const DECIMALS_MAX = 12
const SCALES = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13]

const ARRAYS = {
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  float64: Float64Array,
} as const

export function columnBytes(type: ElementType, rows: number): number {
  return Math.ceil((ELEMENT_BYTES[type] * rows) / 8) * 8
}

/** The largest decimal that divides all numbers exactly. */
export function findUnit(numbers: Float64Array): string | undefined {
  let decimals = 0
  for (const number of numbers) {
    while (!Number.isSafeInteger(wholeOf(number, decimals)) && decimals <= DECIMALS_MAX) decimals++
    if (decimals > DECIMALS_MAX) return undefined
  }
  let common = 0
  for (const number of numbers) {
    const whole = wholeOf(number, decimals)
    if (!Number.isSafeInteger(whole)) return undefined
    if (common !== 1) common = greatestDivisor(common, Math.abs(whole))
  }
  const finest = decimals === 0 ? '1' : `0.${'1'.padStart(decimals, '0')}`
  return formatOnGrid(createGrid(finest), common || 1)
}

/** NaN if dividing by 10^decimals would not give the same bits, as for -0. */
function wholeOf(number: number, decimals: number): number {
  const scale = SCALES[decimals] as number
  const whole = Math.round(number * scale) + 0
  return Object.is(whole / scale, number) ? whole : Number.NaN
}

function greatestDivisor(one: number, other: number): number {
  let [large, small] = [one, other]
  while (small !== 0) [large, small] = [small, large % small]
  return large
}

export function encodeColumn(numbers: Float64Array): { encoded: EncodedColumn; bytes: Uint8Array } {
  const unit = findUnit(numbers)
  const differences = unit === undefined ? undefined : toDifferences(numbers, unit)
  const type = differences === undefined ? 'float64' : typeFor(differences)
  if (unit === undefined || differences === undefined || type === 'float64')
    return { encoded: { type: 'float64' }, bytes: bytesOf(numbers.slice()) }
  const first = differences[0] ?? 0
  differences[0] = 0
  return { encoded: { type, unit, first }, bytes: bytesOf(ARRAYS[type].from(differences)) }
}

function toDifferences(numbers: Float64Array, unit: string): Float64Array {
  const { decimals, units } = createGrid(unit)
  const differences = new Float64Array(numbers.length)
  let before = 0
  for (let row = 0; row < numbers.length; row++) {
    const steps = wholeOf(numbers[row] as number, decimals) / units
    differences[row] = steps - before
    before = steps
  }
  return differences
}

function typeFor(differences: Float64Array): ElementType {
  let largest = 0
  for (let row = 1; row < differences.length; row++)
    largest = Math.max(largest, Math.abs(differences[row] as number))
  if (largest <= 0x7f) return 'int8'
  if (largest <= 0x7fff) return 'int16'
  return largest <= 0x7fff_ffff ? 'int32' : 'float64'
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** @param bytes The whole file. @param at A multiple of eight from the start of the memory. */
export function decodeColumn(
  { type, unit = '1', first = 0 }: EncodedColumn,
  { bytes, at, rows }: { readonly bytes: Uint8Array; readonly at: number; readonly rows: number },
): Float64Array {
  const elements = new ARRAYS[type](bytes.buffer as ArrayBuffer, bytes.byteOffset + at, rows)
  if (elements instanceof Float64Array) return elements.slice()
  // Decoding from one kind of array is a fifth faster than from three.
  const differences = new Int32Array(elements)
  const { units, scale } = createGrid(unit)
  const numbers = new Float64Array(rows)
  let steps = first
  for (let row = 0; row < rows; row++) {
    steps += differences[row] as number
    numbers[row] = (steps * units) / scale
  }
  return numbers
}
