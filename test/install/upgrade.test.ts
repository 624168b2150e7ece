import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { worldOf } from '../../src/assembly/simulator/simulator-world.ts'
import { openDaemon } from '../../src/daemon/open-daemon.ts'
import { migrateState } from '../../src/assembly/state/migrate-state.ts'
import { type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { RELEASED, restoreOnServer, unpackState, VERSIONS } from './released-state.ts'

const MINUTE_MS = 60_000
/** The price of a post-only order crosses the market. */
const POST_ONLY_WOULD_TAKE = '40816'

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

/** A minute later, whenever the test runs. */
function clockFrom(at: number): Clock {
  const offset = at + MINUTE_MS - systemClock.now()
  return { now: () => systemClock.now() + offset, monotonic: () => systemClock.monotonic() }
}

interface Place {
  /** Where its journal is; in the state directory when absent. */
  readonly server?: PostgresPlace | undefined
}

/** Trades on with what a release left, until a fill; everything is as it was left. */
async function tradeOn(
  version: string,
  state: ReturnType<typeof unpackState>,
  { server }: Place = {},
) {
  const { directory, at, openOrders, fills, positions } = state
  const { lines, start } = prepare(version, state, { server })
  const { daemon } = await start(clockFrom(at))

  await daemon.start()
  const ending = daemon.ended()
  await vi.waitFor(
    () => expect(daemon.accounts[0]?.shown.statistics.money.fills ?? 0).toBeGreaterThan(0),
    {
      timeout: 240_000,
      interval: 50,
    },
  )
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
  // The market of ten minutes a second moves between the last reading of a position and the exchange's ledger.
  const differences = summary?.exchange?.differences.filter(
    (one) => !one.startsWith('unrealisedProfit'),
  )
  expect(differences).toEqual([])
  expect(summary?.exchange?.fills).toBeGreaterThan(fills)
  // The test's own server is alone, and waits for no disk. Where the machine is slow, an order may be too old to leave,
  // and a post-only one may meet a market that has moved beyond its price.
  const troubles = lines.filter(
    ({ event, fields }) =>
      /^(?:warn|error|fatal) (?!strategy\.slow|order\.notSent|journal\.(?:not|nearly|late))/.test(
        event,
      ) && !(event === 'warn order.rejected' && fields['code'] === POST_ONLY_WOULD_TAKE),
  )
  expect(troubles).toEqual([])
  return { lines, directory }
}

function prepare(
  version: string,
  { directory }: Pick<ReturnType<typeof unpackState>, 'directory'>,
  { server }: Place,
) {
  const overrides = ['onStop=leave', 'execution.acceptanceWindowMs=1000', ...journalOf(server)]
  const loaded = loadConfig({
    file: join(RELEASED, version, 'config.yaml'),
    overrides: [`state.directory=${directory}`, ...overrides],
    cwd: directory,
  })
  const lines: { event: string; fields: Readonly<Record<string, unknown>> }[] = []
  const start = (clock: Clock) =>
    openDaemon({
      loaded,
      credentials: undefined,
      market: {
        files: [],
        speed: undefined,
      },
      version: 'next',
      clock,
      timers: systemTimers,
      logger: {
        isTerminal: false,
        descriptor: 1,
        hide: () => undefined,
        listen: () => undefined,
        setLevel: () => undefined,
        log: (level, event, fields = {}) =>
          lines.push({
            event: `${level} ${event}`,
            fields,
          }),
      },
    })
  return { config: loaded.config, lines, start }
}

function journalOf(server: PostgresPlace | undefined): readonly string[] {
  return server ? [`journal.url=${server.url}`, `journal.schema=${server.schema}`] : []
}

function unpack(version: string) {
  const state = unpackState(version)
  opened.push(() => rmSync(state.directory, { recursive: true }))
  return state
}

test.each(VERSIONS)('the world that %s left has the same name by its configuration', (version) => {
  const state = unpack(version)
  const { config } = prepare(version, state, {})

  const name =
    config.simulator && worldOf(config, config.simulator, { files: [], speed: undefined })

  expect(name).toBe(state.world)
})

test.each(VERSIONS)(
  '[ORD5] what %s left is taken over: every order and position, and it trades on',
  async (version) => {
    const { lines } = await tradeOn(version, unpack(version))

    expect(lines.filter(({ event }) => event === 'info journal.migrated')).toMatchObject([
      { fields: { to: 8, copy: expect.stringMatching(/journal\.sqlite\.layout-[567]$/) } },
    ])
  },
)

test.skipIf(postgresMissing).each(VERSIONS)(
  '[ORD5] what %s left on a server is refused until it is migrated, and then taken over in the same way',
  async (version) => {
    const state = unpack(version)
    const server = await restoreOnServer(version, await (await postgresServer()).newDatabase())
    // A machine that kept its journal on the server has none in a file.
    for (const part of ['', '.mark']) rmSync(`${state.journal}${part}`)
    const { config, start } = prepare(version, state, { server })
    await expect(start(clockFrom(state.at))).rejects.toThrow(
      /JOURNAL_LAYOUT_OLD[^]*intentd journal migrate/,
    )

    const directory = dirname(state.journal)
    const given = { config, directory, password: undefined, clock: systemClock }
    // On a server layouts 5 and 6 are the same.
    const from = Math.max(6, Number(/layout-(\d+)$/.exec(version)?.[1] ?? 0))
    const planned = await migrateState({ ...given, isDry: true })
    const migrated = await migrateState({ ...given, isDry: false })

    expect(planned).toMatchObject({
      kind: 'server',
      from,
      to: 8,
      copy: `intentd_paper_layout_${from}`,
    })
    expect(migrated).toEqual(planned)
    expect(await migrateState({ ...given, isDry: false })).toBeUndefined()
    await tradeOn(version, state, { server })
  },
)
