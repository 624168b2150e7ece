/** Instants are Unix milliseconds; nothing below the daemon reads a clock. */
export interface Clock {
  now(): number
  /** Milliseconds with fractions since an arbitrary origin; never steps. For durations. */
  monotonic(): number
}

/**
 * May be set at any time: what lasts longer than a moment uses a `SteadyClock`. `Date.now` is
 * looked up at each call, so that a test's preload can set the clock of a whole process.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/** Strategy threads have no `process`, and still measure. */
const readThreadCpu = process.threadCpuUsage?.bind(process)

/** Undefined: this Node does not measure it (it does from 23.9 on). */
export function threadCpuMs(): number | undefined {
  const used = readThreadCpu?.()
  return used && (used.user + used.system) / 1000
}

/**
 * The machine's clock was set, or the machine slept, if it moved by more than this against the time
 * that passed.
 */
const STEP_MS = 250

/**
 * Tells the time of day without jumping: the machine's clock at the start, from there on the
 * monotonic one. While the machine sleeps most monotonic clocks stand still; only another clock can
 * tell that from a step, so both are reported, and {@link advance} makes up for a sleep.
 */
export class SteadyClock implements Clock {
  /**
   * Called within {@link now}, with the ms that the machine's clock has gained since the last look.
   */
  onStep: (movedMs: number) => void = () => undefined
  readonly #source: Clock
  /** Unix ms at the origin of the monotonic clock. */
  #originAt: number
  /** How far the machine's clock is ahead of this one. */
  #gapMs = 0

  constructor(source: Clock) {
    this.#source = source
    this.#originAt = source.now() - source.monotonic()
  }

  now(): number {
    const before = this.#source.monotonic()
    const machineNow = this.#source.now()
    const now = Math.floor(this.#originAt + before)
    const movedMs = machineNow - now - this.#gapMs
    if (Math.abs(movedMs) > STEP_MS && this.#isSameInstant(before)) {
      this.#gapMs += movedMs
      this.onStep(movedMs)
    }
    return now
  }

  /**
   * If the process was held up between the two readings, they compare two instants: the next look
   * will tell.
   */
  #isSameInstant(before: number): boolean {
    return this.#source.monotonic() - before < STEP_MS / 2
  }

  monotonic(): number {
    return this.#source.monotonic()
  }

  /** Time that the monotonic clock did not count. This clock does not go back. */
  advance(ms: number): void {
    this.#originAt += Math.max(0, ms)
    this.#gapMs -= Math.max(0, ms)
  }
}
