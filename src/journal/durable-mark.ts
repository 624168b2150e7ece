import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { digest } from './record-chain.ts'

/** How far the journal was durable, and the link of the record there. */
export interface Mark {
  readonly sequence: number
  readonly link: string
}

export type MarkReading =
  | { readonly kind: 'read'; readonly mark: Mark }
  /** A repair began and has not come to its end; `aside` is where it keeps what it found. */
  | { readonly kind: 'repairing'; readonly aside: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged' }

/** Room for the longest fact. */
const TEXT_LENGTH = 120
const CHECK_LENGTH = 8
const VERSION = 'intentd-mark 1'

/**
 * A small file beside the journal that says how far it was durable. SQLite takes a damaged frame for the end
 * of its log, so a tail that was acknowledged can vanish without a word; the mark is how that is noticed. It
 * is written after each commit and not synchronised (2 µs instead of another 100 or more): it never says more
 * than is true, survives the process, and after a power cut is at most as old as the system's own write-back.
 */
export class DurableMark {
  readonly #descriptor: number

  constructor(file: string) {
    this.#descriptor = openSync(file, 'r+')
  }

  write(mark: Mark): void {
    writeSync(this.#descriptor, toLine(`${mark.sequence} ${mark.link}`), 0)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** Makes the mark, or replaces it, so that it is there after a power cut too. */
export function createMark(file: string, mark: Mark): void {
  writeDurably(file, toLine(`${mark.sequence} ${mark.link}`))
}

/** Says that a repair has begun: until {@link createMark} nothing but a repair may open the journal. */
export function createRepairMark(file: string, aside: string): void {
  writeDurably(file, toLine(`repairing ${aside}`))
}

export function readMark(file: string): MarkReading {
  const line = readLine(file)
  if (line === undefined) return { kind: 'absent' }
  const fact = line.slice(VERSION.length + 1, -CHECK_LENGTH - 2).trimEnd()
  const match = /^(?:(\d+) ([0-9a-f]+)|repairing (\S+))$/.exec(fact)
  if (!match || line !== toLine(fact)) return { kind: 'damaged' }
  const [, sequence, link = '', aside] = match
  if (aside !== undefined) return { kind: 'repairing', aside }
  return { kind: 'read', mark: { sequence: Number(sequence), link } }
}

function readLine(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** One line of one length for ever, so that a later mark covers an earlier one whole. */
function toLine(fact: string): string {
  const text = `${VERSION} ${fact}`.padEnd(TEXT_LENGTH)
  return `${text} ${digest(text).slice(0, CHECK_LENGTH)}\n`
}

/** Under another name until it is whole: a process that ends in the middle leaves no mark, not half of one. */
function writeDurably(file: string, line: string): void {
  const unfinished = `${file}.new`
  const descriptor = openSync(unfinished, 'w', 0o600)
  try {
    writeSync(descriptor, line)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(unfinished, file)
  syncDirectory(dirname(file))
}

/** What was written to the file survives a power cut. */
export function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** A name is durable only with its directory. Windows has no such thing, and does without. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
