import { ACCOUNT, type ModeReason } from '../../../src/domain/trading-mode.ts'
import { accountHoldingOf } from '../../../src/engine/book/book.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { floatOnGrid } from '../../../src/lib/grid.ts'
import { formerNetOf } from '../world/account-plan.ts'
import { capitalOf, type World, type WorldWatcher, violate } from '../world/world.ts'

/**
 * Tolerance, as a share of the holding and an amount: mark and last price differ, and the market
 * moves between two looks.
 */
const SLACK_SHARE = 0.01
const SLACK = 0.3
/** Within this time a lasting loss must be held, if positions are read this often. */
const HELD_WITHIN_MS = 8000
const READ_EVERY_MS = 2500
/** Within this time either figure must reduce, at the second reading at the latest. */
const REDUCED_WITHIN_MS = 3500
/** After the faults, or after a standstill that reaches into the calm, a dispute ends within this. */
const CALM_DISPUTE_MS = 5000
/** Steps farther apart say that the process stood still: meanwhile no figure could agree. */
const STOOD_STILL_MS = 1000
/** After a crash the exchange's mark and index need this long to reach the price. */
const CAUGHT_UP_MS = 70_000

/** Two witnesses that are wrong together may reduce, but close nothing. */
const ofOneReading = ({ plan }: World, code: ModeReason): boolean =>
  plan.faults.pricesWrong !== undefined && code !== 'drawdownFlatten'

const OF_LOSS: ReadonlySet<ModeReason> = new Set(['dailyLoss', 'drawdown', 'drawdownFlatten'])

/**
 * MON1, from the exchange's ledger at its true prices: no loss holds or closes anything, and no
 * peak is recorded, that the account never had; and a lasting loss is held. MON2: a profit missing
 * in a row is disputed.
 */
export function watchBelief(world: World): WorldWatcher {
  const { settings } = world
  const limits = settings.losses?.limits.get(ACCOUNT)
  if (limits === undefined || Number.isNaN(capitalOf(world))) return {}
  const truth = new TrueNet(world)
  const { daily = Number.POSITIVE_INFINITY, drawdown = {} } = limits
  const { flatten = Number.POSITIVE_INFINITY } = drawdown
  const reducing = Math.min(drawdown.reducing ?? Number.POSITIVE_INFINITY, flatten)
  const { crash, isOfMoney = false } = world.plan
  const caughtUpAt = world.time.now + (crash ? crash.afterMs + crash.overMs + CAUGHT_UP_MS : 0)
  const limitOf = (code: ModeReason): number => {
    if (code === 'dailyLoss') return daily
    return ((code === 'drawdown' ? drawdown.reducing : drawdown.flatten) ?? 0) * capitalOf(world)
  }
  /** Unix ms, our clock: the last step, and the end of the last standstill. */
  let [steppedAt, wokeAt] = [0, 0]
  return {
    onBirth() {
      steppedAt = wokeAt = 0
      truth.forgetReadings()
    },
    onRecord(record) {
      truth.look()
      if (record.kind === 'restricted' && record.scope === ACCOUNT && OF_LOSS.has(record.code)) {
        const limit = limitOf(record.code)
        if (truth.deepest + truth.slack < limit && !ofOneReading(world, record.code))
          violate(
            world,
            'MON1',
            `held for ${record.code}, while at most ${truth.deepest} was ever lost: ${record.reason}`,
          )
      }
      const peak =
        record.kind === 'watermark'
          ? record.watermarks.find(({ scope }) => scope === ACCOUNT)?.peak
          : undefined
      if (typeof peak === 'number' && peak > truth.highest + truth.slack)
        violate(
          world,
          'MON1',
          `a peak of ${peak} was written down, ${truth.highest} was the most there ever was`,
        )
    },
    afterStep(event, effects, now) {
      const { engine } = world.process
      if (now - steppedAt > STOOD_STILL_MS) wokeAt = now
      steppedAt = now
      if (engine === undefined || !concernsMoney(event)) return
      truth.look()
      if (event.kind === 'snapshotTaken') truth.noteIndex(event.tickers)
      const isRefused = effects.some(
        (effect) => effect.kind === 'announce' && effect.event === 'read.failed',
      )
      if (event.kind !== 'positionRead' || isRefused) return
      const { symbol, rows } = event.reading
      const isOver = effects.some(
        (effect) =>
          effect.kind === 'announce' &&
          effect.event === 'limits.ended' &&
          effect.fields['scope'] === ACCOUNT &&
          effect.fields['code'] === 'equityDisputed',
      )
      if (isOver && engine.disputes.has(`unrealised|${symbol}`))
        violate(
          world,
          'MON1',
          `what restricted the account has ended, while the figures of ${symbol} differ`,
        )
      const { longLots, shortLots } = accountHoldingOf(engine.book, symbol)
      const lotsOf = (side: string): number =>
        rows.find(({ holdSide }) => holdSide === side)?.lots ?? 0
      const isOfBook = lotsOf('long') === longLots && lotsOf('short') === shortLots
      const isBlank = rows.some(({ lots, unrealisedProfit }) => lots > 0 && unrealisedProfit === '')
      const dispute = engine.disputes.get(`unrealised|${symbol}`)
      if (isBlank && isOfBook && dispute === undefined)
        violate(world, 'MON2', `the profit of ${symbol} is left out, and nobody disputes it`)
      // After the first reading that agrees it waits for another.
      const isOpen = dispute !== undefined && dispute.agreedBy !== event.reading.requestedAt
      const isCalm = world.facts.isCalm && world.time.now > caughtUpAt
      const lastedMs = now - Math.max(dispute?.since ?? now, wokeAt)
      if (isCalm && isOfBook && isOpen && lastedMs > CALM_DISPUTE_MS)
        violate(
          world,
          'MON1',
          `a dispute about ${symbol} does not end: ${dispute.ours}, ${dispute.theirs}`,
        )
      if (world.plan.symbols.length > 1 || engine.phase !== 'running') return
      truth.noteReading()
      const {
        peak = null,
        dayNet = null,
        lastPeak = null,
      } = engine.book.watermarks.get(ACCOUNT) ?? {}
      const held = new Set(
        engine.restrictions.filter(({ scope }) => scope === ACCOUNT).map(({ code }) => code),
      )
      const fallOf = (best: number, from = peak): number =>
        from === null ? 0 : (from - best - truth.slack) / (capitalOf(world) + from)
      const isAtLast = (best: number): boolean =>
        Math.max(fallOf(best), fallOf(best, lastPeak)) >= flatten
      const lossOf = (best: number): number => (dayNet === null ? 0 : dayNet - best - truth.slack)
      const say = (best: number, missing: string): void =>
        violate(
          world,
          'MON1',
          `${best} was the most for seconds, from ${peak} at the peak and ${dayNet} that day, and ${missing}`,
        )
      const soon = truth.bestOfLast(REDUCED_WITHIN_MS)
      // Faults of other worlds, such as wrong prices, may delay this.
      if (isOfMoney && soon !== undefined && held.size === 0)
        if (fallOf(soon) >= reducing || lossOf(soon) >= daily) say(soon, 'it may add risk')
      const best = truth.isNearIndex(HELD_WITHIN_MS) ? truth.bestOfLast(HELD_WITHIN_MS) : undefined
      if (best === undefined) return
      const isHeld = [...held].some((code) => OF_LOSS.has(code))
      if ((fallOf(best) >= reducing || lossOf(best) >= daily) && !isHeld)
        say(best, 'nothing is held')
      else if (isOfMoney && isAtLast(best) && !held.has('drawdownFlatten'))
        say(best, 'nothing is closed')
    },
  }
}

