import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { loadAccounts } from '../../src/config/load-accounts.ts'
import { type LoadedConfig } from '../../src/config/load-config.ts'
import { ControlClient } from '../../src/control/control-client.ts'
import { type StatusView } from '../../src/control/views.ts'
import { CONTROL_SOCKET } from '../../src/assembly/state/state-place.ts'
import { listInstruments } from '../../src/assembly/instruments/listed-instruments.ts'
import { openDaemon } from '../../src/daemon/open-daemon.ts'
import { splitPair } from '../../src/engine/book/book.ts'
import { exitOfAll } from '../../src/cli/process/exit-codes.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Secret } from '../../src/lib/secret.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { type RunningSimulator, startSimulator } from '../../src/simulator/start-simulator.ts'

const ROOT = join(import.meta.dirname, '../..')
const NAMES = ['main', ...Array.from({ length: 9 }, (_, index) => `a${index + 2}`)]
/** Its secret is another's. */
const WRONG = 'a3'
/** It may lose a tenth of a cent a day. */
const LIMITED = 'a5'
/** Its journal is none. */
const UNREADABLE = 'a7'
const OFF: readonly string[] = [WRONG, UNREADABLE]
/** It leaves its orders when it is stopped; the others cancel theirs. */
const LEAVING = 'a9'
/** Those that listen at a port. */
const SHOWN = ['main', WRONG, LIMITED]

const WAIT = { timeout: 240_000, interval: 50 }
const opened: (() => unknown)[] = []

afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

/** A main file an account, and the first lists the others. */
function writeFiles(baseUrl: string): LoadedConfig[] {
  const place = mkdtempSync(join(tmpdir(), 'ten-'))
  opened.push(() => rmSync(place, { recursive: true }))
  const paper = readFileSync(join(ROOT, 'config/paper.yaml'), 'utf8')
    .replace(/^simulator:\n(?: .*\n)+/m, '')
    .replace(
      /^strategies:\n(?: .*\n)+/m,
      `strategies: [${join(ROOT, 'config/strategies/grid-btc.yaml')}]\n`,
    )
    .replace('exchange:\n', `exchange:\n  baseUrl: ${baseUrl}\n`)
    .replace('execution:\n', 'execution:\n  acceptanceWindowMs: 1000\n')
    // A slow machine is no reason to stand still.
    .replace('tickersMs: 100', 'tickersMs: 250')
    .replace('fillsMs: 200', 'fillsMs: 1000')
    .replace('positionsMs: 1000', 'positionsMs: 10000')
    .replace('dataAgeMaxMs: 5000', 'dataAgeMaxMs: 50000')
  for (const name of NAMES) {
    const own = paper
      .replace('name: paper', `name: ${name}`)
      .replace('directory: ../.intentd/paper', `directory: state/${name}`)
      .replace('onStop: leave', `onStop: ${name === LEAVING ? 'leave' : 'cancel'}`)
      .replace('port: 8790', SHOWN.includes(name) ? 'port: 0' : 'readOnly: false')
      .replace(
        'account:\n',
        name === 'main' ? 'account:\n' : `account:\n  keys: ${name.toUpperCase()}\n`,
      )
      .replace('daily: "2000"', `daily: "${name === LIMITED ? '0.001' : '2000'}"`)
    const list =
      name === 'main'
        ? `accounts: [${NAMES.slice(1)
            .map((one) => `${one}.yaml`)
            .join(', ')}]\n`
        : ''
    writeFileSync(join(place, `${name}.yaml`), `${own}${list}`)
  }
  const { main, others } = loadAccounts({ file: join(place, 'main.yaml'), cwd: place })
  return [main, ...others]
}

