import type { Engine } from '../../engine/engine.ts'
import {
  keepEvent,
  type KeptEvent,
  writeEffect,
  writeEvent,
} from '../../engine/replay/event-text.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { Step } from '../../interpreter/ports.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import { HiddenTexts, type Secret } from '../../lib/secret.ts'
import type { Timers } from '../../lib/timers.ts'
import { nameRun, pruneSegments, segmentFile } from '../../recording/recordings.ts'
import {
  FORMAT,
  type SegmentEnd,
  type SegmentHead,
  writeEnd,
  writeStep,
} from '../../recording/segment.ts'
import { SegmentWriter } from '../../recording/segment-writer.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { makeDirectory } from '../../lib/durable-file.ts'

/** A kill may lose half a second of steps, and those being written. */
const FLUSH_MS = 500

/** So much is written at once, to keep blocks short. */
const BLOCK_CHARACTERS = 1_048_576

/** So much may wait for a slow disk: minutes of busy trading, and the largest book. */
const WAITING_CHARACTERS_MAX = 67_108_864

const OWNER_ONLY = 0o700

export interface RecordSettings {
  readonly segmentBytesMax: number
  readonly totalBytesMax: number
}

type KeptStep = Omit<Step, 'event'> & { readonly event: KeptEvent }

export interface FlightRecorderOptions {
  readonly directory: string
  readonly settings: RecordSettings
  readonly engine: Pick<Engine, 'write'>
  readonly symbols: () => Iterable<string>
  readonly version: string
  readonly configFile?: string
  readonly given?: SegmentHead['given']
  readonly secrets: readonly Secret[]
  readonly waitingCharactersMax?: number
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Pick<DaemonLogger, 'log'>
}

/**
 * Keeps every step of the core for replay (docs/mechanisms.md, "Recordings"). It never makes the
 * daemon wait: texts are made after the step's work, and written by other threads.
 *
 *     recording ──too much waits──► lost ──all is written──► recording, in a new segment
 *         │ ▲                         │
 *         │ └──segment is full────────│────── recording, in the next segment
 *         └────────the disk refuses───┴──► ended
 */
export class FlightRecorder {
  readonly #options: FlightRecorderOptions
  readonly #run: string
  readonly #hidden = new HiddenTexts()
  #state: 'recording' | 'lost' | 'ended' = 'recording'
  #writer: SegmentWriter | undefined
  #closing: Promise<void> = Promise.resolve()
  #kept: KeptStep[] = []
  #lines: string[] = []
  #characters = 0
  #number = 0
  #steps = 0
  #segmentSteps = 0
  #stopFlushing: (() => void) | undefined

  constructor(options: FlightRecorderOptions) {
    this.#options = options
    this.#run = nameRun(options.clock.now())
    for (const secret of options.secrets) this.#hidden.add(secret)
  }

  start(): void {
    this.#guard(() => {
      makeDirectory(this.#options.directory, OWNER_ONLY)
      this.#openSegment()
    })
  }

  keep({ event, ...step }: Step): void {
    this.#steps += 1
    if (this.#state !== 'recording') return
    if (this.#kept.length === 0)
      this.#options.timers.after(0, () => this.#guard(() => this.#writeKept()))
    this.#kept.push({ ...step, event: keepEvent(event, this.#symbolsOf(event, step)) })
    if (event.kind === 'timePassed') this.#guard(() => this.#changeSegment())
  }

  /** A universe looks at all instruments. One that leaves was there before. */
  #symbolsOf(event: EngineEvent, { effects }: Pick<Step, 'effects'>): Iterable<string> {
    const isOfAll =
      event.kind === 'snapshotTaken' &&
      effects.some(
        (effect) =>
          effect.kind === 'record' &&
          (effect.record.kind === 'universe' || effect.record.kind === 'departed'),
      )
    return isOfAll ? event.tickers.symbols : this.#options.symbols()
  }

  async close(): Promise<void> {
    do {
      this.#guard(() => this.#endSegment('closed'))
      await this.#closing
      // A recording that was lost may have resumed meanwhile.
    } while (this.#writer && this.#state === 'recording')
    this.#state = 'ended'
  }

  /** A defect or a failing disk ends only the recording. */
  #guard(work: () => void): void {
    if (this.#state === 'ended') return
    try {
      work()
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#stopFlushing?.()
    this.#kept = []
    this.#lines = []
    const { directory, logger } = this.#options
    logger.log('warn', 'recording.ended', {
      directory,
      steps: this.#steps,
      reason: messageOf(error),
    })
  }

  #changeSegment(): void {
    if ((this.#writer?.writtenBytes ?? 0) < this.#options.settings.segmentBytesMax) return
    this.#endSegment('rotated')
    this.#openSegment()
  }

  #openSegment(): void {
    const { directory, settings, version, configFile, given, clock, engine, logger } = this.#options
    const removed = pruneSegments(directory, settings.totalBytesMax - settings.segmentBytesMax)
    this.#number += 1
    this.#segmentSteps = 0
    this.#state = 'recording'
    const file = segmentFile(directory, this.#run, this.#number)
    this.#writer = new SegmentWriter({ file, onError: (error) => this.#fail(error) })
    const head: SegmentHead = {
      format: FORMAT,
      version,
      run: this.#run,
      number: this.#number,
      stepsBefore: this.#steps,
      startedAt: clock.now(),
      ...(configFile !== undefined && { configFile }),
      ...(given !== undefined && { given }),
    }
    this.#addLine(JSON.stringify(head))
    this.#addLine(engine.write())
    this.#flush()
    logger.log('info', 'recording.started', { file, ...(removed.length > 0 ? { removed } : {}) })
  }

  #endSegment(why: SegmentEnd['why']): void {
    const writer = this.#writer
    if (!writer) return
    this.#writeKept()
    this.#addLine(writeEnd({ why, steps: this.#segmentSteps }))
    this.#flush()
    this.#writer = undefined
    this.#closing = Promise.all([this.#closing, writer.close()]).then(() => undefined)
  }

  #writeKept(): void {
    const kept = this.#kept
    this.#kept = []
    for (const { event, effects, ...step } of kept) {
      this.#addLine(
        writeStep({ ...step, event: writeEvent(event), effects: effects.map(writeEffect) }),
      )
      this.#segmentSteps += 1
    }
    if (this.#characters >= BLOCK_CHARACTERS) this.#flush()
    if (this.#state === 'recording' && this.#isOverrun()) this.#lose()
  }

  #lose(): void {
    this.#state = 'lost'
    this.#endSegment('lost')
    const lostSince = this.#steps
    const { logger } = this.#options
    logger.log('warn', 'recording.lost', { step: lostSince, reason: 'the disk does not keep up' })
    void this.#closing.then(() =>
      this.#guard(() => {
        logger.log('warn', 'recording.resumed', { lost: this.#steps - lostSince })
        this.#openSegment()
      }),
    )
  }

  #isOverrun(): boolean {
    const { waitingCharactersMax = WAITING_CHARACTERS_MAX } = this.#options
    return (this.#writer?.waitingCharacters ?? 0) > waitingCharactersMax
  }

  #addLine(line: string): void {
    this.#lines.push(line)
    this.#characters += line.length
    this.#stopFlushing ??= this.#options.timers.after(FLUSH_MS, () =>
      this.#guard(() => this.#flush()),
    )
  }

  #flush(): void {
    this.#stopFlushing?.()
    this.#stopFlushing = undefined
    if (this.#lines.length === 0) return
    this.#writer?.write(this.#hidden.remove(`${this.#lines.join('\n')}\n`))
    this.#lines = []
    this.#characters = 0
  }
}
