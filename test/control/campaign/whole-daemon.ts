import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listInstruments } from '../../../src/assembly/instruments/listed-instruments.ts'
import { keepRunningConfig } from '../../../src/assembly/state/running-config.ts'
import { acceptReload, examineReload, viewReload } from '../../../src/cli/run/accept-reload.ts'
import { giveKeys } from '../../../src/cli/process/give-keys.ts'
import { loadAccounts } from '../../../src/config/load-accounts.ts'
import type { ConfigRequest } from '../../../src/config/load-config.ts'
import type { ReloadRequest } from '../../../src/control/controlled.ts'
import type { Daemon } from '../../../src/daemon/daemon.ts'
import type { AccountSetup } from '../../../src/assembly/account/account-setup.ts'
import { openDaemon } from '../../../src/daemon/open-daemon.ts'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { systemTimers } from '../../../src/lib/timers.ts'
import type { DaemonLogger, LoggedFact } from '../../../src/logging/logger.ts'
import { type RunningSimulator, startSimulator } from '../../../src/simulator/start-simulator.ts'
import type { ShownAccount } from '../../../src/views/shown-account.ts'
import { TOTP_SECRET } from '../../support/approval/memory-pairing.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SPEED = 10
const LIMIT = 30_000

export const BOT_TOKEN = '1:canaryOfTheBotThatAnswersPeople'
export const SIGNAL_SECRET = 'canary-of-the-secret-of-the-signal-tv'
const KEYS = {
  INTENTD_API_KEY: 'canary-of-the-api-key',
  INTENTD_API_SECRET: 'canary-of-the-api-secret',
  INTENTD_API_PASSPHRASE: 'canary-of-the-passphrase',
}
/** As the environment of a daemon and of its commands has them. */
export const SECRET_VARIABLES: Readonly<Record<string, string>> = {
  ...KEYS,
  INTENTD_CHAT_TOKEN: BOT_TOKEN,
  INTENTD_SIGNAL_TV: SIGNAL_SECRET,
}

export interface WholeDaemonOptions {
  readonly people: readonly number[]
  readonly chatUrl: string
  readonly codesClock: Clock
  readonly onFact: (fact: LoggedFact) => void
}

type Tokens = Readonly<Record<'full' | 'read' | 'agent', string>>

/**
 * A daemon with one account, its control socket and port, its signals and its journal, opened here
 * and not in a process of its own, against an exchange behind a socket. It is reloaded as
 * `intentd run` does.
 */
export class WholeDaemon {
  readonly directory = mkdtempSync(join(tmpdir(), 'campaign-'))
  readonly file = join(this.directory, 'paper.yaml')
  readonly state = join(this.directory, 'state')
  /** Counts the configurations that have run. */
  run = 0
  url = ''
  signalsUrl = ''
  tokens: Tokens = { full: '', read: '', agent: '' }
  readonly #options: WholeDaemonOptions
  readonly #listeners: ((fact: LoggedFact) => void)[] = []
  #limit = LIMIT
  #exchange: RunningSimulator | undefined
  #daemon: Daemon | undefined
  #ending: ReturnType<Daemon['ended']> | undefined
  #reloading: Promise<void> | undefined
  #input: AccountSetup | undefined

  constructor(options: WholeDaemonOptions) {
    this.#options = options
  }

  get shown(): ShownAccount {
    const shown = this.#daemon?.accounts[0]?.shown
    if (shown === undefined) throw new Error('the daemon is not open')
    return shown
  }

