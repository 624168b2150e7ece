import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { writeDurably } from '../lib/durable-file.ts'

/** The mark of a journal file, see {@link DurableMark}. */
export function markFileOf(file: string): string {
  return `${file}.mark`
}

/** A place in the journal: the sequence of a record, and its link. */
export interface Mark {
  readonly sequence: number
  readonly link: string
}

export type MarkReading =
  | { readonly kind: 'read'; readonly mark: Mark }
  /** A repair has begun and not ended; `aside` names the original files. */
  | { readonly kind: 'repairing'; readonly aside: string }
  /** The journal was moved elsewhere; this file is as it was then. */
  | { readonly kind: 'moved'; readonly mark: Mark; readonly to: string }
  /** The file is a copy that is not complete. */
  | { readonly kind: 'copying' }
  | { readonly kind: 'absent' | 'damaged' }

/**
 * A small file beside the journal that says how far the journal was durable. SQLite takes a damaged frame for the end of
 * its log, so the end of a journal can be lost silently after it was acknowledged; the mark shows that (figures in
 * `record-chain.ts`). It is written after each commit without being synchronised, which takes 4 µs. It never claims too
 * much, survives the process, and after a power cut is at most as old as the system's own write-back. Alternatives made
 * an append longer: 2.1 times to synchronise the mark, 1.7 times to replace the file, and 3.8 times to leave nothing in
 * the log (`wal_checkpoint` after each commit), with 2 of 1,931 damages unnoticed.
 */
export class DurableMark {
  readonly #descriptor: number

  constructor(file: string) {
    this.#descriptor = openSync(file, 'r+')
  }

  write(mark: Mark): void {
    writeSync(this.#descriptor, toLine(mark), 0)
  }

  /** To be called before a checkpoint: the record that the mark names must not be older than the checkpoint. */
  sync(): void {
    fsyncSync(this.#descriptor)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** Makes or replaces the mark durably: it survives a power cut. */
export function createMark(file: string, mark: Mark): void {
  writeDurably(file, toLine(mark))
}

/** Marks that a repair has begun: until {@link createMark} only a repair may open the journal. */
export function createRepairMark(file: string, aside: string): void {
  writeDurably(file, `intentd-mark repairing ${aside}\n`)
}

/** Marks that the journal was moved: it is no longer opened here. */
export function createMovedMark(file: string, mark: Mark, to: string): void {
  writeDurably(file, `intentd-mark moved ${numbersOf(mark)} ${to}\n`)
}

/** Marks that this file is an incomplete copy: the original may still be the journal. */
export function createCopyMark(file: string): void {
  writeDurably(file, 'intentd-mark copying\n')
}

/** Reads the mark. It needs no digest, since it is compared with the record that it names. */
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

/** Always of the same length, so that a later mark overwrites an earlier one completely. */
function toLine(mark: Mark): string {
  return `intentd-mark ${numbersOf(mark)}\n`
}

function numbersOf({ sequence, link }: Mark): string {
  return `${String(sequence).padStart(16, '0')} ${link}`
}
