import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { sampleOf } from '../../src/cli/call/call-samples.ts'
import { ExchangeClock } from '../../src/exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../src/exchange/exchange-client.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Secret } from '../../src/lib/secret.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { type BookAddress } from '../../src/simulator/spot/address-book.ts'
import { Projects, writeRecording } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** An account as `--print-accounts` tells it. */
interface Printed {
  readonly label: string
  readonly key: string
  readonly secret: string
  readonly passphrase: string
  readonly positionMode: 'one_way_mode' | 'hedge_mode'
  readonly role: string
  readonly uid: string
  readonly withdrawalAddresses: readonly BookAddress[]
  readonly gateway?: { readonly key: string; readonly secret: string }
}

/** Calls the exchange as one of its accounts, as any client would. */
async function callAs<Result>(
  { key, secret, passphrase, positionMode, gateway }: Printed,
  baseUrl: string,
  act: (client: ExchangeClient) => Promise<Result>,
  unlocked: 'createVirtualSubaccounts' | 'spotWithdrawal' = 'createVirtualSubaccounts',
): Promise<Result> {
  const client = new ExchangeClient({
    baseUrl,
    credentials: {
      apiKey: new Secret(key),
      secret: new Secret(secret),
      passphrase: new Secret(passphrase),
    },
    gatewayCredentials: gateway && {
      apiKey: new Secret(gateway.key),
      secret: new Secret(gateway.secret),
    },
    platformCoin: 'ours',
    positionMode,
    unlocked,
    clock: systemClock,
    timers: systemTimers,
    offset: new ExchangeClock(),
    requestTimeoutMs: 5e3,
    answerBytesMax: 8388608,
    locale: 'en-US',
  })
  try {
    return await act(client)
  } finally {
    await client.close()
  }
}

test.concurrent('the exchange alone answers, says so, and stops in good order', async () => {
  const run = projects.open().start(['simulate', '--port', '0', '--log-level', 'debug'])
  const listening = await run.untilEvent('simulator.listening')

  const tickers = await fetch(
    `${String(listening['url'])}/api/v2/mix/market/tickers?productType=USDT-FUTURES`,
  )
  const answer = (await tickers.json()) as { code: string; data: { symbol: string }[] }
  const refused = await fetch(`${String(listening['url'])}/api/v2/mix/nothing`)
  await refused.text()
  await run.untilEvent('simulator.requestRefused')
  const ending = await run.stop()

  expect(answer.code).toBe('00000')
  expect(answer.data.map(({ symbol }) => symbol)).toEqual(
    expect.arrayContaining(['BTCUSDT', 'ETHUSDT']),
  )
  expect(run.events('simulator.requestRefused')[0]).toMatchObject({ level: 'debug' })
  expect(ending).toEqual({ code: 0, signal: null })
  expect(run.events('simulator.stopped')[0]).toMatchObject({ why: 'SIGTERM', tooManyRequests: 0 })
})

test.concurrent('accounts are the same at every start, other ones with another seed', async () => {
  const project = projects.open()
  const args = ['simulate', '--port', '0', '--print-accounts', '--for', '1ms']
  const runs = [args, args, [...args, '--set', 'seed=2']].map((each) => project.start(each))
  const lines = project.start([...args, '--env', 'bob'])

  const endings = await Promise.all(runs.map(({ ended }) => ended))
  await lines.ended

  const [first, again, other] = runs.map(({ stdout }) => JSON.parse(stdout.join('')) as Printed[])
  expect(endings.map(({ code }) => code)).toEqual([0, 0, 0])
  expect(first).toEqual(again)
  expect(first?.map(({ label, positionMode, role }) => [label, positionMode, role])).toEqual([
    ['alice', 'one_way_mode', 'ordinary'],
    ['bob', 'hedge_mode', 'ordinary'],
    ['cara', 'one_way_mode', 'copyTrader'],
    ['dave', 'one_way_mode', 'ordinary'],
  ])
  const [alice, bob] = first ?? []
  expect(lines.stdout).toEqual([
    `INTENTD_API_KEY=${bob?.key}`,
    `INTENTD_API_SECRET=${bob?.secret}`,
    `INTENTD_API_PASSPHRASE=${bob?.passphrase}`,
  ])
  expect(Object.keys(bob ?? {}).toSorted()).toEqual(
    [
      'key',
      'label',
      'passphrase',
      'positionMode',
      'role',
      'secret',
      'uid',
      'email',
      'mobile',
      'areaCode',
      'withdrawalAddresses',
    ].toSorted(),
  )
  expect(Object.keys(alice?.gateway ?? {}).toSorted()).toEqual(['key', 'secret'])
  expect(other?.[0]?.gateway?.secret).not.toBe(alice?.gateway?.secret)
  expect(other?.[0]?.secret).not.toBe(alice?.secret)
})