  async start(): Promise<void> {
    this.#exchange = await startExchange()
    this.writeConfig()
    const pairing = { pairedAt: 0, usedCounter: 0, wrongAt: [], locks: 0, lockedUntil: 0 }
    const { main } = loadAccounts(this.#request)
    const [input] = giveKeys([main], this.#request)
    if (input === undefined) throw new Error('no account')
    await this.#open(input)
    writeFileSync(
      join(this.state, 'pairing.json'),
      JSON.stringify({ secret: TOTP_SECRET, ...pairing }),
      { mode: 0o600 },
    )
    const read = (name: string): string => readFileSync(join(this.state, name), 'utf8').trim()
    this.tokens = {
      full: read('control.token'),
      read: read('control.read.token'),
      agent: read('control.agent.token'),
    }
  }

  /** The step of the last code that counted. */
  get usedCounter(): number {
    const text = readFileSync(join(this.state, 'pairing.json'), 'utf8')
    return (JSON.parse(text) as { readonly usedCounter: number }).usedCounter
  }

  /** The operator edits the file: the account may have more at risk, after a reload. */
  loosen(): void {
    this.#limit += 1000
    this.writeConfig()
  }

  /** Waits for a reload that has begun. */
  async settle(): Promise<void> {
    await this.#reloading
  }

  /** @returns what strategies hold by their fills, and what the exchange says, in lots by symbol */
  async stop(): Promise<{
    readonly held: object
    readonly stated: object
    readonly rests: number
  }> {
    await this.settle()
    this.#exchange?.pause()
    this.#daemon?.stop('cancel')
    const shown = this.shown
    await this.#ending
    const ledger = this.#exchange?.ledger('1')
    const held = Object.fromEntries(
      [...shown.book.account].flatMap(([symbol, { longLots, shortLots }]) => {
        const lots = longLots - shortLots
        return lots === 0 ? [] : [[symbol, lots]]
      }),
    )
    const stated = Object.fromEntries(
      (ledger?.positions ?? []).map(({ symbol, holdSide, size }) => {
        const { lot } = shown.book.grids.get(symbol) ?? { lot: '1' }
        return [symbol, Math.round((Number(size) / Number(lot)) * (holdSide === 'long' ? 1 : -1))]
      }),
    )
    return { held, stated, rests: ledger?.openOrders.length ?? 0 }
  }

  async close(): Promise<void> {
    this.#daemon?.stop('leave')
    await this.#ending
    await this.#exchange?.stop()
    rmSync(this.directory, { recursive: true, force: true })
  }

  writeConfig(): void {
    const { people, chatUrl } = this.#options
    const strategies = ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'].map((name) =>
      join(ROOT, `config/strategies/${name}.yaml`),
    )
    const paper = readFileSync(join(ROOT, 'config/paper.yaml'), 'utf8')
      .replace(/^simulator:\n(?: .*\n)+/m, '')
      .replace(/^strategies:\n(?: .*\n)+/m, `strategies: ${JSON.stringify(strategies)}\n`)
      .replace('account:\n', 'account:\n  capital: "10000"\n')
      .replace('exchange:\n', `exchange:\n  baseUrl: ${this.#exchange?.baseUrl}\n`)
      .replace('execution:\n', 'execution:\n  acceptanceWindowMs: 1000\n')
      // Most of the processor is for the callers.
      .replace('tickersMs: 100', 'tickersMs: 1000')
      .replace('fillsMs: 200', 'fillsMs: 2000')
      .replace('positionsMs: 1000', 'positionsMs: 10000')
      .replace('dataAgeMaxMs: 5000', 'dataAgeMaxMs: 50000')
      .replace('grossNotionalMax: "30000"', `grossNotionalMax: "${this.#limit}"`)
      .replace('directory: ../.intentd/paper', 'directory: state')
      .replace(
        'port: 8790',
        'port: 0\n  agents: { http: true, research: true, safer: true, propose: true }',
      )
    writeFileSync(
      this.file,
      `${paper}record: true
manual: { orderNotionalMax: "2000", positionNotionalMax: "6000" }
chat: { variable: INTENTD_CHAT_TOKEN, people: [${people.join(', ')}], apiUrl: "${chatUrl}" }
signals:
  port: 0
  accept:
    tv:
      secretVariable: INTENTD_SIGNAL_TV
      secretField: key
      maxAgeMs: 60000
      fields: { action: { type: oneOf, values: [long, flat] }, note: { type: text, optional: true } }
`,
    )
  }

  get #request(): ConfigRequest {
    return { file: this.file, cwd: this.directory }
  }

  async #open(input: AccountSetup): Promise<void> {
    this.#listeners.length = 0
    this.#input = input
    const { daemon } = await openDaemon({
      ...input,
      market: { files: [], speed: undefined },
      version: '0',
      clock: systemClock,
      codesClock: this.#options.codesClock,
      timers: systemTimers,
      logger: this.#logger,
      onReload: (order) => {
        this.#reloading = (this.#reloading ?? Promise.resolve()).then(() => this.#reload(order))
      },
      tryReload: async () => viewReload(await examineReload(this.#request, this.#frame)),
    })
    this.#daemon = daemon
    this.run += 1
    const { config } = input.loaded
    const asGiven = { set: [], params: [], market: [], speed: undefined }
    keepRunningConfig(config, { mainFile: config.file, ...asGiven })
    await daemon.start()
    this.#ending = daemon.ended()
  }

  async #reload(order: ReloadRequest): Promise<void> {
    const logger = this.#logger
    const next = await acceptReload(this.#request, { ...this.#frame, logger }, order)
    if (next === undefined) return
    this.#daemon?.stop('leave')
    await this.#ending
    await this.#open(next)
  }

  get #frame() {
    if (this.#daemon === undefined || this.#input === undefined) throw new Error('not open')
    const { loaded, credentials, keysMissing } = this.#input
    return {
      loaded,
      credentials,
      keysMissing,
      others: [],
      contracts: undefined,
      daemon: this.#daemon,
      trustFiles: true,
    }
  }

  /** Stricter than the one of the program: nothing is hidden in it. */
  readonly #logger: DaemonLogger = {
    isTerminal: false,
    descriptor: 1,
    hide: () => undefined,
    listen: (hear) => this.#listeners.push(hear),
    setLevel: () => undefined,
    log: (level, event, fields = {}) => {
      if (event === 'control.listening') this.url = String(fields['url'])
      if (event === 'signals.listening') this.signalsUrl = String(fields['url'])
      const fact = { level, event, fields }
      this.#options.onFact(fact)
      if (level === 'debug' || level === 'trace') return
      for (const hear of this.#listeners) hear(fact)
    },
  }
}

function startExchange(): Promise<RunningSimulator> {
  const { main } = loadAccounts({ file: 'config/paper.yaml', cwd: ROOT })
  const { account, instruments } = main.config
  const { INTENTD_API_KEY, INTENTD_API_SECRET, INTENTD_API_PASSPHRASE } = KEYS
  return startSimulator({
    market: {
      kind: 'seeded',
      prices: { BTCUSDT: '60000', ETHUSDT: '3000' },
      stepMs: 1000,
      speed: SPEED,
    },
    seed: 1,
    tickMs: 500,
    instruments: listInstruments(
      { productTypes: [account.productType], instruments },
      systemClock.now(),
    ),
    accounts: [
      {
        uid: '1',
        label: 'paper',
        key: INTENTD_API_KEY,
        secret: INTENTD_API_SECRET,
        passphrase: INTENTD_API_PASSPHRASE,
        positionMode: 'one_way_mode',
        leverage: 10,
        balances: { USDT: '10000' },
      },
    ],
  })
}
