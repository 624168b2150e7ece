/**
 * A file holds the tickers of a day (UTC) and the contracts that changed: the magic, then blocks
 * (block.ts), checked one by one.
 *
 *     INTENTU01 | block 0: the head, JSON | block 1: a letter and what follows it | …
 *
 *     T  tickers, as differences to the answer before
 *     N  tickers that are no differences to anything: each writer begins with them
 *     C  contracts that changed, JSON; each writer begins with all of them
 */
import { Buffer } from 'node:buffer'
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { crc32, zstdDecompressSync } from 'node:zlib'
import { z } from 'zod'
import type { ContractRules } from '../../domain/contract-rules.ts'
import { TickerTable } from '../../domain/ticker-table.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { type BlockReading, readBlock } from '../block.ts'
import { TickerDecoder } from './ticker-codec.ts'

/** The last two digits are the version of the layout. */
export const UNIVERSE_MAGIC = Buffer.from('INTENTU01', 'latin1')
const MAGIC_KIND = UNIVERSE_MAGIC.subarray(0, -2)

export const ENTRY_LETTERS = { tickers: 'T', tickersAnew: 'N', contracts: 'C' } as const

const CONTENT_BYTES_MAX = 16_777_216

export const universeHeadSchema = z.object({
  /** The address of the exchange, or `simulator`. */
  source: z.string(),
  productType: z.string(),
  /** In the order in which they are written. */
  columns: z.array(z.string()).min(1).max(100),
})

export type UniverseHead = z.infer<typeof universeHeadSchema>

/** Another version may have written more or fewer fields. */
const contractSchema = z.looseObject({
  tickSize: z.string(),
  lotSize: z.string(),
  minSize: z.string(),
  minNotional: z.string(),
})

const contractsSchema = z.object({
  readAt: z.number(),
  /** If false, only contracts that changed are listed. */
  isWhole: z.boolean(),
  contracts: z.record(z.string(), contractSchema),
  gone: z.array(z.string()),
})

export type WrittenContracts = z.infer<typeof contractsSchema>

export interface KeptListing {
  /** Unix ms. */
  readonly readAt: number
  readonly contracts: ReadonlyMap<string, ContractRules>
}

export type UniverseEntry =
  /** The next answer overwrites the table. The checksum is that of its block. */
  | { readonly kind: 'tickers'; readonly table: TickerTable; readonly checksum: number }
  | ({ readonly kind: 'contracts' } & KeptListing)

export type UniverseEnding =
  | { readonly kind: 'whole' }
  | { readonly kind: 'cut'; readonly tornBytes: number }
  | { readonly kind: 'damaged'; readonly failure: Failure }

export interface OpenedUniverseFile {
  readonly file: string
  readonly head: UniverseHead
  /** `contracts` skips tickers. The generator returns why there is no more. */
  readonly entries: (what?: 'all' | 'contracts') => Generator<UniverseEntry, UniverseEnding>
}

export interface UniverseFile {
  readonly file: string
  readonly day: string
  /** A day has several files if one could not be continued. */
  readonly part: number
}

const NAME = /^(\d{4}-\d{2}-\d{2})(?:-(\d{1,4}))?\.universe$/

export function universeFile(directory: string, day: string, part: number): UniverseFile {
  const name = part === 1 ? `${day}.universe` : `${day}-${part}.universe`
  return { file: join(directory, name), day, part }
}

/** Oldest first; empty without the directory. @throws Failure UNIVERSE_FILE_UNREADABLE */
export function listUniverseFiles(directory: string): readonly UniverseFile[] {
  return readNames(directory)
    .flatMap((name) => {
      const [, day, part = '1'] = NAME.exec(name) ?? []
      return day === undefined ? [] : [{ file: join(directory, name), day, part: Number(part) }]
    })
    .toSorted((one, other) =>
      one.day === other.day ? one.part - other.part : one.day < other.day ? -1 : 1,
    )
}

/** @param path A directory, or one file. @throws Failure UNIVERSE_FILES_MISSING, UNIVERSE_FILE_UNREADABLE */
export function findUniverseFiles(path: string): readonly UniverseFile[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile() === true) {
    const [, day = '', part = '1'] = NAME.exec(basename(path)) ?? []
    return [{ file: path, day, part: Number(part) }]
  }
  const files = found?.isDirectory() === true ? listUniverseFiles(path) : []
  if (files.length > 0) return files
  throw new Failure({
    code: 'UNIVERSE_FILES_MISSING',
    sentence: 'there are no kept tickers of all instruments',
    facts: { path },
    hint: 'intentd record --universe --out DIR keeps them, in a file for each day',
  })
}

function readNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw unreadable(directory, error)
  }
}

function unreadable(file: string, cause: unknown): Failure {
  return new Failure({
    code: 'UNIVERSE_FILE_UNREADABLE',
    sentence: 'kept tickers cannot be read',
    facts: { file, found: messageOf(cause) },
    cause,
  })
}

/**
 * @throws Failure UNIVERSE_FILE_UNREADABLE; UNIVERSE_FILE_UNKNOWN for another kind of file or
 * version; UNIVERSE_FILE_EMPTY where the head is not whole
 */
export function openUniverseFile(file: string): OpenedUniverseFile {
  const bytes = load(file)
  const { head, firstAt } = readHead(bytes, file)
  return {
    file,
    head,
    entries: (what = 'all') => readEntries({ bytes, file, firstAt, what }, head),
  }
}

/** @throws Failure as {@link openUniverseFile} */
export function readUniverseHead(file: string): UniverseHead {
  return readHead(load(file, HEAD_BYTES_MAX), file).head
}

/** A head is far smaller. */
const HEAD_BYTES_MAX = 65_536

