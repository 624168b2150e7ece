import { statSync, unlinkSync } from 'node:fs'
import { TICKER_COLUMNS, TickerTable } from '../../domain/ticker-table.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { listUniverseFiles } from '../../recording/universe/universe-file.ts'
import {
  UniverseWriter,
  type UniverseWriterOptions,
} from '../../recording/universe/universe-writer.ts'

export interface UniverseKeeperOptions extends Omit<UniverseWriterOptions, 'onTorn'> {
  readonly totalBytesMax: number
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<DaemonLogger, 'log'>
}

/** Figures of the market and universes need no more than one answer a minute. */
const EVERY_MS = 60_000

/**
 * Keeps each minute's first answer about all tickers, and the contracts that rules choose among.
 * Failures are logged once; nothing waits.
 *
 *     idle ──answer of another minute──► writing ──written, failed──► idle
 */
export class UniverseKeeper {
  readonly #options: UniverseKeeperOptions
  readonly #table = new TickerTable()
  #writer: UniverseWriter | undefined
  #minute = Number.NEGATIVE_INFINITY
  #hasContracts = false
  #isFailing = false
  #isWriting = false
  #writing: Promise<void> = Promise.resolve()

  constructor(options: UniverseKeeperOptions) {
    this.#options = options
  }

  /** @throws never, because the account can trade without this */
  start(): void {
    const { directory, logger } = this.#options
    try {
      this.#writer = new UniverseWriter({
        ...this.#options,
        onTorn: (_file, tornBytes) => logger.log('info', 'universe.torn', { tornBytes }),
      })
      dropOldest(directory, this.#options.totalBytesMax)
    } catch (error) {
      this.#noteFailure(messageOf(error))
    }
  }

  hear(event: EngineEvent): void {
    if (this.#writer === undefined) return
    if (event.kind === 'contractsRead') {
      // Rules need the answer after the first contracts, whatever the minute.
      if (!this.#hasContracts) this.#minute = Number.NEGATIVE_INFINITY
      this.#hasContracts = true
      this.#writer.list({ readAt: this.#options.clock.now(), contracts: event.contracts })
    }
    if (event.kind === 'snapshotTaken') this.#keep(this.#writer, event.tickers)
  }

  get written(): Promise<void> {
    return this.#writing
  }

  async close(): Promise<void> {
    const writer = this.#writer
    this.#writer = undefined
    await this.#writing
    await writer?.close()
  }

  #keep(writer: UniverseWriter, tickers: TickerTable): void {
    const minute = Math.floor(tickers.requestTime / EVERY_MS)
    if (minute <= this.#minute || tickers.requestTime <= this.#table.requestTime) return
    this.#minute = minute
    if (this.#isWriting) return this.#noteFailure('the disk takes longer than a minute')
    // The next answer overwrites the table.
    copyRows(tickers, this.#table)
    this.#isWriting = true
    this.#writing = this.#write(writer)
  }

  async #write(writer: UniverseWriter): Promise<void> {
    const { directory, totalBytesMax, logger } = this.#options
    try {
      await writer.append(this.#table)
      dropOldest(directory, totalBytesMax)
      if (this.#isFailing) logger.log('info', 'universe.keptAgain', {})
      this.#isFailing = false
    } catch (error) {
      this.#noteFailure(messageOf(error))
    }
    this.#isWriting = false
  }

  #noteFailure(reason: string): void {
    if (!this.#isFailing) this.#options.logger.log('warn', 'universe.notKept', { reason })
    this.#isFailing = true
  }
}

function dropOldest(directory: string, bytesMax: number): void {
  const files = listUniverseFiles(directory).map(({ file }) => ({
    file,
    bytes: statSync(file).size,
  }))
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { file, bytes } of files.slice(0, -1)) {
    if (total <= bytesMax) return
    unlinkSync(file)
    total -= bytes
  }
}

function copyRows(from: TickerTable, to: TickerTable): void {
  to.clear()
  for (const symbol of from.symbols) to.claimRow(symbol)
  for (const column of TICKER_COLUMNS)
    to.columns[column].set(from.columns[column].subarray(0, from.symbols.length))
  to.requestTime = from.requestTime
  to.readAt = from.readAt
  to.unreadable = from.unreadable
}