function startExchange(): Promise<RunningSimulator> {
  const { main } = loadAccounts({ file: 'config/paper.yaml', cwd: ROOT })
  const { account, instruments } = main.config
  return startSimulator({
    market: {
      kind: 'seeded',
      prices: { BTCUSDT: '60000', ETHUSDT: '3000' },
      stepMs: 100,
      speed: 600,
    },
    seed: 1,
    instruments: listInstruments(
      { productTypes: [account.productType], instruments },
      systemClock.now(),
    ),
    accounts: NAMES.map((label, index) => ({
      uid: String(index + 1),
      label,
      positionMode: 'one_way_mode',
      leverage: 10,
      balances: { USDT: '10000' },
    })),
  })
}

test('ten accounts trade in one daemon: a wrong key, a lost journal and a loss limit concern one each', async () => {
  const simulator = await startExchange()
  opened.push(() => simulator.stop())
  const lines: { event: string; fields: Readonly<Record<string, unknown>> }[] = []
  const count = (account: string, event: string) =>
    lines.filter((line) => line.event === event && line.fields['account'] === account).length
  const given = writeFiles(simulator.baseUrl).map((loaded) => {
    const { name, state } = loaded.config
    const keys = simulator.accounts.find(({ label }) => label === name)
    if (!keys) throw new Error(`no account ${name}`)
    if (name === UNREADABLE) {
      mkdirSync(state.directory, { recursive: true })
      writeFileSync(join(state.directory, 'journal.sqlite'), 'no journal '.repeat(1000))
    }
    const credentials = {
      apiKey: new Secret(keys.key),
      apiSecret: new Secret(name === WRONG ? 'another' : keys.secret),
      passphrase: new Secret(keys.passphrase),
    }
    return { loaded, credentials }
  })
  const [main, ...others] = given
  if (!main) throw new Error('no main file')

  const { daemon } = await openDaemon({
    ...main,
    others,
    market: {
      files: [],
      speed: undefined,
    },
    version: '0',
    clock: systemClock,
    timers: systemTimers,
    logger: {
      isTerminal: false,
      descriptor: 1,
      hide: () => undefined,
      listen: () => undefined,
      setLevel: () => undefined,
      log: (_, event, fields = {}) =>
        lines.push({
          event,
          fields,
        }),
    },
  })
  expect(await daemon.start()).toBe(true)
  const ending = daemon.ended()
  opened.push(async () => {
    daemon.stop('leave')
    await ending
  })
  await vi.waitFor(() => expect(count(LIMITED, 'trading.reducing')).toBeGreaterThan(0), WAIT)
  const sent = new Map(NAMES.map((name) => [name, count(name, 'order.sent')]))
  await vi.waitFor(() => {
    for (const name of NAMES.filter((one) => one !== LIMITED && !OFF.includes(one))) {
      expect(count(name, 'order.fill')).toBeGreaterThan(1)
      expect(count(name, 'order.sent')).toBeGreaterThan(sent.get(name) ?? 0)
    }
  }, WAIT)
  const read = async (name: string, path: string) => {
    const { loaded } = given.find((one) => one.loaded.config.name === name) ?? main
    const client = new ControlClient(join(loaded.config.state.directory, CONTROL_SOCKET))
    const reply = await client.read(path)
    await client.close()
    return reply
  }
  const status = await read(WRONG, '/v1/status')
  const limited = await read(LIMITED, '/v1/status')
  const ask = async (name: string, path: string) => {
    const { url, token } =
      lines.find(({ event, fields }) => event === 'control.listening' && fields['account'] === name)
        ?.fields ?? {}
    const authorization = `Bearer ${readFileSync(String(token), 'utf8').trim()}`
    const answer = await fetch(`${String(url)}${path}`, { headers: { authorization } })
    return { code: answer.status, text: await answer.text() }
  }
  const ready = await Promise.all(SHOWN.map((name) => ask(name, '/readyz?verbose')))
  const metrics = await Promise.all(SHOWN.map((name) => ask(name, '/metrics')))
  const obstacle = daemon.obstacle()
  // One of them leaves its orders, and the market would fill them.
  const leaving = simulator.accounts.find(({ label }) => label === LEAVING)?.uid ?? ''
  await vi.waitFor(() => expect(simulator.ledger(leaving).openOrders).not.toEqual([]), WAIT)
  simulator.pause()
  daemon.stop()
  const { fatals, isBroken } = await ending
  opened.pop()

  // Each account's own ledger: what its strategies hold by their fills is what the exchange says, to the lot.
  const held = daemon.accounts.map(({ shown: { config, book } }) => {
    const lots = [...book.holdings].reduce(
      (sum, [pair, { longLots, shortLots }]) =>
        splitPair(pair)[1] === 'BTCUSDT' ? sum + longLots - shortLots : sum,
      0,
    )
    return [config.name, lots]
  })
  const ledgers = daemon.accounts.map(({ shown: { config } }) => {
    const { uid = '' } = simulator.accounts.find(({ label }) => label === config.name) ?? {}
    const { positions, openOrders } = simulator.ledger(uid)
    expect([config.name, openOrders.length > 0]).toEqual([config.name, config.name === LEAVING])
    const size = positions.reduce(
      (sum, { holdSide, size: own }) => sum + (holdSide === 'long' ? 1 : -1) * Number(own),
      0,
    )
    return [config.name, Math.round(size * 1000)]
  })
  expect(held).toEqual(ledgers)
  expect(count(WRONG, 'account.refused')).toBe(1)
  expect(lines.find(({ event }) => event === 'account.refused')?.fields['reason']).toContain(
    'INTENTD_A3_API_SECRET',
  )
  expect(OFF.map((name) => count(name, 'order.sent'))).toEqual([0, 0])
  expect(lines.filter(({ event }) => event === 'account.off')).toMatchObject([
    { fields: { account: UNREADABLE } },
  ])
  // So no heartbeat goes to whoever watches.
  expect(obstacle).toContain(`${UNREADABLE} is off: JOURNAL_`)
  expect(status).toMatchObject({
    kind: 'answered',
    status: 200,
    body: { off: [{ name: UNREADABLE }] },
  })
  const shown = status.kind === 'answered' ? (status.body as StatusView).accounts : []
  expect(shown.map(({ name, isTrading }) => [name, isTrading])).toEqual([[WRONG, false]])
  expect(shown[0]?.hindrances.join(' ')).toContain('CREDENTIALS_REFUSED')
  const summaries = daemon.accounts.map((account) => account.summary())
  expect(summaries.flatMap(({ fault }) => fault ?? [])).toEqual([
    expect.stringContaining('CREDENTIALS_REFUSED'),
  ])
  expect(limited).toMatchObject({
    body: {
      accounts: [{ name: LIMITED, mode: 'reducing', restrictions: [{ code: 'dailyLoss' }] }],
    },
  })
  expect(ready).toMatchObject([
    { code: 200, text: expect.stringContaining('[+] mode: trading\n') as string },
    {
      code: 503,
      text: expect.stringContaining('[-] running: off: CREDENTIALS_REFUSED\n[+] journal') as string,
    },
    { code: 200, text: expect.stringContaining('[+] mode: reducing: dailyLoss\n') as string },
  ])
  expect(metrics.map(({ code }) => code)).toEqual([200, 200, 200])
  const measured = (line: string) => metrics.map(({ text }) => text.split('\n').includes(line))
  expect(measured('intentd_ready 1')).toEqual([true, false, true])
  expect(measured('intentd_ready 0')).toEqual([false, true, false])
  expect(measured('intentd_restrictions{code="dailyLoss"} 1')).toEqual([false, false, true])
  // A key that is wrong stays wrong; for the journal a supervisor starts the daemon again.
  expect([exitOfAll(fatals), isBroken]).toEqual([70, false])
  expect(daemon.accounts.map((account) => account.summary().rateLimited)).toEqual(Array(9).fill(0))
  // Prices are read once for all of them.
  const { requests } = simulator.counters()
  const snapshots = daemon.accounts.map((account) => account.summary().snapshots)
  expect(Math.max(...snapshots)).toBeLessThanOrEqual(requests.tickers)
  expect(requests.tickers).toBeLessThan(Math.max(...snapshots) * 2)
})
