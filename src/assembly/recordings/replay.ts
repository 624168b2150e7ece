import { parseCore } from '../../engine/replay/core-image.ts'
import type { Core } from '../../engine/state/core.ts'
import type { Effect } from '../../engine/effect.ts'
import { type Engine, resumeEngine } from '../../engine/engine.ts'
import type { EngineEvent } from '../../engine/event.ts'
import { parseEvent, writeEffect } from '../../engine/replay/event-text.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import type { SegmentFile } from '../../recording/recordings.ts'
import {
  openSegment,
  type OpenedSegment,
  type SegmentEnding,
} from '../../recording/segment-reader.ts'
import type { StepTexts } from '../../recording/segment.ts'

export interface ReplayWatcher {
  onBegin?(core: Core): void
  onStep?(step: {
    readonly at: number
    readonly event: EngineEvent
    readonly effects: readonly Effect[]
  }): void
}

export interface StepDifference {
  readonly file: string
  readonly step: number
  readonly at: number
  /** JSON text of the event; undefined at the beginning of a segment. */
  readonly event: string | undefined
  readonly effect: number
  readonly counts: readonly [expected: number, actual: number]
  readonly expected: string | undefined
  readonly actual: string | undefined
}

export interface Replay {
  readonly files: number
  readonly runs: readonly string[]
  readonly steps: number
  readonly effects: number
  readonly batches: number
  readonly orders: number
  readonly from: number | undefined
  readonly to: number | undefined
  readonly remarks: readonly string[]
  readonly difference: StepDifference | undefined
  readonly damage: Failure | undefined
}

export interface ReplayOptions {
  readonly segments: readonly SegmentFile[]
  readonly version: string
  readonly watcher?: ReplayWatcher
}

/**
 * Each event enters a core with the recorded start at its recorded moment; all effects are compared
 * to the byte (DET1), until the first difference or damage.
 */
export function replay(options: ReplayOptions): Replay {
  const run = new ReplayRun(options)
  for (const segment of options.segments) if (!run.play(segment)) break
  return run.result()
}

interface ExpectedSegment {
  readonly run: string
  readonly number: number
  readonly steps: number
}

class ReplayRun {
  readonly #watcher: ReplayWatcher
  readonly #version: string
  readonly #runs = new Set<string>()
  readonly #remarks: string[] = []
  readonly #count = { files: 0, steps: 0, effects: 0, batches: 0, orders: 0 }
  #span: { from: number; to: number } | undefined
  #engine: Engine | undefined
  #reached: ExpectedSegment | undefined
  #difference: StepDifference | undefined
  #damage: Failure | undefined

  constructor({ watcher, version }: ReplayOptions) {
    this.#watcher = watcher ?? {}
    this.#version = version
  }

  result(): Replay {
    return {
      ...this.#count,
      runs: [...this.#runs],
      from: this.#span?.from,
      to: this.#span?.to,
      remarks: this.#remarks,
      difference: this.#difference,
      damage: this.#damage,
    }
  }

  play({ file }: SegmentFile): boolean {
    const segment = this.#open(file)
    if (!segment) return this.#damage === undefined
    this.#begin(file, segment)
    const steps = segment.steps()
    let step = steps.next()
    let number = segment.head.stepsBefore
    for (; step.done !== true && !this.#difference; step = steps.next())
      this.#step(file, (number += 1), step.value)
    if (this.#difference || step.done !== true) return false
    this.#end(file, segment, { number, ending: step.value })
    return this.#damage === undefined
  }

  /** A killed process may leave an empty last segment; any other empty one is damaged. */
  #open(file: string): OpenedSegment | undefined {
    try {
      return openSegment(file)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (this.#count.files === 0) throw error
      if (error.code === 'RECORDING_EMPTY')
        this.#remarks.push(`${file} holds nothing yet: the process was killed`)
      else this.#damage = error
      return undefined
    }
  }

  #begin(file: string, { head, image }: OpenedSegment): void {
    this.#count.files += 1
    this.#runs.add(head.run)
    if (head.version !== this.#version) {
      this.#remarks.push(`${file} was written by version ${head.version}; this is ${this.#version}`)
    }
    if (this.#engine && this.#goesOn(head)) return this.#compareCore(file, head, image)
    const core = parseCore(image)
    this.#engine = resumeEngine(core)
    this.#watcher.onBegin?.(core)
  }

  #goesOn({ run, number, stepsBefore }: OpenedSegment['head']): boolean {
    const reached = this.#reached
    return reached?.run === run && reached.number + 1 === number && reached.steps === stepsBefore
  }

  #compareCore(
    file: string,
    { stepsBefore, startedAt }: OpenedSegment['head'],
    expected: string,
  ): void {
    const actual = this.#engine?.write()
    if (actual === expected) return
    const place = { file, step: stepsBefore, at: startedAt, event: undefined, effect: 1 }
    this.#difference = { ...place, counts: [1, 1], expected, actual }
  }

  #step(file: string, step: number, texts: StepTexts): void {
    const event = parseEvent(texts.event)
    const { effects, written } = this.#make(event, texts.at)
    const expected = texts.thrown === undefined ? texts.effects : [writeThrown(texts.thrown)]
    const index = firstDifference(expected, written)
    this.#note(texts.at, effects)
    if (index === undefined) return this.#watcher.onStep?.({ at: texts.at, event, effects })
    this.#difference = {
      file,
      step,
      at: texts.at,
      event: texts.event,
      effect: index + 1,
      counts: [expected.length, written.length],
      expected: expected[index],
      actual: written[index],
    }
  }

  #make(
    event: EngineEvent,
    at: number,
  ): { effects: readonly Effect[]; written: readonly string[] } {
    try {
      const effects = this.#engine?.step(event, at) ?? []
      return { effects, written: effects.map(writeEffect) }
    } catch (error) {
      return { effects: [], written: [writeThrown(messageOf(error))] }
    }
  }

  #note(at: number, effects: readonly Effect[]): void {
    const count = this.#count
    count.steps += 1
    count.effects += effects.length
    this.#span = { from: this.#span?.from ?? at, to: at }
    for (const effect of effects) {
      if (effect.kind !== 'sendBatch') continue
      count.batches += 1
      count.orders += effect.batch.clientOids.length
    }
  }

  #end(
    file: string,
    { head }: OpenedSegment,
    { number, ending }: { number: number; ending: SegmentEnding },
  ): void {
    this.#reached = { run: head.run, number: head.number, steps: number }
    if (ending.kind === 'damaged') this.#damage = ending.failure
    else if (ending.kind === 'cut') {
      this.#remarks.push(
        `${file} ends at byte ${ending.atByte} without its last line: the process was killed`,
      )
    } else if (ending.end.why === 'lost') {
      this.#remarks.push(`after ${file} steps were lost: the disk had not kept up`)
    }
  }
}

/** An error of the core is written as an effect, so that it is compared and shown. */
function writeThrown(reason: string): string {
  return JSON.stringify({ kind: 'thrown', reason })
}

function firstDifference(
  expected: readonly string[],
  actual: readonly string[],
): number | undefined {
  const length = Math.max(expected.length, actual.length)
  for (let index = 0; index < length; index++) if (expected[index] !== actual[index]) return index
  return undefined
}