test.concurrent('a recording is played, and a port that is taken is said to be', async () => {
  const project = projects.open()
  const recording = writeRecording(project, 20)
  const first = project.start(['simulate', '--port', '0', '--market', recording])
  const { url, madeUp } = await first.untilEvent('simulator.listening')

  const tickers = await fetch(`${String(url)}/api/v2/mix/market/tickers?productType=USDT-FUTURES`)
  const { data } = (await tickers.json()) as { data: { symbol: string; lastPr: string }[] }
  const second = project.start(['simulate', '--port', new URL(String(url)).port])
  const { code } = await second.ended
  await first.stop()

  const last = Number(data.find(({ symbol }) => symbol === 'BTCUSDT')?.lastPr)
  expect(Math.abs(last / 60_000 - 1)).toBeLessThan(0.02)
  expect(madeUp).toEqual(expect.arrayContaining(['ETHUSDT', 'BTCUSD']))
  expect(code).toBe(75)
  expect(second.stderr.join('\n')).toMatch(/SIMULATOR_LISTEN_FAILED[^]*--port/)
})

/** A read as no client of ours would send it. @returns The code of the answer. */
async function read(
  { key, secret, passphrase }: Printed,
  baseUrl: string,
  path: string,
): Promise<string> {
  const now = Date.now()
  const sign = createHmac('sha256', secret).update(`${now}GET${path}`).digest('base64')
  const headers = {
    'ACCESS-KEY': key,
    'ACCESS-PASSPHRASE': passphrase,
    'ACCESS-TIMESTAMP': String(now),
    'ACCESS-SIGN': sign,
    locale: 'en-US',
    'content-type': 'application/json',
  }
  const answer = (await (await fetch(baseUrl + path, { headers })).json()) as {
    readonly code: string
  }
  return answer.code
}

test.concurrent('a limit above the maximum is refused, or cut where the settings say so', async () => {
  const path = '/api/v2/mix/order/fills?limit=101&productType=USDT-FUTURES'
  const codes = ['refuse', 'cut'].map(async (choice) => {
    const set = ['--set', `readings.limitAboveMaximum=${choice}`]
    const run = projects.open().start(['simulate', '--port', '0', '--print-accounts', ...set])
    const { url } = await run.untilEvent('simulator.listening')
    const [alice] = JSON.parse(run.stdout[0] ?? '') as Printed[]
    const code = alice && (await read(alice, String(url), path))
    await run.stop()
    return code
  })

  expect(await Promise.all(codes)).toEqual(['40053', '00000'])
})

test.concurrent('each kind of account is what the file says, over the wire', async () => {
  const args = [
    '--print-accounts',
    '--set',
    'services.platformCoin.name=OURS',
    '--set',
    'limits.gatewayCalls=1',
  ]
  const run = projects.open().start(['simulate', '--port', '0', ...args])
  const { url, gatewayUrl } = await run.untilEvent('simulator.listening')
  const [alice, , cara, dave] = JSON.parse(run.stdout[0] ?? '') as Printed[]
  if (!alice || !cara || !dave) throw new Error('accounts are missing')
  const alias = { subAccountList: ['abcdefgh'] }
  const ping = { query: { a: '1', b: '2' }, body: {} }

  const [bound, unbound, trader, ordinary, records, past, denied] = await Promise.all([
    callAs(alice, String(url), (client) => client.call('createVirtualSubaccounts', alias)),
    callAs(dave, String(url), (client) => client.call('createVirtualSubaccounts', alias)),
    callAs(cara, String(url), (client) => client.call('copyOrderTotalDetail', {})),
    callAs(alice, String(url), (client) => client.call('copyOrderTotalDetail', {})),
    callAs(alice, String(url), (client) => client.call('convertRecords', {})),
    callAs(alice, String(gatewayUrl), (client) => client.call('gatewayTest', ping)),
    callAs(dave, String(gatewayUrl), (client) => client.call('gatewayTest', ping)),
  ])
  const many = Array.from({ length: 20 }, () => ping)
  const more = await callAs(alice, String(gatewayUrl), (client) =>
    Promise.all(many.map((each) => client.call('gatewayTest', each))),
  )
  await run.stop()

  expect([bound, trader, records, past].map(({ kind }) => kind)).toEqual(Array(4).fill('accepted'))
  expect([unbound, ordinary].map(({ kind }) => kind)).toEqual(['refused', 'refused'])
  expect(denied).toMatchObject({ kind: 'refused', status: 403 })
  // One call a second: of twenty in a row not all are let through, however slow the machine is.
  expect(more).toContainEqual(expect.objectContaining({ kind: 'refused', status: 429 }))
  expect(run.events('simulator.listening')).toHaveLength(1)
})

