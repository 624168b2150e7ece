import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadAccounts } from '../../src/config/load-accounts.ts'
import { contractsOf, listInstruments } from '../../src/assembly/instruments/listed-instruments.ts'
import { type RunSummary } from '../../src/views/summary.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { startSimulator } from '../../src/simulator/start-simulator.ts'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** Two accounts of different products: the second one of contracts whose margin and profit are in their coin. */
const ACCOUNTS = {
  main: {
    product: 'USDT-FUTURES',
    coin: 'USDT',
    symbol: 'BTCUSDT',
    strategy: 'grid-btc',
    balance: '10000',
  },
  bob: {
    product: 'COIN-FUTURES',
    coin: 'ETH',
    symbol: 'ETHUSD',
    strategy: 'grid-eth',
    balance: '20',
  },
} as const
type Name = keyof typeof ACCOUNTS
const NAMES = ['main', 'bob'] as const
const OPTIONS = ['-c', 'config/main.yaml']

function writeAccounts(project: Project, baseUrl: string): void {
  const paper = project
    .read('config/paper.yaml')
    .replace(/^simulator:\n(?: .*\n)+/m, '')
    .replace('exchange:\n', `exchange:\n  baseUrl: ${baseUrl}\n`)
    .replace('execution:\n', 'execution:\n  acceptanceWindowMs: 1000\n')
    // A slow machine is no reason to stand still.
    .replace('dataAgeMaxMs: 5000', 'dataAgeMaxMs: 50000')
    // The tickers of two products, and calls left for who looks at it from outside.
    .replace('tickersMs: 100', 'tickersMs: 250')
  for (const name of NAMES) {
    const { product, coin, symbol, strategy } = ACCOUNTS[name]
    const shipped = name === 'main' ? 'BTCUSDT' : 'ETHUSDT'
    const own = paper
      .replace('USDT-FUTURES', product)
      .replace('name: paper', `name: ${name}`)
      .replace('marginCoin: USDT', `marginCoin: ${coin}${name === 'bob' ? '\n  keys: BOB' : ''}`)
      .replace('intentd/paper', `intentd/${name}`)
      .replace(/^instruments:\n(?: .*\n)+/m, (text) =>
        text
          .replace(shipped, symbol)
          .replace(name === 'main' ? /^ {2}ETHUSDT.*\n/m : /^ {2}BTCUSDT.*\n/m, ''),
      )
      .replace(/^strategies:\n(?: .*\n)+/m, `strategies: [strategies/${strategy}.yaml]\n`)
    project.write(`config/${name}.yaml`, name === 'main' ? `${own}accounts: [bob.yaml]\n` : own)
    project.edit(`config/strategies/${strategy}.yaml`, shipped, symbol)
  }
}

/** An exchange in this process, and the variables with the keys to both accounts. */
async function startExchange(project: Project) {
  writeAccounts(project, 'http://127.0.0.1:1')
  const { main, others } = loadAccounts({ file: 'config/main.yaml', cwd: project.directory })
  const listed = [main, ...others].flatMap(({ config }) =>
    listInstruments(contractsOf(config), systemClock.now()).slice(0, 1),
  )
  const simulator = await startSimulator({
    market: {
      kind: 'seeded',
      prices: { BTCUSDT: '60000', ETHUSD: '3000' },
      stepMs: 100,
      speed: 600,
    },
    seed: 1,
    instruments: listed,
    accounts: NAMES.map((label, index) => ({
      uid: String(index + 1),
      label,
      positionMode: 'one_way_mode',
      leverage: 10,
      balances: { [ACCOUNTS[label].coin]: ACCOUNTS[label].balance },
    })),
  })
  for (const name of NAMES)
    project.edit(`config/${name}.yaml`, 'http://127.0.0.1:1', simulator.baseUrl)
  const env = Object.fromEntries(
    simulator.accounts.flatMap(({ label, key, secret, passphrase }) => {
      const prefix = label === 'bob' ? 'INTENTD_BOB_API_' : 'INTENTD_API_'
      return [
        [`${prefix}KEY`, key],
        [`${prefix}SECRET`, secret],
        [`${prefix}PASSPHRASE`, passphrase],
      ]
    }),
  )
  return { simulator, env }
}

