import { existsSync, readFileSync } from 'node:fs'
import { systemClock } from '../../src/lib/clock.ts'
import { type Random } from '../../src/lib/random.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { POINTS } from '../crash/points.ts'
import { type CabledServers } from '../support/cabled-servers.ts'
import { type NetworkHost, type PrivateNetwork } from '../support/private-network.ts'
import { type RedisServer } from '../support/redis-server.ts'
import { type IntentdProcess, type ProcessOptions } from './intentd-process.ts'
import { type Machines } from './machines.ts'

const WATCH_POINTS = new URL('../crash/watch-points.ts', import.meta.url).href
const KILL_AT_COMMIT = new URL('./kill-at-commit.ts', import.meta.url).href

/** How long a trouble lasts that no takeover needs to follow, ms: some leases of a campaign. */
export const TROUBLE_MS = 6000
/** Clocks of two machines are apart by up to twice as much, ms. */
export const CLOCK_WRONG_MS_MAX = 4000
/** One that meets its point later than this is stopped wherever it is, ms. */
const POINT_WITHIN_MS = 15_000
const LOOK_MS = 50
const RECORDS = ['decision', 'send', 'outcome', 'fills', 'cancel']
const COMMITS_MAX = 8

/** A daemon, and the machine that it runs on. */
export interface Placed {
  readonly machine: string
  readonly run: IntentdProcess
  /** When it stopped by itself, Unix ms; undefined where it ended before. Of those alone that are started for it. */
  readonly stoppedAt?: Promise<number | undefined>
}

export interface Struck {
  readonly machines: Machines
  readonly network: PrivateNetwork
  readonly servers: CabledServers
  readonly redis: RedisServer | undefined
  readonly writer: Placed
  /** The standby behind it. */
  readonly next: Placed
  /** Sets the clock of a machine, so many ms ahead of the true one. */
  readonly setClock: (machine: string, aheadMs: number) => void
}

export interface NetworkFault {
  readonly name: string
  /** Whether another must take the account over, must not, or may. */
  readonly takeover: 'must' | 'not' | 'may'
  /** Whether its limits are shared through Redis. */
  readonly isShared?: true
  /** That wait for its lease; one by default. */
  readonly standbys?: 2
  /** How the writer may end that was passed over. */
  readonly codes: readonly (number | null)[]
  /** What the writer is started with that it strikes. */
  readonly prepare?: (random: Random) => Pick<ProcessOptions, 'env' | 'preload'>
  readonly strike: (struck: Struck) => Promise<void> | void
  /** When another has taken over and trades, or the time of the trouble is over. */
  readonly mend?: (struck: Struck) => void
}

/** Lost with its lease, or with a commit under way when it ended. */
const PASSED_OVER = [75, 70]

const machineOf = ({ network, writer }: Struck): NetworkHost => network.host(writer.machine)

const CABLES: readonly NetworkFault[] = [
  {
    name: 'its cable pulled',
    takeover: 'must',
    codes: PASSED_OVER,
    strike: (struck) => machineOf(struck).pull(),
    mend: (struck) => machineOf(struck).plug(),
  },
  {
    name: 'what it sends to the server lost',
    takeover: 'must',
    codes: PASSED_OVER,
    strike: (struck) => machineOf(struck).loseWayTo(struck.servers.way),
    mend: (struck) => machineOf(struck).findWayTo(struck.servers.way),
  },
  {
    name: 'what the server sends it lost',
    takeover: 'must',
    codes: PASSED_OVER,
    strike: (struck) => struck.servers.host.loseWayTo(machineOf(struck)),
    mend: (struck) => struck.servers.host.findWayTo(machineOf(struck)),
  },
  {
    name: 'what it sends to the exchange lost',
    takeover: 'not',
    codes: [],
    strike: (struck) => machineOf(struck).loseWayTo(struck.network.host('exchange')),
    mend: (struck) => machineOf(struck).findWayTo(struck.network.host('exchange')),
  },
  {
    name: 'what the exchange sends it lost',
    takeover: 'not',
    codes: [],
    strike: (struck) => struck.network.host('exchange').loseWayTo(machineOf(struck)),
    mend: (struck) => struck.network.host('exchange').findWayTo(machineOf(struck)),
  },
  {
    name: 'a packet of five lost',
    takeover: 'may',
    codes: PASSED_OVER,
    strike: (struck) => machineOf(struck).lose(20),
    mend: (struck) => machineOf(struck).loseNoMore(),
  },
  {
    name: 'its line narrow, packets late',
    takeover: 'may',
    codes: PASSED_OVER,
    strike: (struck) => machineOf(struck).narrow('256kbit'),
    mend: (struck) => machineOf(struck).widen(),
  },
]

