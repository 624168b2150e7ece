// Tick to order as the exchange sees it: from the last byte of a 600-row ticker answer out to the first byte of
// the batch of 50 orders in that follows from it. The whole daemon (client, limiter, engine, journal on disk, a
// strategy that quotes, logs) beside the floor, what a bare script needs for the same; both in this run, in turn,
// against one server in a process of its own. `npm run bench:ticks [seconds]`, default 30; `npm run bench:ticks -- 30
// --record` with the flight recorder, `--profile` with a CPU profile, `--journal postgresql://…` with the journal
// there. Leaves nothing behind but that journal. The table of `npm run bench` has it in rounds.

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../src/lib/clock.ts'
import { systemTimers } from '../src/lib/timers.ts'
import { percentileOf } from './figures.ts'
import { bare, ORDERS } from './floor.ts'
import type { Message, Side } from './measured-exchange.ts'
import { writeRisk, writeStrategy } from '../test/support/made-limits.ts'

/** Four batches a second: the exchange allows five. */
const TICK_MS = 250
/** Until the code is compiled and the connections are warm. */
const WARM_UP = 20
const SECONDS_DEFAULT = 30

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const CONFIG = `name: bench
environment: simulator
account: { productType: USDT-FUTURES, marginCoin: USDT, marginMode: crossed, positionMode: one_way_mode }
instruments:
  S0USDT: { tickSize: "0.5", lotSize: "0.001", minSize: "0.001", minNotional: "5" }
polling: { tickersMs: ${TICK_MS}, positionsMs: 1000, fillsMs: 200 }
${writeRisk()}execution: { fillVisibilityMs: 0 }
state: { directory: state }
strategies: [quoting.yaml]
`

const STRATEGY = {
  id: 'quoting',
  module: fileOf('quoting.ts'),
  instruments: ['S0USDT'],
  isolation: 'inline',
  params: { orders: ORDERS },
  risk: { positionMax: '1000', openOrdersMax: 400 },
}

/** Of one round, ms: from the last byte of the tickers out to the first byte of the batch in. */
export interface TickRound {
  readonly daemon: readonly number[]
  readonly floor: readonly number[]
  /** Batches that were not full: they would flatter the daemon, and are left out. */
  readonly partial: number
}

class Measurements {
  readonly #full: Readonly<Record<Side, number>>
  readonly #elapsedMs: Record<Side, number[]> = { daemon: [], floor: [] }
  #partial = 0
  #isWarm = false

  constructor(ordersOfDaemon: number) {
    this.#full = { daemon: ordersOfDaemon, floor: ORDERS }
  }

