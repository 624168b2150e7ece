import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Failure } from '../../src/lib/failure.ts'
import { createRandom } from '../../src/lib/random.ts'
import { openSegment } from '../../src/recording/segment-reader.ts'
import { SegmentWriter } from '../../src/recording/segment-writer.ts'
import { FORMAT, type StepTexts, writeStep } from '../../src/recording/segment.ts'
import { HEAD, IMAGE, madeStep, readSegment, writeLines, writeSegment } from './segment-file.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recording-'))
  file = join(folder, 'one.rec')
})

afterEach(() => rmSync(folder, { recursive: true }))

describe('a segment', () => {
  test('gives back what was written, and says that it ended in good order', async () => {
    const steps = await writeSegment(file, 5)

    expect(openSegment(file)).toMatchObject({ head: HEAD, image: IMAGE })
    expect(readSegment(file)).toEqual({
      steps,
      ending: { kind: 'ended', end: { why: 'closed', steps: 5 } },
    })
  })

  test('keeps a step that broke the core, with its reason', async () => {
    const broken: StepTexts = {
      at: 1,
      event: '{"kind":"started"}',
      effects: [],
      thrown: 'no\tprice\nfor "X"',
    }
    await writeLines(file, [JSON.stringify(HEAD), IMAGE, writeStep(broken)])

    expect(readSegment(file).steps).toEqual([broken])
  })

  test('is its owner’s alone, and never written over', async () => {
    await writeSegment(file, 1)

    await expect(writeSegment(file, 1)).rejects.toThrow(/EEXIST/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('that cannot be written says so once, and goes on saying that nothing waits', async () => {
    const errors: unknown[] = []
    const writer = new SegmentWriter({
      file: join(folder, 'no', 'one.rec'),
      onError: (error) => errors.push(error),
    })
    writer.write('one\n')
    writer.write('two\n')

    await writer.close()

    expect(errors).toHaveLength(1)
    expect(writer.waitingCharacters).toBe(0)
  })
})

/** What a reader makes of these bytes: how many steps it gave, and how it ended. */
function judge(bytes: Buffer, steps: readonly StepTexts[]): { count: number; how: string } {
  const copy = join(folder, 'copy.rec')
  writeFileSync(copy, bytes)
  try {
    const read = readSegment(copy)
    expect(read.steps).toEqual(steps.slice(0, read.steps.length))
    return { count: read.steps.length, how: read.ending.kind }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { count: 0, how: error.code }
  }
}

describe('a segment that is not as it was written', () => {
  test('cut off anywhere, reads to its last whole block, and is never taken for ended', async () => {
    const steps = await writeSegment(file, 6)
    const bytes = readFileSync(file)

    const judged = Array.from({ length: bytes.length }, (_, length) =>
      judge(bytes.subarray(0, length), steps),
    )

    expect(new Set(judged.map(({ how }) => how))).toEqual(new Set(['RECORDING_EMPTY', 'cut']))
    expect(judged.map(({ count }) => count)).toEqual(
      judged.map(({ count }) => count).toSorted((a, b) => a - b),
    )
    expect(judged.at(-1)).toEqual({ count: 6, how: 'cut' })
  })

  test('with any one byte changed, is refused from there on', async () => {
    const steps = await writeSegment(file, 4)
    const bytes = readFileSync(file)
    const random = createRandom('flips')

    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.integer(8))
      const { how } = judge(flipped, steps)

      expect(`byte ${at}: ${how}`).toMatch(
        /: (?:damaged|RECORDING_DAMAGED|RECORDING_NO_RECORDING)$/,
      )
    }
  })

  test('with rubbish behind a whole block, gives what is whole and names the byte', async () => {
    await writeLines(file, [JSON.stringify(HEAD), IMAGE, writeStep(madeStep(1))])
    const whole = readFileSync(file)
    const random = createRandom('rubbish')
    writeFileSync(
      file,
      Buffer.concat([whole, Buffer.from(Array.from({ length: 99 }, () => random.integer(256)))]),
    )

    const { steps, ending } = readSegment(file)

    expect(steps).toHaveLength(1)
    expect(ending.kind).toBe('damaged')
    expect(ending.kind === 'damaged' && ending.failure.facts).toMatchObject({
      file,
      byte: whole.length,
    })
  })

  test('with a block taken out, is refused from there on', async () => {
    const steps = await writeSegment(file, 3)
    const bytes = readFileSync(file)
    const lengthOf = (at: number): number => 16 + bytes.readUInt32LE(at)
    const third = 9 + lengthOf(9) + lengthOf(9 + lengthOf(9))
    const without = Buffer.concat([
      bytes.subarray(0, third),
      bytes.subarray(third + lengthOf(third)),
    ])

    expect(judge(without, steps)).toEqual({ count: 0, how: 'damaged' })
  })

  test('is refused when it is something else, or of another format', async () => {
    writeFileSync(file, 'SQLite format 3')
    expect(() => openSegment(file)).toThrow(/RECORDING_NO_RECORDING/)

    const { run, ...rest } = HEAD
    for (const head of [
      { ...HEAD, format: FORMAT + 1 },
      { ...rest, format: 2, life: run },
    ]) {
      const other = join(folder, `format-${head.format}.rec`)
      await writeLines(other, [JSON.stringify(head), IMAGE])
      expect(() => openSegment(other)).toThrow(
        /RECORDING_FORMAT_UNKNOWN[^]*replay it with the version that wrote it/,
      )
    }
  })
})
