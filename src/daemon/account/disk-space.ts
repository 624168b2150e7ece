import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'

/** Enough for the records of many recoveries, and of a stop on a full disk. */
const BALLAST_BYTES = 8_388_608

const BALLAST_FILE = 'ballast'

const LOOK_MS = 60_000

export interface DiskSpaceOptions {
  readonly directory: string
  readonly freeBytesMin: number
  readonly timers: Timers
  readonly onChange: (isLow: boolean, freeBytes: number) => void
  readonly onTrouble: (reason: string) => void
}

/**
 * The ballast file is removed when the journal cannot be written, so that the next run can record
 * how it comes to rest.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions
  readonly #ballast: string
  #isLow: boolean | undefined
  #cancel = (): void => undefined

  constructor(options: DiskSpaceOptions) {
    this.#options = options
    this.#ballast = join(options.directory, BALLAST_FILE)
  }

  start(): void {
    this.#look()
    this.#cancel = this.#options.timers.after(LOOK_MS, () => this.start())
  }

  stop(): void {
    this.#cancel()
  }

  giveBallast(): void {
    this.#attempt(() => rmSync(this.#ballast, { force: true }))
  }

  #look(): void {
    this.#attempt(() => {
      const { directory, freeBytesMin, onChange } = this.#options
      const { bavail, bsize } = statfsSync(directory)
      const freeBytes = bavail * bsize
      const isLow = freeBytes < freeBytesMin
      if (freeBytes >= freeBytesMin + BALLAST_BYTES) this.#takeBallast()
      if (isLow === this.#isLow || (!isLow && this.#isLow === undefined)) return
      this.#isLow = isLow
      onChange(isLow, freeBytes)
    })
  }

  /** Writes all bytes, because a file with a hole would reserve nothing. */
  #takeBallast(): void {
    if (statSync(this.#ballast, { throwIfNoEntry: false })?.size === BALLAST_BYTES) return
    const descriptor = openSync(this.#ballast, 'w', 0o600)
    try {
      writeSync(descriptor, Buffer.alloc(BALLAST_BYTES))
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }

  #attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#options.onTrouble(messageOf(error))
    }
  }
}
