import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { Account } from '../../src/daemon/account/account.ts'
import { toEngineSettings, toInstruments } from '../../src/assembly/settings/engine-settings.ts'
import { createCalls } from '../../src/assembly/account/exchange-calls.ts'
import { readKillState, throwKillSwitch } from '../../src/assembly/state/kill-switch.ts'
import { Daemon } from '../../src/daemon/daemon.ts'
import { readLedger } from '../../src/daemon/embedded/embedded-exchange.ts'
import { contractsOf, listInstruments } from '../../src/assembly/instruments/listed-instruments.ts'
import { MarketData } from '../../src/daemon/market-data/market-data.ts'
import { journalPlaceOf } from '../../src/assembly/state/state-place.ts'
import { loadStrategies, openRunners } from '../../src/assembly/strategies/strategies.ts'
import { rebuildBook } from '../../src/engine/book/book-rows.ts'
import { TrustedClock } from '../../src/exchange/clock/exchange-clock.ts'
import { JournalReader } from '../../src/journal/journal-reader.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Secret } from '../../src/lib/secret.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { type RunningSimulator, startSimulator } from '../../src/simulator/start-simulator.ts'

const TRADERS = { alice: ['grid-btc', 'grid-eth'], bob: ['grid-btc', 'trend-eth'] }
type Trader = keyof typeof TRADERS

interface Line {
  readonly trader: string
  readonly level: string
  readonly event: string
  readonly fields: Readonly<Record<string, unknown>>
}

const opened: (() => unknown)[] = []

afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

const WAIT = { timeout: 240_000, interval: 25 }

function readConfig(directory: string) {
  const overrides = [
    `state.directory=${directory}`,
    'execution.acceptanceWindowMs=1000',
    // What nobody wants any more goes at once, so that a market that stands still is followed soon.
    'execution.unwantedMsMax=0',
    'onStop=cancel',
  ]
  return loadConfig({
    file: 'config/paper.yaml',
    overrides,
    cwd: join(import.meta.dirname, '../..'),
  })
}

/** An exchange in this process, on which both have an account. */
async function startExchange(): Promise<RunningSimulator> {
  const { config } = readConfig('nowhere')
  const simulator = await startSimulator({
    market: {
      kind: 'seeded',
      prices: { BTCUSDT: '60000', ETHUSDT: '3000' },
      stepMs: 100,
      speed: 600,
    },
    seed: 1,
    instruments: listInstruments(contractsOf(config), systemClock.now()),
    accounts: Object.keys(TRADERS).map((label, index) => ({
      uid: String(index + 1),
      label,
      positionMode: 'one_way_mode',
      leverage: 10,
      balances: { USDT: '10000' },
    })),
  })
  opened.push(() => simulator.stop())
  return simulator
}

function createPlace(): string {
  const place = mkdtempSync(join(tmpdir(), 'accounts-'))
  opened.push(() => rmSync(place, { recursive: true }))
  return place
}

/** Both accounts in one daemon, each with a journal, keys and strategies of its own. */
async function openTwo(simulator: RunningSimulator, place = createPlace()) {
  const trusted = new TrustedClock(systemClock)
  const { config, documents } = readConfig(place)
  const lines: Line[] = []
  const loggerOf = (trader: string) => ({
    isTerminal: false,
    log: (level: string, event: string, fields = {}) =>
      lines.push({ trader, level, event, fields }),
    hide: () => undefined,
    listen: () => undefined,
    setLevel: () => undefined,
    descriptor: 1 as const,
  })
  const common = { isEmbedded: false, trusted, timers: systemTimers }
  const calls = createCalls({ ...common, config, access: simulator, logger: loggerOf('market') })
  const { productType } = config.account
  const products = [{ productType, symbols: Object.keys(config.instruments) }]
  const marketData = new MarketData({
    ...common,
    ...calls,
    config,
    feeds: [],
    products,
    logger: loggerOf('market'),
  })
  const market = marketData.of(productType)
  const open = async (name: Trader) => {
    const directory = join(place, name)
    const own = {
      ...config,
      state: { ...config.state, directory },
      strategies: config.strategies.filter(({ id }) => TRADERS[name].includes(id)),
    }
    const strategies = await loadStrategies(own, documents, toInstruments(own))
    const journal = openSqliteJournal({ ...journalPlaceOf(own, directory), keepSince: () => 0 })
    const keys = simulator.accounts.find(({ label }) => label === name)
    if (!keys) throw new Error(`no account for ${name}`)
    const { uid, key, secret, passphrase } = keys
    const credentials = {
      apiKey: new Secret(key),
      secret: new Secret(secret),
      passphrase: new Secret(passphrase),
    }
    const access = { baseUrl: simulator.baseUrl, credentials }
    const logger = loggerOf(name)
    const book = rebuildBook(journal.load(), own.account.positionMode)
    const runners = await openRunners(strategies, {
      states: book.strategyStates,
      clock: trusted.clock,
      timers: systemTimers,
      logger,
    })
    const account = new Account({
      ...common,
      config: own,
      strategies,
      runners,
      journal,
      directory,
      access,
      market,
      logger,
      settings: toEngineSettings(own, {
        salt: journal.salt,
        version: '0',
        embedded: false,
        shown: new Map(),
      }),
      book,
      calls: createCalls({
        ...common,
        config: own,
        access,
        address: marketData.limiter,
        logger,
      }),
      ledger: () => readLedger(simulator, uid, 'USDT'),
      onClosed: () => undefined,
      accounts: 10,
    })
    const count = (event: string) =>
      lines.filter((line) => line.trader === name && line.event === event).length
    const resting = () =>
      simulator
        .ledger(uid)
        .openOrders.map(({ orderId }) => orderId)
        .toSorted()
    return { account, directory, journal: journalPlaceOf(own, directory).file, count, resting }
  }
  const [alice, bob] = [await open('alice'), await open('bob')]
  const daemon = new Daemon({
    market: marketData,
    accounts: [alice.account, bob.account],
    embedded: undefined,
  })
  return { daemon, market, alice, bob, lines }
}

