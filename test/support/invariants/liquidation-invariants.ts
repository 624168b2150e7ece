import { type ModeReason } from '../../../src/domain/trading-mode.ts'
import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { accountHoldingOf, pairKey } from '../../../src/engine/book/book.ts'
import { netLots } from '../../../src/domain/position.ts'
import { floatOnGrid } from '../../../src/lib/grid.ts'
import { formerNetOf } from '../world/account-plan.ts'
import { capitalOf, type World, type WorldWatcher, violate } from '../world/world.ts'

/** Tolerance of a distance: mark and last price differ, and the market moves between looks. */
const SLACK = 0.03
/** With readings this often, a position too near for this long is restricted. */
const READ_EVERY_MS = 2500
const HELD_WITHIN_MS = 8000

/**
 * MON1, from the exchange's ledger at its true prices: no step is taken at a distance that no
 * position ever had, and a lasting one is taken. By equity alone: maintenance is a share of the
 * value, so liquidation is at equity + change of value = rate × value.
 */
export function watchLiquidation(world: World): WorldWatcher {
  const { liquidation, symbols } = world.plan
  const steps = world.settings.liquidation?.steps
  const [symbol] = symbols
  if (liquidation === undefined || steps === undefined || symbol === undefined) return {}
  const truth = new TrueDistances(world, symbol, liquidation.rate)
  const limits = { liquidationNear: steps.reduce, liquidationFlatten: steps.flatten }
  return {
    onBirth: () => truth.forget(),
    onRecord(record) {
      truth.look()
      if (record.kind !== 'restricted' || !(record.code in limits)) return
      const limit = limits[record.code as keyof typeof limits]
      // Two witnesses that are wrong together may reduce, but close nothing.
      const isOfOneReading =
        world.plan.faults.pricesWrong !== undefined && record.code === 'liquidationNear'
      if (truth.nearest - SLACK <= limit || isOfOneReading) return
      violate(
        world,
        'MON1',
        `held for ${record.code}, and ${truth.nearest} was the nearest: ${record.reason}`,
      )
    },
    afterStep(event, effects) {
      const { engine } = world.process
      if (engine === undefined) return
      if (event.kind === 'snapshotTaken') truth.noteIndex(event.tickers)
      if (event.kind !== 'positionRead') return
      truth.look()
      const isRefused = effects.some(
        (effect) => effect.kind === 'announce' && effect.event === 'read.failed',
      )
      if (isRefused || engine.phase !== 'running') return
      // The exchange has more margin, so its price is far away: then ours waits for ten minutes.
      const isStated = event.reading.rows.some(({ liquidationPrice }) => liquidationPrice > 0)
      truth.noteReading(event.reading.rows.length > 0 && !isStated)
      // Outside of the index band nothing is judged.
      const farthest = truth.isNearIndex(HELD_WITHIN_MS)
        ? truth.farthestOfLast(HELD_WITHIN_MS)
        : undefined
      if (farthest === undefined) return
      for (const [code, limit] of Object.entries(limits) as [ModeReason, number][]) {
        if (farthest + SLACK > limit || engine.book.restrictions.has(pairKey(symbol, code)))
          continue
        violate(
          world,
          'MON1',
          `${farthest} from a liquidation at most for seconds, and not held for ${code}`,
        )
      }
    },
  }
}

/** Distance of the account's position from liquidation, at the exchange's market price. */
class TrueDistances {
  readonly #world: World
  readonly #symbol: string
  readonly #rate: number
  nearest = Number.POSITIVE_INFINITY
  #samples: { readonly at: number; readonly distance: number }[] = []
  #readAt = 0
  #outOfBandAt = Number.NEGATIVE_INFINITY

  constructor(world: World, symbol: string, rate: number) {
    this.#world = world
    this.#symbol = symbol
    this.#rate = rate
  }

  look(): void {
    const { time } = this.#world
    const distance = this.#distance()
    this.nearest = Math.min(this.nearest, distance)
    this.#samples.push({ at: time.now, distance })
    if (this.#samples.length > 2000) this.#samples = this.#samples.slice(-1000)
  }

  forget(): void {
    this.#samples = []
  }

  /** A gap in readings, or an unread position, proves nothing. */
  noteReading(isHeld: boolean): void {
    const { now } = this.#world.time
    if (!isHeld || now - this.#readAt > READ_EVERY_MS) this.#samples = []
    this.#readAt = now
  }

  noteIndex(tickers: TickerTable): void {
    const { settings, time } = this.#world
    const band = (settings.figures?.indexBandRatio ?? 0) * 0.9
    const last = tickers.read(this.#symbol, 'lastPr')
    if (Math.abs(tickers.read(this.#symbol, 'indexPrice') - last) > last * band)
      this.#outOfBandAt = time.now
  }

  isNearIndex(forMs: number): boolean {
    return this.#world.time.now - this.#outOfBandAt > forMs
  }

  /** Undefined without looks for so long. */
  farthestOfLast(ms: number): number | undefined {
    const since = this.#world.time.now - ms
    const first = this.#samples[0]
    if (first === undefined || first.at > since) return undefined
    return Math.max(
      ...this.#samples.filter(({ at }) => at >= since).map(({ distance }) => distance),
    )
  }

  #distance(): number {
    const { exchange, settings, plan, process } = this.#world
    const spec = settings.instruments.get(this.#symbol)
    if (spec === undefined) return Number.POSITIVE_INFINITY
    const { coins, positions } = exchange.ledger()
    const price = floatOnGrid(spec.tick, exchange.priceOf(this.#symbol))
    let equity = capitalOf(this.#world) + formerNetOf(plan)
    for (const { realisedProfit, fees, funding } of coins)
      equity += Number(realisedProfit) - Number(fees) + Number(funding)
    let [net, gross] = [0, 0]
    for (const { size, holdSide, openPriceAvg } of positions) {
      const sign = holdSide === 'long' ? 1 : -1
      equity += (price - Number(openPriceAvg)) * Number(size) * sign
      net += Number(size) * sign
      gross += Number(size)
    }
    // While the book does not know it, nothing can be done.
    const known = process.engine && netLots(accountHoldingOf(process.engine.book, this.#symbol))
    if (known === undefined || Math.abs(floatOnGrid(spec.lot, known) - net) > 1e-9)
      return Number.POSITIVE_INFINITY
    if (gross === 0) return Number.POSITIVE_INFINITY
    // Equity + net × move = rate × gross × (price + move): a straight line on either side.
    const move = (this.#rate * gross * price - equity) / (net - this.#rate * gross)
    if (equity <= this.#rate * gross * price) return 0
    const isReached = net > 0 === move < 0 || Math.abs(net) < this.#rate * gross
    return isReached && price + move > 0 ? Math.abs(move) / price : Number.POSITIVE_INFINITY
  }
}
