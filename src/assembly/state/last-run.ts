import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '../../lib/durable-file.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

const LAST_RUN_FILE = 'last-run.json'

/** Unix ms, machine's clock. A run that was killed has no end. */
export interface LastRun {
  readonly pid: number
  readonly beganAt: number
  readonly endedAt?: number
  readonly clean?: boolean
  readonly fault?: string
}

/** On a full disk nothing is kept, and `intentd status` shows an earlier run. */
export function noteRun(directory: string, run: LastRun): void {
  try {
    writeDurably(join(directory, LAST_RUN_FILE), JSON.stringify(run))
  } catch {}
}

export function readLastRun(directory: string): LastRun | undefined {
  try {
    return parseBoundedJson(readFileSync(join(directory, LAST_RUN_FILE), 'utf8')) as LastRun
  } catch {
    return undefined
  }
}

export function describeLastRun({ pid, beganAt, endedAt, clean, fault }: LastRun): string {
  if (endedAt === undefined)
    return `the last run (pid ${pid}, since ${toTime(beganAt)}) left no note of its end: it was killed, the machine went down, or the disk was full; the next start recovers`
  if (fault !== undefined) return `the last run broke at ${toTime(endedAt)}: ${fault}`
  if (clean === true) return `the last run ended in good order at ${toTime(endedAt)}`
  return `the last run ended at ${toTime(endedAt)} with something in flight or unproved: the next start clears it up`
}

function toTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
