import { ConvertService } from './convert/convert-service.ts'
import { type ConvertSettings } from './convert/convert-settings.ts'
import { CopyService } from './copy/copy-service.ts'
import { futuresResults } from './copy/futures-results.ts'
import { type AccountSetup } from './core/account.ts'
import { type CoreState } from './core/core-state.ts'
import { type ExchangeCore } from './core/exchange-core.ts'
import { type LedgerStatement } from './core/ledger-statement.ts'
import { type AccountService, type ServicePorts } from './account-service.ts'
import { followedMarket } from './followed-market.ts'
import { buildHandlers, type AccountServices } from './exchange-handlers.ts'
import { GatewayService } from './gateway/gateway-service.ts'
import { MarginService } from './margin/margin-service.ts'
import { type MarginSettings } from './margin/margin-settings.ts'
import { SpotService } from './spot/spot-service.ts'
import { type SpotSettings } from './spot/spot-settings.ts'
import {
  defaultSubaccountSettings,
  SubaccountService,
  type SubaccountSettings,
} from './subaccounts/subaccount-service.ts'
import { defaultPlatformCoin, type PlatformCoin } from './wallet/platform-coin.ts'
import { createOrderSequence } from './wallet/order-sequence.ts'
import { writeDemoPast } from './demo/write-past.ts'
import { singleRow } from './store/stored-rows.ts'
import { type WalletCoin } from './wallet/wallet-statement.ts'
import { Wallet } from './wallet/wallet.ts'
import { type Handlers, type ServedExchange } from './wire/handlers.ts'

/** The settings of the services beside futures; each service says what its own are. */
export interface ServiceSettings {
  /** The platform's own coin, in which fees can be paid and into which small balances are converted. */
  readonly platformCoin?: PlatformCoin
  readonly spot?: Partial<Omit<SpotSettings, 'platformCoin'>>
  readonly margin?: Partial<MarginSettings>
  readonly convert?: Partial<Omit<ConvertSettings, 'platformCoin'>>
  readonly subaccounts?: Partial<SubaccountSettings>
}

export interface ExchangeOptions {
  readonly core: ExchangeCore
  readonly seed: string | number
  /** Unix ms of the exchange's clock. */
  readonly startAt: number
  readonly settings?: ServiceSettings
  /** Every account gets a past at the services beside futures, once something is displayed. Default false. */
  readonly demoPast?: boolean
}

/** Everything that an account owns and owes at the exchange. Amounts are exact decimals in strings. */
export interface ExchangeStatement extends LedgerStatement {
  /** Spot and margin balances: a row a balance and coin. Futures are in `coins`. */
  readonly balances: readonly WalletCoin[]
  /** What each service has to show of the account, by the service's name. */
  readonly services: Readonly<Record<string, unknown>>
}

/** The whole exchange: the futures core and the services beside it, over one clock and one store. */
export class Exchange implements ServedExchange {
  readonly core: ExchangeCore
  readonly handlers: Handlers
  readonly services: AccountServices
  readonly #ports: ServicePorts
  readonly #opened: Opened
  /** In the order in which they are played. */
  readonly #played: ReadonlyMap<string, AccountService>
  readonly #byGatewayKey: ReadonlyMap<string, string>

