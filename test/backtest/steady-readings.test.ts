import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { ReportedBacktest } from '../../src/backtest/reported-backtest.ts'
import { prepareBacktest } from '../../src/backtest/opening/prepare-backtest.ts'
import { type DueTask, VirtualTime } from '../../src/backtest/virtual-time.ts'
import { SteadyReading } from '../../src/backtest/virtual-wire.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { keepEvent, writeEffect, writeEvent } from '../../src/engine/replay/event-text.ts'
import { EndpointQueue } from '../../src/exchange/limiter/endpoint-queue.ts'
import { readAll } from './backtest-project.ts'
import { type PlayedLine, writeProject } from './library-project.ts'

/*
 * Where nothing goes wrong, one object carries all readings of a kind. The core must hear the same
 * at the same instants as from readings that are carried one by one, and every file and statistic
 * be the same.
 */

type Change = (text: string) => string

interface Played {
  /** Of each step: its instant, event and effects. */
  readonly steps: string
  readonly looks: number
  readonly report: string
  readonly files: Readonly<Record<string, string>>
}

const [STOP, WATCHED] = [
  'exits: { stop: { distance: 0.002 } }\nrisk:',
  '  liquidation: { warn: 0.9, reduce: 0.08, flatten: 0.04 }\n  losses: { daily: "40", drawdown: { warn: 0.0005, reducing: 0.05, flatten: 0.08 } }',
]

async function playBoth(line: PlayedLine, change: { main?: Change; own?: Change } = {}) {
  const { project, files } = writeProject(line)
  const { main = same, own = same } = change
  project.write('main.yaml', main(project.read('main.yaml')))
  project.write('scripted.yaml', own(project.read('scripted.yaml')))
  try {
    const play = async (isExact: boolean): Promise<Played> => {
      const loaded = loadConfig({ file: 'main.yaml', cwd: project.directory, overrides: [] })
      const request = { files, days: 1, seed: undefined, balance: undefined, version: 'test' }
      const prepared = await prepareBacktest(loaded, request)
      const out = join(project.directory, `out-${isExact}`)
      mkdirSync(out)
      const opened = prepared.optionsFor('default', out)
      const symbols = [...opened.backtest.settings.instruments.keys()]
      const hash = createHash('sha256')
      let looks = 0
      const run = new ReportedBacktest({
        ...opened,
        backtest: { ...opened.backtest, isExact },
        onStep({ at, event, effects }) {
          if (event.kind === 'snapshotTaken') looks += 1
          const said = effects.map(writeEffect).join('\n')
          hash.update(`${at} ${writeEvent(keepEvent(event, symbols))} ${said}\n`)
        },
      })
      while (run.runUntil(run.now + 3_600_000));
      const report = JSON.stringify(run.finish())
      return { steps: hash.digest('hex'), looks, report, files: readAll(out) }
    }
    return { exact: await play(true), steady: await play(false) }
  } finally {
    project.remove()
  }
}

const same: Change = (text) => text

const LINES: Readonly<Record<string, readonly [PlayedLine, Parameters<typeof playBoth>[1]?]>> = {
  'trend, two instruments': [{ strategy: 'trend', days: 0.3, pollMs: 15_000, instruments: 2 }],
  'trend, read before each look': [{ strategy: 'trend', days: 1, pollMs: 60_000, instruments: 1 }],
  grid: [{ strategy: 'grid', days: 0.15, pollMs: 15_000, instruments: 1 }],
  breakout: [{ strategy: 'breakout', days: 1, pollMs: 60_000, instruments: 1 }],
  'market maker': [{ strategy: 'market-maker', days: 0.1, pollMs: 15_000, instruments: 1 }],
  'trend, held to exits, losses and the distance to a liquidation': [
    { strategy: 'trend', days: 0.5, pollMs: 30_000, instruments: 1 },
    {
      own: (text) => text.replace('risk:', STOP),
      main: (text) => text.replace(/^ {2}liquidation: none/m, WATCHED),
    },
  ],
  'trend, each side held by itself': [
    { strategy: 'trend', days: 0.3, pollMs: 15_000, instruments: 1 },
    {
      main: (text) =>
        text
          .replace('one_way_mode', 'hedge_mode')
          .replace('marginMode: crossed', 'marginMode: isolated'),
    },
  ],
}

afterEach(() => vi.restoreAllMocks())

for (const [name, [line, change]] of Object.entries(LINES)) {
  test(`readings in one object and one by one are the same to the core: ${name}`, async () => {
    const { exact, steady } = await playBoth(line, change)
    expect(steady.looks).toBeGreaterThan(300)
    expect(exact.report).toContain('"fills"')
    expect(steady).toEqual(exact)
  })
}

const SHORT = { strategy: 'grid', days: 0.05, pollMs: 15_000, instruments: 1 } as const

type After = (this: VirtualTime, delayMs: number, due: DueTask) => void

test('a reading that is carried a millisecond too slowly is noticed', async () => {
  const after: After = Reflect.get(VirtualTime.prototype, 'after')
  vi.spyOn(VirtualTime.prototype, 'after').mockImplementation(function late(
    this: VirtualTime,
    delayMs,
    due,
  ) {
    return after.call(this, delayMs + (due instanceof SteadyReading ? 1 : 0), due)
  })
  const { exact, steady } = await playBoth(SHORT)
  expect(steady.steps).not.toBe(exact.steps)
})

test('a reading that the limiter does not count is noticed', async () => {
  vi.spyOn(EndpointQueue.prototype, 'takeAtOnce').mockImplementation(() => true)
  const { exact, steady } = await playBoth(SHORT)
  expect(steady.report).not.toBe(exact.report)
})
