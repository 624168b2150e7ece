import type { BatchWait } from '../interpreter/ports.ts'
import type { Clock } from '../lib/clock.ts'
import { Percentiles } from '../lib/percentiles.ts'
import type { DaemonLogger } from '../logging/logger.ts'

/** Intents are retried after each commit, so without batches nothing is late. */
const QUIET_MS = 30_000

export interface LateBatches {
  readonly since: number
  readonly batches: number
  readonly wait: BatchWait
}

/**
 * Whether batches leave in time once durable:
 *
 *     in time ──one is too late──► late ──one in time, or none for a while──► in time
 */
export class JournalPace {
  readonly waits = new Percentiles()
  readonly #options: {
    readonly clock: Pick<Clock, 'now'>
    readonly logger: Pick<DaemonLogger, 'log'>
  }
  #batchesLate = 0
  #late: LateBatches | undefined
  #heardAt = 0

  constructor(options: {
    readonly clock: Pick<Clock, 'now'>
    readonly logger: Pick<DaemonLogger, 'log'>
  }) {
    this.#options = options
  }

  get batchesLate(): number {
    return this.#batchesLate
  }

  get late(): LateBatches | undefined {
    return this.#late
  }

  hear(wait: BatchWait): void {
    const { clock, logger } = this.#options
    const now = clock.now()
    this.waits.record(wait.waitedMs)
    this.#heardAt = now
    if (wait.waitedMs <= wait.mostMs) return this.#end(now)
    this.#batchesLate += 1
    const { since = now, batches = 0 } = this.#late ?? {}
    this.#late = { since, batches: batches + 1, wait }
    if (batches === 0) logger.log('warn', 'journal.late', { ...roundWait(wait) })
  }

  look(): void {
    const now = this.#options.clock.now()
    if (now - this.#heardAt >= QUIET_MS) this.#end(now)
  }

  #end(now: number): void {
    if (this.#late === undefined) return
    const { since, batches } = this.#late
    this.#late = undefined
    this.#options.logger.log('info', 'journal.inTime', { batches, forMs: Math.round(now - since) })
  }
}

/** The limit is 0 if prices were already too old. */
export function roundWait({ waitedMs, mostMs }: BatchWait): BatchWait {
  return { waitedMs: Math.round(waitedMs), mostMs: Math.max(0, Math.floor(mostMs)) }
}
