import { Buffer } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import type { ContractRules } from '../../domain/contract-rules.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import { Failure } from '../../lib/failure.ts'
import { makeDirectory } from '../../lib/durable-file.ts'
import { type LockHolder, type ProcessLock, takeProcessLock } from '../../lib/process-lock.ts'
import { buildBlock } from '../block.ts'
import { TickerEncoder, WRITTEN_COLUMNS } from './ticker-codec.ts'
import {
  ENTRY_LETTERS,
  findContinuation,
  type KeptListing,
  listUniverseFiles,
  readUniverseHead,
  UNIVERSE_MAGIC,
  universeFile,
  type UniverseHead,
  type WrittenContracts,
} from './universe-file.ts'

const compress = promisify(zstdCompress)

/** This is zstd's default. Level 19 saves a hundredth and takes twenty times as long. */
const LEVEL = { [constants.ZSTD_c_compressionLevel]: 3 }

const LOCK_FILE = 'universe.lock'

export interface UniverseWriterOptions extends Omit<UniverseHead, 'columns'> {
  readonly directory: string
  readonly holder: LockHolder
  /** A killed writer's last block may be cut off. */
  readonly onTorn: (file: string, tornBytes: number) => void
}

interface OpenFile {
  readonly day: string
  readonly file: string
  readonly handle: FileHandle
  readonly encoder: TickerEncoder
  contracts: ReadonlyMap<string, ContractRules> | undefined
  /** True if the contracts that were written last differed from the ones before. */
  isChanged: boolean
  blocks: number
  endAt: number
  isBegun: boolean
}

/**
 * Writes a file for each day, which later runs continue.
 *
 *     closed ──append──► open ──append of the next day──► open, in another file
 *        ▲                 │
 *        └──error, close───┘
 *
 * After an error the next answer opens the file again behind its last whole block. What is written
 * survives the process, not a power cut: nothing waits for the disk.
 */
export class UniverseWriter {
  readonly #options: UniverseWriterOptions
  readonly #head: UniverseHead
  readonly #lock: ProcessLock
  #open: OpenFile | undefined
  #listing: KeptListing | undefined

