import { readFileSync } from 'node:fs'

export interface ThreadTime {
  /**
   * It runs, or waits for a processor; false: it waits for something else, such as the reader of
   * its log.
   */
  readonly isRunnable: boolean
  readonly cpuMs: number
}

/** Linux counts processor time in these. */
const TICK_MS = 10

/**
 * @param threadId the kernel's; the main thread's is the process's @returns undefined where the
 * machine does not tell
 */
export function readThreadTime(threadId: number): ThreadTime | undefined {
  try {
    return parseStat(readFileSync(`/proc/${process.pid}/task/${threadId}/stat`, 'utf8'))
  } catch {
    return undefined
  }
}

/**
 * `/proc/PID/stat` after the name, which may hold spaces and brackets: state, and later utime and
 * stime.
 */
export function parseStat(stat: string): ThreadTime | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS
  return Number.isNaN(cpuMs) ? undefined : { isRunnable: fields[0] === 'R', cpuMs }
}

/**
 * A runnable thread is silent only for its own processor time, so a busy machine does not make it
 * hang; a waiting one for all the time between two checks.
 */
export function silentMsOf(
  checkMs: number,
  before: ThreadTime | undefined,
  now: ThreadTime | undefined,
): number {
  if (before === undefined || now?.isRunnable !== true) return checkMs
  return Math.min(checkMs, now.cpuMs - before.cpuMs)
}

/** Counts checks, not time: after a sleep or a stop, patience is whole. */
export class Patience {
  readonly #checkMs: number
  readonly #readTime: () => ThreadTime | undefined
  #signs: number | undefined
  #silentMs = 0
  #time: ThreadTime | undefined

  /** @param readTime for a thread judged by its processor time */
  constructor(checkMs: number, readTime: () => ThreadTime | undefined = () => undefined) {
    this.#checkMs = checkMs
    this.#readTime = readTime
  }

  /**
   * Called every `checkMs`. @param signs differs after each sign of life; undefined where none is
   * due @returns the time without one
   */
  check(signs: number | undefined): number {
    const time = this.#readTime()
    const isAlive = signs === undefined || signs !== this.#signs
    this.#silentMs = isAlive ? 0 : this.#silentMs + silentMsOf(this.#checkMs, this.#time, time)
    this.#signs = signs
    this.#time = time
    return this.#silentMs
  }
}
