import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { writeDurably } from '../lib/durable-file.ts'

export function markFileOf(file: string): string {
  return `${file}.mark`
}

export interface Mark {
  readonly sequence: number
  readonly link: string
}

export type MarkReading =
  | { readonly kind: 'read'; readonly mark: Mark }
  /** `aside` names the original files. */
  | { readonly kind: 'repairing'; readonly aside: string }
  /** This file is as it was when the journal moved. */
  | { readonly kind: 'moved'; readonly mark: Mark; readonly to: string }
  | { readonly kind: 'copying' }
  | { readonly kind: 'absent' | 'damaged' }

/**
 * Says how far the journal was durable, because SQLite takes a damaged frame for the end of its log
 * and loses an acknowledged end silently (figures in `record-chain.ts`). Written after each commit,
 * unsynchronised (4 µs), it never claims too much and survives the process; after a power cut it is
 * as old as the system's write-back at most. Alternatives made an append longer: 2.1 times to
 * synchronise it, 1.7 times to replace the file, 3.8 times to checkpoint the log after each commit,
 * with 2 of 1,931 damages unnoticed.
 */
export class DurableMark {
  readonly #descriptor: number

  constructor(file: string) {
    this.#descriptor = openSync(file, 'r+')
  }

  write(mark: Mark): void {
    writeSync(this.#descriptor, toLine(mark), 0)
  }

  /** A checkpoint needs a mark that is not older. */
  sync(): void {
    fsyncSync(this.#descriptor)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** It survives a power cut. */
export function createMark(file: string, mark: Mark): void {
  writeDurably(file, toLine(mark))
}

/** Until {@link createMark} only a repair may open the journal. */
export function createRepairMark(file: string, aside: string): void {
  writeDurably(file, `intentd-mark repairing ${aside}\n`)
}

/** No start opens it here any more. */
export function createMovedMark(file: string, mark: Mark, to: string): void {
  writeDurably(file, `intentd-mark moved ${numbersOf(mark)} ${to}\n`)
}

/** The original may still be the journal. */
export function createCopyMark(file: string): void {
  writeDurably(file, 'intentd-mark copying\n')
}

/** Needs no digest: it is compared with the record that it names. */
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

/** Has constant length, so that a later mark overwrites an earlier one. */
function toLine(mark: Mark): string {
  return `intentd-mark ${numbersOf(mark)}\n`
}

function numbersOf({ sequence, link }: Mark): string {
  return `${String(sequence).padStart(16, '0')} ${link}`
}
