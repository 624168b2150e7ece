import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  FlightRecorder,
  type FlightRecorderOptions,
} from '../../src/daemon/recording/flight-recorder.ts'
import { replay } from '../../src/assembly/recordings/replay.ts'
import { type Engine } from '../../src/engine/engine.ts'
import { Secret } from '../../src/lib/secret.ts'
import { findSegments } from '../../src/recording/recordings.ts'
import { openSegment } from '../../src/recording/segment-reader.ts'
import { writeEnd, writeStep } from '../../src/recording/segment.ts'
import { EngineBench, SYMBOL } from '../engine/engine-bench.ts'
import { writeLines } from '../recording/segment-file.ts'
import { ManualTime } from '../support/manual-time.ts'
import { MOMENT_AT } from '../support/market-moment.ts'

const VERSION = '1.0.0'
const ROOM = { segmentBytesMax: 1_000_000, totalBytesMax: 1_000_000_000 }

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flight-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

/** A core whose every step is kept, and what the recorder says meanwhile. */
function record(change: Partial<FlightRecorderOptions> = {}) {
  const bench = new EngineBench()
  const { engine } = bench
  const time = new ManualTime(MOMENT_AT)
  const logged: string[] = []
  const recorder = new FlightRecorder({
    directory: join(folder, 'recordings'),
    settings: ROOM,
    engine,
    symbols: () => [SYMBOL],
    version: VERSION,
    secrets: [],
    clock: time,
    timers: time,
    logger: { log: (level, event) => logged.push(`${level} ${event}`) },
    ...change,
  })
  recorder.start()
  const recorded: Engine = Object.create(engine, {
    step: {
      value: (...[event, at]: Parameters<Engine['step']>) => {
        const effects = engine.step(event, at)
        recorder.keep({ at, event, effects })
        return effects
      },
    },
  })
  bench.engine = recorded
  return { bench, recorder, time, logged }
}

/** A ladder that is sent, accepted and half filled. */
function trade(bench: EngineBench): void {
  bench.start()
  bench.quote({ side: 'buy', ticks: 99_990, lots: 4 }, { side: 'sell', ticks: 100_010, lots: 4 })
  bench.accept(bench.grantBatch())
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills: [bench.fill({})], holding: { longLots: 4, shortLots: 0 } })
}

const replayAll = (directory = join(folder, 'recordings')) =>
  replay({ segments: findSegments(directory), version: VERSION })

describe('[DET1] a recording', () => {
  test('is made again with the same effects, to the byte', async () => {
    const { bench, recorder, logged } = record()
    trade(bench)
    await recorder.close()

    const done = replayAll()

    expect(done).toMatchObject({ files: 1, orders: 2, batches: 1, remarks: [] })
    expect([done.difference, done.damage]).toEqual([undefined, undefined])
    expect(done.steps).toBeGreaterThan(15)
    expect(logged).toEqual(['info recording.started'])
  })

  test('goes on over its files, each of which can be replayed alone', async () => {
    const flight = record({ settings: { ...ROOM, segmentBytesMax: 1500 } })
    trade(flight.bench)
    for (let round = 0; round < 12; round++) await passAndWrite(flight)
    await flight.recorder.close()

    const segments = findSegments(join(folder, 'recordings'))
    const whole = replayAll()
    const last = replay({ segments: segments.slice(-1), version: VERSION })

    expect(segments.length).toBeGreaterThan(2)
    expect(whole).toMatchObject({
      files: segments.length,
      remarks: [],
      difference: undefined,
      damage: undefined,
    })
    expect(last).toMatchObject({ files: 1, difference: undefined, damage: undefined })
    expect(last.steps).toBeLessThan(whole.steps)
  })

  test('removes its oldest files beyond the room that it has', async () => {
    const flight = record({ settings: { segmentBytesMax: 1500, totalBytesMax: 6000 } })
    trade(flight.bench)
    for (let round = 0; round < 16; round++) await passAndWrite(flight)
    await flight.recorder.close()

    const segments = findSegments(join(folder, 'recordings'))

    expect(segments[0]?.number).toBeGreaterThan(1)
    expect(replayAll()).toMatchObject({
      files: segments.length,
      difference: undefined,
      damage: undefined,
    })
  })

  test('shows the first effect that is another one, with its event', async () => {
    const { bench, recorder } = record()
    trade(bench)
    await recorder.close()
    const planted = await plantDifference('"kind":"fills"', '"kind":"gifts"')

    const { difference } = replayAll(planted.directory)

    expect(difference).toMatchObject({
      step: planted.step,
      counts: [planted.effects, planted.effects],
    })
    expect(difference?.event).toContain('"kind":"fillsRead"')
    expect(difference?.expected).toContain('gifts')
    expect(difference?.actual).toContain('"kind":"fills"')
  })

  test('of a core that broke breaks it again, for the same reason', async () => {
    const { bench, recorder } = record()
    bench.start()
    const reading = {
      symbol: 'NOSUCH',
      rows: [],
      isSilent: false,
      requestedAt: bench.now,
      exchangeTime: bench.now,
    }
    const event = { kind: 'positionRead', reading } as const
    expect(() => bench.step(event)).toThrow(/ENGINE_INSTRUMENT_UNKNOWN/)
    recorder.keep({ at: bench.now, event, effects: [], thrown: brokenBy(() => bench.step(event)) })
    await recorder.close()

    expect(replayAll().difference).toBeUndefined()
  })
})

