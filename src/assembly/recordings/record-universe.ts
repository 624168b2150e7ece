import type { Answer } from '../../domain/answer.ts'
import type { ContractRules } from '../../domain/contract-rules.ts'
import { TickerTable } from '../../domain/ticker-table.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import type { UniverseWriter } from '../../recording/universe/universe-writer.ts'

export interface UniverseRecorderOptions {
  readonly readTickers: (table: TickerTable) => Promise<Answer<TickerTable>>
  readonly readContracts: () => Promise<Answer<ReadonlyMap<string, ContractRules>>>
  readonly writer: Pick<UniverseWriter, 'append' | 'list'>
  readonly clock: Clock
  readonly timers: Timers
  readonly everyMs: number
  readonly say: (sentence: string) => void
}

export interface UniverseRecorderStats {
  readonly answers: number
  readonly bytes: number
  readonly missed: number
}

/** Pauses after failed calls, as far as the next instant leaves time. */
const RETRY_MS = [1000, 5000, 15_000]

/** Contract rules change seldom, and a listing or delisting reads them at once. */
const CONTRACTS_EVERY_MS = 900_000

/** An answer whose time is further from our clock is of no use. */
const CLOCK_ERROR_MS_MAX = 86_400_000

/**
 * Keeps all tickers at multiples of the interval.
 *
 *     waiting ──instant──► reading ──kept──► waiting
 *        ▲                    │
 *        └──missed── failed ──┘ (after some repetitions)
 */
export class UniverseRecorder {
  readonly #options: UniverseRecorderOptions
  readonly #table = new TickerTable()
  #answers = 0
  #bytes = 0
  #missed = 0
  #lastAt = 0
  #isFailing = false
  #symbols = ''
  #contractsAt = Number.NEGATIVE_INFINITY
  #isContractsFailing = false
  #isStopped = false
  #wake: (() => void) | undefined

  constructor(options: UniverseRecorderOptions) {
    this.#options = options
  }

  get stats(): UniverseRecorderStats {
    return { answers: this.#answers, bytes: this.#bytes, missed: this.#missed }
  }

  /** Resolves after {@link stop}, once the reading under way is kept. */
  async run(): Promise<void> {
    const { clock, everyMs } = this.#options
    while (!this.#isStopped) {
      const nextAt = (Math.floor(clock.now() / everyMs) + 1) * everyMs
      await this.#readUntil(nextAt)
      if (!this.#isStopped) await this.#pause(nextAt - clock.now())
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#wake?.()
  }

  async #readUntil(nextAt: number): Promise<void> {
    const { clock, say } = this.#options
    let problem = await this.#keepOnce()
    for (const pauseMs of RETRY_MS) {
      if (problem === undefined || this.#isStopped || clock.now() + pauseMs >= nextAt) break
      await this.#pause(pauseMs)
      problem = await this.#keepOnce()
    }
    if (problem === undefined) {
      if (this.#isFailing) say('tickers are kept again')
      this.#isFailing = false
      return
    }
    this.#missed += 1
    if (!this.#isFailing) say(`tickers are not kept: ${problem}`)
    this.#isFailing = true
  }

  /** @returns why nothing was kept */
  async #keepOnce(): Promise<string | undefined> {
    const { readTickers, writer, clock } = this.#options
    const table = this.#table
    const answer = await readTickers(table)
    if (answer.kind !== 'accepted') return `${answer.code} ${answer.message}`.trim()
    if (!(table.requestTime > 0)) table.requestTime = table.readAt
    if (Math.abs(table.requestTime - clock.now()) > CLOCK_ERROR_MS_MAX)
      return `the answer is of ${new Date(table.requestTime).toISOString()}`
    if (table.requestTime <= this.#lastAt) return 'the exchange gave an older answer again'
    await this.#readContracts(table.symbols.join(' '))
    try {
      this.#bytes += await writer.append(table)
    } catch (error) {
      return messageOf(error)
    }
    this.#answers += 1
    this.#lastAt = table.requestTime
    return undefined
  }

  async #readContracts(symbols: string): Promise<void> {
    const { readContracts, writer, clock, say } = this.#options
    const now = clock.now()
    if (symbols === this.#symbols && now - this.#contractsAt < CONTRACTS_EVERY_MS) return
    const answer = await readContracts()
    if (answer.kind === 'accepted') {
      this.#symbols = symbols
      this.#contractsAt = now
      if (this.#isContractsFailing) say('contracts are read again')
      this.#isContractsFailing = false
      writer.list({ readAt: answer.receivedAt, contracts: answer.data })
      return
    }
    // After the next answer this is tried again.
    if (!this.#isContractsFailing)
      say(`contracts are not read: ${`${answer.code} ${answer.message}`.trim()}`)
    this.#isContractsFailing = true
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.timers.after(ms, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }
}