function tradeIdsIn(file: string): readonly string[] {
  const reader = new JournalReader(file)
  const records = Array.from(reader.records({ kinds: ['fills'] }), ({ record }) => record)
  reader.close()
  return records.flatMap((record) =>
    record.kind === 'fills' ? record.fills.map(({ tradeId }) => tradeId) : [],
  )
}

test('two accounts trade on one market, and neither touches what is the other’s', async () => {
  const simulator = await startExchange()
  const { daemon, market, alice, bob, lines } = await openTwo(simulator)

  await daemon.start()
  await vi.waitFor(() => {
    for (const trader of [alice, bob]) expect(trader.count('order.fill')).toBeGreaterThan(3)
  }, WAIT)
  simulator.pause()
  // Still: since it changed last, fills and prices were read again and again, so no order of it is on its way and
  // nothing is left to react to. Time would prove nothing on a slow machine.
  const still = () => JSON.stringify([bob.resting(), bob.count('order.sent')])
  const readings = () => {
    const { orderFills, tickers } = simulator.counters().requests
    return { orderFills, tickers }
  }
  let [before, since] = [still(), readings()]
  await vi.waitFor(() => {
    if (still() !== before) [before, since] = [still(), readings()]
    expect(readings().orderFills).toBeGreaterThan(since.orderFills + 6)
    expect(readings().tickers).toBeGreaterThan(since.tickers + 4)
    expect(bob.resting()).not.toEqual([])
  }, WAIT)
  throwKillSwitch(alice.directory, { reason: 'a test', by: 'test' })
  await vi.waitFor(() => expect(readKillState(alice.directory)?.state).toBe('clean'), WAIT)
  const after = still()
  const [killedSent, bobSent] = [alice.count('order.sent'), bob.count('order.sent')]
  expect(alice.resting()).toEqual([])
  simulator.resume()
  await vi.waitFor(() => expect(bob.count('order.sent')).toBeGreaterThan(bobSent + 3), WAIT)
  simulator.pause()
  // Who is killed already stops at once, on what was read last: that must be of after the pause.
  // Two answers more, since the first may have been on its way, and prices come back to what they were.
  const snapshotsMin = () =>
    Math.min(...daemon.accounts.map((account) => account.summary().snapshots))
  const atPause = Math.max(...daemon.accounts.map((account) => account.summary().snapshots))
  await vi.waitFor(() => {
    expect(snapshotsMin()).toBeGreaterThan(atPause + 1)
    const differences = daemon.accounts.flatMap(
      (account) => account.summary().exchange?.differences ?? [],
    )
    expect(differences.filter((difference) => difference.startsWith('unrealisedProfit'))).toEqual(
      [],
    )
  }, WAIT)
  const snapshots = daemon.accounts.map((account) => account.summary().snapshots)
  daemon.stop('cancel')
  const { summaries, fatals } = await daemon.ended()

  expect(after).toBe(before)
  expect(alice.count('order.sent')).toBe(killedSent)
  expect(fatals).toEqual([])
  expect(summaries.map(({ exchange }) => exchange?.differences)).toEqual([[], []])
  expect(summaries).toMatchObject([
    { clean: true, rateLimited: 0, exchange: { openOrders: 0 } },
    { clean: true, rateLimited: 0, exchange: { openOrders: 0 } },
  ])
  // Not read.failed: on a slow machine a read may take too long, and is asked again.
  expect(
    lines.filter(({ event }) => /adopted|foreign|broken|strategy\.failed/.test(event)),
  ).toEqual([])
  const trades = [alice, bob].map(({ journal }) => tradeIdsIn(journal))
  expect(trades.map(({ length }) => length)).toEqual(summaries.map(({ thisRun }) => thisRun.fills))
  expect(new Set(trades.flat()).size).toBe(trades.flat().length)
  // Each is read once for both; the last ones for whoever comes to rest last.
  const { requests } = simulator.counters()
  expect(snapshots[0]).toBe(snapshots[1])
  expect(requests.tickers).toBeLessThanOrEqual(market.polls.polls + 3)
})

