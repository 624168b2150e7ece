import { readFileSync } from 'node:fs'

/** The main thread as the kernel sees it. */
export interface MainThread {
  /** It runs, or waits for a processor; false: it waits for something else, as for whoever reads its log. */
  readonly isRunnable: boolean
  /** Its processor time so far, ms. */
  readonly cpuMs: number
}

/** Linux counts processor time in these, whatever the kernel's own clock, ms. */
const TICK_MS = 10

/** @returns undefined where the machine does not tell. */
export function readMainThread(pid: number): MainThread | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8'))
  } catch {
    return undefined
  }
}

/** The fields of `/proc/PID/stat` after the name, which may hold spaces and brackets: state, and later utime and stime. */
export function parseStat(stat: string): MainThread | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS
  return Number.isNaN(cpuMs) ? undefined : { isRunnable: fields[0] === 'R', cpuMs }
}

/**
 * How much of the time between two checks, without a turn of the event loop, counts as hanging, ms. A thread that wants to
 * run hangs for as long as it has run: on a busy machine, or in a container without a share left, it does nothing and
 * does not hang. One that waits for something else hangs for all of that time.
 */
export function hungMsOf(
  checkMs: number,
  before: MainThread | undefined,
  now: MainThread | undefined,
): number {
  if (before === undefined || now?.isRunnable !== true) return checkMs
  return Math.min(checkMs, now.cpuMs - before.cpuMs)
}