  take({ side, elapsedMs, orders }: Extract<Message, { kind: 'batch' }>): void {
    if (orders < this.#full[side]) this.#partial += 1
    else this.#elapsedMs[side].push(elapsedMs)
  }

  /** What came since the round before; the first one gives up what came before the code was warm. */
  endRound(): TickRound {
    const from = this.#isWarm ? 0 : WARM_UP
    const round = {
      daemon: this.#elapsedMs.daemon.splice(0).slice(from),
      floor: this.#elapsedMs.floor.splice(0).slice(from),
      partial: this.#partial,
    }
    this.#partial = 0
    this.#isWarm = true
    return round
  }
}

async function startExchange(measurements: Measurements) {
  const child = fork(fileOf('measured-exchange.ts'))
  const [message]: Message[] = await once(child, 'message')
  if (message?.kind !== 'listening') throw new Error('the exchange of the bench did not start')
  child.on('message', (sent: Message) => sent.kind === 'batch' && measurements.take(sent))
  return { ports: message.ports, stop: () => end(child) }
}

/** What the daemon has beside its market, and what happens to it in some of the rounds. */
export interface BesideTicks {
  readonly set: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Of the strategy. */
  readonly params: { readonly orders: number; readonly force: string }
  /** Resolves once it is under way, with what ends it. */
  readonly begin: (round: number, daemon: MeasuredDaemon) => Promise<() => Promise<void>>
}

export interface MeasuredDaemon {
  /** Where it was started. */
  readonly directory: string
  /** Of its exchange. */
  readonly baseUrl: string
  readonly pid: number
}

function startDaemon(port: number, beside: BesideTicks | undefined) {
  const directory = mkdtempSync(join(tmpdir(), 'intentd-bench-'))
  writeFileSync(join(directory, 'bench.yaml'), CONFIG)
  const params = beside?.params ?? STRATEGY.params
  writeFileSync(join(directory, 'quoting.yaml'), writeStrategy({ ...STRATEGY, params }))
  const recording = process.argv.includes('--record') ? ['--set', 'record=true'] : []
  const journal = process.argv.indexOf('--journal')
  if (journal > 0) recording.push('--set', `journal.url=${process.argv[journal + 1]}`)
  const baseUrl = `http://127.0.0.1:${port}`
  const args = [
    'run',
    '-c',
    'bench.yaml',
    '--set',
    `exchange.baseUrl=${baseUrl}`,
    ...recording,
    ...(beside?.set ?? []).flatMap((one) => ['--set', one]),
  ]
  const profile = process.argv.includes('--profile')
    ? ['--cpu-prof', `--cpu-prof-dir=${process.cwd()}`]
    : []
  const child = spawn(process.execPath, [...profile, fileOf('../bin/intentd.mjs'), ...args], {
    cwd: directory,
    env: {
      ...process.env,
      INTENTD_API_KEY: 'measured-key',
      INTENTD_API_SECRET: 'measured-secret',
      INTENTD_API_PASSPHRASE: 'measured-passphrase',
      ...beside?.env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let log = ''
  child.stdout.on('data', (chunk) => (log = `${log}${String(chunk)}`.slice(-2000)))
  const stop = async () => {
    await end(child)
    rmSync(directory, { recursive: true, force: true })
  }
  return { directory, baseUrl, pid: child.pid ?? 0, log: () => log, stop }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Half a tick after the daemon's, so that the two disturb each other least. */
async function playFloor(port: number, untilAt: number): Promise<void> {
  const floor = bare(`http://127.0.0.1:${port}`)
  while (systemClock.now() < untilAt) {
    const waitMs = TICK_MS - ((systemClock.now() + TICK_MS / 2) % TICK_MS)
    await new Promise<void>((resolve) => systemTimers.after(waitMs, resolve))
    await floor.place(await floor.poll())
  }
  await floor.close()
}

/** A daemon that runs through all rounds, each of so many seconds. */
export async function measureTicks(
  rounds: number,
  seconds: number,
  beside?: BesideTicks,
): Promise<readonly TickRound[]> {
  const measurements = new Measurements(beside?.params.orders ?? ORDERS)
  const exchange = await startExchange(measurements)
  const daemon = startDaemon(exchange.ports.daemon, beside)
  const measured: TickRound[] = []
  for (let round = 0; round < rounds; round++) {
    const warmUpMs = round === 0 ? WARM_UP * TICK_MS : 0
    await playFloor(exchange.ports.floor, systemClock.now() + warmUpMs)
    const endBeside = await beside?.begin(round, daemon)
    await playFloor(exchange.ports.floor, systemClock.now() + seconds * 1000)
    measured.push(measurements.endRound())
    await endBeside?.()
  }
  await daemon.stop()
  await exchange.stop()
  if (measured.some(({ daemon: { length } }) => length === 0))
    throw new Error(`no batch came:\n${daemon.log()}`)
  return measured
}

function print({ daemon, floor, partial }: TickRound): void {
  console.log(`tick to order, 600 tickers in, ${ORDERS} orders out`)
  console.log(['', 'daemon', 'floor', 'ratio'].map((cell) => cell.padStart(10)).join(''))
  for (const share of [0.5, 0.9, 0.99]) {
    const [ours, theirs] = [percentileOf(daemon, share), percentileOf(floor, share)]
    const cells = [`${ours.toFixed(2)} ms`, `${theirs.toFixed(2)} ms`, (ours / theirs).toFixed(2)]
    console.log([`p${share * 100}`, ...cells].map((cell) => cell.padStart(10)).join(''))
  }
  const leftOut = partial > 0 ? `; ${partial} batches of fewer orders left out` : ''
  console.log(`n ${daemon.length} and ${floor.length}${leftOut}`)
}

if (process.argv[1] === import.meta.filename) {
  const [round] = await measureTicks(1, Number(process.argv[2] ?? SECONDS_DEFAULT))
  if (round) print(round)
}