const SLOW_COMMIT_MS = 1200
const SLOW_COMMITS = 4
/** A standby has looked a few times. */
const FOLLOWED_MS = 1000
/** Until it can be seen that it trades on. */
const BATCHES_ON = 2

const SERVERS: readonly NetworkFault[] = [
  {
    name: 'its server killed, and started again',
    takeover: 'may',
    codes: PASSED_OVER,
    strike({ servers }) {
      servers.primary.kill()
      servers.primary.start()
    },
  },
  {
    name: 'commits slow',
    takeover: 'not',
    codes: [],
    async strike({ machines }) {
      for (let held = 0; held < SLOW_COMMITS; held++) await machines.holdCommits(SLOW_COMMIT_MS)
    },
  },
  {
    name: 'the disk of its server full',
    takeover: 'must',
    codes: [70],
    async strike({ servers, writer }) {
      servers.primary.fillDisk()
      await writer.run.ended
      servers.primary.freeDisk()
      servers.primary.kill()
      servers.primary.start()
    },
  },
  {
    name: 'its server gone, a synchronous standby of it promoted',
    takeover: 'may',
    codes: PASSED_OVER,
    async strike({ servers, network, writer, next }) {
      servers.addStandby()
      await untilTradesOn(writer)
      servers.failOver([writer, next].map(({ machine }) => network.host(machine)))
    },
  },
  {
    name: 'its server gone, one behind promoted, and the first one back',
    takeover: 'must',
    codes: PASSED_OVER,
    async strike({ servers, network, writer, next }) {
      const machines = [writer, next].map(({ machine }) => network.host(machine))
      servers.leaveBehind()
      await untilTradesOn(writer)
      await pause(FOLLOWED_MS)
      servers.promoteBehind(machines)
      await writer.run.ended
      await next.run.until('it says that the server is behind', () =>
        next.run
          .events('standby.unable')
          .some(({ reason }) => String(reason).includes('JOURNAL_TAIL_LOST')),
      )
      await pause(TROUBLE_MS)
      if (next.run.events('standby.tookOver').length > 0)
        throw new Error('it took over from one that is behind')
      servers.takeBack(machines)
    },
  },
  {
    name: 'Redis killed, and started again',
    takeover: 'not',
    codes: [],
    isShared: true,
    async strike({ redis }) {
      await redis?.kill()
      await redis?.start()
    },
  },
  {
    name: 'the way to Redis lost',
    takeover: 'not',
    codes: [],
    isShared: true,
    strike: (struck) => machineOf(struck).loseWayTo(struck.network.host('redis')),
    mend: (struck) => machineOf(struck).findWayTo(struck.network.host('redis')),
  },
]

async function untilTradesOn({ run }: Placed): Promise<void> {
  // What was answered before is heard late where something else was waited for.
  const since = systemClock.now()
  const isLater = ({ time }: { readonly [field: string]: unknown }): boolean =>
    Date.parse(String(time)) > since + CLOCK_WRONG_MS_MAX
  await run.until(
    'it trades on',
    () => run.events('batch.answered').filter(isLater).length >= BATCHES_ON,
  )
}

/** How far a clock is set, ms: beyond every lease of a campaign. */
const CLOCK_STEP_MS = 60_000