function load(file: string, bytesMax = Number.POSITIVE_INFINITY): Buffer {
  try {
    const descriptor = openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(Math.min(bytesMax, fstatSync(descriptor).size))
      return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0))
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    throw unreadable(file, error)
  }
}

function readHead(
  bytes: Buffer,
  file: string,
): { readonly head: UniverseHead; readonly firstAt: number } {
  const magic = bytes.subarray(0, UNIVERSE_MAGIC.length)
  if (!magic.equals(UNIVERSE_MAGIC.subarray(0, magic.length))) throw unknown(magic, file)
  const block = readBlock(bytes, Math.min(UNIVERSE_MAGIC.length, bytes.length), 0)
  if (block.kind === 'damaged') throw damaged(file, block.found)
  if (block.kind !== 'block') {
    throw new Failure({
      code: 'UNIVERSE_FILE_EMPTY',
      sentence: 'the file of kept tickers ends before it has begun',
      facts: { file },
      hint: 'its writer was killed at its first moment; remove it',
    })
  }
  try {
    const text = unpack(block.payload).toString('utf8')
    return { head: universeHeadSchema.parse(parseBoundedJson(text)), firstAt: block.nextAt }
  } catch (error) {
    throw damaged(file, `the head: ${messageOf(error).replaceAll(/\s+/g, ' ').slice(0, 80)}`)
  }
}

function unknown(magic: Buffer, file: string): Failure {
  const isOfUs = magic.subarray(0, MAGIC_KIND.length).equals(MAGIC_KIND)
  return new Failure({
    code: 'UNIVERSE_FILE_UNKNOWN',
    sentence: isOfUs
      ? 'the tickers were kept in a format that this version does not know'
      : 'the file holds no kept tickers',
    facts: {
      file,
      ...(isOfUs && { found: magic.toString('latin1'), known: UNIVERSE_MAGIC.toString('latin1') }),
    },
    hint: isOfUs
      ? 'read it with the version of intentd that wrote it'
      : 'intentd record --universe writes such files, with names as 2026-01-31.universe',
  })
}

function damaged(file: string, found: string): Failure {
  return new Failure({
    code: 'UNIVERSE_FILE_DAMAGED',
    sentence: 'the file of kept tickers is not as it was written',
    facts: { file, found },
    hint: 'copy it again; what stands before the place is read',
  })
}

function unpack(payload: Buffer): Buffer {
  return zstdDecompressSync(payload, { maxOutputLength: CONTENT_BYTES_MAX })
}

interface FileBytes {
  readonly bytes: Buffer
  readonly file: string
  readonly firstAt: number
  readonly what: 'all' | 'contracts'
}

function* readEntries(
  { bytes, file, firstAt, what }: FileBytes,
  { columns }: UniverseHead,
): Generator<UniverseEntry, UniverseEnding> {
  const table = new TickerTable()
  let decoder = new TickerDecoder(columns)
  let contracts: ReadonlyMap<string, ContractRules> = new Map()
  let at = firstAt
  for (let number = 1; ; number++) {
    const block = readBlock(bytes, at, number)
    if (block.kind !== 'block') return toEnding(block, { file, tornBytes: bytes.length - at })
    at = block.nextAt
    try {
      const content = unpack(block.payload)
      const letter = String.fromCharCode(content[0] ?? 0)
      if (letter === ENTRY_LETTERS.contracts) {
        const { readAt, ...changes } = contractsSchema.parse(
          parseBoundedJson(content.toString('utf8', 1)),
        )
        contracts = changeContracts(contracts, changes)
        yield { kind: 'contracts', readAt, contracts }
        continue
      }
      if (what === 'contracts') continue
      if (letter === ENTRY_LETTERS.tickersAnew) decoder = new TickerDecoder(columns)
      else if (letter !== ENTRY_LETTERS.tickers) continue
      decoder.decode(content.subarray(1), table)
    } catch (error) {
      return { kind: 'damaged', failure: damaged(file, `block ${number}: ${messageOf(error)}`) }
    }
    yield { kind: 'tickers', table, checksum: crc32(block.payload) }
  }
}

function toEnding(
  block: Exclude<BlockReading, { readonly kind: 'block' }>,
  { file, tornBytes }: { readonly file: string; readonly tornBytes: number },
): UniverseEnding {
  if (block.kind === 'damaged') return { kind: 'damaged', failure: damaged(file, block.found) }
  return block.kind === 'end' ? { kind: 'whole' } : { kind: 'cut', tornBytes }
}

function changeContracts(
  before: ReadonlyMap<string, ContractRules>,
  { isWhole, contracts, gone }: Omit<WrittenContracts, 'readAt'>,
): ReadonlyMap<string, ContractRules> {
  const changed = new Map(isWhole ? [] : before)
  for (const symbol of gone) changed.delete(symbol)
  for (const [symbol, rules] of Object.entries(contracts)) changed.set(symbol, rules)
  return changed
}

export interface Continuation {
  readonly blocks: number
  readonly endAt: number
  /** A writer that was killed had begun this block. */
  readonly tornBytes: number
}

/** Undefined if the head is another, or damaged. */
export function findContinuation(file: string, wanted: UniverseHead): Continuation | undefined {
  const bytes = load(file)
  try {
    const { head, firstAt } = readHead(bytes, file)
    if (JSON.stringify(head) !== JSON.stringify(wanted)) return undefined
    let at = firstAt
    for (let number = 1; ; number++) {
      const block = readBlock(bytes, at, number)
      if (block.kind === 'damaged') return undefined
      if (block.kind !== 'block') return { blocks: number, endAt: at, tornBytes: bytes.length - at }
      at = block.nextAt
    }
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}
