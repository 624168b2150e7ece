import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { createRandom, type Random } from '../../lib/random.ts'
import { type WireRequestOf, type WireResponseOf } from '../../protocol/endpoints.ts'
import { type AccountRef } from '../core/account.ts'
import { type Instrument } from '../core/instruments.ts'
import { accept, refuse, type Reply } from '../core/reply.ts'
import { type AccountService, type ServicePorts } from '../account-service.ts'
import { copyRefusals } from './copy-refusals.ts'
import { TRADERS } from './stored-trader.ts'
import { changeSettings } from './symbol-settings.ts'
import { toSummary } from './trader-summary.ts'
import { closeDays, createTrader, dayStart, type SymbolSetting, type Trader } from './trader.ts'

/** What the service must know of a trader's futures account. USDT. */
export interface FuturesResults {
  /** Net profit since the account was opened: realised, less fees, with funding. */
  readonly profit: Decimal
  /** Balance and unrealised profit. */
  readonly equity: Decimal
  /** Closing trades after the named one, by their outcome. */
  readonly gains: number
  readonly losses: number
  readonly lastTrade: number
}

export interface CopyFacts {
  readonly instruments: readonly Instrument[]
  readonly results: (uid: string, afterTrade: number) => FuturesResults
}

/** What a trader's account shows at this service. */
export interface CopyStatement {
  readonly followers: number
  readonly settings: readonly SymbolSetting[]
}

/**
 * Copy trading, from the trader's side: accounts of role `copyTrader` have followers, and symbols that
 * may be copied. Followers trade nowhere: they are a number. The trader's own futures account goes on
 * writing its days and its results.
 */
export class CopyService implements AccountService {
  readonly #ports: ServicePorts
  readonly #facts: CopyFacts
  readonly #instruments: ReadonlyMap<string, Instrument>
  readonly #random: Random
  /** By uid; bounded by the accounts. */
  readonly traders = new Map<string, Trader>()
  /** Unix ms of the next midnight: until then nothing falls due. */
  #nextDayAt = 0

  constructor(ports: ServicePorts, facts: CopyFacts) {
    this.#ports = ports
    this.#facts = facts
    this.#instruments = new Map(facts.instruments.map((instrument) => [instrument.symbol, instrument]))
    this.#random = createRandom(ports.seed).fork('copy')
    for (const { uid, role, balances } of ports.accounts) {
      if (role !== 'copyTrader') continue
      const opening = balances['USDT'] === undefined ? ZERO : decimal(balances['USDT'])
      this.traders.set(uid, createTrader(uid, ports.startAt, opening))
    }
    ports.rows.restore(TRADERS, this.traders)
    // A day closes at the first quote after it, whoever asks and when: with what was earned until then.
    const market = this.traders.size === 0 ? undefined : ports.market(CLOCK_SYMBOL)
    market?.follow(() => this.advance(market.shown.at))
  }

  advance(now: number): void {
    if (now < this.#nextDayAt) return
    for (const [uid, trader] of this.traders) {
      if (dayStart(now) <= trader.today) continue
      const { profit } = this.#takeResults(uid, trader)
      closeDays(trader, { now, profit, random: this.#random.fork(uid) })
      this.put(trader)
    }
    this.#nextDayAt = dayStart(now) + DAY_MS
  }

  copyOrderTotalDetail(
    { uid }: AccountRef,
    _request: WireRequestOf<'copyOrderTotalDetail'>,
    now: number,
  ): Reply<WireResponseOf<'copyOrderTotalDetail'>> {
    this.advance(now)
    const trader = this.traders.get(uid)
    if (trader === undefined) return refuse(copyRefusals.notTrader())
    return accept(toSummary(trader, this.#takeResults(uid, trader)))
  }

  copyConfigSettingSymbols(
    { uid }: AccountRef,
    { settingList }: WireRequestOf<'copyConfigSettingSymbols'>,
    now: number,
  ): Reply<WireResponseOf<'copyConfigSettingSymbols'>> {
    const trader = this.traders.get(uid)
    if (trader === undefined) return refuse(copyRefusals.notTrader())
    const changed = changeSettings(trader.settings, settingList, { instruments: this.#instruments, now })
    if (!changed.ok) return refuse(changed.refusal)
    trader.settings.clear()
    for (const [symbol, setting] of changed.settings) trader.settings.set(symbol, setting)
    this.put(trader)
    // The document's sample answers with this very word.
    return accept('success')
  }

  ledger(uid: string): CopyStatement | undefined {
    const trader = this.traders.get(uid)
    return trader && { followers: trader.followersNow, settings: [...trader.settings.values()] }
  }

  /** The setting of the first symbol that may be copied, without ratios. */
  firstSetting(): SymbolSetting | undefined {
    const [first] = this.#facts.instruments
    if (first === undefined || !COPIED_TYPES.has(first.productType)) return undefined
    const { symbol, productType } = first
    return { symbol, productType, stopSurplusRatio: undefined, stopLossRatio: undefined }
  }

  #takeResults(uid: string, trader: Trader): FuturesResults {
    const results = this.#facts.results(uid, trader.tradeTaken)
    if (results.lastTrade === trader.tradeTaken) return results
    trader.gains += results.gains
    trader.losses += results.losses
    trader.tradeTaken = results.lastTrade
    this.put(trader)
    return results
  }

  /** Keeps the trader as it is now. */
  put(trader: Trader): void {
    this.#ports.rows.put(TRADERS, trader)
  }
}

/** Any market that never rests would do. */
const CLOCK_SYMBOL = 'BTCUSDT'
const DAY_MS = 86_400_000
/** Document, config-setting-symbols: productType. */
const COPIED_TYPES: ReadonlySet<string> = new Set(['USDT-FUTURES', 'COIN-FUTURES', 'USDC-FUTURES'])
