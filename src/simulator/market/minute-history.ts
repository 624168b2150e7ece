import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Bucket, DayStatistics } from './day-statistics.ts'

/** Six hours of minutes since 1970, some 5 kB of base64. */
export interface MinuteBlock {
  readonly block: number
  readonly packed: string
}

export interface ClosedMinute {
  readonly minute: number
  readonly figures: readonly number[]
  readonly closeTicks: number
}

const BLOCK = 360
const DAYS_KEPT = 400
const BLOCKS_MAX = (DAYS_KEPT * 1440) / BLOCK
const ALL_BLOCKS_MAX = 4 * BLOCKS_MAX
const FIELDS = 5
const [OPEN, HIGH, LOW] = [0, 1, 2] as const

/**
 * Minutes older than the 24 hours of the statistics are kept for 400 days, or fewer with more than
 * four instruments.
 */
export class MinuteHistory {
  readonly #blocks = new Map<number, string>()
  readonly #blocksMax: number

  constructor(blocks: readonly MinuteBlock[], instruments: number) {
    this.#blocksMax = Math.max(1, Math.min(BLOCKS_MAX, Math.floor(ALL_BLOCKS_MAX / instruments)))
    const known = blocks.toSorted((one, other) => one.block - other.block)
    for (const { block, packed } of known) this.#blocks.set(block, packed)
  }

  /** Must be called within 18 hours, before the statistics lose the minutes. */
  keep(statistics: DayStatistics): {
    readonly added: readonly MinuteBlock[]
    readonly dropped: readonly MinuteBlock[]
  } {
    const running = Math.floor(statistics.state().minute / BLOCK)
    const last = [...this.#blocks.keys()].at(-1) ?? -1
    if (running <= last + 1) return { added: [], dropped: [] }
    const minutes = closeMinutes(statistics.buckets((last + 1) * BLOCK))
    const byBlock = Map.groupBy(minutes, ({ minute }) => Math.floor(minute / BLOCK))
    const added = [...byBlock]
      .filter(([block]) => block < running)
      .map(([block, own]) => ({ block, packed: pack(block, own) }))
    for (const { block, packed } of added) this.#blocks.set(block, packed)
    return { added, dropped: this.#dropOldest() }
  }

  *between(fromMinute: number, untilMinute: number): Generator<ClosedMinute> {
    for (const [block, packed] of this.#blocks) {
      if (block < Math.floor(fromMinute / BLOCK) || block * BLOCK >= untilMinute) continue
      for (const minute of unpack(block, packed))
        if (minute.minute >= fromMinute && minute.minute < untilMinute) yield minute
    }
  }

  get firstMinute(): number {
    for (const [block, packed] of this.#blocks)
      return unpack(block, packed)[0]?.minute ?? block * BLOCK
    return Number.POSITIVE_INFINITY
  }

  #dropOldest(): readonly MinuteBlock[] {
    const dropped = [...this.#blocks].slice(0, Math.max(0, this.#blocks.size - this.#blocksMax))
    for (const [block] of dropped) this.#blocks.delete(block)
    return dropped.map(([block, packed]) => ({ block, packed }))
  }
}

function closeMinutes(buckets: readonly Bucket[]): readonly ClosedMinute[] {
  return buckets.slice(0, -1).map((bucket, index) => ({
    ...bucket,
    closeTicks: buckets[index + 1]?.figures[OPEN] ?? bucket.figures[OPEN] ?? 0,
  }))
}

/** Prices are stored as differences, which deflate well. A missing minute has no open. */
function pack(block: number, minutes: readonly ClosedMinute[]): string {
  const values = new Float64Array(BLOCK * FIELDS + 1).fill(Number.NaN)
  let before = 0
  for (const { minute, figures, closeTicks } of minutes) {
    const place = minute - block * BLOCK
    const [open = 0, high = 0, low = 0] = figures
    for (const [field, figure] of figures.entries()) values[field * BLOCK + place] = figure
    values[OPEN * BLOCK + place] = open - before
    values[HIGH * BLOCK + place] = high - open
    values[LOW * BLOCK + place] = open - low
    values[BLOCK * FIELDS] = closeTicks - open
    before = open
  }
  return deflateRawSync(new Uint8Array(values.buffer)).toString('base64')
}

function unpack(block: number, packed: string): readonly ClosedMinute[] {
  const bytes = new Uint8Array(inflateRawSync(Buffer.from(packed, 'base64')))
  const values = new Float64Array(bytes.buffer, bytes.byteOffset, BLOCK * FIELDS + 1)
  const minutes: { minute: number; figures: number[]; closeTicks: number }[] = []
  let before = 0
  for (let place = 0; place < BLOCK; place++) {
    const at = (field: number): number => values[field * BLOCK + place] ?? 0
    if (Number.isNaN(at(OPEN))) continue
    const open = before + at(OPEN)
    const figures = [open, open + at(HIGH), open - at(LOW), at(3), at(4)]
    const last = minutes.at(-1)
    if (last) last.closeTicks = open
    const closeTicks = open + (values[BLOCK * FIELDS] ?? 0)
    minutes.push({ minute: block * BLOCK + place, figures, closeTicks })
    before = open
  }
  return minutes
}
