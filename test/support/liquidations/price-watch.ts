import { UID } from '../../../src/backtest/direct-exchange.ts'
import { type HoldSide } from '../../../src/domain/position.ts'
import { pairKey } from '../../../src/engine/book/book.ts'
import { type Decimal, decimal, sumDecimals, ZERO } from '../../../src/lib/decimal.ts'
import { type LiquidationScene, moneyOf, START_AT } from './liquidation-scene.ts'

export interface ComparedPrices {
  /** Compared prices of our core and the simulator, and their differences. */
  readonly compared: number
  readonly differences: readonly string[]
  /** Liquidations compared with our earlier price. */
  readonly foretold: number
}

interface SeenPosition {
  readonly holdSide: HoldSide
  /** Our liquidation price; NaN: unknown or none. */
  readonly ourPrice: number
  readonly mark: number
}

interface PaidFunding {
  readonly key: string
  readonly counter: string
}

/** Looks with only price moves before a liquidation is compared. */
const STILL_LOOKS = 8

export class PriceWatch {
  readonly #scene: LiquidationScene
  readonly #differences: string[] = []
  #compared = 0
  #foretold = 0
  #counts = { liquidations: 0, fills: 0 }
  #funding = ZERO
  #stillFor = 0
  #before: SeenPosition | undefined

  constructor(scene: LiquidationScene) {
    this.#scene = scene
  }

  get liquidations(): number {
    return this.#counts.liquidations
  }

  get found(): ComparedPrices {
    return { compared: this.#compared, foretold: this.#foretold, differences: this.#differences }
  }

  /** While prices stand, the exchange's and our core's prices agree to a tick. */
  compare(): void {
    // Our core has not yet read recent fills or payments.
    if (this.#stillFor < STILL_LOOKS) return
    for (const symbol of this.#scene.plan.symbols) {
      const tick = this.#scene.tickOf(symbol)
      for (const { holdSide, liquidationPrice } of this.#positionsOf(symbol)) {
        const ours = this.#ourPrice(symbol, holdSide)
        const stated = Number(liquidationPrice)
        const isSame = stated > 0 ? Math.abs(ours - stated) <= tick : Number.isNaN(ours)
        this.#compared += 1
        if (!isSame)
          this.#differ(`${symbol} ${holdSide}: ours ${ours}, the exchange states ${stated}`)
      }
    }
  }

  /** With a single position only its price liquidates it: the mark has just passed ours. */
  look(): void {
    const { core, plan, engine, market, now } = this.#scene
    const { liquidations, fills, resting, funding, counters } = core.carryOut(
      now,
      ({ accounts }) => {
        const account = accounts.get(UID)
        if (account === undefined) throw new Error('the account is gone')
        const { counts, openOrders, coins, positions } = account
        return {
          ...counts,
          resting: openOrders.size,
          funding: coins.get(moneyOf(plan).coin)?.funding ?? ZERO,
          counters: [...positions.values()]
            .filter(({ lots }) => lots > 0)
            .map(({ symbol, holdSide, funding: paid }) => ({
              key: pairKey(symbol, holdSide),
              counter: (paid ?? ZERO).toString(),
            })),
        }
      },
    )
    const [symbol = '', ...others] = plan.symbols
    const tick = this.#scene.tickOf(symbol)
    const mark = market.markAt(symbol, now) * tick
    // A payment since the last look has moved the price, and no reading of it is there yet.
    const isPaid = !funding.eq(this.#funding)
    if (liquidations > this.#counts.liquidations && this.#stillFor >= STILL_LOOKS && !isPaid)
      this.#judge(symbol, { mark, tick })
    this.#funding = funding
    const isKnown = this.#knowsFunding(funding, counters)
    this.#stillFor = isKnown && fills === this.#counts.fills ? this.#stillFor + 1 : 0
    this.#counts = { liquidations, fills }
    const ours = engine.distances.get(symbol) ?? []
    const [one] = ours
    // A resting order may be filled on the way and change the price.
    const isAlone = others.length === 0 && ours.length === 1 && resting === 0
    this.#before = one && isAlone ? { ...one, mark } : undefined
  }

  /**
   * Each position's payments, as payments of several instruments may add up to nothing. Those of a
   * position closed right after are never readable, and as estimated only if no price moved then.
   */
  #knowsFunding(funding: Decimal, counters: readonly PaidFunding[]): boolean {
    const { book } = this.#scene.engine
    const unseen = [...book.unseenFunding.values()].map(({ amount }) => decimal(amount))
    const isWhole = sumDecimals([...book.funding.values(), ...unseen]).eq(funding)
    return (
      isWhole &&
      counters.every(({ key, counter }) =>
        decimal(book.fundingCounters.get(key) || '0').eq(decimal(counter)),
      )
    )
  }

  #judge(symbol: string, { mark, tick }: { readonly mark: number; readonly tick: number }): void {
    const before = this.#before
    if (before === undefined) return
    const [low, high] = [Math.min(mark, before.mark) - tick, Math.max(mark, before.mark) + tick]
    this.#foretold += 1
    if (!(before.ourPrice >= low && before.ourPrice <= high))
      this.#differ(
        `${symbol} ${before.holdSide}: liquidated between ${low} and ${high}, ours ${before.ourPrice}`,
      )
  }

  #differ(text: string): void {
    const { now, plan } = this.#scene
    this.#differences.push(`${plan.seed} after ${(now - START_AT) / 1000} s, ${text}`)
  }

  #ourPrice(symbol: string, holdSide: HoldSide): number {
    const ours = this.#scene.engine.distances.get(symbol) ?? []
    return ours.find((one) => one.holdSide === holdSide)?.ourPrice ?? Number.NaN
  }

  #positionsOf(symbol: string) {
    const { core, now, plan } = this.#scene
    const { productType, coin: marginCoin } = moneyOf(plan)
    const request = { symbol, productType, marginCoin } as const
    const reply = core.answer('singlePosition', { uid: UID }, request, now)
    if (!reply.ok) throw new Error(`no position of ${symbol}`)
    return reply.data
  }
}
