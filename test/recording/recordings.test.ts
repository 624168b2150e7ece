import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  findSegments,
  nameRun,
  pruneSegments,
  segmentFile,
} from '../../src/recording/recordings.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recordings-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

const [EARLY, LATE] = [
  nameRun(Date.UTC(2026, 0, 2, 3, 4, 5, 6)),
  nameRun(Date.UTC(2026, 0, 2, 3, 4, 5, 7)),
]

function fill(run: string, number: number): string {
  const file = segmentFile(folder, run, number)
  writeFileSync(file, Buffer.alloc(100))
  return basename(file)
}

test('runs are listed in their order, each with its segments in theirs, and nothing else', () => {
  const names = [fill(LATE, 1), fill(EARLY, 10), fill(EARLY, 2)]
  writeFileSync(join(folder, 'notes.txt'), '')

  const listed = findSegments(folder)

  expect(listed.map(({ file }) => basename(file))).toEqual(names.toReversed())
  expect(listed.map(({ run, number }) => [run, number])).toEqual([
    ['20260102T030405006Z', 2],
    ['20260102T030405006Z', 10],
    ['20260102T030405007Z', 1],
  ])
})

test('the oldest go when there are too many bytes', () => {
  const [first, second] = [fill(EARLY, 1), fill(EARLY, 2)]
  const third = fill(LATE, 1)

  expect(pruneSegments(folder, 250)).toEqual([first])
  expect(pruneSegments(folder, 250)).toEqual([])
  expect(pruneSegments(folder, 0)).toEqual([second, third])
})

test('a path that holds no recording is refused with what would make one', () => {
  expect(() => findSegments(folder)).toThrow(/RECORDING_MISSING[^]*record: true/)
  expect(() => findSegments(join(folder, 'none'))).toThrow(/RECORDING_MISSING/)
})
