import {
  type Interruptions,
  type JournalPort,
  type RunListener,
  type Step,
} from '../../src/interpreter/ports.ts'

/** What one event took: its step and everything that was done for it, in ms. */
export interface EventTime {
  readonly kind: string
  /** The step, and the carrying out of its effects. */
  readonly stepMs: number
  readonly effectsMs: number
  /** Within the journal: building rows and digests, SQLite, the disk. */
  readonly journalMs: number
  /** Of the journal, its checkpoint, and the collecting of what has changed for it. */
  readonly checkpointMs: number
  /** Within strategies. */
  readonly strategyMs: number
  /** CPU time of the thread from the beginning of the event to its end, all of it. */
  readonly cpuMs: number
  /** The wall when it began and when it was looked at last, ms. */
  readonly beganAtMs: number
  readonly endedAtMs: number
}

/** What an event costs beside its strategies: never more than the CPU time, whatever else the machine does. */
export function ownMsOf({ stepMs, effectsMs, journalMs, checkpointMs, cpuMs }: EventTime): number {
  return Math.min(stepMs + effectsMs + journalMs + checkpointMs, cpuMs)
}

/** Events that took so long are kept one by one, so that two runs of one load can be compared. */
export const KEPT_MS = 10

/** CPU time is looked at only where the wall says that it may matter. */
const LOOKED_AT_MS = 5

type OpenEvent = { -readonly [Name in keyof EventTime]: EventTime[Name] } & { beganAtCpuMs: number }

/**
 * Measures each event in an interpreter that runs in virtual time: synchronously, one after the other. It stands
 * in the interpreter's own places for tests: it is asked before each thing that is done, and hears of its end.
 *
 *     isStill ─► step ─► stepped ─► isStill ─► effect ─► afterEffect ─► isStill ─► … ─► isStill ─► flush or checkpoint
 */
export class EventMeter {
  readonly interruptions: Interruptions
  readonly listener: RunListener
  /** By their number in the run: those of KEPT_MS and more. */
  readonly kept = new Map<number, EventTime>()
  readonly #longest = new Map<string, EventTime>()
  #event: OpenEvent = open('none', { cpuMs: 0, wallMs: 0 })
  /** Wall, ms: since when something of ours is done, without what the journal and strategies took of it. */
  #since = 0
  #cpuAtMs = 0
  /** What the step that is measured has taken in the journal and in strategies. */
  #apartMs = 0
  #journalMs = 0
  #strategyMs = 0
  events = 0
  checkpoints = 0
  /** The most rows that a checkpoint wrote. */
  checkpointRowsMax = 0

  constructor() {
    const begin = (): boolean => {
      this.#begin()
      return false
    }
    this.interruptions = {
      get isStill() {
        return begin()
      },
      beforeEffect: () => undefined,
      afterEffect: () => this.#endEffect(),
      isHeardAgain: () => false,
    }
    this.listener = { stepped: (step) => this.#endStep(step) }
  }

  /** The longest of each kind since this was last called. */
  takeLongest(): readonly EventTime[] {
    const taken = [...this.#longest.values()].toSorted(
      (left, right) => ownMsOf(right) - ownMsOf(left),
    )
    this.#longest.clear()
    return taken
  }

  /** A port whose time is measured apart. */
  watch(journal: JournalPort): JournalPort {
    const timed = <Result>(work: () => Result): Result => this.#apart('#journal', work)
    return {
      append: (record) => timed(() => journal.append(record)),
      // Done when it returns: what waits for it is no part of it.
      commit: (done) => {
        timed(() => journal.commit(() => undefined))
        done()
      },
      flush: () => this.#endEvent('journalMs', () => journal.flush()),
      usedKeys: (keys) => timed(() => journal.usedKeys(keys)),
      get recordsSinceCheckpoint() {
        return journal.recordsSinceCheckpoint
      },
      prepareCheckpoint: () => this.#endEvent('checkpointMs', () => journal.prepareCheckpoint()),
      saveCheckpoint: (changes) => {
        const rows = [...changes]
        this.checkpoints += 1
        this.checkpointRowsMax = Math.max(this.checkpointRowsMax, rows.length)
        this.#endEvent('checkpointMs', () => journal.saveCheckpoint(rows))
      },
    }
  }

  timeStrategy = <Result>(work: () => Result): Result => this.#apart('intentd/strategy', work)

  #apart<Result>(what: '#journal' | 'intentd/strategy', work: () => Result): Result {
    const startedAt = performance.now()
    try {
      return work()
    } finally {
      const tookMs = performance.now() - startedAt
      this.#apartMs += tookMs
      if (what === '#journal') this.#journalMs += tookMs
      else this.#strategyMs += tookMs
    }
  }

  #begin(): void {
    this.#cpuAtMs = threadCpuMs()
    this.#since = performance.now()
    this.#apartMs = 0
  }

  #endStep({ event }: Step): void {
    const tookMs = performance.now() - this.#since - this.#apartMs
    this.#event = open(event.kind, { cpuMs: this.#cpuAtMs, wallMs: this.#since })
    this.events += 1
    this.#event.stepMs = tookMs
    this.#close()
  }

  #endEffect(): void {
    this.#event.effectsMs += performance.now() - this.#since - this.#apartMs
    this.#close()
  }

  /** What is done at the end of an event, where the next thing to be done is looked for. */
  #endEvent<Result>(part: 'journalMs' | 'checkpointMs', work: () => Result): Result {
    const result = work()
    this.#event[part] += performance.now() - this.#since
    this.#measureCpu()
    // What follows in the same turn is another event's.
    this.#begin()
    return result
  }

  #close(): void {
    const event = this.#event
    event.journalMs += this.#journalMs
    event.strategyMs += this.#strategyMs
    this.#journalMs = 0
    this.#strategyMs = 0
    this.#measureCpu()
  }

  #measureCpu(): void {
    const event = this.#event
    const { stepMs, effectsMs, journalMs, checkpointMs } = event
    const wallMs = stepMs + effectsMs + journalMs + checkpointMs
    event.cpuMs =
      wallMs < LOOKED_AT_MS ? wallMs : threadCpuMs() - event.beganAtCpuMs - event.strategyMs
    event.endedAtMs = performance.now()
    this.#keepLongest()
  }

  #keepLongest(): void {
    const event = this.#event
    if (ownMsOf(event) >= KEPT_MS) this.kept.set(this.events, event)
    const longest = this.#longest.get(event.kind)
    if (longest === undefined || ownMsOf(event) > ownMsOf(longest))
      this.#longest.set(event.kind, event)
  }
}

function open(
  kind: string,
  beganAt: { readonly cpuMs: number; readonly wallMs: number },
): OpenEvent {
  return {
    kind,
    stepMs: 0,
    effectsMs: 0,
    journalMs: 0,
    checkpointMs: 0,
    strategyMs: 0,
    cpuMs: 0,
    beganAtMs: beganAt.wallMs,
    endedAtMs: beganAt.wallMs,
    beganAtCpuMs: beganAt.cpuMs,
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
