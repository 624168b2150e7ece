import type { DaemonConfig } from '../../config/load-config.ts'
import { keysRefused } from '../../assembly/account/account-keys.ts'
import {
  type Answer,
  type RefusedAnswer,
  refusesKeys,
  type UnknownAnswer,
} from '../../domain/answer.ts'
import type { Fill } from '../../domain/fill.ts'
import { toClientOid } from '../../domain/ids.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { OrderAction } from '../../domain/order-action.ts'
import type { PositionReading } from '../../domain/position.ts'
import type { ItemOutcome } from '../../domain/record.ts'
import { TickerTable } from '../../domain/ticker-table.ts'
import { buildBatchRequest, readBatchOutcome, type WireTerms } from '../../execution/batch.ts'
import type { ExchangeClient } from '../../exchange/exchange-client.ts'
import { PRIORITY } from '../../exchange/limiter/grant.ts'
import type { Clock } from '../../lib/clock.ts'
import { randomHex } from '../../lib/entropy.ts'
import type { Timers } from '../../lib/timers.ts'
import { errorCode } from '../../protocol/error-codes.ts'
import type { BatchResult } from '../../protocol/values.ts'

export interface AccountProbeOptions {
  readonly client: ExchangeClient
  readonly config: DaemonConfig
  readonly instrument: Instrument
  readonly clock: Clock
  readonly timers: Timers
}

export class StepFailure extends Error {
  readonly advice: string

  constructor(found: string, advice: string) {
    super(found)
    this.advice = advice
  }
}

export type WantedOrder = Pick<WireTerms, 'action' | 'lots' | 'ticks'>

const NAME_BYTES = 10

const ADVICE: Readonly<Record<string, string>> = {
  clock: 'let a time daemon set the clock of this machine (timedatectl set-ntp true)',
  balance: 'pay in margin coin, or name a cheaper instrument with --symbol',
  sizeStep: 'compare lotSize with the contract at the exchange',
  sizeMin: 'compare minSize with the contract at the exchange',
  notionalMin: 'compare minNotional with the contract at the exchange',
  size: 'compare lotSize, minSize and minNotional with the contract at the exchange',
  priceStep: 'compare tickSize with the contract at the exchange',
  price: 'compare tickSize with the contract at the exchange',
  positionMode: 'compare account.positionMode with the settings at the exchange',
  marginMode: 'compare account.marginMode with the settings at the exchange',
  instrument: 'compare the symbol, account.productType and account.marginCoin with the exchange',
  parameter:
    'compare tickSize, lotSize, productType and marginCoin with the contract at the exchange',
  accountRisk: 'look at the account at the exchange: it may not trade',
  openOrders: 'cancel what rests there by hand',
  rate: 'something else calls from this address: run it again in a moment',
  ours: 'look at exchange.baseUrl and the connection',
}

/** Remembers what an acceptance run may have left on the instrument. */
export class AccountProbe {
  readonly #options: AccountProbeOptions
  #hasPlaced = false
  /** Monotonic ms. Until then the exchange may execute a request that it has not answered. */
  #settledAt = 0

  constructor(options: AccountProbeOptions) {
    this.#options = options
  }

  get instrument(): Instrument {
    return this.#options.instrument
  }

  async readPrices(): Promise<{ readonly bid: number; readonly ask: number }> {
    const { client, config, instrument } = this.#options
    const table = new TickerTable()
    this.#accepted(await client.readTickers(table, config.account.productType))
    const [bid, ask] = [
      table.read(instrument.symbol, 'bidPr'),
      table.read(instrument.symbol, 'askPr'),
    ]
    if (bid > 0 && ask >= bid) return { bid, ask }
    throw new StepFailure(
      `no prices of ${instrument.symbol} among ${table.symbols.length} instruments`,
      'compare the symbol and account.productType with the exchange',
    )
  }

  async readPosition(): Promise<PositionReading> {
    const { client, instrument } = this.#options
    return this.#accepted(await client.readPosition({ instrument }))
  }

  async readHeldLots(): Promise<number> {
    const { rows } = await this.readPosition()
    return rows.reduce((sum, { lots }) => sum + lots, 0)
  }

