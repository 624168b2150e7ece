import { z } from 'zod'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'

export const FORMAT = 7

/**
 * The first line of a segment. The second is the core before the first step. Then comes a line for
 * each step: when (Unix ms, our clock), the event, and each effect, separated by tabs; if a step
 * broke the core, the reason after an exclamation mark replaces the effects. The last line says why
 * there is no more.
 */
export const segmentHeadSchema = z.object({
  format: z.number(),
  version: z.string(),
  run: z.string(),
  number: z.int(),
  stepsBefore: z.int(),
  startedAt: z.number(),
  /** An absolute path; absent in older segments. */
  configFile: z.string().optional(),
  /** `--set` and `--param` as typed; absent in older segments. */
  given: z
    .object({
      set: z.array(z.string()).readonly(),
      params: z.array(z.string()).readonly(),
      /** Instruments whose prices came from files of `--market`. */
      recorded: z.array(z.string()).readonly().optional(),
    })
    .optional(),
})

export type SegmentHead = z.infer<typeof segmentHeadSchema>

/** `lost`: more steps came than could be written, and the next segment begins later. */
export const segmentEndSchema = z.object({
  why: z.enum(['closed', 'rotated', 'lost']),
  steps: z.int(),
})

export type SegmentEnd = z.infer<typeof segmentEndSchema>

/** Texts are compared byte by byte, and parsed only on demand. */
export interface StepTexts {
  /** Unix ms, our clock. */
  readonly at: number
  readonly event: string
  readonly effects: readonly string[]
  readonly thrown?: string
}

const END = 'end'

/** JSON text contains no raw tab or line break. */
export function writeStep({ at, event, effects, thrown }: StepTexts): string {
  const done = thrown === undefined ? effects : [`!${JSON.stringify(thrown)}`]
  return [String(at), event, ...done].join('\t')
}

export function writeEnd(end: SegmentEnd): string {
  return `${END}\t${JSON.stringify(end)}`
}

/**
 * @throws SyntaxError or ZodError for a line that neither {@link writeStep} nor {@link writeEnd}
 * wrote.
 */
export function parseLine(line: string): StepTexts | SegmentEnd {
  const [first = '', second = '', ...rest] = line.split('\t')
  if (first === END) return segmentEndSchema.parse(parseBoundedJson(second))
  const at = Number(first)
  if (!Number.isFinite(at) || first === '' || second === '')
    throw new SyntaxError('a line that is no step')
  const thrown =
    rest[0]?.startsWith('!') === true ? String(parseBoundedJson(rest[0].slice(1))) : undefined
  return {
    at,
    event: second,
    effects: thrown === undefined ? rest : [],
    ...(thrown === undefined ? {} : { thrown }),
  }
}
