/** The core reads none: each event brings its time. `now` is Unix ms. */
export interface Clock {
  now(): number
  /** Fractional ms since an arbitrary origin, without steps. */
  monotonic(): number
}

/**
 * The machine's clock may be set at any time, so a long run uses a `SteadyClock`. Each call looks up
 * `Date.now`, which the preloaded module of a test may have replaced.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/** Strategy threads have no `process`, and still measure. */
const readThreadCpu = process.threadCpuUsage?.bind(process)

/** Undefined before Node 23.9. */
export function threadCpuMs(): number | undefined {
  const used = readThreadCpu?.()
  return used && (used.user + used.system) / 1000
}

/** A larger difference to the elapsed time means that the clock was set, or the machine slept. */
const STEP_MS = 250

/**
 * Time of day without jumps: the machine's clock at the start, then the monotonic one. Most
 * monotonic clocks stop while the machine sleeps, and from here a sleep looks as if the clock had
 * been set. So `onStep` reports either, and {@link advance} makes up for a sleep.
 */
export class SteadyClock implements Clock {
  /** @param movedMs gained by the machine's clock since the last look */
  onStep: (movedMs: number) => void = () => undefined
  readonly #source: Clock
  #originAt: number
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

  /** The two clocks were read together. If the process paused between them, the next call of `now` judges. */
  #isSameInstant(before: number): boolean {
    return this.#source.monotonic() - before < STEP_MS / 2
  }

  monotonic(): number {
    return this.#source.monotonic()
  }

  advance(ms: number): void {
    this.#originAt += Math.max(0, ms)
    this.#gapMs -= Math.max(0, ms)
  }
}