  /** Opens the services, afresh or from the rows that the core's store holds for them. */
  constructor({ core, seed, startAt, settings = {}, demoPast = false }: ExchangeOptions) {
    this.core = core
    const now = Math.max(core.now, startAt)
    const { ports, opened, services } = core.carryOut(now, (state) =>
      openServices(core, state, { seed, startAt, settings, demoPast }),
    )
    this.#ports = ports
    this.#opened = opened
    this.services = services
    this.#played = new Map<string, AccountService>(
      Object.entries(services).filter((entry): entry is [string, AccountService] => 'ledger' in entry[1]),
    )
    this.handlers = buildHandlers(core, services, (at, handle) => this.#serve(at, handle))
    this.#byGatewayKey = new Map(
      core.accounts().flatMap(({ key, gateway }) => (gateway === undefined ? [] : [[gateway.key, key]])),
    )
    this.#serve(now, () => {})
  }

  /**
   * Plays the whole exchange up to `now`.
   * @returns false after a tenth of a second of work with more to do: call again with the same `now`.
   */
  advance(now: number): boolean {
    if (!this.core.advance(now)) return false
    this.#serve(now, () => {})
    return true
  }

  accountByKey(apiKey: string): AccountSetup | undefined {
    return this.core.accountByKey(apiKey)
  }

  accountByGatewayKey(apiKey: string): AccountSetup | undefined {
    const key = this.#byGatewayKey.get(apiKey)
    return key === undefined ? undefined : this.core.accountByKey(key)
  }

  /** As of the latest moment that was played. @throws Failure SIMULATOR_ACCOUNT_UNKNOWN */
  ledger(uid: string): ExchangeStatement {
    return {
      ...this.core.ledger(uid),
      balances: this.#ports.wallet.statement(uid).coins,
      services: Object.fromEntries([...this.#played].map(([name, service]) => [name, service.ledger(uid)])),
    }
  }

  /** What does not add up, over all accounts and balances, as sentences: always none. */
  imbalances(): readonly string[] {
    return [
      ...this.core
        .books()
        .filter(({ sum }) => sum !== '0')
        .map(({ marginCoin, sum }) => `futures ${marginCoin}: all books together are ${sum}`),
      ...this.#ports.wallet
        .sums()
        .filter(({ sum }) => sum !== '0')
        .map(({ coin, sum }) => `balances ${coin}: all books together are ${sum}`),
      ...this.#ports.wallet
        .unexplained()
        .map(({ uid, balance, coin }) => `${uid} ${balance} ${coin}: the bookings do not explain the equity`),
    ]
  }

  /** Every service is played up to the moment of the request, so that what one of them did is there for all. */
  #serve<Result>(now: number, handle: (state: CoreState) => Result): Result {
    return this.core.carryOut(now, (state) => {
      if (this.#opened.isPastDue) this.#writePast()
      for (const service of this.#played.values()) service.advance?.(this.core.now)
      return handle(state)
    })
  }

  /** Where the pairs stand must be known first. */
  #writePast(): void {
    const { markets } = this.services.spot.state
    if (![...markets.keys()].some((symbol) => (this.#ports.market(symbol)?.shown.at ?? 0) > 0)) return
    writeDemoPast(this.#ports, this.services)
    this.#opened.isPastDue = false
    this.#ports.rows.put(OPENED, this.#opened)
  }
}

function openServices(
  core: ExchangeCore,
  state: CoreState,
  { seed, startAt, settings, demoPast }: Required<Omit<ExchangeOptions, 'core'>>,
): { readonly ports: ServicePorts; readonly opened: Opened; readonly services: AccountServices } {
  const { rows } = core
  const opened = rows.readOne(OPENED, OPENED.id()) ?? { startAt, isPastDue: demoPast }
  rows.put(OPENED, opened)
  const ports: ServicePorts = {
    market: (symbol) => followedMarket(state, symbol),
    matching: state.matching,
    accounts: core.accounts(),
    seed,
    startAt: opened.startAt,
    rows,
    wallet: new Wallet(rows),
    sequence: createOrderSequence(rows),
  }
  const { platformCoin = defaultPlatformCoin } = settings
  const services = {
    // First: it books what every account has in its spot balance.
    spot: new SpotService(ports, { ...settings.spot, platformCoin }),
    margin: new MarginService(ports, settings.margin),
    convert: new ConvertService(ports, { ...settings.convert, platformCoin }),
    copy: new CopyService(ports, {
      instruments: core.instruments(),
      results: (uid, afterTrade) => futuresResults(state, uid, afterTrade),
    }),
    subaccounts: new SubaccountService(ports, { ...defaultSubaccountSettings, ...settings.subaccounts }),
    gateway: new GatewayService(),
  }
  return { ports, opened, services }
}

/** The very first start. */
interface Opened {
  /** Unix ms. */
  readonly startAt: number
  /** The accounts are still to be given a past. */
  isPastDue: boolean
}

const OPENED = singleRow<Opened>('opened')
