import assert from 'node:assert/strict'
import { type Clock, systemClock } from '../src/lib/clock.ts'
import { type ExchangeAccountSetup } from '../src/simulator/shared/account.ts'
import {
  type AccountRequest,
  type RunningSimulator,
  type SimulatorOptions,
  startSimulator,
} from '../src/simulator/start-simulator.ts'
import { defaultWireSettings } from '../src/simulator/wire/settings.ts'
import { type Ccxt, createCcxt, createSdk, type Credentials, type Sdk } from './clients.ts'
import { Relay, type Seen } from './relay.ts'

/** Moves ahead of the system's clock, so that a second of a rate limit need not be waited for. */
class MovableClock implements Clock {
  #ahead = 0
  readonly #frozenAt: number | undefined

  constructor(isFrozen: boolean) {
    this.#frozenAt = isFrozen ? systemClock.now() : undefined
  }

  now(): number {
    return (this.#frozenAt ?? systemClock.now()) + this.#ahead
  }

  monotonic(): number {
    return systemClock.monotonic()
  }

  pass(ms: number): void {
    this.#ahead += ms
  }
}

export type Label = 'oneWay' | 'hedge' | 'trader' | 'outsider' | 'elsewhere'

const balances = {
  USDT: '1000000',
  BTC: '10',
  USDC: '1000000',
  SUSDT: '1000000',
  SBTC: '10',
  SUSDC: '1000000',
}

const ACCOUNTS: readonly (AccountRequest & { readonly label: Label })[] = [
  {
    uid: '1000001',
    label: 'oneWay',
    positionMode: 'one_way_mode',
    balances,
    boundToIps: ['127.0.0.1'],
    gateway: {},
  },
  { uid: '1000002', label: 'hedge', positionMode: 'hedge_mode', balances },
  { uid: '1000003', label: 'trader', positionMode: 'one_way_mode', role: 'copyTrader', balances },
  {
    uid: '1000004',
    label: 'outsider',
    positionMode: 'one_way_mode',
    balances,
    gateway: { isWhitelisted: false },
  },
  {
    uid: '1000005',
    label: 'elsewhere',
    positionMode: 'one_way_mode',
    balances,
    boundToIps: ['192.0.2.1'],
  },
]

/** The platform's own coin as the SDK spells it in its path. */
const PLATFORM_COIN = { name: 'BGB', price: '1.25' }

export interface OpenOptions {
  /** The exchange's clock stands still until it is told to pass. */
  readonly isFrozen?: boolean
  readonly simulator?: Partial<SimulatorOptions>
}

/** A simulator, the relay before it, and clients of its accounts. */
export class ConformedExchange {
  readonly simulator: RunningSimulator
  readonly relay: Relay
  readonly clock: MovableClock
  readonly #baseUrl: string

  private constructor(parts: {
    readonly simulator: RunningSimulator
    readonly relay: Relay
    readonly clock: MovableClock
    readonly baseUrl: string
  }) {
    this.simulator = parts.simulator
    this.relay = parts.relay
    this.clock = parts.clock
    this.#baseUrl = parts.baseUrl
  }

  static async open({
    isFrozen = false,
    simulator: options = {},
  }: OpenOptions = {}): Promise<ConformedExchange> {
    const clock = new MovableClock(isFrozen)
    const simulator = await startSimulator({
      market: { kind: 'seeded', yearlyVolatility: 0.3 },
      seed: 'conformance',
      accounts: ACCOUNTS,
      clock,
      services: { platformCoin: PLATFORM_COIN },
      demoPast: true,
      ...options,
      wire: {
        ...defaultWireSettings,
        platformCoin: PLATFORM_COIN.name.toLowerCase(),
        ...options.wire,
      },
    })
    const relay = new Relay(simulator.baseUrl)
    return new ConformedExchange({ simulator, relay, clock, baseUrl: await relay.start() })
  }

  /** The relay's address: what clients take for the exchange's. */
  get baseUrl(): string {
    return this.#baseUrl
  }

  account(label: Label): ExchangeAccountSetup {
    const account = this.simulator.accounts.find((row) => row.label === label)
    assert.ok(account, `there is an account ${label}`)
    return account
  }

  ccxt(label?: Label, changed: Partial<Credentials> = {}): Promise<Ccxt> {
    return createCcxt(this.#baseUrl, label && { ...this.account(label), ...changed })
  }

  sdk(label?: Label, changed: Partial<Credentials> = {}): Promise<Sdk> {
    return createSdk(this.#baseUrl, label && { ...this.account(label), ...changed })
  }

  /** Every limit of a second is fresh again. */
  passSecond(): void {
    this.clock.pass(1100)
  }

  /** What came over the wire of a call that the client must have thrown for. */
  async refusalOf(call: () => Promise<unknown>): Promise<Seen> {
    const before = this.relay.seen.length
    let answer: unknown
    try {
      answer = await call()
    } catch (error) {
      assert.ok(this.relay.seen.length > before, `the request was sent: ${String(error)}`)
      return this.relay.last
    }
    assert.fail(`it was not refused: ${JSON.stringify(answer).slice(0, 200)}`)
  }

  async stop(): Promise<void> {
    await this.relay.stop()
    await this.simulator.stop()
  }
}
