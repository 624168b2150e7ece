import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { endpointNamed, endpointNames } from '../../src/protocol/endpoints.ts'
import { RedisServer } from '../support/redis-server.ts'
import { type Arrival } from './call-rates.ts'
import { type IntentdProcess } from './intentd-process.ts'
import { Project } from './project.ts'
import { findExchange, keysOf, startExchange, toVariables } from './remote-exchange.ts'
import { makeOwnRisk, makeRisk } from '../support/made-limits.ts'

const MEMBERS = 4

/** `address`: as many calls as may be made of what counts by address. `overall`: of everything, beyond the limit. */
export type Load = (typeof LOADS)[number]
export const LOADS = ['address', 'overall'] as const

/** What is done to it: a moment as a share of the whole, and what then holds. */
export interface Trouble {
  readonly at: number
  readonly what: string
}

const COUNT_ARRIVALS = new URL('./count-arrivals.ts', import.meta.url).href
const ARRIVALS_FILE = 'arrivals.txt'
const SYMBOLS = ['BTCUSDT', 'ETHUSDT']
const INSTRUMENTS = {
  BTCUSDT: { tickSize: '0.1', lotSize: '0.001', minSize: '0.001', minNotional: '5' },
  ETHUSDT: { tickSize: '0.01', lotSize: '0.01', minSize: '0.01', minNotional: '5' },
}
const ACCOUNT = {
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'crossed',
  positionMode: 'one_way_mode',
} as const
/** Beyond what a lease of a share lasts (3 s), and what a daemon that is started again takes. */
const AWAY_MS = { redis: 20_000, stopped: 10_000, killed: 5000 }

/** Four daemons on one address: processes of their own, as are the exchange and Redis. */
export class SharedAddress {
  readonly startedAt: number
  readonly troubles: Trouble[] = []
  readonly #project: Project
  readonly #simulator: IntentdProcess
  readonly #redis: RedisServer
  /** What one of Redis that is killed leaves behind. */
  readonly #redisFolder: string
  /** Of each place, those before the present one first. */
  readonly #runs: IntentdProcess[][] = []

  private constructor(parts: {
    readonly project: Project
    readonly simulator: IntentdProcess
    readonly redis: RedisServer
    readonly redisFolder: string
  }) {
    this.#project = parts.project
    this.#simulator = parts.simulator
    this.#redis = parts.redis
    this.#redisFolder = parts.redisFolder
    this.startedAt = systemClock.now()
    for (let place = 0; place < MEMBERS; place++) this.#runs.push([this.#run(place)])
  }