test.concurrent('a withdrawal to each address that is listed with the accounts succeeds', async () => {
  const run = projects
    .open()
    .start(['simulate', '--port', '0', '--print-accounts', '--set', 'seed=9'])
  const { url } = await run.untilEvent('simulator.listening')
  const accounts = JSON.parse(run.stdout[0] ?? '') as Printed[]
  const [alice] = accounts
  if (!alice) throw new Error('accounts are missing')

  const outcomes = await callAs(
    alice,
    String(url),
    async (client) => {
      const answers = []
      for (const { tag: _none, ...to } of alice.withdrawalAddresses) {
        const size = to.coin === 'USDT' ? '20' : '0.02'
        answers.push(await client.call('spotWithdrawal', { transferType: 'on_chain', size, ...to }))
      }
      return answers
    },
    'spotWithdrawal',
  )
  await run.stop()

  expect(outcomes.map(({ kind }) => kind)).toEqual(Array(4).fill('accepted'))
  const { coin, chain, address } = sampleOf('spotWithdrawal').options
  expect(alice.withdrawalAddresses).toContainEqual({
    coin,
    chain: chain?.toUpperCase(),
    address,
    tag: '',
  })
  expect(accounts.every(({ withdrawalAddresses }) => withdrawalAddresses.length === 4)).toBe(true)
})

test.concurrent.each([
  [['--set', 'speed=0'], /^--set speed: expected a number from 0\.01 to 10000, got 0$/m],
  [
    ['--set', 'idempotency=never'],
    /^--set idempotency: expected "replay", "duplicateError" or "pendingOnly"/m,
  ],
  [
    ['-c', 'mine.yaml'],
    /^mine\.yaml:1:7 port: expected a whole number from 0 to 65535, got "abc"$/m,
  ],
])(
  'a wrong setting %j is printed with its place and what it may be, and how to go on',
  async (args, printed) => {
    const project = projects.open()
    project.write('mine.yaml', 'port: abc\n')

    const run = project.start(['simulate', ...args])
    const { code } = await run.ended

    expect(code).toBe(78)
    expect(run.stderr.join('\n')).toMatch(printed)
    // `intentd check` reads the daemon's configuration, and would find nothing wrong.
    const again = args[0] === '-c' ? 'intentd simulate -c mine.yaml' : 'intentd simulate'
    expect(run.stderr.at(-1)).toMatch(
      new RegExp(`nothing was started\\. Start again with: ${again}$`),
    )
  },
)

test.concurrent('settings that a state keeps from its first start are named, and other ticks are refused', async () => {
  const project = projects.open()
  const state = ['simulate', '--port', '0', '--for', '1ms', '--state', 'exchange.sqlite']
  const runWith = async (...set: readonly string[]) => {
    const run = project.start([...state, ...set.flatMap((one) => ['--set', one])])
    const { code } = await run.ended
    return { run, code }
  }

  const { run: first } = await runWith()
  const { run: same } = await runWith(
    'makerFeeRate=0.0001',
    'instruments.BTCUSDT.tickSize="0.10"',
    'accounts.0.startingBalance="10000.00"',
  )
  const { run: other } = await runWith(
    'accounts.0.startingBalance=5',
    'market.startPrices.BTCUSDT=1000',
    'demoPast=false',
    'services.spot.platformOpening=7',
  )
  const refused = await runWith('instruments.BTCUSDT.tickSize=10')

  expect([first, same].flatMap((run) => run.events('simulator.settingsKept'))).toEqual([])
  expect(other.events('simulator.settingsKept')).toMatchObject([
    {
      level: 'warn',
      settings: [
        'startingBalance of alice: 10000 USDT, configured: 5 USDT',
        'market.startPrices.BTCUSDT: 60000, configured: 1000',
        'services.spot.platformOpening: 400, configured: 7',
        'demoPast: true, configured: false',
      ],
    },
  ])
  expect(refused.code).toBe(78)
  expect(refused.run.stderr.join('\n')).toMatch(
    /SIMULATOR_GRIDS_CHANGED[^]*BTCUSDT[^]*tickSize 0.1[^]*tickSize 10/,
  )
})

