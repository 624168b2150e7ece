import { createRandom, type Random } from '../../src/lib/random.ts'
import { type JournalFiles, type Specimen } from './specimen.ts'

export type DamagedFile = keyof JournalFiles

/** One thing that happened to one file. */
export interface Damage {
  readonly what: string
  readonly file: DamagedFile
  /** Byte in the file. */
  readonly offset: number
  readonly apply: (bytes: Buffer) => Buffer
}

/** What disks write and lose whole. */
const SECTOR = 512
const PAGE = 4096

/**
 * Everything that is tried on a specimen: each truncation and each flipped byte of what the last records
 * touched, whole blocks zeroed, doubled, stale or garbled everywhere, and a sample of flips over the rest.
 */
export function listDamages(specimen: Specimen, seed: string): readonly Damage[] {
  const random = createRandom(`${seed} ${specimen.name}`)
  const { after } = specimen
  return (['wal', 'main', 'mark'] as const).flatMap((file) => {
    const touched = touchedBytes(specimen, file)
    const all = Array.from({ length: after[file].length }, (_, offset) => offset)
    const isTouched = new Set(touched)
    const rest = all.filter((offset) => !isTouched.has(offset) && random.integer(8) === 0)
    return [
      ...[...touched, ...rest].map((offset) => flip(file, offset, random)),
      ...touched.map((offset) => truncate(file, offset)),
      ...rest.map((offset) => truncate(file, offset)),
      ...touched.filter((offset) => offset % 64 === 0).map((offset) => zeroFrom(file, offset)),
      ...blocksOf(specimen, file, random),
    ]
  })
}

/** The offsets of the bytes that are not as they were before the last records, by whole pages in the main file. */
function touchedBytes({ before, after }: Specimen, file: DamagedFile): readonly number[] {
  const [old, now] = [before[file], after[file]]
  const step = file === 'main' ? PAGE : 1
  const touched: number[] = []
  for (let start = 0; start < now.length; start += step) {
    if (now.subarray(start, start + step).equals(old.subarray(start, start + step))) continue
    for (let offset = start; offset < Math.min(start + step, now.length); offset++)
      touched.push(offset)
  }
  // The mark is one line: any byte of it counts.
  return file === 'mark' ? Array.from({ length: now.length }, (_, offset) => offset) : touched
}

function blocksOf(
  { before, after }: Specimen,
  file: DamagedFile,
  random: Random,
): readonly Damage[] {
  const damages: Damage[] = []
  const put = (what: string, offset: number, block: Buffer): void => {
    damages.push({
      what,
      file,
      offset,
      apply: (bytes) =>
        Buffer.concat([bytes.subarray(0, offset), block, bytes.subarray(offset + block.length)]),
    })
  }
  for (const size of [SECTOR, PAGE]) {
    for (let offset = 0; offset + size <= after[file].length; offset += size) {
      const garbage = Buffer.from(Array.from({ length: size }, () => random.integer(256)))
      put(`zeroed ${size}`, offset, Buffer.alloc(size))
      put(`garbled ${size}`, offset, garbage)
      put(
        `doubled ${size}`,
        offset,
        after[file].subarray(Math.max(0, offset - size), Math.max(size, offset)),
      )
      if (before[file].length >= offset + size) {
        put(`stale ${size}`, offset, before[file].subarray(offset, offset + size))
      }
    }
  }
  return damages
}

function flip(file: DamagedFile, offset: number, random: Random): Damage {
  const mask = 1 + random.integer(255)
  return {
    what: `flipped by ${mask}`,
    file,
    offset,
    apply: (bytes) => {
      const damaged = Buffer.from(bytes)
      damaged[offset] = (damaged[offset] ?? 0) ^ mask
      return damaged
    },
  }
}

function truncate(file: DamagedFile, offset: number): Damage {
  return { what: 'truncated', file, offset, apply: (bytes) => bytes.subarray(0, offset) }
}

function zeroFrom(file: DamagedFile, offset: number): Damage {
  return {
    what: 'zeroed to its end',
    file,
    offset,
    apply: (bytes) =>
      Buffer.concat([bytes.subarray(0, offset), Buffer.alloc(bytes.length - offset)]),
  }
}
