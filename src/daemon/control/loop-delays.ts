import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Timers } from '../../lib/timers.ts'

/** Readers at least this often miss no delay. */
const SPAN_MS = 30_000

const PERCENTS = [50, 99, 100] as const
const NANOSECONDS = 1e9

type DelayHistogram = Pick<
  ReturnType<typeof monitorEventLoopDelay>,
  'enable' | 'disable' | 'percentile' | 'reset'
>

/** Reading starts no new span, so several readers can share it. */
export class LoopDelays {
  readonly #timers: Timers
  readonly #histogram: DelayHistogram
  #before: ReadonlyMap<number, number> = new Map()
  #cancel: (() => void) | undefined

  constructor(
    timers: Timers,
    histogram: DelayHistogram = monitorEventLoopDelay({ resolution: 20 }),
  ) {
    this.#timers = timers
    this.#histogram = histogram
  }

  start(): void {
    this.#histogram.enable()
    this.#awaitEnd()
  }

  /** The larger value of the present and the last complete span, in seconds. */
  read(): readonly (readonly [quantile: string, seconds: number])[] {
    return PERCENTS.map((percent) => {
      const longest = Math.max(this.#histogram.percentile(percent), this.#before.get(percent) ?? 0)
      return [String(percent / 100), longest / NANOSECONDS]
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#histogram.disable()
  }

  #awaitEnd(): void {
    this.#cancel = this.#timers.after(SPAN_MS, () => this.#endSpan())
  }

  #endSpan(): void {
    this.#before = new Map(
      PERCENTS.map((percent) => [percent, this.#histogram.percentile(percent)]),
    )
    this.#histogram.reset()
    this.#awaitEnd()
  }
}