test.concurrent('a file that is no state of the simulator is named as what it is, and left alone', async () => {
  const project = projects.open()
  const text = 'no database at all '.repeat(100)
  project.write('notes.txt', text)
  const database = new DatabaseSync(join(project.directory, 'shop.sqlite'))
  database.exec('CREATE TABLE orders (number INTEGER)')
  database.close()
  const before = readFileSync(join(project.directory, 'shop.sqlite'))

  const runs = ['notes.txt', 'shop.sqlite', 'config'].map((file) =>
    project.start(['simulate', '--port', '0', '--state', file]),
  )
  const endings = await Promise.all(runs.map(({ ended }) => ended))

  expect(endings.map(({ code }) => code)).toEqual([65, 65, 65])
  const [notes, shop, directory] = runs.map(({ stderr }) => stderr.join('\n'))
  expect(notes).toMatch(/SIMULATOR_STORE_FOREIGN[^]*no SQLite database[^]*name another file/)
  expect(shop).toMatch(/SIMULATOR_STORE_FOREIGN[^]*another program, with a table orders/)
  expect(directory).toMatch(
    /SIMULATOR_STORE_FOREIGN[^]*found +a directory\n +hint +name a file in it, such as config\/exchange\.sqlite/,
  )
  expect(readFileSync(join(project.directory, 'notes.txt'), 'utf8')).toBe(text)
  expect(readFileSync(join(project.directory, 'shop.sqlite'))).toEqual(before)
})

test.concurrent('a state whose folder is not there, or is a file, is said to be, and is not tried again', async () => {
  const project = projects.open()
  const runs = ['no/such/file.sqlite', 'config/paper.yaml/file.sqlite'].map((file) =>
    project.start(['simulate', '--port', '0', '--state', file]),
  )
  const endings = await Promise.all(runs.map(({ ended }) => ended))

  expect(endings.map(({ code }) => code)).toEqual([66, 66])
  const [missing, file] = runs.map(({ stderr }) => stderr.join('\n'))
  expect(missing).toMatch(/SIMULATOR_STORE_FOLDER[^]*hint +make the directory no\/such first/)
  expect(file).toMatch(
    /SIMULATOR_STORE_FOLDER[^]*found +config\/paper\.yaml is a file\n +hint +name a file in a/,
  )
})

test.concurrent('a damaged state is said to be, and is not tried again', async () => {
  const project = projects.open()
  const first = project.start([
    'simulate',
    '--port',
    '0',
    '--state',
    'kept.sqlite',
    '--for',
    '300ms',
  ])
  expect((await first.ended).code).toBe(0)
  const file = join(project.directory, 'kept.sqlite')
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0xff, 4096))
  const run = project.start(['simulate', '--port', '0', '--state', 'kept.sqlite'])

  expect((await run.ended).code).toBe(65)
  expect(run.stderr.join('\n')).toMatch(
    /SIMULATOR_STORE_CORRUPT[^]*hint +remove it to start afresh/,
  )
})

test.concurrent('without a file in sight the shipped settings are used, at any speed', async () => {
  const project = projects.open()
  project.write('elsewhere/notes.txt', 'nothing to see')
  const run = project.startIn('elsewhere', [
    'simulate',
    '--port',
    '0',
    '--speed',
    '50',
    '--for',
    '300ms',
  ])
  const listening = await run.untilEvent('simulator.listening')
  const { code } = await run.ended

  expect(listening).toMatchObject({ accounts: ['alice', 'bob', 'cara', 'dave'], speed: 50 })
  expect(code).toBe(0)
  expect(run.events('simulator.stopped')[0]).toMatchObject({ why: '--for has passed' })
})
