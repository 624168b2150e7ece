import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import { type Failure, messageOf } from '../lib/failure.ts'
import { readBlock, SEGMENT_MAGIC, toDictionary } from './block.ts'
import { recordingFailure } from './recording-failure.ts'
import {
  FORMAT,
  parseLine,
  type SegmentEnd,
  type SegmentHead,
  segmentHeadSchema,
  type StepTexts,
} from './segment.ts'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'

export type SegmentEnding =
  | { readonly kind: 'ended'; readonly end: SegmentEnd }
  | { readonly kind: 'cut'; readonly atByte: number }
  | { readonly kind: 'damaged'; readonly failure: Failure }

export interface OpenedSegment {
  readonly head: SegmentHead
  /** Text of the core before the first step. */
  readonly image: string
  /** The generator returns why there are no more steps. */
  readonly steps: () => Generator<StepTexts, SegmentEnding>
}

/** @throws Failure RECORDING_… if the beginning is incomplete. */
export function openSegment(file: string): OpenedSegment {
  const bytes = load(file)
  const magic = bytes.subarray(0, SEGMENT_MAGIC.length)
  if (!magic.equals(SEGMENT_MAGIC.subarray(0, magic.length))) {
    throw recordingFailure('RECORDING_NO_RECORDING', { facts: { file } })
  }
  const lines = readLines(bytes, file)
  const head = parseHead(takeLine(lines, file), file)
  const image = takeLine(lines, file)
  return { head, image, steps: () => readSteps(lines) }
}

function load(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw recordingFailure('RECORDING_UNREADABLE', {
      facts: { file, found: messageOf(error) },
      cause: error,
    })
  }
}

type BrokenEnding = Exclude<SegmentEnding, { readonly kind: 'ended' }>
type SegmentLines = Generator<string, BrokenEnding>

/** A block holds whole lines, so a file is only cut off between two. */
function* readLines(bytes: Buffer, file: string): SegmentLines {
  let at = Math.min(SEGMENT_MAGIC.length, bytes.length)
  let content: Buffer = Buffer.alloc(0)
  for (let number = 0; ; number++) {
    const reading = readBlock(bytes, at, number)
    switch (reading.kind) {
      case 'block':
        content = zstdDecompressSync(reading.payload, toDictionary(content))
        yield* content.toString('utf8').split('\n').slice(0, -1)
        at = reading.nextAt
        break
      case 'damaged':
        return { kind: 'damaged', failure: damage(file, at, reading.found) }
      case 'end':
      case 'cut':
      default:
        return { kind: 'cut', atByte: at }
    }
  }
}

function damage(file: string, atByte: number, found: string): Failure {
  return recordingFailure('RECORDING_DAMAGED', { facts: { file, byte: atByte, found } })
}

function takeLine(lines: SegmentLines, file: string): string {
  const line = lines.next()
  if (line.done !== true) return line.value
  if (line.value.kind === 'damaged') throw line.value.failure
  throw recordingFailure('RECORDING_EMPTY', {
    facts: { file, byte: line.value.atByte },
    hint: 'the process ended just when it began this file, or the file was cut off',
  })
}

function parseHead(line: string, file: string): SegmentHead {
  const head: unknown = parseBoundedJson(line)
  const { format, version } = segmentHeadSchema.pick({ format: true, version: true }).parse(head)
  if (format === FORMAT) return segmentHeadSchema.parse(head)
  throw recordingFailure('RECORDING_FORMAT_UNKNOWN', {
    facts: { file, found: format, known: FORMAT, writtenBy: version },
    hint: 'replay it with the version that wrote it',
  })
}

function* readSteps(lines: SegmentLines): Generator<StepTexts, SegmentEnding> {
  for (;;) {
    const line = lines.next()
    if (line.done === true) return line.value
    const parsed = parseLine(line.value)
    if ('why' in parsed) return { kind: 'ended', end: parsed }
    yield parsed
  }
}
