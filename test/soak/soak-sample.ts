import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Book } from '../../src/engine/book/book.ts'
import { digestOf, type Restart } from './restart.ts'
import { type EventTime } from './event-meter.ts'
import { type SoakAccount } from './soak-account.ts'

/** An event, and how long garbage collections held it up, by the wall, ms. */
export interface MeasuredEvent extends EventTime {
  readonly collectedMs: number
}

/** Garbage collections since the last sample, as they are observed: a turn later. */
export class Collections {
  longestMs = 0
  #pauses: readonly PerformanceEntry[] = []
  readonly #observer = new PerformanceObserver((seen) => {
    const pauses = seen
      .getEntries()
      .filter((pause) => pause.duration >= PAUSE_MS_MIN && !isForced(pause))
    this.#pauses = [...this.#pauses, ...pauses]
    this.longestMs = Math.max(this.longestMs, ...pauses.map(({ duration }) => duration))
  })

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  /** The events that were taken a turn ago. */
  measure(events: readonly EventTime[]): readonly MeasuredEvent[] {
    const pauses = this.#pauses
    this.#pauses = []
    return events.map((event) => ({ ...event, collectedMs: sumWithin(pauses, event) }))
  }

  close(): void {
    this.#observer.disconnect()
  }
}

const PAUSE_MS_MIN = 1

/** By `measureMemory`, between events. */
function isForced(pause: PerformanceEntry): boolean {
  const { detail } = pause as PerformanceEntry & { readonly detail: { readonly flags: number } }
  return (detail.flags & (FORCED | ALL_GARBAGE)) !== 0
}

const { NODE_PERFORMANCE_GC_FLAGS_FORCED: FORCED } = constants
const { NODE_PERFORMANCE_GC_FLAGS_ALL_AVAILABLE_GARBAGE: ALL_GARBAGE } = constants

function sumWithin(
  pauses: readonly PerformanceEntry[],
  { beganAtMs, endedAtMs }: EventTime,
): number {
  return pauses
    .filter(({ startTime }) => startTime >= beganAtMs && startTime <= endedAtMs)
    .reduce((sum, { duration }) => sum + duration, 0)
}

/** A soak at one moment. */
export interface SoakSample {
  /** Virtual ms since it began. */
  readonly atMs: number
  /** CPU of this process since it began, ms. */
  readonly cpuMs: number
  readonly orders: number
  /** Since it began. */
  readonly events: number
  /** After everything that can be was freed. */
  readonly heapBytes: number
  readonly rssBytes: number
  readonly journalBytes: number
  /** In the file. */
  readonly records: number
  readonly keys: number
  /** CPU of a process that opens the journal and rebuilds the book, ms, of its own start nothing. */
  readonly restartMs: number
  /** Whether the book that it rebuilt is this one. */
  readonly isRestored: boolean
  /** Of each kind of event the longest since the sample before, the longest of all first. */
  readonly longest: readonly MeasuredEvent[]
  /** Entries of each collection of the book. */
  readonly collections: Readonly<Record<string, number>>
}

export async function takeSample(
  account: SoakAccount,
  collected: Collections,
): Promise<SoakSample> {
  const taken = account.meter.takeLongest()
  await turn()
  const longest = collected.measure(taken)
  const { user, system } = process.cpuUsage()
  const { heapUsed, rss } = await measureMemory()
  account.flush()
  const restart = restartAside(account.file)
  return {
    atMs: account.elapsedMs,
    cpuMs: (user + system) / 1000,
    orders: account.exchange.counts.orders,
    events: account.meter.events,
    heapBytes: heapUsed,
    rssBytes: rss,
    journalBytes: sizeOf(account.file) + sizeOf(`${account.file}-wal`),
    ...countRows(account.file),
    restartMs: restart.cpuMs,
    isRestored: restart.digest === digestOf(account.book),
    longest,
    collections: sizesOf(account.book),
  }
}

/** How many entries each collection of a book has; of the open orders, all of them. */
export function sizesOf(book: Book): Readonly<Record<string, number>> {
  const collections: readonly [string, unknown][] = Object.entries(book)
  return Object.fromEntries(
    collections.flatMap(([name, entries]) => {
      if (name === 'open')
        return [[name, [...book.open.values()].reduce((sum, { size }) => sum + size, 0)]]
      return entries instanceof Map || entries instanceof Set ? [[name, entries.size]] : []
    }),
  )
}

async function measureMemory(): Promise<NodeJS.MemoryUsage> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as (options: object) => void
  // The second round frees what finalizers of the first one held; they have their turn in between.
  for (let round = 0; round < 2; round++) {
    // Gives back what it has kept for later as well.
    collectGarbage({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    await turn()
  }
  return process.memoryUsage()
}

/** In a process of its own, as a restart is: nothing is compiled, and its memory is not ours. */
function restartAside(file: string): Restart {
  const output = execFileSync(process.execPath, [join(import.meta.dirname, 'restart.ts'), file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(output) as Restart
}

function countRows(file: string): { readonly records: number; readonly keys: number } {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const read = (query: string): number => Number(database.prepare(query).get()?.['n'] ?? 0)
    return {
      records: read(`SELECT (SELECT count(*) FROM records)
        + (SELECT coalesce(sum(last - first + 1), 0) FROM record_blocks) AS n`),
      keys: read('SELECT keys AS n FROM checkpoints'),
    }
  } finally {
    database.close()
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