function concernsMoney({ kind }: EngineEvent): boolean {
  return kind === 'positionRead' || kind === 'fillsRead' || kind === 'snapshotTaken'
}

/** Net profit of the account, from the exchange's ledger at its market's price. */
class TrueNet {
  readonly #world: World
  /** Largest fall from an earlier peak, and highest net profit, of the whole world. */
  deepest = 0
  highest = 0
  slack = SLACK
  #samples: { readonly at: number; readonly net: number }[] = []
  #readAt = 0
  #outOfBandAt = Number.NEGATIVE_INFINITY

  constructor(world: World) {
    this.#world = world
    this.highest = formerNetOf(world.plan)
  }

  look(): void {
    const { time, exchange, settings, plan } = this.#world
    const { coins, positions } = exchange.ledger()
    let net = formerNetOf(plan)
    for (const { realisedProfit, fees, funding } of coins)
      net += Number(realisedProfit) - Number(fees) + Number(funding)
    let notional = 0
    for (const { symbol, holdSide, size, openPriceAvg } of positions) {
      const spec = settings.instruments.get(symbol)
      const price =
        spec === undefined ? Number.NaN : floatOnGrid(spec.tick, exchange.priceOf(symbol))
      net += (price - Number(openPriceAvg)) * Number(size) * (holdSide === 'long' ? 1 : -1)
      notional += Number(size) * Number(openPriceAvg)
    }
    this.slack = Math.max(this.slack, SLACK + SLACK_SHARE * notional)
    this.highest = Math.max(this.highest, net)
    this.deepest = Math.max(this.deepest, this.highest - net)
    this.#samples.push({ at: time.now, net })
    if (this.#samples.length > 2000) this.#samples = this.#samples.slice(-1000)
  }

  /** Notes prices far from their stated index: limits close nothing at those (MON1). */
  noteIndex(tickers: TickerTable): void {
    const { plan, settings, time } = this.#world
    const band = (settings.figures?.indexBandRatio ?? 0) * 0.9
    for (const symbol of plan.symbols) {
      const last = tickers.read(symbol, 'lastPr')
      if (Math.abs(tickers.read(symbol, 'indexPrice') - last) > last * band)
        this.#outOfBandAt = time.now
    }
  }

  isNearIndex(forMs: number): boolean {
    return this.#world.time.now - this.#outOfBandAt > forMs
  }

  forgetReadings(): void {
    this.#samples = []
    this.#readAt = 0
  }

  noteReading(): void {
    const { now } = this.#world.time
    if (now - this.#readAt > READ_EVERY_MS) this.#samples = []
    this.#readAt = now
  }

  /** Highest net profit of the last `ms`; undefined without looks for so long. */
  bestOfLast(ms: number): number | undefined {
    const since = this.#world.time.now - ms
    const first = this.#samples[0]
    if (first === undefined || first.at > since) return undefined
    return Math.max(...this.#samples.filter(({ at }) => at >= since).map(({ net }) => net))
  }
}
