import {
  type ExchangeAccountSetup,
  type ExchangeMarginMode,
} from '../../src/simulator/shared/account.ts'
import { createExchangeCore } from '../../src/simulator/futures/exchange-core.ts'
import {
  buildInstruments,
  nextQuarterlyDelivery,
} from '../../src/simulator/futures/instruments/instruments.ts'
import { decimal } from '../../src/lib/decimal.ts'
import { balanceOf } from '../../src/simulator/margin/orders/margin-order.ts'
import { type RowStore } from '../../src/simulator/store/row-store.ts'
import { type ServiceSettings, Exchange } from '../../src/simulator/exchange.ts'
import { prepareMarket } from '../../src/simulator/prepare-market.ts'
import { Wire } from '../../src/simulator/wire/handle.ts'
import {
  servedRow,
  type ServedName,
  type ServedResponseOf,
} from '../../src/simulator/wire/served-rows.ts'
import { defaultWireSettings, type WireSettings } from '../../src/simulator/wire/settings.ts'
import { type WireEvent } from '../../src/simulator/wire/server-event.ts'
import { bytesOf } from '../../src/simulator/wire/wire-request.ts'
import { GOOD_REQUESTS, requestFor, START_AT, type RequestParts } from './wire/signed-request.ts'

function openAccount(uid: string, more: Partial<ExchangeAccountSetup>): ExchangeAccountSetup {
  return {
    uid,
    label: `account ${uid}`,
    key: `key-${uid}`,
    secret: `secret-${uid}`,
    passphrase: `passphrase-${uid}`,
    positionMode: 'one_way_mode',
    role: 'ordinary',
    balances: { USDT: '10000', BTC: '0.5' },
    leverage: 10,
    ...more,
  }
}

function gatewayOf(uid: string, isWhitelisted = true) {
  return { key: `gateway-${uid}`, secret: `gateway-secret-${uid}`, isWhitelisted }
}

/** One-way, its key bound to the address of the tests. */
export const ANNA = openAccount('1001', {
  boundToIps: ['127.0.0.1', '10.0.0.7'],
  gateway: gatewayOf('1001'),
})
/** Hedge mode, its key bound to no address, and not on the gateway's whitelist. */
export const BERT = openAccount('1002', {
  positionMode: 'hedge_mode',
  gateway: gatewayOf('1002', false),
})
/** A trader whom others copy. */
export const TARA = openAccount('1003', { role: 'copyTrader', boundToIps: ['127.0.0.1'] })

export const ACCOUNTS = [ANNA, BERT, TARA] as const

export interface ExchangeBenchOptions {
  readonly store?: RowStore
  readonly services?: ServiceSettings
  readonly demoPast?: boolean
  readonly wire?: Partial<WireSettings>
  readonly seed?: string
  /** Between two moves of the market, ms. Default 1000: a day is played in a second. */
  readonly stepMs?: number
  /** Where the clock starts, Unix ms. */
  readonly now?: number
}

/** The whole exchange in virtual time: requests go straight to its wire. */
export class ExchangeBench {
  readonly exchange: Exchange
  readonly wire: Wire
  readonly events: WireEvent[] = []
  now: number

  private constructor(exchange: Exchange, { wire, now = START_AT }: ExchangeBenchOptions) {
    this.exchange = exchange
    this.now = now
    this.wire = new Wire({
      exchange,
      clock: { now: () => this.now, monotonic: () => this.now },
      settings: { ...defaultWireSettings, ...wire },
      onEvent: (event) => this.events.push(event),
    })
  }

  static async open(options: ExchangeBenchOptions = {}): Promise<ExchangeBench> {
    const {
      seed = 'bench',
      now = START_AT,
      stepMs = 1000,
      store,
      services = {},
      demoPast = false,
    } = options
    const instruments = buildInstruments(nextQuarterlyDelivery(START_AT))
    const openMarket = await prepareMarket(
      { kind: 'seeded', stepMs },
      { instruments, seed, startAt: START_AT },
    )
    const core = createExchangeCore({
      instruments,
      accounts: ACCOUNTS,
      market: openMarket,
      seed,
      ...(store && { store }),
    })
    const exchange = new Exchange({ core, seed, startAt: now, settings: services, demoPast })
    return new ExchangeBench(exchange, options)
  }

  /** Time passes, and the exchange with it. */
  wait(ms: number): void {
    this.now += ms
    while (!this.exchange.advance(this.now));
  }

  /** Sends a request as it stands, signed now. */
  ask(account: ExchangeAccountSetup, parts: RequestParts) {
    return this.answer(requestFor(account, { at: this.now, ...parts }))
  }

  /** The row's good request, with parts of it replaced. */
  call(account: ExchangeAccountSetup, name: ServedName, parts: Partial<RequestParts> = {}) {
    const good = GOOD_REQUESTS.find((request) => request.name === name)
    if (good === undefined) throw new Error(`no request for ${name}`)
    return this.ask(account, { ...good, ...parts })
  }

  /** The data of a success, in the wire's shape. @throws when it was refused. */
  data<Name extends ServedName>(
    account: ExchangeAccountSetup,
    name: Name,
    parts: Partial<RequestParts> = {},
  ): ServedResponseOf<Name> {
    const { code, msg, data } = this.call(account, name, parts)
    if (code !== '00000') throw new Error(`${name}: ${code} ${msg}`)
    const read = servedRow(name).response.safeParse(data)
    if (!read.success) throw new Error(`${name}: ${read.error.message}`)
    const text = JSON.stringify(read.data) ?? ''
    if (text.includes('"unreadable":')) throw new Error(`${name}: ${text}`)
    return data as ServedResponseOf<Name>
  }

  answer(request: ReturnType<typeof requestFor>) {
    const response = this.wire.handle(request)
    const { status, headers } = response
    const envelope = JSON.parse(bytesOf(response).toString()) as {
      readonly code: string
      readonly msg: string
      readonly requestTime: number | string
      readonly data: unknown
    }
    return { status, headers, ...envelope }
  }
}

/** Adds play money to a margin balance. */
export function depositMargin(
  { core, services }: Exchange,
  { uid }: Pick<ExchangeAccountSetup, 'uid'>,
  {
    mode,
    symbol,
    coin,
    amount,
  }: { mode: ExchangeMarginMode; symbol: string; coin: string; amount: string },
  now: number,
): void {
  const ref = { uid, balance: balanceOf(mode, symbol), coin }
  core.carryOut(now, () => services.wallet.book(ref, 'deposit', decimal(amount)))
}
