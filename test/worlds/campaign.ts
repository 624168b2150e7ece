import { type Mutant } from './mutant.ts'
import { addSummary, createSummary, type CampaignSummary } from './campaign-summary.ts'
import { WorldThread } from './world-thread.ts'

export interface CampaignOptions {
  readonly worlds: number
  /** The first world's seed: a whole number counts up from there, another text is numbered. */
  readonly firstSeed: string
  /** How many threads share the work. */
  readonly workers: number
  readonly mutant?: Mutant
  /** Worlds that a thread is given at once: often enough for a progress line, rarely enough to cost nothing. */
  readonly worldsATask?: number
  /** A campaign ends after so many worlds that failed. */
  readonly failuresMax?: number
  readonly onProgress?: (summary: CampaignSummary) => void
  /** Ends the campaign early, with what it has. */
  readonly signal?: AbortSignal
}

/** Runs worlds from a seed on, on several threads, and adds up what they came to. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignSummary> {
  const { worlds, workers, failuresMax = 1, worldsATask = 20 } = options
  const summary = createSummary()
  const queue = new SeedQueue(options.firstSeed, worlds, worldsATask)
  const isOver = (): boolean =>
    summary.failures.length >= failuresMax || (options.signal?.aborted ?? false)
  const work = async (): Promise<void> => {
    const thread = new WorldThread({ mutant: options.mutant })
    try {
      for (let seeds = queue.take(); seeds.length > 0 && !isOver();) {
        const ran = await thread.perform<'run'>({ kind: 'run', seeds })
        addSummary(summary, ran.summary)
        options.onProgress?.(summary)
        // A thread stops at a world that fails: the rest is run after it.
        const rest = seeds.slice(ran.summary.worlds)
        seeds = rest.length > 0 ? rest : queue.take()
      }
    } finally {
      await thread.stop()
    }
  }
  await Promise.all(
    Array.from({ length: Math.min(workers, Math.ceil(worlds / worldsATask)) }, work),
  )
  return summary
}

/** Hands out seeds in order. */
class SeedQueue {
  readonly #first: string
  readonly #worlds: number
  readonly #worldsATask: number
  #next = 0

  constructor(first: string, worlds: number, worldsATask: number) {
    this.#worldsATask = worldsATask
    this.#first = first
    this.#worlds = worlds
  }

  take(): readonly string[] {
    const count = Math.min(this.#worldsATask, this.#worlds - this.#next)
    const seeds = Array.from({ length: count }, (_, index) =>
      seedAt(this.#first, this.#next + index),
    )
    this.#next += count
    return seeds
  }
}

/** The seed of the n-th world of a campaign. */
export function seedAt(first: string, n: number): string {
  const [, kind = '', number] =
    /^(months-|takeovers-|money-|copies-|wire-|hand-|liquidations-)?(\d{1,15})$/.exec(first) ?? []
  return number === undefined ? `${first}-${n}` : `${kind}${Number(number) + n}`
}
