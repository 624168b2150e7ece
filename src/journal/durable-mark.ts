import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { writeDurably } from '../lib/durable-file.ts'

/** A place in the journal, and the link of the record there. */
export interface Mark {
  readonly sequence: number
  readonly link: string
}

export type MarkReading =
  | { readonly kind: 'read'; readonly mark: Mark }
  /** A repair began and has not come to its end; `aside` is where it keeps what it found. */
  | { readonly kind: 'repairing'; readonly aside: string }
  /** The journal goes on elsewhere: what stands here is as it was when it left. */
  | { readonly kind: 'moved'; readonly mark: Mark; readonly to: string }
  /** It was copied to here, and is not taken for the journal yet. */
  | { readonly kind: 'copying' }
  | { readonly kind: 'absent' | 'damaged' }

/**
 * A small file beside the journal that says how far it was durable. SQLite takes a damaged frame for the end
 * of its log, so a tail that was acknowledged can vanish without a word; the mark is how that is noticed
 * (figures in `record-chain.ts`). It is written after each commit and not synchronised, which takes 4 µs: it
 * never says more than is true, survives the process, and after a power cut is at most as old as the system's
 * own write-back. To synchronise it made an append 2.1 times as long, to replace it by a new file 1.7, and to
 * leave nothing in the log (`wal_checkpoint` after each commit) 3.8, with 2 of 1,931 damages unnoticed.
 */
export class DurableMark {
  readonly #descriptor: number

  constructor(file: string) {
    this.#descriptor = openSync(file, 'r+')
  }

  write(mark: Mark): void {
    writeSync(this.#descriptor, toLine(mark), 0)
  }

  /** Before a checkpoint: what the mark names must not be older than what stands in the journal. */
  sync(): void {
    fsyncSync(this.#descriptor)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** Makes the mark, or replaces it, so that it is there after a power cut too. */
export function createMark(file: string, mark: Mark): void {
  writeDurably(file, toLine(mark))
}

/** Says that a repair has begun: until {@link createMark} nothing but a repair may open the journal. */
export function createRepairMark(file: string, aside: string): void {
  writeDurably(file, `intentd-mark repairing ${aside}\n`)
}

/** Says where the journal goes on: it is not opened here any more. */
export function createMovedMark(file: string, mark: Mark, to: string): void {
  writeDurably(file, `intentd-mark moved ${numbersOf(mark)} ${to}\n`)
}

/** Says that what stands here is a copy, and that the other one may be the journal still. */
export function createCopyMark(file: string): void {
  writeDurably(file, 'intentd-mark copying\n')
}

/** Needs no digest of its own: what it says is held against the record that it names. */
export function readMark(file: string): MarkReading {
  if (!existsSync(file)) return { kind: 'absent' }
  const text = readFileSync(file, 'utf8')
  if (text === 'intentd-mark copying\n') return { kind: 'copying' }
  const pattern = /^intentd-mark (?:(moved )?(\d{16}) ([0-9a-f]{32})(?: (.+))?|repairing (\S+))\n$/
  const [, moved, sequence, link, to, aside] = pattern.exec(text) ?? []
  if (aside !== undefined) return { kind: 'repairing', aside }
  const isMoved = moved !== undefined
  if (sequence === undefined || link === undefined || isMoved !== (to !== undefined))
    return { kind: 'damaged' }
  const mark: Mark = { sequence: Number(sequence), link }
  return to === undefined ? { kind: 'read', mark } : { kind: 'moved', mark, to }
}

/** Of one length for ever, so that a later mark covers an earlier one whole. */
function toLine(mark: Mark): string {
  return `intentd-mark ${numbersOf(mark)}\n`
}

function numbersOf({ sequence, link }: Mark): string {
  return `${String(sequence).padStart(16, '0')} ${link}`
}
