import { readdirSync, statSync, unlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { messageOf } from '../lib/failure.ts'
import { recordingFailure } from './recording-failure.ts'

export interface SegmentFile {
  readonly file: string
  readonly run: string
  readonly number: number
}

const SEGMENT_NAME = /^(\d{8}T\d{9}Z)-(\d{5})\.rec$/

/** Names begin with the first instant of the run: `20261121T140628123Z`. */
export function nameRun(startedAt: number): string {
  return new Date(startedAt).toISOString().replace(/[-:.]/g, '')
}

export function segmentFile(directory: string, run: string, number: number): string {
  return join(directory, `${run}-${String(number).padStart(5, '0')}.rec`)
}

function listSegments(directory: string): readonly SegmentFile[] {
  return readNames(directory)
    .toSorted()
    .flatMap((name) => toSegmentFile(join(directory, name)) ?? [])
}

/**
 * A path is one segment, or a directory of segments.
 * @throws Failure RECORDING_MISSING, RECORDING_UNREADABLE
 */
export function findSegments(path: string): readonly SegmentFile[] {
  const found = statSync(path, { throwIfNoEntry: false })
  const segments = found?.isDirectory() === true ? listSegments(path) : []
  if (found?.isFile() === true) return [toSegmentFile(path) ?? { file: path, run: '', number: 0 }]
  if (segments.length > 0) return segments
  throw recordingFailure('RECORDING_MISSING', {
    facts: { path },
    hint: 'record: true in the configuration keeps one, in recordings/ of the state directory',
  })
}

export function pruneSegments(directory: string, bytesMax: number): readonly string[] {
  const segments = listSegments(directory).map(({ file }) => ({ file, bytes: bytesOf(file) }))
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  const removed: string[] = []
  for (const segment of segments) {
    if (bytes <= bytesMax) break
    unlinkSync(segment.file)
    bytes -= segment.bytes
    removed.push(basename(segment.file))
  }
  return removed
}

function toSegmentFile(file: string): SegmentFile | undefined {
  const match = SEGMENT_NAME.exec(basename(file))
  return match ? { file, run: match[1] ?? '', number: Number(match[2]) } : undefined
}

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function readNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw recordingFailure('RECORDING_UNREADABLE', {
      facts: { directory, found: messageOf(error) },
      cause: error,
    })
  }
}