  static async start(load: Load): Promise<SharedAddress> {
    const redisFolder = mkdtempSync(join(tmpdir(), 'intentd-redis-'))
    const redis = await RedisServer.start({ keptIn: redisFolder })
    const project = new Project()
    writeSimulator(project)
    const exchange = await findExchange(project)
    for (let place = 0; place < MEMBERS; place++)
      writeDaemon(project, { place, load, url: exchange.url, redis: redis.url })
    const simulator = startExchange(project, exchange, [], {
      preload: COUNT_ARRIVALS,
      env: { ARRIVALS_FILE: join(project.directory, ARRIVALS_FILE) },
    })
    await simulator.untilEvent('simulator.listening')
    const address = new SharedAddress({ project, simulator, redis, redisFolder })
    await Promise.all(address.#runs.flat().map((run) => run.untilEvent('daemon.running')))
    return address
  }

  /** Everything that is to happen within that time. */
  async play(ms: number): Promise<void> {
    const until = (share: number) => pause(this.startedAt + share * ms - systemClock.now())
    await until(0.16)
    await this.#killRedis('started again with what it had kept', true)
    await until(0.37)
    await this.#stopOne(1)
    await until(0.53)
    await this.#killOne(2)
    await until(0.74)
    await this.#killRedis('started again empty', false)
    await until(1)
  }

  /** Ends everything in good order. @returns what the exchange counted */
  async end(): Promise<Ended> {
    const codes = await Promise.all(
      this.#runs.map(async (runs) => (await runs.at(-1)?.stop())?.code),
    )
    await this.#simulator.stop()
    const [stopped] = this.#simulator.events('simulator.stopped')
    const text = readFileSync(join(this.#project.directory, ARRIVALS_FILE), 'utf8')
    return {
      arrivals: text.split('\n').slice(0, -1).map(parseArrival),
      tooManyRequests: Number(stopped?.['tooManyRequests']),
      codes,
      said: this.#runs.map((runs) => countEvents(runs)),
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runs.flat(), this.#simulator].map((run) => run.stop('SIGKILL')))
    await this.#redis.kill()
    rmSync(this.#redisFolder, { recursive: true, force: true })
    this.#project.remove()
  }

  async #killRedis(what: string, keeps: boolean): Promise<void> {
    this.#note('Redis killed')
    await this.#redis.kill()
    await pause(AWAY_MS.redis)
    if (!keeps) rmSync(this.#redisFolder, { recursive: true, force: true })
    await this.#redis.start(keeps ? { keptIn: this.#redisFolder } : {})
    this.#note(`Redis ${what}`)
  }

  async #stopOne(place: number): Promise<void> {
    this.#note('a daemon stopped')
    this.#runs[place]?.at(-1)?.kill('SIGSTOP')
    await pause(AWAY_MS.stopped)
    this.#runs[place]?.at(-1)?.kill('SIGCONT')
    this.#note('it goes on')
  }

  async #killOne(place: number): Promise<void> {
    this.#note('a daemon killed')
    await this.#runs[place]?.at(-1)?.stop('SIGKILL')
    await pause(AWAY_MS.killed)
    this.#runs[place]?.push(this.#run(place))
    this.#note('it is started again')
  }

  #note(what: string): void {
    this.troubles.push({ at: systemClock.now(), what })
  }

  #run(place: number): IntentdProcess {
    return this.#project.start(
      ['run', '-c', configOf(place)],
      toVariables(keysOf(this.#project, place)),
    )
  }
}

export interface Ended {
  readonly arrivals: readonly Arrival[]
  readonly tooManyRequests: number
  /** Exit codes of the last run of each place. */
  readonly codes: readonly (number | null | undefined)[]
  /** How often each said what of limits. */
  readonly said: readonly Readonly<Record<string, number>>[]
}

const SAID = ['limits.shared', 'limits.alone', 'limits.coolingDown', 'daemon.broken', 'poll.failed']

function countEvents(runs: readonly IntentdProcess[]): Readonly<Record<string, number>> {
  const count = (event: string) => runs.reduce((sum, run) => sum + run.events(event).length, 0)
  return Object.fromEntries(
    SAID.map((event) => [event, count(event)]).filter(([, times]) => times !== 0),
  )
}

const BY_PATH = new Map(endpointNames.map((name) => [endpointNamed(name).path, name]))

function parseArrival(line: string): Arrival {
  const [at, path = '', status] = line.split(' ')
  return { at: Number(at), endpoint: BY_PATH.get(path) ?? path, status: Number(status) }
}

function configOf(place: number): string {
  return `config/member-${place}.yaml`
}

function writeSimulator(project: Project): void {
  const file = {
    host: '127.0.0.1',
    port: 0,
    seed: 1,
    instruments: INSTRUMENTS,
    market: {
      startPrices: {
        BTCUSDT: '60000',
        ETHUSDT: '3000',
      },
      yearlyVolatility: 0.6,
    },
    accounts: Array.from({ length: MEMBERS }, (_, place) => ({
      name: `member-${place}`,
      ...ACCOUNT,
      startingBalance: '1000000',
      leverage: 10,
    })),
    limits: {
      counting: 'sliding',
      refusedCallsCount: true,
      gatewayCalls: 10,
    },
  }
  project.write('config/simulator.yaml', JSON.stringify(file))
}

interface Given {
  readonly place: number
  readonly load: Load
  readonly url: string
  readonly redis: string
}

/** One that trades, and reads as often as it may. */
function writeDaemon(project: Project, { place, load, url, redis }: Given): void {
  const polling =
    load === 'address' ? { positionsMs: 1000, fillsMs: 500 } : { positionsMs: 100, fillsMs: 100 }
  const name = `member-${place}`
  const main = {
    name,
    environment: 'simulator',
    account: ACCOUNT,
    instruments: INSTRUMENTS,
    exchange: {
      baseUrl: url,
      requestTimeoutMs: 2e3,
      shared: {
        redis,
        members: MEMBERS,
      },
    },
    polling: {
      tickersMs: 50,
      ...polling,
    },
    risk: makeRisk({ dataAgeMaxMs: 5000, priceCollarRatio: 0.1 }),
    state: { directory: `../state-${place}` },
    onRestart: 'adopt',
    onStop: 'cancel',
    strategies: [`members/${name}.yaml`],
  }
  project.write(configOf(place), JSON.stringify(main))
  const strategy = {
    id: 'grid',
    module: '../../strategies/grid.ts',
    isolation: 'inline',
    instruments: ['BTCUSDT'],
    params: {
      spacingBps: 1,
      levels: 4,
      recentreAfterLevels: 2,
      size: '0.002',
    },
    risk: makeOwnRisk({ openOrdersMax: 100 }),
    feeds: feedsFor(load),
  }
  project.write(`config/members/${name}.yaml`, JSON.stringify(strategy))
}

function feedsFor(load: Load): object {
  const feeds: Record<string, object> = {
    ratio: { endpoint: 'longShortRatio', params: { symbol: 'BTCUSDT' }, everyMs: 1000 },
  }
  for (const symbol of SYMBOLS) {
    feeds[`symbols${symbol}`] = { endpoint: 'spotSymbols', params: { symbol }, everyMs: 100 }
    if (load === 'address') continue
    feeds[`orders${symbol}`] = { endpoint: 'spotHistoryOrders', params: { symbol }, everyMs: 100 }
  }
  return feeds
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemTimers.after(ms, resolve))
}
