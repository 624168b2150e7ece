import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'
import { openSqliteStore } from '../../src/simulator/core/sqlite-store.ts'
import { IntentdProcess } from '../daemon/intentd-process.ts'
import { Project } from '../daemon/project.ts'
import { type Differences } from '../support/book-comparison.ts'
import { ExchangeTruth } from '../support/exchange-truth.ts'
import { compareBooks } from './compare-books.ts'
import {
  CONFIG_FILE,
  EXCHANGE_FILE,
  STATE,
  WAIT_MS_MAX,
  writeCrashConfig,
  writeHostileExchange,
} from './crash-config.ts'
import { type Mode, type Reading } from './scenario.ts'

export interface RandomKills {
  readonly kills: number
  /** It comes to its end after this long, however many kills there were. */
  readonly forMs: number
  readonly seed: number
  readonly mode: Mode
  readonly reading: Reading
  /** Told after every kill. */
  readonly onKill: (kills: number) => void
}

export interface RandomReport {
  readonly kills: number
  /** Lives that ended before they had found out what the last one left. */
  readonly killedRecovering: number
  readonly unknowns: number
  readonly orders: number
  readonly fills: number
  /** What the exchange did on purpose, by kind. */
  readonly faults: unknown
  readonly differences: Differences
}

/** The first account of `intentd simulate`. */
const UID = '1000001'
/** The exchange forgets an order that has ended after its idempotency window of twenty minutes. */
const REMEMBERED_MS = 18 * 60_000
const EXCHANGE_STATE = 'exchange.sqlite'

/**
 * One daemon against `intentd simulate`, which loses answers and gives others late: killed again and again at
 * random moments while it trades, and compared with the exchange's own file when it has ended in good order.
 */
export async function killAtRandom(options: RandomKills): Promise<RandomReport> {
  const { kills, forMs, seed, mode, reading, onKill } = options
  const endAt = systemClock.monotonic() + forMs
  const project = new Project()
  writeHostileExchange(project, { mode, reading, seed })
  const cwd = project.directory
  const simulate = ['simulate', '--config', EXCHANGE_FILE, '--state', EXCHANGE_STATE, '--print-accounts']
  const exchange = new IntentdProcess(simulate, { cwd, waitMsMax: WAIT_MS_MAX })
  const tally = { kills: 0, killedRecovering: 0, unknowns: 0 }
  try {
    const { url } = await exchange.untilEvent('simulator.listening')
    const env = { ...credentialsFrom(exchange.stdout[0] ?? ''), XDG_STATE_HOME: cwd }
    writeCrashConfig(project, { mode, url: String(url), size: '0.01', onRestart: 'fence' })
    const start = () =>
      new IntentdProcess(['run', '-c', CONFIG_FILE, '--summary', 'json'], {
        cwd,
        env,
        waitMsMax: WAIT_MS_MAX,
      })
    const random = createRandom(`random kills ${seed} ${mode} ${reading}`)
    while (tally.kills < kills && systemClock.monotonic() < endAt) {
      const run = start()
      await killSoon(run, random)
      tally.kills += 1
      if (run.events('daemon.running').length === 0) tally.killedRecovering += 1
      tally.unknowns += countUnknown(run)
      onKill(tally.kills)
    }
    const last = start()
    await last.untilEvent('daemon.running')
    await last.untilEvent('order.accepted')
    const { code } = await last.stop()
    tally.unknowns += countUnknown(last)
    await exchange.stop()
    const truth = readTruth(join(cwd, EXCHANGE_STATE))
    const journalFile = join(cwd, STATE, 'journal.sqlite')
    const differences = compareBooks({
      ...{ journalFile, mode, summary: last.summary, truth, uid: UID },
      rememberedSince: systemClock.now() - REMEMBERED_MS,
    })
    return {
      ...tally,
      orders: truth.orders.size,
      fills: truth.fills.size,
      faults: exchange.events('simulator.stopped')[0]?.['faults'],
      differences: code === 0 ? differences : [`the last life ended with ${code}`, ...differences],
    }
  } finally {
    await exchange.stop('SIGKILL')
    project.remove()
  }
}

/** One life in three ends while it is still starting or recovering, the others while they trade. */
async function killSoon(run: IntentdProcess, random: Random): Promise<void> {
  const dies = random.integer(3)
  if (dies === 0) await sleep(100 + random.integer(1500))
  else {
    const orders = 1 + random.integer(12)
    await run.until(`${orders} orders`, () => run.events('order.sent').length >= orders)
    await sleep(random.integer(400))
  }
  const { code } = await run.stop('SIGKILL')
  // It was to be killed: one that ended by itself has broken.
  if (code !== null) throw new Error(`a life ended with ${code}: ${run.stderr.slice(-5).join('\n')}`)
}

function countUnknown(run: IntentdProcess): number {
  const [recovery] = run.events('recovery.started')
  return run.events('order.unknown').length + Number(recovery?.['unknownOrders'] ?? 0)
}

function credentialsFrom(line: string): Readonly<Record<string, string>> {
  const [account] = JSON.parse(line) as { key: string; secret: string; passphrase: string }[]
  if (!account) throw new Error('the exchange has no account')
  const { key, secret, passphrase } = account
  return { INTENTD_API_KEY: key, INTENTD_API_SECRET: secret, INTENTD_API_PASSPHRASE: passphrase }
}

/** The exchange's own books, from its file. */
function readTruth(file: string): ExchangeTruth {
  const store = openSqliteStore(file)
  const truth = new ExchangeTruth()
  truth.save(store.load() ?? [])
  store.close()
  return truth
}
