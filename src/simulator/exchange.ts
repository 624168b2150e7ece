import {
  convertHandlers,
  convertLedger,
  openConvert,
  type ConvertSettings,
} from './convert/convert.ts'
import { copyHandlers, copyLedger, openCopy, playCopy } from './copy/copy.ts'
import type { AccountRef, ExchangeAccountSetup } from './shared/account.ts'
import type { CoreState, SymbolState } from './futures/core-state.ts'
import type { ExchangeCore } from './futures/exchange-core.ts'
import { futuresHandlers } from './futures/futures-handlers.ts'
import type { Reply } from './shared/reply.ts'
import { toTicker } from './futures/instruments/ticker-view.ts'
import { gatewayHandlers } from './gateway/gateway.ts'
import { bindHandlers } from './shared/handlers.ts'
import { marginHandlers, marginLedger, openMargin } from './margin/margin.ts'
import { passTime } from './margin/debts/pass-time.ts'
import type { MarginSettings } from './margin/margin-state.ts'
import { PairsTaken } from './services/pairs-taken.ts'
import type { FollowedMarket, ServicePorts } from './services/service-ports.ts'
import { addressesOf, contactOf } from './spot/address-book.ts'
import { openSpot, spotHandlers, spotLedger } from './spot/spot.ts'
import type { SpotSettings } from './spot/spot-state.ts'
import {
  openSubaccounts,
  subaccountHandlers,
  subaccountsOf,
  type SubaccountSettings,
} from './subaccounts/subaccounts.ts'
import { answersOf, undocumentedParts } from './undocumented/undocumented.ts'
import { defaultPlatformCoin, type PlatformCoin } from './wallet/platform-coin.ts'
import { createOrderSequence } from './shared/order-sequence.ts'
import { writeDemoPast } from './demo/write-past.ts'
import { singleRow } from './store/stored-rows.ts'
import { Wallet } from './wallet/wallet.ts'
import type { ServedExchange } from './wire/handle.ts'
import type { ServedName, ServedRequestOf, ServedResponseOf } from './wire/served-rows.ts'

export interface ServiceSettings {
  readonly platformCoin?: PlatformCoin
  readonly spot?: Partial<Omit<SpotSettings, 'platformCoin'>>
  readonly margin?: Partial<MarginSettings>
  readonly convert?: Partial<Omit<ConvertSettings, 'platformCoin'>>
  readonly subaccounts?: Partial<SubaccountSettings>
}

export interface ExchangeOptions {
  readonly core: ExchangeCore
  readonly seed: string | number
  readonly startAt: number
  readonly settings?: ServiceSettings
  readonly demoPast?: boolean
  readonly firstSettings?: FirstSettings
}

type FirstSettings = Readonly<Record<string, string>>

export type ExchangeStatement = ReturnType<Exchange['ledger']>

type Services = ReturnType<typeof openServices>

type Answers = {
  readonly [Name in ServedName]: (
    account: AccountRef,
    request: ServedRequestOf<Name>,
  ) => Reply<ServedResponseOf<Name>>
}

export class Exchange implements ServedExchange {
  readonly core: ExchangeCore
  readonly services: Services
  /** Each reads `name: kept, configured: not obeyed`. */
  readonly settingsKept: readonly string[]
  readonly #answers: Answers

  constructor(options: ExchangeOptions) {
    const { core, startAt, firstSettings = {} } = options
    this.core = core
    const now = Math.max(core.now, startAt)
    const [services, answers] = core.carryOut(now, (state) => {
      const opened = openServices(options, state)
      return [opened, buildAnswers(state, opened)]
    })
    this.services = services
    this.settingsKept = Object.entries(services.opened.settings ?? {}).flatMap(([name, kept]) => {
      const configured = firstSettings[name] ?? kept
      return configured === kept ? [] : [`${name}: ${kept}, configured: ${configured}`]
    })
    this.#answers = answers
    core.playAlso((at) => playServices(services, at))
    this.advance(now)
  }

  /** @returns false after 100 ms with work left: call again with the same `now` */
  advance(now: number): boolean {
    return this.core.advance(now)
  }