describe('[SEC1] a secret', () => {
  test('is in no recording, whatever it came in by', async () => {
    const canary = 'canary"5f8c1'
    const { bench, recorder } = record({ secrets: [new Secret(canary)] })
    bench.start()
    bench.step({
      kind: 'readFailed',
      what: 'tickers',
      reason: `refused: the key ${canary} is not known`,
    })
    await recorder.close()

    const [segment] = findSegments(join(folder, 'recordings'))
    const texts = JSON.stringify([...openSegment(segment?.file ?? '').steps()])

    expect(texts).toContain('the key [hidden] is not known')
    expect(texts).not.toContain('5f8c1')
    expect(replayAll().difference).toBeUndefined()
  })
})

describe('the recorder never stands in the way', () => {
  test('a disk that refuses ends the recording with a warning, and nothing else', async () => {
    writeFileSync(join(folder, 'recordings'), 'a file where the directory should be')
    const { bench, recorder, logged } = record()

    trade(bench)
    await recorder.close()

    expect(logged).toEqual(['warn recording.ended'])
    expect(readFileSync(join(folder, 'recordings'), 'utf8')).toContain('a file')
  })

  test('what a slow disk cannot take is lost, said, and not claimed; a new file goes on after it', async () => {
    const { bench, recorder, time, logged } = record({ waitingCharactersMax: 20_000 })
    for (let step = 0; step < 2000; step++)
      bench.step({ kind: 'readFailed', what: 'x', reason: 'y'.repeat(500) })
    await time.pass(0)
    bench.step({ kind: 'timePassed' })
    await until(() => logged.includes('warn recording.resumed'))
    trade(bench)
    await recorder.close()

    const done = replayAll()

    expect(logged).toEqual([
      'info recording.started',
      'warn recording.lost',
      'warn recording.resumed',
      'info recording.started',
    ])
    expect(done).toMatchObject({ files: 2, difference: undefined, damage: undefined })
    expect(done.remarks).toEqual([expect.stringContaining('steps were lost')])
  })
})

/** Writes the recording anew with a text replaced, sums and all: as another core would have written it. */
async function plantDifference(from: string, to: string) {
  const [original] = findSegments(join(folder, 'recordings'))
  const { head, image, steps } = openSegment(original?.file ?? '')
  const all = [...steps()]
  const index = all.findIndex(({ effects }) => effects.some((text) => text.includes(from)))
  const found = all[index]
  if (!found) throw new Error(`nowhere in the recording: ${from}`)
  all[index] = { ...found, effects: found.effects.map((text) => text.replace(from, to)) }
  const directory = mkdtempSync(join(folder, 'planted-'))
  const end = writeEnd({ why: 'closed', steps: all.length })
  await writeLines(join(directory, `${head.run}-00001.rec`), [
    JSON.stringify(head),
    image,
    ...all.map(writeStep),
    end,
  ])
  return { directory, step: index + 1, effects: found.effects.length }
}

function brokenBy(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error.message
  }
  throw new Error('it did not break')
}

/** Other threads compress and write: looks again each turn, until the test's own limit. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

function bytesWritten(): number {
  const directory = join(folder, 'recordings')
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}

/** Time passes, and what it brings is on the disk before more does. */
async function passAndWrite({ bench, time }: ReturnType<typeof record>): Promise<void> {
  bench.pass(1000)
  const before = bytesWritten()
  await time.pass(1000)
  await until(() => bytesWritten() > before)
}
