import { listInstruments } from '../../src/assembly/instruments/listed-instruments.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type RunningSimulator, startSimulator } from '../../src/simulator/start-simulator.ts'
import { ExchangeTruth } from '../support/virtual/exchange-truth.ts'
import { ACCOUNT, BALANCE, FILL_LAG_MS, INSTRUMENTS, MARKET, TOLERANCE_MS } from './crash-config.ts'
import { type Mode, type Reading, type Scenario } from './scenario.ts'

export interface CrashExchangeOptions {
  readonly seed: number
  readonly mode: Mode
  readonly reading: Reading
  readonly scenario: Scenario
}

/** The real simulator over HTTP, with somebody who looks over its shoulder. */
export class CrashExchange {
  readonly truth: ExchangeTruth
  readonly #simulator: RunningSimulator

  private constructor(simulator: RunningSimulator, truth: ExchangeTruth) {
    this.#simulator = simulator
    this.truth = truth
  }

  static async start({
    seed,
    mode,
    reading,
    scenario,
  }: CrashExchangeOptions): Promise<CrashExchange> {
    const truth = new ExchangeTruth()
    const simulator = await startSimulator({
      market: { kind: 'seeded', ...MARKET },
      seed,
      instruments: listInstruments(
        { productTypes: [ACCOUNT.productType], instruments: INSTRUMENTS },
        systemClock.now(),
      ),
      accounts: [
        { uid: '1', label: 'crash', positionMode: mode, balances: { USDT: BALANCE }, leverage: 10 },
      ],
      store: truth,
      core: { idempotency: reading, fillVisibilityLagMs: FILL_LAG_MS },
      wire: { timestampToleranceMs: TOLERANCE_MS },
      faults: scenario.faults,
      answerLatency: { medianMs: 5, deviation: 0 },
    })
    return new CrashExchange(simulator, truth)
  }

  get url(): string {
    return this.#simulator.baseUrl
  }

  /** The variables that a daemon reads its credentials from. */
  get credentials(): Readonly<Record<string, string>> {
    const [account] = this.#simulator.accounts
    if (!account) throw new Error('unreachable: there is one account')
    return {
      INTENTD_API_KEY: account.key,
      INTENTD_API_SECRET: account.secret,
      INTENTD_API_PASSPHRASE: account.passphrase,
    }
  }

  stop(): Promise<void> {
    return this.#simulator.stop()
  }
}