  answer<Name extends ServedName>(
    name: Name,
    account: AccountRef,
    request: ServedRequestOf<Name>,
    now: number,
  ): Reply<ServedResponseOf<Name>> {
    return this.core.carryOut(now, () => this.#answers[name](account, request), account)
  }

  accountByKey(apiKey: string): ExchangeAccountSetup | undefined {
    return this.core.accountByKey(apiKey)
  }

  accountByGatewayKey(apiKey: string): ExchangeAccountSetup | undefined {
    return this.core.accounts().find(({ gateway }) => gateway?.key === apiKey)
  }

  contact(uid: string) {
    return { ...contactOf(uid), withdrawalAddresses: addressesOf(uid) }
  }

  ledger(uid: string) {
    const { wallet, spot, margin, convert, copy, subaccounts } = this.services
    return {
      ...this.core.ledger(uid),
      balances: wallet.statement(uid),
      services: {
        spot: spotLedger(spot, uid),
        margin: marginLedger(margin, uid),
        convert: convertLedger(convert, uid),
        copy: copyLedger(copy, uid),
        subaccounts: subaccountsOf(subaccounts, uid),
      },
    }
  }

  imbalances(): readonly string[] {
    const { wallet } = this.services
    const sums = [
      ...this.core.books().map(({ marginCoin, sum }) => ({ name: `futures ${marginCoin}`, sum })),
      ...wallet.sums().map(({ coin, sum }) => ({ name: `balances ${coin}`, sum })),
    ]
    return [
      ...sums
        .filter(({ sum }) => sum !== '0')
        .map(({ name, sum }) => `${name}: all books together are ${sum}`),
      ...wallet
        .unexplained()
        .map(
          ({ uid, balance, coin }) =>
            `${uid} ${balance} ${coin}: the bookings do not explain the equity`,
        ),
    ]
  }
}

function buildAnswers(
  futures: CoreState,
  { spot, margin, convert, copy, subaccounts }: Services,
): Answers {
  return {
    ...bindHandlers(futures, futuresHandlers),
    ...bindHandlers(spot, spotHandlers),
    ...bindHandlers(margin, marginHandlers),
    ...bindHandlers(convert, convertHandlers),
    ...bindHandlers(copy, copyHandlers),
    ...bindHandlers(subaccounts, subaccountHandlers),
    ...bindHandlers(futures.clock, gatewayHandlers),
    ...bindHandlers(futures, answersOf(undocumentedParts.futures)),
    ...bindHandlers(spot, answersOf(undocumentedParts.spot)),
    ...bindHandlers(margin, answersOf(undocumentedParts.margin)),
  }
}

function playServices(services: Services, now: number): void {
  if (services.opened.isPastDue) writePast(services)
  passTime(services.margin, now)
  playCopy(services.copy, now)
}

function writePast(services: Services): void {
  const { ports, opened, spot } = services
  if (![...spot.pairs.keys()].some((symbol) => (ports.market(symbol)?.shown.at ?? 0) > 0)) return
  writeDemoPast(ports, services)
  opened.isPastDue = false
  ports.rows.put(OPENED, opened)
}

function openServices(
  { core, seed, startAt, settings = {}, demoPast = false, firstSettings = {} }: ExchangeOptions,
  state: CoreState,
) {
  const { rows, clock, matching, symbols } = state
  const before = rows.readOne(OPENED, OPENED.id()) ?? { startAt, isPastDue: demoPast }
  const opened = { ...before, settings: { ...firstSettings, ...before.settings } }
  rows.put(OPENED, opened)
  const wallet = new Wallet(rows)
  const ports: ServicePorts = {
    clock,
    matching,
    seed,
    rows,
    wallet,
    market: (symbol) => followedMarket(symbols.get(symbol)),
    ticker: (symbol) => {
      const found = symbols.get(symbol)
      return found === undefined || found.market.at === 0 ? undefined : toTicker(state, found)
    },
    accounts: core.accounts(),
    startAt: opened.startAt,
    taken: new PairsTaken(rows),
    sequence: createOrderSequence(rows),
  }
  const { platformCoin = defaultPlatformCoin } = settings
  return {
    ports,
    opened,
    wallet,
    spot: openSpot(ports, {
      ...settings.spot,
      platformCoin,
    }),
    margin: openMargin(ports, settings.margin),
    convert: openConvert(ports, {
      ...settings.convert,
      platformCoin,
    }),
    copy: openCopy(ports, state),
    subaccounts: openSubaccounts(ports, settings.subaccounts),
  }
}

function followedMarket(found: SymbolState | undefined): FollowedMarket | undefined {
  if (found === undefined) return undefined
  const { instrument, market: shown, followers } = found
  const { priceGrid, sizeGrid } = instrument
  return {
    tickSize: priceGrid.step,
    lotSize: sizeGrid.step,
    shown,
    follow: (hear) => void followers.push(hear),
  }
}

interface FirstStart {
  readonly startAt: number
  isPastDue: boolean
  readonly settings?: FirstSettings
}

const OPENED = singleRow<FirstStart>('opened')