  async readFills(sinceAt: number): Promise<readonly Fill[]> {
    const { client, config, instrument } = this.#options
    const { productType, positionMode } = config.account
    const instruments = new Map([[instrument.symbol, instrument]])
    const { fills } = this.#accepted(
      await client.readFills({ productType, positionMode, instruments, sinceAt }),
    )
    return fills
  }

  nameOrder(wanted: WantedOrder): WireTerms {
    const clientOid = toClientOid(`accept-${randomHex(NAME_BYTES)}`)
    return { ...wanted, clientOid, force: 'post_only' }
  }

  async send(terms: WireTerms): Promise<ItemOutcome> {
    const { client, config, instrument, clock } = this.#options
    this.#hasPlaced = true
    const request = buildBatchRequest(config.account, instrument, [terms])
    const answer = await client.call('batchPlaceOrder', request, { priority: PRIORITY.addsRisk })
    const [outcome] = readBatchOutcome([terms.clientOid], answer)
    if (outcome === undefined) throw new Error('unreachable: a batch of one order has one outcome')
    if (outcome.outcome === 'unknown') {
      this.#settledAt = clock.monotonic() + config.execution.acceptanceWindowMs
    }
    if (answer.kind === 'refused' && refusesKeys(answer)) this.#refuse(answer)
    return outcome
  }

  async place(
    wanted: WantedOrder,
  ): Promise<{ readonly terms: WireTerms; readonly orderId: string }> {
    const terms = this.nameOrder(wanted)
    const outcome = await this.send(terms)
    if (outcome.outcome !== 'accepted') throw toFailure(outcome)
    const { orderId } = outcome
    if (orderId !== undefined) return { terms, orderId }
    throw new StepFailure(
      'accepted without an orderId',
      'report it: fills of such an order name nobody',
    )
  }

  /**
   * @returns the orderIds in the answer @throws StepFailure if one was not cancelled, or the answer
   * was lost
   */
  cancelAll(): Promise<readonly string[]> {
    const { symbol, productType, marginCoin } = this.#options.instrument
    return this.#cancel({ symbol, productType, marginCoin })
  }

  cancelProduct(): Promise<readonly string[]> {
    const { productType, marginCoin } = this.#options.instrument
    return this.#cancel({ productType, marginCoin })
  }

  /** @throws StepFailure if the removal is not proved */
  async clear(): Promise<void> {
    if (!this.#hasPlaced) return
    await this.pause(this.#settledAt - this.#options.clock.monotonic())
    const isClean = await this.until(async () => (await this.cancelAll()).length === 0)
    if (!isClean)
      throw new StepFailure('each cancel-all finds more', 'cancel by hand at the exchange')
    for (const { holdSide, lots } of (await this.readPosition()).rows) {
      if (lots > 0) await this.place({ action: CLOSES[holdSide], lots })
    }
    if (!(await this.until(async () => (await this.readHeldLots()) === 0)))
      throw new StepFailure('a position is still held', 'close it by hand at the exchange')
    this.#hasPlaced = false
  }

  async until(isSo: () => Promise<boolean>): Promise<boolean> {
    const { clock, config } = this.#options
    const endAt = clock.monotonic() + MATCHING_MS_MAX + config.execution.fillVisibilityMs
    for (;;) {
      if (await isSo()) return true
      if (clock.monotonic() >= endAt) return false
      await this.pause(LOOK_MS)
    }
  }

  pause(delayMs: number): Promise<void> {
    const { timers } = this.#options
    return delayMs <= 0
      ? Promise.resolve()
      : new Promise((resolve) => timers.after(delayMs, resolve))
  }

  async #cancel(body: {
    readonly symbol?: string
    readonly productType: Instrument['productType']
    readonly marginCoin: string
  }): Promise<readonly string[]> {
    const answer = await this.#options.client.call('cancelAllOrders', body, {
      priority: PRIORITY.reducesRisk,
    })
    if (answer.kind === 'refused' && answer.topic === 'orderGone') return []
    const { successList, failureList } = this.#accepted<BatchResult>(answer)
    const [failed] = failureList
    if (failed === undefined) return successList.map(({ orderId }) => orderId ?? '')
    throw new StepFailure(
      `an order could not be cancelled: ${failed.errorCode ?? ''} ${failed.errorMsg ?? ''}`,
      'look at the open orders at the exchange, and cancel there by hand',
    )
  }

  #accepted<Data>(answer: Answer<Data>): Data {
    if (answer.kind === 'accepted') return answer.data
    if (refusesKeys(answer)) this.#refuse(answer)
    throw toFailure(answer)
  }

  #refuse(answer: RefusedAnswer): never {
    const { message, hint = 'see .env.example' } = keysRefused(
      answer,
      this.#options.config.account.keys,
    )
    throw new StepFailure(
      `${message.split('\n', 1).join('')} (${answer.code} ${answer.message})`,
      hint,
    )
  }
}

const MATCHING_MS_MAX = 2000
const LOOK_MS = 200

const CLOSES: Readonly<Record<'long' | 'short', OrderAction>> = {
  long: 'closeLong',
  short: 'closeShort',
}

export function toFailure(said: RefusedAnswer | UnknownAnswer | ItemOutcome): StepFailure {
  const { code = '', message = '' } = said
  const topic = 'topic' in said ? said.topic : errorCode(code).topic
  const advice =
    ADVICE[topic] ?? 'run it again; where it stays, ask the exchange what this answer means'
  return new StepFailure(`${code} ${message}`.trim() || 'no clear answer', advice)
}