test('an account that breaks is off, and the other one trades on until it is stopped', async () => {
  const simulator = await startExchange()
  const { daemon, alice, bob } = await openTwo(simulator)
  await daemon.start()
  const ending = daemon.ended()
  await vi.waitFor(() => {
    for (const trader of [alice, bob]) expect(trader.count('order.accepted')).toBeGreaterThan(0)
  }, WAIT)

  alice.account.fail(new Error('a defect'))
  await vi.waitFor(() => expect(alice.count('retreat.ended')).toBe(1), WAIT)
  const sent = bob.count('order.sent')
  await vi.waitFor(() => expect(bob.count('order.sent')).toBeGreaterThan(sent), WAIT)
  // It hears no prices any more: they are stale after risk.dataAgeMaxMs.
  await vi.waitFor(() => expect(daemon.obstacle()).toBeDefined(), WAIT)
  simulator.pause()
  daemon.stop('cancel')
  const { summaries, fatals, isBroken } = await ending

  expect([fatals, isBroken]).toEqual([[new Error('a defect')], false])
  expect(summaries).toMatchObject([
    { clean: false },
    { clean: true, exchange: { openOrders: 0, differences: [] } },
  ])
  // What rests is cancelled as its onStop says, whatever broke.
  expect([alice.resting(), alice.count('retreat.ended')]).toEqual([[], 1])
  expect([alice.count('daemon.broken'), bob.count('daemon.broken')]).toEqual([1, 0])
})

test('a stop before the exchange answers ends both', async () => {
  const simulator = await startExchange()
  const { daemon } = await openTwo(simulator)

  const started = daemon.start()
  daemon.stop('leave')

  expect(await started).toBe(false)
  expect((await daemon.ended()).summaries).toMatchObject([
    { clean: true, ordersSent: 0 },
    { clean: true, ordersSent: 0 },
  ])
})

/** Both have traded, and a stop has left their orders. */
async function leaveOrders(simulator: RunningSimulator, place: string) {
  const { daemon, alice, bob } = await openTwo(simulator, place)
  await daemon.start()
  await vi.waitFor(() => {
    for (const trader of [alice, bob]) expect(trader.count('order.fill')).toBeGreaterThan(3)
  }, WAIT)
  simulator.pause()
  daemon.stop('leave')
  expect((await daemon.ended()).summaries).toMatchObject([{ clean: true }, { clean: true }])
  const held = [alice, bob].map(({ account }) => account.summary().allRuns.positions)
  return { held, resting: [alice.resting(), bob.resting()] }
}

test('[RSK3] a stop before the run has begun says what it left, and is clean only where its policy leaves it', async () => {
  const simulator = await startExchange()
  const place = createPlace()
  const { held, resting } = await leaveOrders(simulator, place)
  expect(resting.every(({ length }) => length > 0)).toBe(true)
  expect(held.some((positions) => Object.keys(positions).length > 0)).toBe(true)
  const stopEarly = async (policy: 'leave' | 'cancel' | 'flatten') => {
    const { daemon, alice, bob, lines } = await openTwo(simulator, place)
    const needsStart = daemon.hasToBegin(policy)
    daemon.stop(policy)
    daemon.stop(policy)
    const { summaries } = await daemon.ended()
    expect([alice.resting(), bob.resting()]).toEqual(resting)
    const stopped = lines.filter(({ event }) => event === 'daemon.stopped')
    expect(stopped.map(({ fields }) => fields['openOrders'])).toEqual(
      resting.map(({ length }) => length),
    )
    const levels = stopped.map(({ level }) => level)
    return { needsStart, levels, stopped, clean: summaries.map(({ clean }) => clean) }
  }

  const left = await stopEarly('leave')
  const cancelled = await stopEarly('cancel')
  const flattened = await stopEarly('flatten')

  expect(left).toMatchObject({ needsStart: false, levels: ['info', 'info'], clean: [true, true] })
  expect(cancelled).toMatchObject({
    needsStart: true,
    levels: ['error', 'error'],
    clean: [false, false],
  })
  expect(flattened).toMatchObject({ needsStart: true, levels: ['error', 'error'] })
  for (const { fields } of cancelled.stopped)
    expect(fields).toMatchObject({
      clean: false,
      policy: 'cancel',
      reason: 'the run had not begun, so nothing was cancelled',
    })
  expect(flattened.stopped.map(({ fields }) => Object.keys(fields['stillHeld'] ?? {}))).toEqual(
    held.map((positions) => Object.keys(positions).map((name) => name.split(' ')[0])),
  )

  throwKillSwitch(join(place, 'alice'), { reason: 'a test', by: 'test' })
  expect(await stopEarly('leave')).toMatchObject({
    needsStart: true,
    levels: ['error', 'info'],
    clean: [false, true],
  })
})
