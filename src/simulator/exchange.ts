import { ConvertDesk } from './convert/convert-desk.ts'
import { type ConvertSettings } from './convert/convert-settings.ts'
import { CopyDesk } from './copy/copy-desk.ts'
import { futuresResults } from './copy/futures-results.ts'
import { type AccountSetup } from './core/account.ts'
import { type CoreState } from './core/core-state.ts'
import { type ExchangeCore } from './core/exchange-core.ts'
import { type LedgerStatement } from './core/ledger-statement.ts'
import { type Desk, type DeskPorts } from './desk.ts'
import { displayedPrice } from './displayed-price.ts'
import { buildHandlers, type Desks } from './exchange-handlers.ts'
import { GatewayDesk } from './gateway/gateway-desk.ts'
import { MarginDesk } from './margin/margin-desk.ts'
import { type MarginSettings } from './margin/margin-settings.ts'
import { SpotDesk } from './spot/spot-desk.ts'
import { type SpotSettings } from './spot/spot-settings.ts'
import {
  defaultSubaccountSettings,
  SubaccountDesk,
  type SubaccountSettings,
} from './subaccounts/subaccount-desk.ts'
import { defaultPlatformCoin, type PlatformCoin } from './wallet/platform-coin.ts'
import { createOrderSequence } from './wallet/order-sequence.ts'
import { type WalletCoin } from './wallet/wallet-statement.ts'
import { Wallet } from './wallet/wallet.ts'
import { type Handlers, type ServedExchange } from './wire/handlers.ts'

/** The knobs of the desks beside futures; each desk says what its own are. */
export interface DeskSettings {
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
  readonly settings?: DeskSettings
}

/** Everything that an account owns and owes at the exchange. Amounts are exact decimals in strings. */
export interface ExchangeStatement extends LedgerStatement {
  /** Spot and margin purses: a row a purse and coin. Futures are in `coins`. */
  readonly purses: readonly WalletCoin[]
  /** What each desk has to show of the account, by the desk's name. */
  readonly desks: Readonly<Record<string, unknown>>
}

/** The whole exchange: the futures core and the desks beside it, over one clock and one store. */
export class Exchange implements ServedExchange {
  readonly core: ExchangeCore
  readonly handlers: Handlers
  readonly desks: Desks
  readonly #wallet: Wallet
  /** In the order in which they are played. */
  readonly #played: ReadonlyMap<string, Desk>
  readonly #byGatewayKey: ReadonlyMap<string, string>

  /** Opens the desks, afresh or from the rows that the core's store holds for them. */
  constructor({ core, seed, startAt, settings = {} }: ExchangeOptions) {
    this.core = core
    const now = Math.max(core.now, startAt)
    const { wallet, desks } = core.carryOut(now, (state) =>
      openDesks(core, state, { seed, startAt, settings }),
    )
    this.#wallet = wallet
    this.desks = desks
    this.#played = new Map<string, Desk>(
      Object.entries(desks).filter((entry): entry is [string, Desk] => 'advance' in entry[1]),
    )
    this.handlers = buildHandlers(core, desks, (at, handle) => this.#serve(at, handle))
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
      purses: this.#wallet.statement(uid).coins,
      desks: Object.fromEntries([...this.#played].map(([name, desk]) => [name, desk.ledger(uid)])),
    }
  }

  /** What does not add up, over all accounts and purses, as sentences: always none. */
  imbalances(): readonly string[] {
    return [
      ...this.core
        .books()
        .filter(({ sum }) => sum !== '0')
        .map(({ marginCoin, sum }) => `futures ${marginCoin}: all books together are ${sum}`),
      ...this.#wallet
        .sums()
        .filter(({ sum }) => sum !== '0')
        .map(({ coin, sum }) => `purses ${coin}: all books together are ${sum}`),
      ...this.#wallet
        .unexplained()
        .map(({ uid, purse, coin }) => `${uid} ${purse} ${coin}: the bookings do not explain the balance`),
    ]
  }

  /** Every desk is played up to the moment of the request, so that what one of them did is there for all. */
  #serve<Result>(now: number, handle: (state: CoreState) => Result): Result {
    return this.core.carryOut(now, (state) => {
      for (const desk of this.#played.values()) desk.advance(this.core.now)
      return handle(state)
    })
  }
}

function openDesks(
  core: ExchangeCore,
  state: CoreState,
  { seed, startAt, settings }: Required<Omit<ExchangeOptions, 'core'>>,
): { readonly wallet: Wallet; readonly desks: Desks } {
  const store = core.deskStore
  const [first] = store.rows(FIRST_START)
  if (first === undefined) store.put(FIRST_START, String(startAt))
  const wallet = new Wallet(store)
  const ports: DeskPorts = {
    prices: (symbol) => displayedPrice(state, symbol),
    accounts: core.accounts(),
    seed,
    startAt: Number(first?.json ?? startAt),
    store,
    wallet,
    sequence: createOrderSequence(store),
  }
  const { platformCoin = defaultPlatformCoin } = settings
  const desks = {
    // First: it books what every account has in its spot purse.
    spot: new SpotDesk(ports, { ...settings.spot, platformCoin }),
    margin: new MarginDesk(ports, settings.margin),
    convert: new ConvertDesk(ports, { ...settings.convert, platformCoin }),
    copy: new CopyDesk(ports, {
      instruments: core.instruments(),
      results: (uid, afterTrade) => futuresResults(state, uid, afterTrade),
    }),
    subaccounts: new SubaccountDesk(ports, { ...defaultSubaccountSettings, ...settings.subaccounts }),
    gateway: new GatewayDesk(),
  }
  return { wallet, desks }
}

const FIRST_START = 'exchange/startAt'
