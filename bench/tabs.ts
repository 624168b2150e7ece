import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { killLeftOver } from '../test/daemon/intentd-process.ts'
import { Project } from '../test/daemon/project.ts'
import { writeStrategy } from '../test/support/made-limits.ts'

/**
 * `npm run bench:tabs -- [--tabs 20] [--pairs 3] [--seconds 60]`: tick to order of a paper daemon that quotes
 * each new price and that nobody looks at, and of one with so many open tabs, in turn. A tab follows the live stream and asks for orders, fills and candles
 * of an instrument each second, as the screen of an instrument does; the last one takes nothing of its stream.
 */
const { values } = parseArgs({
  options: {
    tabs: { type: 'string', default: '20' },
    pairs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
  },
})
const QUOTING = fileURLToPath(new URL('quoting.ts', import.meta.url))
const ASKED_EVERY_MS = 1000
const ASKED = ['/v1/instrument', '/v1/candles', '/v1/orders', '/v1/fills']

interface Measured {
  readonly p50: number
  readonly p99: number
}

process.stdout.write('tabs   tick to order, ms: p50      p99   batches\n')
const ratios: number[] = []
for (let pair = 0; pair < Number(values.pairs); pair += 1) {
  const alone = await measure(0)
  const watched = await measure(Number(values.tabs))
  ratios.push(watched.p50 / alone.p50)
}
const middle = ratios.toSorted((one, other) => one - other)[Math.floor(ratios.length / 2)] ?? 0
process.stdout.write(
  `p50 with ${values.tabs} tabs to p50 with none, middle of the pairs: ${middle.toFixed(2)}\n`,
)

async function measure(tabs: number): Promise<Measured> {
  const project = quotingProject()
  const stopped = new AbortController()
  try {
    const run = project.run([
      '--set',
      'simulator.speed=1',
      '--summary',
      'json',
      '--for',
      `${values.seconds}s`,
    ])
    const line = await run.untilEvent('control.listening')
    const token = readFileSync(String(line['token']), 'utf8').trim()
    const at = { base: String(line['url']), token, signal: stopped.signal }
    const sockets = Array.from({ length: tabs }, (_, index) => follow(at, index === tabs - 1))
    const asking = sockets.map(() => askOften(at))
    await run.ended
    stopped.abort()
    for (const socket of sockets) socket.destroy()
    await Promise.all(asking)
    const { p50Ms: p50, p99Ms: p99, count } = run.summary.decisionLatency
    const cells = [String(tabs).padEnd(22), p50.toFixed(2).padStart(10), p99.toFixed(2).padStart(9)]
    process.stdout.write(`${cells.join('')}${String(count).padStart(10)}\n`)
    return { p50, p99 }
  } finally {
    stopped.abort()
    await killLeftOver()
    project.remove()
  }
}

/** Two quotes of `bench/quoting.ts` at each new price, instead of the strategies that come with intentd. */
function quotingProject(): Project {
  const project = new Project()
  for (const name of ['grid-eth', 'trend-btc', 'trend-eth'])
    project.edit(`config/strategies/${name}.yaml`, '\nmodule:', '\nenabled: false\nmodule:')
  project.write(
    'config/strategies/grid-btc.yaml',
    writeStrategy({
      id: 'quotes',
      module: QUOTING,
      isolation: 'inline',
      instruments: ['BTCUSDT'],
      params: { orders: 2 },
      risk: { openOrdersMax: 40 },
    }),
  )
  return project
}

interface Reached {
  readonly base: string
  readonly token: string
  readonly signal: AbortSignal
}

function follow({ base, token }: Reached, isStalled: boolean): Socket {
  const { hostname, port, host } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(
    `GET /v1/live?after=0 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  )
  if (isStalled) socket.pause()
  else socket.resume()
  return socket
}

async function askOften({ base, token, signal }: Reached): Promise<void> {
  try {
    for (;;) {
      for (const path of ASKED) {
        const answer = await fetch(`${base}${path}?symbol=BTCUSDT`, {
          headers: { authorization: `Bearer ${token}` },
          signal,
        })
        await answer.text()
        if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
      }
      await sleep(ASKED_EVERY_MS, undefined, { signal })
    }
  } catch (error) {
    // The daemon ends, and its tabs with it; an answer that is no answer is an error of this bench.
    if (error instanceof Error && /: [1-5]\d\d$/.test(error.message)) throw error
  }
}
