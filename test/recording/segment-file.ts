import { SegmentWriter } from '../../src/recording/segment-writer.ts'
import { openSegment, type SegmentEnding } from '../../src/recording/segment-reader.ts'
import {
  FORMAT,
  type SegmentHead,
  type StepTexts,
  writeEnd,
  writeStep,
} from '../../src/recording/segment.ts'

export const HEAD: SegmentHead = {
  format: FORMAT,
  version: '1.0.0',
  run: '20261121T000000000Z',
  number: 1,
  stepsBefore: 0,
  startedAt: 1_000,
}

export const IMAGE = '{"core":"as it was"}'

export function madeStep(at: number): StepTexts {
  return {
    at,
    event: `{"kind":"timePassed","at":${at}}`,
    effects: [`{"kind":"announce","at":${at}}`, '{}'],
  }
}

/** Writes the lines, each in a block of its own. */
export async function writeLines(file: string, lines: readonly string[]): Promise<void> {
  const errors: unknown[] = []
  const writer = new SegmentWriter({ file, onError: (error) => errors.push(error) })
  for (const line of lines) writer.write(`${line}\n`)
  await writer.close()
  if (errors.length > 0) throw errors[0]
}

/** A whole segment of so many steps, as a daemon that ended in good order leaves it. */
export async function writeSegment(file: string, steps: number): Promise<readonly StepTexts[]> {
  const made = Array.from({ length: steps }, (_, index) => madeStep(index + 1))
  await writeLines(file, [
    JSON.stringify(HEAD),
    IMAGE,
    ...made.map(writeStep),
    writeEnd({ why: 'closed', steps }),
  ])
  return made
}

export interface ReadBack {
  readonly steps: readonly StepTexts[]
  readonly ending: SegmentEnding
}

export function readSegment(file: string): ReadBack {
  const reading = openSegment(file).steps()
  const steps: StepTexts[] = []
  let step = reading.next()
  for (; step.done !== true; step = reading.next()) steps.push(step.value)
  return { steps, ending: step.value }
}
