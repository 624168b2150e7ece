import { z } from 'zod'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'

/** What the lines of a segment mean; another number, another meaning. */
export const FORMAT = 5

/**
 * The first line of a segment. The second is the core as it was before the first step. Then a line a step: when
 * (Unix ms, our clock), the event, and each effect, between tabs; a step that broke the core has the reason behind
 * an exclamation mark in place of effects. The last line says why there is no more.
 */
export const segmentHeadSchema = z.object({
  format: z.number(),
  /** Of the intentd that wrote it. */
  version: z.string(),
  /** Names the run: its first instant. */
  run: z.string(),
  /** Counts the segments of the run from 1. */
  number: z.int(),
  /** Steps of this run before this segment. */
  stepsBefore: z.int(),
  /** Unix ms, our clock. */
  startedAt: z.number(),
  /** The main file of its configuration, absolute; absent in those of before. */
  configFile: z.string().optional(),
  /** `--set` and `--param` of the run, as they were given; absent in those of before. */
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

/**
 * `closed` the daemon ended · `rotated` the next segment goes on where this one ends · `lost` more came than could
 * be written: the next segment begins later.
 */
export const segmentEndSchema = z.object({
  why: z.enum(['closed', 'rotated', 'lost']),
  steps: z.int(),
})

export type SegmentEnd = z.infer<typeof segmentEndSchema>

/** One step of the core, as texts: compared to the byte, and parsed only where somebody looks. */
export interface StepTexts {
  /** Unix ms, our clock. */
  readonly at: number
  readonly event: string
  readonly effects: readonly string[]
  /** Why the core broke on it, where it did. */
  readonly thrown?: string
}

const END = 'end'

/** JSON holds no tab and no line break of its own, so both can stand between texts. */
export function writeStep({ at, event, effects, thrown }: StepTexts): string {
  const done = thrown === undefined ? effects : [`!${JSON.stringify(thrown)}`]
  return [String(at), event, ...done].join('\t')
}

export function writeEnd(end: SegmentEnd): string {
  return `${END}\t${JSON.stringify(end)}`
}

/** @throws SyntaxError or ZodError for a line that neither {@link writeStep} nor {@link writeEnd} has made. */
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
