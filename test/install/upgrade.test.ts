import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { gunzipSync } from 'node:zlib'
import { loadConfig } from '../../src/config/load-config.ts'
import { openDaemon } from '../../src/daemon/open-daemon.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { systemTimers } from '../../src/lib/timers.ts'

const RELEASED = join(import.meta.dirname, 'released')
const MINUTE_MS = 60_000

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

interface Left {
  readonly world: string
  readonly at: number
  readonly openOrders: number
  readonly fills: number
  readonly positions: Readonly<Record<string, string>>
}

/** What a release left, unpacked. */
function unpack(version: string): Left & { readonly directory: string } {
  const place = join(RELEASED, version)
  const directory = mkdtempSync(join(tmpdir(), 'upgrade-'))
  opened.push(() => rmSync(directory, { recursive: true }))
  const left = JSON.parse(readFileSync(join(place, 'left.json'), 'utf8')) as Left
  mkdirSync(join(directory, left.world), { mode: 0o700 })
  for (const file of readdirSync(place).filter((name) => name.endsWith('.gz'))) {
    const bytes = gunzipSync(readFileSync(join(place, file)))
    writeFileSync(join(directory, left.world, file.slice(0, -'.gz'.length)), bytes, { mode: 0o600 })
  }
  return { ...left, directory }
}

/** A minute later, whenever the test runs. */
function clockFrom(at: number): Clock {
  const offset = at + MINUTE_MS - systemClock.now()
  return { now: () => systemClock.now() + offset, monotonic: () => systemClock.monotonic() }
}

test.each(readdirSync(RELEASED))(
  '[ORD5] what %s left is taken over: every order and position, and it trades on',
  async (version) => {
    const { directory, at, openOrders, fills, positions } = unpack(version)
    const loaded = loadConfig({
      file: join(RELEASED, version, 'config.yaml'),
      overrides: [`state.directory=${directory}`, 'onStop=leave', 'execution.acceptanceWindowMs=1000'],
      cwd: directory,
    })
    const lines: { event: string; fields: Readonly<Record<string, unknown>> }[] = []
    const { daemon } = await openDaemon({
      ...{ loaded, credentials: undefined, market: { files: [], speed: undefined }, version: 'next' },
      ...{ clock: clockFrom(at), timers: systemTimers },
      logger: {
        ...{ isTerminal: false, descriptor: 1, hide: () => undefined, listen: () => undefined },
        ...{ setLevel: () => undefined },
        log: (level, event, fields = {}) => lines.push({ event: `${level} ${event}`, fields }),
      },
    })

    await daemon.start()
    const ending = daemon.ended()
    await vi.waitFor(() => expect(daemon.accounts[0]?.shown.statistics.money.fills ?? 0).toBeGreaterThan(0), {
      timeout: 60_000,
      interval: 50,
    })
    daemon.stop('leave')
    const { summaries, fatals } = await ending

    const started = lines.find(({ event }) => event === 'info recovery.started')?.fields
    const held = Object.fromEntries(
      Object.entries(positions).map(([name, size]) => {
        const [symbol = '', side] = name.split(' ')
        return [symbol, side === 'short' ? `-${size}` : size]
      }),
    )
    expect([started?.['positions'], started?.['unknownOrders']]).toEqual([held, 0])
    // A fill may not have been read any more.
    expect(Number(started?.['openOrders'])).toBeGreaterThanOrEqual(openOrders)
    expect(fatals).toEqual([])
    const [summary] = summaries
    expect(summary?.exchange).toMatchObject({ differences: [] })
    expect(summary?.exchange?.fills).toBeGreaterThan(fills)
    const troubles = lines.filter(({ event }) => /^(?:warn|error|fatal) (?!strategy\.slow)/.test(event))
    expect(troubles.map(({ event }) => event)).toEqual([])
  },
)
