import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { createRandom } from '../../src/lib/random.ts'
import { IntentdProcess } from '../daemon/intentd-process.ts'
import { Project } from '../daemon/project.ts'
import { type Differences } from '../support/invariants/book-comparison.ts'
import { compareBooks } from './compare-books.ts'
import {
  CONFIG_FILE,
  EXCHANGE_FILE,
  STATE,
  WAIT_MS_MAX,
  writeCrashConfig,
  writeExchange,
} from './crash-config.ts'
import { credentialsFrom, FIRST_UID, readTruth } from './exchange-process.ts'
import { drawPolicies, killSoon, type Moment, MOMENTS } from './kill-soon.ts'
import { type Mode, type Policies, type Reading } from './scenario.ts'

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
  /** How far the runs had come when they were killed. */
  readonly killed: Readonly<Record<Moment, number>>
  /** Runs that had stopped in good order before they could be killed. */
  readonly stopped: number
  readonly unknowns: number
  readonly orders: number
  readonly fills: number
  /** What the exchange did on purpose, by kind. */
  readonly faults: unknown
  readonly differences: Differences
}

/** The exchange forgets an order that has ended after its idempotency window of twenty minutes. */
const REMEMBERED_MS = 18 * 60_000
const EXCHANGE_STATE = 'exchange.sqlite'

/** The last one's books are compared. */
const AT_THE_END: Policies = { onRestart: 'cancel', onStop: 'cancel' }

/**
 * One daemon against `intentd simulate`, which loses answers and gives others late: killed again and again at
 * random moments, from its first line to its last, and compared with the exchange's own file when it has ended
 * in good order.
 */
export async function killAtRandom(options: RandomKills): Promise<RandomReport> {
  const { kills, forMs, seed, mode, reading, onKill } = options
  const endAt = systemClock.monotonic() + forMs
  const project = new Project()
  writeExchange(project, { mode, reading, seed, scenario: 'hostile' })
  const cwd = project.directory
  const simulate = [
    'simulate',
    '--config',
    EXCHANGE_FILE,
    '--state',
    EXCHANGE_STATE,
    '--print-accounts',
  ]
  const exchange = new IntentdProcess(simulate, { cwd, waitMsMax: WAIT_MS_MAX })
  const statistics = new RunStatistics()
  let newest: IntentdProcess | undefined
  try {
    const { url } = await exchange.untilEvent('simulator.listening')
    const env = { ...credentialsFrom(exchange.stdout[0] ?? ''), HOME: cwd }
    const start = (policies: Policies) => {
      writeCrashConfig(project, { mode, url: String(url), size: '0.01', policies })
      newest = new IntentdProcess(['run', '-c', CONFIG_FILE, '--summary', 'json'], {
        cwd,
        env,
        waitMsMax: WAIT_MS_MAX,
      })
      return newest
    }
    const random = createRandom(`random kills ${seed} ${mode} ${reading}`)
    while (statistics.kills < kills && systemClock.monotonic() < endAt) {
      const run = start(drawPolicies(random))
      const killedAt = await killSoon(run, random)
      statistics.count(run, killedAt)
      if (killedAt !== undefined) onKill(statistics.kills)
    }
    const last = start(AT_THE_END)
    await last.untilEvent('daemon.running')
    await last.untilEvent('order.accepted')
    const { code } = await last.stop()
    statistics.count(last, undefined)
    await exchange.stop()
    const truth = readTruth(join(cwd, EXCHANGE_STATE))
    const journalFile = join(cwd, STATE, 'journal.sqlite')
    const differences = compareBooks({
      journalFile,
      mode,
      summary: last.summary,
      truth,
      uid: FIRST_UID,
      rememberedSince: systemClock.now() - REMEMBERED_MS,
    })
    return {
      ...statistics.result,
      orders: truth.orders.size,
      fills: truth.fills.size,
      faults: exchange.events('simulator.stopped')[0]?.['faults'],
      differences: code === 0 ? differences : [`the last run ended with ${code}`, ...differences],
    }
  } finally {
    await newest?.stop('SIGKILL')
    await exchange.stop('SIGKILL')
    project.remove()
  }
}

/** What became of the runs. */
class RunStatistics {
  readonly #killed = { opening: 0, recovering: 0, trading: 0, stopping: 0 }
  #stopped = -1 // The last one always does.
  #unknowns = 0

  /** `killedAt` is undefined for a run that stopped in good order. */
  count(run: IntentdProcess, killedAt: Moment | undefined): void {
    if (killedAt === undefined) this.#stopped += 1
    else this.#killed[killedAt] += 1
    const [recovery] = run.events('recovery.started')
    this.#unknowns += run.events('order.unknown').length + Number(recovery?.['unknownOrders'] ?? 0)
  }

  get kills(): number {
    return MOMENTS.reduce((sum, moment) => sum + this.#killed[moment], 0)
  }

  get result(): Pick<RandomReport, 'kills' | 'killed' | 'stopped' | 'unknowns'> {
    return {
      kills: this.kills,
      killed: this.#killed,
      stopped: this.#stopped,
      unknowns: this.#unknowns,
    }
  }
}
