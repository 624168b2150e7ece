// One round of one line of bench/core.ts, in a process of its own: `node bench/core-round.ts LINE-AS-JSON` prints
// the figures as JSON. Time is CPU time of the whole process, collection of garbage included.

import { CoreAccount, type CoreLine } from './core-account.ts'

export interface CoreRound {
  readonly snapshots: number
  /** CPU microseconds a snapshot. */
  readonly cpuUs: number
  /** Of these, about what the exchange needs to match what rests and to give its prices. */
  readonly exchangeUs: number
  /** And those of a bare loop over the same columns. */
  readonly bareUs: number
  /** Of 1000 snapshots. */
  readonly orders: number
  readonly fills: number
  readonly cancelAlls: number
  readonly openOrders: number
  readonly journalBytesAnHour: number
  readonly heapBytes: number
}

/** Asking for the CPU time costs as much as some ten snapshots: of 3000, that is nothing. */
const SLICE_MS = 300_000
/** Until the code is compiled: the compiler runs on threads of its own, whose time counts. */
const WARM_UP_CPU_US = 4_000_000
const CPU_US = 2_000_000
const BARE_SNAPSHOTS = 20_000

const [text = '{}'] = process.argv.slice(2)
console.log(JSON.stringify(runRound(JSON.parse(text) as CoreLine)))

function runRound(line: CoreLine): CoreRound {
  const account = new CoreAccount(line)
  account.run((line.minutesBefore ?? 1) * 60_000)
  runFor(account, WARM_UP_CPU_US)
  const before = {
    ...account.exchange.counts,
    snapshots: account.snapshots,
    bytes: account.journalBytes,
  }
  const spentUs = runFor(account, CPU_US)
  const snapshots = account.snapshots - before.snapshots
  const { orders, fills, cancelAlls } = account.exchange.counts
  const inThousand = (count: number): number => (count * 1000) / snapshots
  const result = {
    snapshots,
    cpuUs: spentUs / snapshots,
    orders: inThousand(orders - before.orders),
    fills: inThousand(fills - before.fills),
    cancelAlls: inThousand(cancelAlls - before.cancelAlls),
    openOrders: [...account.book.open.values()].reduce((sum, { size }) => sum + size, 0),
    journalBytesAnHour: ((account.journalBytes - before.bytes) / snapshots) * 36_000,
    heapBytes: process.memoryUsage().heapUsed,
  }
  account.end()
  const exchangeUs = measureBare(account)
  account.exchange.cancelAll('{}')
  return { ...result, exchangeUs, bareUs: measureBare(account) }
}

function measureBare(account: CoreAccount): number {
  account.runBare(BARE_SNAPSHOTS)
  const startedAt = process.cpuUsage()
  account.runBare(BARE_SNAPSHOTS)
  return sinceUs(startedAt) / BARE_SNAPSHOTS
}

/** Lets virtual time pass until so much CPU time is spent; returns how much it was. */
function runFor(account: CoreAccount, cpuUs: number): number {
  const startedAt = process.cpuUsage()
  while (sinceUs(startedAt) < cpuUs) account.run(SLICE_MS)
  return sinceUs(startedAt)
}

function sinceUs(startedAt: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(startedAt)
  return user + system
}
