import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import { buildBlock, SEGMENT_MAGIC, toDictionary } from './block.ts'

const compress = promisify(zstdCompress)

/** This is zstd's default. Higher levels save a tenth and take twice the time. */
const LEVEL = { [constants.ZSTD_c_compressionLevel]: 3 }

export interface SegmentWriterOptions {
  readonly file: string
  /** After a failure nothing is written. */
  readonly onError: (error: unknown) => void
}

/** A written block survives the process, not a power cut: nothing waits for the disk. */
export class SegmentWriter {
  readonly #options: SegmentWriterOptions
  #queue: Promise<void>
  #handle: FileHandle | undefined
  #blocks = 0
  #before: Buffer = Buffer.alloc(0)
  #waitingCharacters = 0
  #writtenBytes = SEGMENT_MAGIC.length
  #isBroken = false

  constructor(options: SegmentWriterOptions) {
    this.#options = options
    this.#queue = Promise.resolve()
    this.#then(async () => {
      this.#handle = await open(options.file, 'wx', 0o600)
      await this.#handle.writeFile(SEGMENT_MAGIC)
    })
  }

  get waitingCharacters(): number {
    return this.#waitingCharacters
  }

  get writtenBytes(): number {
    return this.#writtenBytes
  }

  write(text: string): void {
    this.#waitingCharacters += text.length
    this.#then(async () => {
      try {
        const content = Buffer.from(text)
        const payload = await compress(content, { params: LEVEL, ...toDictionary(this.#before) })
        const block = buildBlock(payload, this.#blocks)
        await this.#handle?.writeFile(block)
        this.#before = content
        this.#blocks += 1
        this.#writtenBytes += block.length
      } finally {
        this.#waitingCharacters -= text.length
      }
    })
  }

  /** Resolves when the file is closed, with everything written that could be. */
  async close(): Promise<void> {
    await this.#queue
    await this.#handle?.close().catch(() => undefined)
    this.#handle = undefined
  }

  #then(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(async () => {
      if (this.#isBroken) return
      try {
        await work()
      } catch (error) {
        this.#isBroken = true
        this.#waitingCharacters = 0
        this.#options.onError(error)
      }
    })
  }
}
