/** Where the time comes from. Instants are Unix milliseconds; nothing below the daemon reads a clock. */
export interface Clock {
  /** Unix ms, whole. */
  now(): number
  /** Milliseconds with fractions since an arbitrary origin; never steps. For measuring durations. */
  monotonic(): number
}

/**
 * The machine's own. It may be set at any time: what lasts longer than a moment asks a `SteadyClock`.
 * `Date.now` is looked up at each call, so that a test's preload can set the clock of a whole process.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/** The process is taken away from the thread of a strategy, which measures all the same. */
const readThreadCpu = process.threadCpuUsage?.bind(process)

/** For how long the calling thread has computed so far, ms; undefined: this Node does not measure it (it does from 23.9 on). */
export function threadCpuMs(): number | undefined {
  const used = readThreadCpu?.()
  return used && (used.user + used.system) / 1000
}

/** The machine's clock moved by more than this against the time that passed: somebody set it, or we slept. */
const STEP_MS = 250

/**
 * A clock that tells the time of day without ever jumping: the machine's clock as it stood at the start, and
 * from there on what the monotonic one counts. A machine's clock that is stepped, by a person or a time
 * daemon, leaves it as it was. While the machine sleeps the monotonic clock of most systems stands still; only
 * another clock can tell that from a step, so both are reported, and {@link advance} makes up for a sleep.
 */
export class SteadyClock implements Clock {
  /** Called within {@link now}, with the ms that the machine's clock has gained since it was looked at last. */
  onStep: (movedMs: number) => void = () => undefined
  readonly #source: Clock
  /** Unix ms at the origin of the monotonic clock. */
  #originAt: number
  /** How far the machine's clock is ahead of this one, ms. */
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

  /** Held up between the two readings, the process compares two instants: the next look will tell. */
  #isSameInstant(before: number): boolean {
    return this.#source.monotonic() - before < STEP_MS / 2
  }

  monotonic(): number {
    return this.#source.monotonic()
  }

  /** So much time has passed that the monotonic clock did not count. Never negative: this clock does not go back. */
  advance(ms: number): void {
    this.#originAt += Math.max(0, ms)
    this.#gapMs -= Math.max(0, ms)
  }
}
