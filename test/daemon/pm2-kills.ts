import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { newestJournal } from '../../src/cli/process/newest-journal.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { readStoredAccount } from '../../src/views/stored-account.ts'
import { type ShownAccount } from '../../src/views/shown-account.ts'
import { SIMULATED_UID } from '../../src/assembly/simulator/simulated-exchange.ts'
import { netLots } from '../../src/domain/position.ts'
import { accountHoldingOf } from '../../src/engine/book/book.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { decimal, sumDecimals } from '../../src/lib/decimal.ts'
import { formatOnGrid } from '../../src/lib/grid.ts'
import { type RunningSimulator, startSimulator } from '../../src/simulator/start-simulator.ts'
import { Pm2 } from './pm2.ts'
import { Project } from './project.ts'
import { writeRemote } from './remote-exchange.ts'

export interface KillsPlan {
  readonly times: number
  /** From when it is up again until the next kill, ms. */
  readonly everyMs: number
  /** Hears after each kill how long it took until it was up again, in ms. */
  readonly onKill?: (upAfterMs: number) => void
}

export interface KillsRun {
  readonly kills: number
  readonly fills: number
  readonly orders: number
  /** What the books say differently, each in a sentence. */
  readonly differences: readonly string[]
}

/** How much faster than real prices those are: so that each life of the daemon fills orders. */
const SPEED = 60
/** What was filled last is read by then, ms. */
const QUIET_MS = 3000
const LOOK_MS = 100

const ROOT = join(import.meta.dirname, '../..')

/**
 * The daemon under the real pm2, on an exchange that goes on while it is killed (SIGKILL) again and again. In the end
 * its books are held against the exchange's: fills, fees, profit, positions and what rests.
 */
export async function runPm2Kills({ times, everyMs, onKill }: KillsPlan): Promise<KillsRun> {
  const project = new Project()
  const exchange = await openExchange()
  const config = writeProject(project, exchange)
  const pm2 = new Pm2({ INTENTD_CONFIG: config, HOME: project.directory })
  try {
    await pm2.start(join(project.directory, 'kills.config.cjs'))
    for (let kills = 0; kills < times; kills++) {
      await sleep(everyMs)
      const killedAt = performance.now()
      await pm2.killOnce()
      onKill?.(performance.now() - killedAt)
    }
    await sleep(everyMs)
    // On a slow machine a short run may not have traded yet.
    while (exchange.ledger(SIMULATED_UID).counts.fills === 0) await sleep(LOOK_MS)
    exchange.pause()
    await sleep(QUIET_MS)
    await pm2.run('stop', 'intentd')
    const loaded = loadConfig({ file: config, cwd: project.directory }).config
    const account = readStoredAccount(loaded, newestJournal(loaded.state.directory), systemClock)
    const { fills, ordersAccepted } = exchange.ledger(SIMULATED_UID).counts
    const kills = pm2.endings().filter((ending) => ending.includes('SIGKILL')).length
    return { kills, fills, orders: ordersAccepted, differences: compareBooks(account, exchange) }
  } finally {
    await pm2.close()
    await exchange.stop()
    project.remove()
  }
}

function openExchange(): Promise<RunningSimulator> {
  return startSimulator({
    market: { kind: 'seeded', speed: SPEED },
    seed: 1,
    accounts: [
      {
        uid: SIMULATED_UID,
        label: 'killed',
        positionMode: 'one_way_mode',
        balances: { USDT: '100000' },
      },
    ],
  })
}

/** The shipped configuration for that exchange, its keys, and the shipped file for pm2 with another working directory. */
function writeProject(
  project: Project,
  { baseUrl, accounts: [account] }: RunningSimulator,
): string {
  writeRemote(project)
  project.edit('config/remote.yaml', '\nexchange:\n', `\nexchange:\n  baseUrl: ${baseUrl}\n`)
  project.edit('config/remote.yaml', '\nexecution:\n', '\nexecution:\n  acceptanceWindowMs: 2000\n')
  const keys = { KEY: account?.key, SECRET: account?.secret, PASSPHRASE: account?.passphrase }
  project.write(
    '.env',
    Object.entries(keys)
      .map(([name, value]) => `INTENTD_API_${name}=${value}\n`)
      .join(''),
  )
  chmodSync(join(project.directory, '.env'), 0o600)
  const shipped = readFileSync(join(ROOT, 'ecosystem.config.cjs'), 'utf8')
  project.write(
    'kills.config.cjs',
    shipped
      .replace('cwd: __dirname', `cwd: ${JSON.stringify(project.directory)}`)
      .replaceAll('__dirname', JSON.stringify(ROOT)),
  )
  return join(project.directory, 'config/remote.yaml')
}

/** Negative for a short position. */
const signedSize = ({ holdSide, size }: { readonly holdSide: string; readonly size: string }) =>
  decimal(holdSide === 'short' ? `-${size}` : size)

function compareBooks(
  { book, settings: { instruments } }: ShownAccount,
  exchange: RunningSimulator,
): readonly string[] {
  const { counts, coins, openOrders, positions } = exchange.ledger(SIMULATED_UID)
  const money = [...book.money.values()]
  const [coin] = coins
  const open = [...book.open.values()].flatMap((orders) => [...orders.keys()].map(String))
  const held = [...instruments].map(([symbol, { lot }]) => {
    const there = positions.filter((position) => position.symbol === symbol)
    const ours = formatOnGrid(lot, netLots(accountHoldingOf(book, symbol)))
    return [symbol, ours, sumDecimals(there.map(signedSize)).toString()] as const
  })
  const rows: readonly (readonly [string, string | number, string | number | undefined])[] = [
    ['fills', money.reduce((sum, { fills }) => sum + fills, 0), counts.fills],
    ['fees', sumDecimals(money.map(({ fees }) => fees)).toString(), coin?.fees],
    ['profit', sumDecimals(money.map(({ profit }) => profit)).toString(), coin?.realisedProfit],
    [
      'open orders',
      open.toSorted().join(' '),
      openOrders
        .map(({ clientOid }) => clientOid)
        .toSorted()
        .join(' '),
    ],
    ...held,
  ]
  return rows
    .filter(([, ours, theirs]) => ours !== theirs)
    .map(([what, ours, theirs]) => `${what}: ${ours} here, ${theirs} there`)
}
