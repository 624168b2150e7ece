// Tick to order with and without a flood by every way in: the control port with each token and none, an assistant at
// the port, signals with and without the secret, and a chat whose bot server hangs, fails and limits. One daemon, rounds
// in turn, an order a tick. `npm run bench:ways-in [seconds a round]`, default 15. The floor beside it, a bare script that nobody asks
// anything, says what the flood costs the machine itself. Leaves nothing behind.

import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { percentileOf } from './figures.ts'
import { systemClock } from '../src/lib/clock.ts'
import { type MeasuredDaemon, measureTicks, type TickRound } from './tick-to-order.ts'
import type { FloodTask } from './ways-in-flood.ts'

const ROUNDS = 6
const SECONDS_DEFAULT = 15
/** The exchange of the bench refuses each order, and after a refusal a post-only one would wait. */
const PARAMS = { orders: 1, force: 'gtc' }
const ENV = {
  INTENTD_CHAT_TOKEN: '1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  INTENTD_SIGNAL_TV: 'a-secret-of-the-signal-tv',
}

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const PROCESSORS = availableParallelism()
/** As from another machine, the flood takes none of the processors of the daemon and its exchange. */
const [TRADING, FLOODING] = [`0-${PROCESSORS - 2}`, `${PROCESSORS - 1}`]

/** False without util-linux, or on one processor: all share them then, and the floor shows it. */
function pin(pid: number, processors: string): boolean {
  if (PROCESSORS < 2) return false
  try {
    execFileSync('taskset', ['-a', '-c', '-p', processors, `${pid}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('no port is free')
  return address.port
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

const [port, signalPort, botPort] = [await findPort(), await findPort(), await findPort()]
const set = [
  `control.port=${port}`,
  'control.agents.http=true',
  `chat={variable: INTENTD_CHAT_TOKEN, people: [42], apiUrl: "http://127.0.0.1:${botPort}"}`,
  `signals={port: ${signalPort}, accept: {tv: {secretVariable: INTENTD_SIGNAL_TV, maxAgeMs: 60000, perMinute: 600, fields: {action: {type: text, lengthMax: 40}}}}}`,
]

interface BesideDaemon {
  readonly flood: ChildProcess
  readonly stop: () => Promise<void>
}

/** The flood, still at rest, and the two programs that run beside a daemon. */
async function startBeside(directory: string, baseUrl: string): Promise<BesideDaemon> {
  const task: FloodTask = { port, signalPort, botPort, directory, ...ENV }
  const flood = fork(fileOf('ways-in-flood.ts'), [JSON.stringify(task)])
  pin(flood.pid ?? 0, FLOODING)
  const [begun] = await Promise.race([once(flood, 'message'), once(flood, 'exit')])
  if (begun !== 'begun') throw new Error('the flood did not begin')
  const programs = [['mcp', '--http'], ['chat']].map((words) => {
    const options = [
      ...words,
      '-c',
      'bench.yaml',
      ...[`exchange.baseUrl=${baseUrl}`, ...set].flatMap((one) => ['--set', one]),
    ]
    return spawn(process.execPath, [fileOf('../bin/intentd.mjs'), ...options], {
      cwd: directory,
      env: { ...process.env, ...ENV },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  })
  for (const { pid = 0 } of programs) pin(pid, FLOODING)
  // Each says so once it serves: the one to standard error, the other in its log.
  await Promise.all(
    programs.map(({ stdout, stderr }) =>
      Promise.race([once(stdout ?? process.stdin, 'data'), once(stderr ?? process.stdin, 'data')]),
    ),
  )
  const stop = async (): Promise<void> => {
    await Promise.all([flood, ...programs].map(end))
  }
  return { flood, stop }
}

/**
 * CPU time of the thread that trades, ms: it tells what a flood costs that thread also where other
 * programs take the processors.
 */
function readCpuMs(pid: number): number {
  const [runNs = ''] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return Number(runNs) / 1e6
}

let beside: BesideDaemon | undefined
/** CPU of the thread that trades for a second of a round, ms. */
const cpu: number[] = []

/** Floods in every second round. */
async function begin(
  round: number,
  { directory, baseUrl, pid }: MeasuredDaemon,
): Promise<() => Promise<void>> {
  beside ??= await startBeside(directory, baseUrl)
  const { flood, stop } = beside
  const isFlooded = round % 2 === 1
  const [beganAt, cpuBeforeMs] = [systemClock.monotonic(), readCpuMs(pid)]
  if (isFlooded) flood.send('flood')
  return async () => {
    const seconds = (systemClock.monotonic() - beganAt) / 1000
    cpu.push((readCpuMs(pid) - cpuBeforeMs) / seconds)
    if (isFlooded) {
      flood.send('rest')
      const [counts] = (await once(flood, 'message')) as [unknown]
      console.log(`answered in round ${round + 1}: ${JSON.stringify(counts)}`)
    }
    if (round === ROUNDS - 1) await stop()
  }
}

const isApart = pin(process.pid, TRADING)
const seconds = Number(process.argv[2] ?? SECONDS_DEFAULT)
const rounds = await measureTicks(ROUNDS, seconds, { set, env: ENV, begin, params: PARAMS })
const pick = (side: 'daemon' | 'floor', isFlooded: boolean): readonly number[] =>
  rounds.flatMap((round: TickRound, index) => ((index % 2 === 1) === isFlooded ? round[side] : []))

console.log('tick to order, without and with a flood by every way in')
console.log(
  ['', 'without', 'with', 'ratio', 'floor: ratio'].map((cell) => cell.padStart(14)).join(''),
)
for (const share of [0.5, 0.9, 0.99]) {
  const [before, during] = [pick('daemon', false), pick('daemon', true)].map((figures) =>
    percentileOf(figures, share),
  ) as [number, number]
  const [bare, bareDuring] = [pick('floor', false), pick('floor', true)].map((figures) =>
    percentileOf(figures, share),
  ) as [number, number]
  const cells = [
    `${before.toFixed(2)} ms`,
    `${during.toFixed(2)} ms`,
    (during / before).toFixed(2),
    (bareDuring / bare).toFixed(2),
  ]
  console.log([`p${share * 100}`, ...cells].map((cell) => cell.padStart(14)).join(''))
}
console.log(
  isApart ? 'processors of their own for daemon and flood' : 'one set of processors for all',
)
console.log(`n ${pick('daemon', false).length} and ${pick('daemon', true).length}`)
console.log(
  `CPU of the thread that trades, ms a second, by round: ${cpu.map((one) => one.toFixed(0)).join(' ')}`,
)