const PROCESSES: readonly NetworkFault[] = [
  {
    name: 'killed',
    takeover: 'must',
    codes: [null],
    strike: ({ writer }) => writer.run.kill('SIGKILL'),
  },
  {
    name: 'stopped, and continued after its lease',
    takeover: 'must',
    codes: [75],
    strike: ({ writer }) => writer.run.kill('SIGSTOP'),
    mend: ({ writer }) => writer.run.kill('SIGCONT'),
  },
  {
    name: 'stopped, its clock set back meanwhile, and continued',
    takeover: 'must',
    codes: [75],
    strike({ writer, setClock }) {
      writer.run.kill('SIGSTOP')
      setClock(writer.machine, -CLOCK_STEP_MS)
    },
    mend: ({ writer }) => writer.run.kill('SIGCONT'),
  },
  {
    name: 'its clock set ahead beyond its lease',
    takeover: 'must',
    codes: [75],
    strike: ({ writer, setClock }) => setClock(writer.machine, CLOCK_STEP_MS),
  },
  {
    name: 'handed over by two operators at once',
    takeover: 'must',
    codes: [75],
    async strike({ machines, writer, next }) {
      const both = [writer, next].map(({ machine }) => machines.start(machine, ['handover']))
      const codes = (await Promise.all(both.map((each) => each.ended))).map(({ code }) => code)
      if (!codes.includes(0)) throw new Error(`handovers ended with ${codes.join(' and ')}`)
    },
  },
  {
    name: 'killed, with two standbys behind it',
    takeover: 'must',
    codes: [null],
    standbys: 2,
    strike: ({ writer }) => writer.run.kill('SIGKILL'),
  },
  ...(['before', 'after'] as const).map((when): NetworkFault => ({
    name: `stopped ${when} a commit, and continued`,
    takeover: 'must',
    codes: PASSED_OVER,
    prepare(random) {
      const kind = RECORDS[random.integer(RECORDS.length)]
      const point = `${when}:${kind}:${1 + random.integer(COMMITS_MAX)}`
      return {
        env: {
          KILL_AT: point,
          KILL_STOPS: '1',
        },
        preload: KILL_AT_COMMIT,
      }
    },
    strike: untilStopped,
    mend: ({ writer }) => writer.run.kill('SIGCONT'),
  })),
]

/**
 * Every point of the crash campaign that a daemon in trade can meet with its journal on a server: it has no mark and
 * no layout of its own there, and its tables are the replica's.
 */
const SPLIT_POINTS: readonly { readonly name: string; readonly timesMax: number }[] = POINTS.filter(
  ({ phase, name, scenarios }) =>
    phase === 'trading' &&
    scenarios.includes('normal') &&
    /^(journal\.(record|booking|commit(?!\.meta))|wire|log)/.test(name),
).map(({ name, timesMax }) => ({ name: name.replace(/^journal/, 'journal-replica'), timesMax }))

/** Stopped right there, passed over, and continued when the next one trades: two that believe they are the writer. */
function atPoint({ name, timesMax }: (typeof SPLIT_POINTS)[number]): NetworkFault {
  return {
    name: `stopped at ${name}, and continued`,
    takeover: 'must',
    codes: PASSED_OVER,
    prepare: (random) => ({
      env: {
        INTENTD_CRASH_AT: `${name}:${1 + random.integer(timesMax)}`,
        INTENTD_CRASH_AFTER: 'log.standby.tookOver.after',
        INTENTD_CRASH_STOPS: '1',
      },
      preload: WATCH_POINTS,
    }),
    strike: untilStopped,
    mend: ({ writer }) => writer.run.kill('SIGCONT'),
  }
}

/** Those that are no point come again and again, so that every other one is a point. */
export function listFaults(): readonly NetworkFault[] {
  const others = [...CABLES, ...SERVERS, ...PROCESSES]
  return SPLIT_POINTS.flatMap((point, index) =>
    [others[index % others.length] ?? [], atPoint(point)].flat(),
  )
}

/** It stops itself; one that does not come to its point is stopped where it is. */
async function untilStopped({ writer }: Struck): Promise<void> {
  const isTooLate = pause(POINT_WITHIN_MS).then(() => true)
  const hasStopped = writer.stoppedAt?.then(() => false)
  if (await Promise.race([isTooLate, hasStopped])) writer.run.kill('SIGSTOP')
}

/** Looks until it stops, or ends. */
export async function watchForStop(run: IntentdProcess): Promise<number | undefined> {
  const ended = run.ended.then(() => true)
  while (!isStopped(run.pid)) {
    if (await Promise.race([ended, pause(LOOK_MS)])) return undefined
  }
  return systemClock.now()
}

/** @returns false for one that stops or ends before it has an answer */
export async function untilTradesOrStops(run: IntentdProcess): Promise<boolean> {
  const ended = run.ended.then(() => true)
  for (;;) {
    if (run.events('batch.answered').length > 0) return true
    if (isStopped(run.pid)) return false
    if (await Promise.race([ended, pause(LOOK_MS)])) return false
  }
}

function isStopped(pid: number): boolean {
  const file = `/proc/${pid}/stat`
  return existsSync(file) && / \(.*\) T /.test(readFileSync(file, 'utf8'))
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => systemTimers.after(ms, resolve))
}