  /** @throws Failure UNIVERSE_FILES_HELD, UNIVERSE_FILES_DIFFER, or the error of the file system */
  constructor(options: UniverseWriterOptions) {
    const { directory, source, productType, holder } = options
    this.#options = options
    this.#head = { source, productType, columns: [...WRITTEN_COLUMNS] }
    makeDirectory(directory)
    this.#lock = takeLock(directory, holder)
    try {
      assertSameExchange(directory, this.#head)
    } catch (error) {
      this.#lock.release()
      throw error
    }
  }

  /** Changes are written with the next answer. */
  list(listing: KeptListing): void {
    this.#listing = listing
  }

  /**
   * The table must not change, and nothing be appended, until the promise ends.
   * @returns bytes that were written @throws the error of the file system
   */
  async append(table: TickerTable): Promise<number> {
    const day = new Date(table.requestTime).toISOString().slice(0, 10)
    if (this.#open?.day !== day || this.#open.encoder.isFull) await this.#openDay(day)
    const current = this.#open
    if (current === undefined) throw new Error('unreachable: a day was opened')
    try {
      const letter = current.isBegun ? ENTRY_LETTERS.tickers : ENTRY_LETTERS.tickersAnew
      const changes = this.#findChanges(current)
      const contents = [toContent(letter, current.encoder.encode(table))]
      if (changes !== undefined)
        contents.unshift(toContent(ENTRY_LETTERS.contracts, Buffer.from(JSON.stringify(changes))))
      current.isBegun = true
      return await writeBlocks(current, contents)
    } catch (error) {
      await this.#closeFile()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#closeFile()
    this.#lock.release()
  }

  #findChanges(current: OpenFile): WrittenContracts | undefined {
    const listing = this.#listing
    if (listing === undefined || listing.contracts === current.contracts) return undefined
    const before = current.contracts
    const changed = [...listing.contracts].filter(
      ([symbol, rules]) => JSON.stringify(before?.get(symbol)) !== JSON.stringify(rules),
    )
    const gone = [...(before?.keys() ?? [])].filter((symbol) => !listing.contracts.has(symbol))
    current.contracts = listing.contracts
    const isSame = before !== undefined && changed.length + gone.length === 0
    // A change counts once a second answer states it, so that is kept too.
    if (isSame && !current.isChanged) return undefined
    current.isChanged = !isSame && before !== undefined
    const contracts = Object.fromEntries(changed) as unknown as WrittenContracts['contracts']
    return { readAt: listing.readAt, isWhole: before === undefined, contracts, gone }
  }

  async #openDay(day: string): Promise<void> {
    await this.#closeFile()
    const { directory, onTorn } = this.#options
    const last = listUniverseFiles(directory).findLast((one) => one.day === day)
    const continued = last && findContinuation(last.file, this.#head)
    if (last === undefined || continued === undefined) {
      await this.#create(universeFile(directory, day, (last?.part ?? 0) + 1).file, day)
      return
    }
    const handle = await open(last.file, 'r+')
    this.#open = { ...begin(day, last.file, handle), ...continued }
    if (continued.tornBytes === 0) return
    await handle.truncate(continued.endAt)
    onTorn(last.file, continued.tornBytes)
  }

  async #create(file: string, day: string): Promise<void> {
    const handle = await open(file, 'wx')
    this.#open = begin(day, file, handle)
    await handle.write(UNIVERSE_MAGIC, 0, UNIVERSE_MAGIC.length, 0)
    await writeBlocks(this.#open, [Buffer.from(JSON.stringify(this.#head))])
  }

  async #closeFile(): Promise<void> {
    const handle = this.#open?.handle
    this.#open = undefined
    await handle?.close().catch(() => undefined)
  }
}

function begin(day: string, file: string, handle: FileHandle): OpenFile {
  return {
    day,
    file,
    handle,
    encoder: new TickerEncoder(),
    contracts: undefined,
    isChanged: false,
    blocks: 0,
    endAt: UNIVERSE_MAGIC.length,
    isBegun: false,
  }
}

function toContent(letter: string, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(letter, 'latin1'), bytes])
}

/** A kill then rarely comes between. */
async function writeBlocks(file: OpenFile, contents: readonly Buffer[]): Promise<number> {
  const blocks: Buffer[] = []
  for (const content of contents) {
    const payload = await compress(content, { params: LEVEL })
    blocks.push(buildBlock(payload, file.blocks + blocks.length))
  }
  const bytes = Buffer.concat(blocks)
  // A nearly full disk may take only a part of a write.
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await file.handle.write(bytes, at, bytes.length - at, file.endAt + at)
    at += bytesWritten
  }
  file.blocks += blocks.length
  file.endAt += bytes.length
  return bytes.length
}

function takeLock(directory: string, holder: LockHolder): ProcessLock {
  const attempt = takeProcessLock(join(directory, LOCK_FILE), holder)
  if (attempt.kind === 'held') return attempt.lock
  throw new Failure({
    code: 'UNIVERSE_FILES_HELD',
    sentence: 'another process keeps the tickers of all instruments in this directory',
    facts: { directory, ...(attempt.by && { pid: attempt.by.pid, command: attempt.by.command }) },
    hint: 'end it, or name another directory',
  })
}

function assertSameExchange(directory: string, head: UniverseHead): void {
  const last = listUniverseFiles(directory).at(-1)
  if (last === undefined) return
  let kept: UniverseHead
  try {
    kept = readUniverseHead(last.file)
  } catch (error) {
    // The next answer then begins another file.
    if (error instanceof Failure) return
    throw error
  }
  if (kept.source === head.source && kept.productType === head.productType) return
  throw new Failure({
    code: 'UNIVERSE_FILES_DIFFER',
    sentence: 'the directory holds tickers of another exchange or product type',
    facts: {
      directory,
      holds: `${kept.productType} of ${kept.source}`,
      wanted: `${head.productType} of ${head.source}`,
    },
    hint: 'name another directory',
  })
}
