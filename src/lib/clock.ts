/** Only the daemon reads the machine's clock. */
export interface Clock {
  now(): number
  /** Fractional ms since an arbitrary origin, without steps. */
  monotonic(): number
}

/**
 * The machine's clock may be set at any time, so what lasts uses a `SteadyClock`. `Date.now` is
 * looked up at each call, so that a test's preload can set it.
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
 * monotonic clocks stop in a sleep, which only another clock can tell from a step, so both are
 * reported, and {@link advance} makes up for a sleep.
 */
export class SteadyClock implements Clock {
  /** @param movedMs gained by the machine's clock since the last look */
  onStep: (movedMs: number) => void = () => undefined
  readonly #source: Clock
  /** Unix ms at the origin of the monotonic clock. */
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

  /** After a hold-up between the readings, the next look decides. */
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
