/** A count of events, the deciding strategy (0: none), and the signal. */
const BEATS = 0
const DECIDING = 1
const STOP = 2
/** One float64, the time in the prices, and three whole numbers. */
const BYTES = 24

const SIGNALS = ['', 'SIGINT', 'SIGTERM'] as const

/** Shared by the thread that plays and its watcher, while neither listens. */
export class PlayMarks {
  readonly shared: SharedArrayBuffer
  readonly #time: Float64Array
  readonly #numbers: Int32Array

  constructor(shared = new SharedArrayBuffer(BYTES)) {
    this.shared = shared
    this.#time = new Float64Array(shared, 0, 1)
    this.#numbers = new Int32Array(shared, 8, 3)
  }

  /** Grows while something happens. */
  get beats(): number {
    return Atomics.load(this.#numbers, BEATS)
  }

  /** In the prices; 0 before they begin. */
  get playedAt(): number {
    return this.#time[0] ?? 0
  }

  /** Number of the strategy whose code runs, from 1; 0: none. */
  get deciding(): number {
    return Atomics.load(this.#numbers, DECIDING)
  }

  /** Undefined: no signal came. */
  get stoppedBy(): string | undefined {
    return SIGNALS[Atomics.load(this.#numbers, STOP)] || undefined
  }

  /** @param playedAt Unix ms, in the prices */
  beat(playedAt = this.playedAt): void {
    this.#time[0] = playedAt
    Atomics.add(this.#numbers, BEATS, 1)
  }

  /** @param number 0: none */
  decides(number: number): void {
    Atomics.store(this.#numbers, DECIDING, number)
  }

  stop(signal: string): void {
    Atomics.store(this.#numbers, STOP, signal === 'SIGINT' ? 1 : 2)
  }
}
