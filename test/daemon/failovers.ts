import { createRandom, type Random } from '../../src/lib/random.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { type Differences } from '../support/invariants/book-comparison.ts'
import { type IntentdProcess } from './intentd-process.ts'
import { Machines } from './machines.ts'

const KILL_AT_COMMIT = new URL('./kill-at-commit.ts', import.meta.url).href

/** How a writer ends. */
export type Ending = (typeof ENDINGS)[number]

export const ENDINGS = [
  'killed before a commit',
  'killed after a commit',
  'killed at random',
  'stopped, and continued after its lease',
  'cut off in a commit',
] as const

/** Machines that take turns: one that has ended waits for its next turn. */
const MACHINES = ['a', 'b', 'c']
const AT_RANDOM_MS_MAX = 1500
const COMMITS_MAX = 12
const RECORDS = ['send', 'outcome']

export interface Failover {
  readonly how: Ending
  /** From the end of the writer until the next had the lease, and until the exchange had answered orders of it. */
  readonly takenMs: number
  /** Undefined where that one was killed before. */
  readonly tradedMs: number | undefined
}

export interface ChainReport {
  readonly failovers: readonly Failover[]
  readonly orders: number
  readonly fills: number
  readonly differences: Differences
}

export interface Chain {
  readonly place: PostgresPlace
  readonly leaseMs: number
  readonly failovers: number
  readonly seed: number
  readonly onFailover: (failover: Failover) => void
}

/**
 * One account that is taken over again and again: each writer ends in its own way, in the midst of trading, with a
 * standby behind it. The last stops in good order; then the journal and the exchange's ledger are compared.
 */
export async function failOver(chain: Chain): Promise<ChainReport> {
  const { place, leaseMs, seed } = chain
  const machines = await Machines.open(place, leaseMs)
  const random = createRandom(`failovers ${seed}`)
  const oneOf = <T>(list: readonly T[], index = random.integer(list.length)): T => {
    const found = list[index % list.length]
    if (found === undefined) throw new Error('unreachable: the list is not empty')
    return found
  }
  const failovers: Failover[] = []
  const differences: string[] = []
  const start = (index: number, how: Ending | undefined): IntentdProcess => {
    const commit = /^killed (before|after) a commit$/.exec(how ?? '')?.[1]
    const point = `${commit}:${oneOf(RECORDS)}:${1 + random.integer(COMMITS_MAX)}`
    return machines.standby(
      oneOf(MACHINES, index),
      commit === undefined ? {} : { env: { KILL_AT: point }, preload: KILL_AT_COMMIT },
    )
  }
  try {
    const plan = Array.from({ length: chain.failovers }, (_, index) => oneOf(ENDINGS, index + seed))
    let writer = start(0, plan[0])
    await writer.untilEvent('standby.tookOver')
    for (const [index, how] of plan.entries()) {
      const next = start(index + 1, plan[index + 1])
      const endedAt = await endWriter({ how, writer, next, machines, random })
      const takenAt = instantOf(await next.untilEvent('standby.tookOver'))
      const traded = await next.untilEvent('batch.answered').catch(() => undefined)
      if (how === 'stopped, and continued after its lease')
        differences.push(...(await wake(writer)))
      const failover = {
        how,
        takenMs: takenAt - endedAt,
        tradedMs: traded && instantOf(traded) - endedAt,
      }
      failovers.push(failover)
      chain.onFailover(failover)
      writer = next
    }
    await Machines.trades(writer)
    const { code } = await writer.stop()
    if (code !== 0) differences.push(`the last one ended with ${String(code)}`)
    else differences.push(...(await machines.compare(oneOf(MACHINES, plan.length), writer)))
    const { orders, fills } = await machines.readTruth()
    return { failovers, differences, orders: orders.size, fills: fills.size }
  } finally {
    await machines.close()
  }
}

interface Ends {
  readonly how: Ending
  readonly writer: IntentdProcess
  readonly next: IntentdProcess
  readonly machines: Machines
  readonly random: Random
}

/** @returns when it ended, Unix ms */
async function endWriter({ how, writer, next, machines, random }: Ends): Promise<number> {
  const byItself = how === 'killed before a commit' || how === 'killed after a commit'
  if (!byItself) {
    await next.untilEvent('standby.following')
    await Machines.trades(writer)
    await new Promise<void>((resolve) =>
      systemTimers.after(random.integer(AT_RANDOM_MS_MAX), resolve),
    )
    if (how === 'cut off in a commit') await machines.cutCommit()
    else writer.kill(how === 'killed at random' ? 'SIGKILL' : 'SIGSTOP')
  }
  if (how !== 'stopped, and continued after its lease') await writer.ended
  return Date.now()
}

/** What one that was passed over did wrong when it went on. */
async function wake(writer: IntentdProcess): Promise<Differences> {
  const sent = writer.events('batch.sent').length
  writer.kill('SIGCONT')
  const { code } = await writer.ended
  return [
    ...(code === 75 ? [] : [`one that woke after its lease ended with ${String(code)}`]),
    ...(writer.events('batch.sent').length === sent
      ? []
      : ['one that woke after its lease sent a batch']),
  ]
}

function instantOf({ time }: Readonly<Record<string, unknown>>): number {
  return Date.parse(String(time))
}