test('accounts of two products in one daemon: planned, reloaded, killed and shown by its main file', async () => {
  const project = projects.open()
  const { simulator, env } = await startExchange(project)
  const ask = async (...words: string[]) => {
    const verb = project.start([...words, ...OPTIONS], env)
    const { code } = await verb.ended
    const said = [...verb.stderr, ...verb.stdout].join('\n')
    return { code, out: verb.stdout.join('\n'), said }
  }
  const start = () => project.start(['run', ...OPTIONS, '--summary', 'json'], env)
  const fills = (run: ReturnType<typeof start>, name: Name) =>
    run.events('order.fill').filter(({ account }) => account === name).length
  try {
    const killed = start()
    await killed.until('fills of both', () => NAMES.every((name) => fills(killed, name) > 1))
    await killed.stop('SIGKILL')
    const run = start()
    await run.until('fills of both', () => NAMES.every((name) => fills(run, name) > 0))

    project.edit('config/strategies/grid-eth.yaml', 'levels: 8', 'levels: 6')
    const plan = await ask('plan')
    const reload = await ask('reload')
    const words = ['mode', '*', 'reducing', '--reason', 'a look', '-c', 'config/bob.yaml']
    const limit = await project.start(words, env).ended
    const status = await ask('status')
    const doctor = await ask('doctor')
    simulator.pause()
    const stopped = await run.stop()

    expect(plan).toMatchObject({
      code: 0,
      out: '== main\nnothing would change\n\n== bob\n~ grid-eth.params.levels: 8 -> 6',
    })
    expect(reload).toMatchObject({
      code: 0,
      said: `${plan.out}\ndone: it runs with the new configuration`,
    })
    expect(status.out).toMatch(/^== main\n[^]*\n== bob\n/)
    // What is to be typed names the file of the account that it is about.
    expect(limit).toMatchObject({ code: 0 })
    expect(status.out.replaceAll(/\s+/g, ' ')).toMatch(
      /intentd release -c \S+config\/bob\.yaml '\*' --reason/,
    )
    for (const name of NAMES)
      expect(doctor.out).toMatch(new RegExp(`^ok +${name}: key accepted`, 'm'))
    expect(stopped).toEqual({ code: 0, signal: null })
    const summaries = run.stdout
      .filter((line) => line.startsWith('{"name"'))
      .map((line) => JSON.parse(line) as RunSummary & { name: Name })
    expect(summaries.map(({ name, clean }) => [name, clean])).toEqual([
      ['main', true],
      ['bob', true],
    ])
    for (const [index, { name, allRuns, strategies }] of summaries.entries()) {
      const { coins, positions, counts } = simulator.ledger(String(index + 1))
      const { coin, strategy } = ACCOUNTS[name]
      expect(coins.map((row) => row.marginCoin)).toEqual([coin])
      expect([allRuns.fills, allRuns.fees, allRuns.realisedProfit]).toEqual([
        counts.fills,
        coins[0]?.fees,
        coins[0]?.realisedProfit,
      ])
      expect(allRuns.positions).toEqual(
        Object.fromEntries(
          positions.map(({ symbol, holdSide, size }) => [`${symbol} ${holdSide}`, size]),
        ),
      )
      expect(strategies[strategy]?.positions).toEqual(allRuns.positions)
    }
  } finally {
    await simulator.stop()
  }
})

test('an account whose keys are missing or wrong is off, `status` says why and what ends it, and a reload with mended keys does', async () => {
  const project = projects.open()
  const { simulator, env } = await startExchange(project)
  const { INTENTD_BOB_API_KEY: key, INTENTD_BOB_API_PASSPHRASE: passphrase, ...others } = env
  const { INTENTD_BOB_API_SECRET: secret, ...mains } = others
  const writeKeys = (bobs: string | undefined) => {
    const lines = [`KEY=${key}`, `SECRET=${bobs}`, `PASSPHRASE=${passphrase}`]
    project.write('.env', lines.map((line) => `INTENTD_BOB_API_${line}\n`).join(''))
    chmodSync(join(project.directory, '.env'), 0o600)
  }
  const ask = async (...words: string[]) => {
    const verb = project.start(words, mains)
    const { code } = await verb.ended
    return { code, said: [...verb.stdout, ...verb.stderr].join(' ').replaceAll(/\s+/g, ' ') }
  }
  const ENDS = 'it is off until the daemon is reloaded or started again and finds that mended: '
  const MISSING =
    'CREDENTIALS_MISSING: keys of this account cannot be read: INTENTD_BOB_API_KEY, INTENTD_BOB'
  try {
    const run = project.start(['run', ...OPTIONS, '--summary', 'text'], mains)
    expect(await run.untilEvent('account.off')).toMatchObject({
      account: 'bob',
      reason: expect.stringContaining('INTENTD_BOB_API_KEY') as string,
    })
    await run.untilEvent('order.accepted')
    expect(await ask('status', '-c', 'config/bob.yaml')).toMatchObject({
      code: 75,
      said: expect.stringContaining(`${ENDS}${MISSING}`) as string,
    })

    writeKeys('another')
    expect(await ask('reload', ...OPTIONS)).toMatchObject({
      code: 1,
      said: expect.stringContaining('still off, status says why: bob') as string,
    })
    expect(run.events('account.refused')).toMatchObject([{ account: 'bob' }])
    expect(await ask('status', ...OPTIONS)).toMatchObject({
      code: 0,
      said: expect.stringContaining(`! ${ENDS}CREDENTIALS_REFUSED`) as string,
    })

    writeKeys(secret)
    expect(await ask('reload', ...OPTIONS)).toMatchObject({
      code: 0,
      said: expect.stringContaining('done: every account is on') as string,
    })
    await run.until('an order of the account that was off', () =>
      run.events('order.accepted').some(({ account }) => account === 'bob'),
    )

    // Without -c, the one daemon that runs in this folder is meant, with all its accounts.
    const kill = await ask('kill')
    expect(kill.said).toMatch(/kills the one daemon of this folder that does, bob, main \(pid/)
    for (const name of NAMES)
      expect(existsSync(join(project.directory, `.intentd/${name}/KILL`))).toBe(true)
    expect(kill.code).toBe(0)
    expect((await run.stop()).code).toBe(0)
  } finally {
    await simulator.stop()
  }
})
