import { openLots, type OrderTerms } from '../../../src/domain/order.ts'
import { isClosing, tradesAs } from '../../../src/domain/order-action.ts'
import { ACCOUNT } from '../../../src/domain/trading-mode.ts'
import { type DenialRecord } from '../../../src/domain/record.ts'
import { accountHoldingOf, type Book, holdingOf, pairKey } from '../../../src/engine/book/book.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { floatOnGrid } from '../../../src/lib/grid.ts'
import { KnownPrices } from './known-prices.ts'
import { formerNetOf } from '../world/account-plan.ts'
import { capitalOf, type World, type WorldWatcher, violate } from '../world/world.ts'

/**
 * Tolerance as a share of the budget: prices move and fills are read between the core's look and
 * this count.
 */
const SLACK = 0.03
/** Maximum age of the core's prices and figures. */
const KNOWN_WITHIN_MS = 4000
/** Within this time an excess must be held, again after a release, if positions are read so often. */
const HELD_WITHIN_MS = 8000
const READ_EVERY_MS = 2500
/** An excess is reduced to this share of the budget. */
const LED_BACK_TO = 0.8

/**
 * Recounts the moves that an account must survive, from the book, the exchange's ledger and its
 * market prices. RSK1: no order leaves that exceeds the equity. WISH: none is denied for that with
 * plenty of room, and none that only closes. MON1: the account is held exactly while it is beyond.
 */
export function watchSurvival(world: World): WorldWatcher {
  if (world.plan.survives === undefined) return {}
  const count = new SurvivalCount(world)
  let isHeld = false
  return {
    onBirth() {
      isHeld = world.process.engine?.book.restrictions.has(pairKey(ACCOUNT, 'worstCase')) === true
      count.forget()
    },
    onRecord(record) {
      const isOwn = record.kind === 'released' && record.by === 'intentd'
      if (record.kind === 'restricted' && record.code === 'worstCase') isHeld = true
      const isOver =
        record.kind === 'released' &&
        record.scope === ACCOUNT &&
        (record.code ?? 'worstCase') === 'worstCase'
      if (isOver && isHeld) count.noteRelease()
      if (isOver) isHeld = false
      if (record.kind !== 'restricted' && !isOwn) return
      if (record.code !== 'worstCase') return
      count.look()
      const { highest, lowest } = count.within(KNOWN_WITHIN_MS)
      if (record.kind === 'restricted' && highest < 1 - SLACK)
        violate(
          world,
          'MON1',
          `held for the worst case, and ${highest} was used at most: ${record.reason}`,
        )
      if (isOwn && lowest > LED_BACK_TO + SLACK)
        violate(world, 'MON1', `released, and ${lowest} of the budget are used at least`)
    },
    afterStep(event, effects, now) {
      const { engine } = world.process
      if (engine === undefined) return
      count.known.note(event, now)
      if (isPositionRead(event, effects)) count.noteRead(event.reading.symbol)
      if (event.kind === 'snapshotTaken') count.look()
      judgeOrders(world, count, { effects, now })
      judgeDenials(world, count, effects)
      judgeMissingHold(world, count, { event, effects })
    },
  }
}

interface Step {
  readonly event: EngineEvent
  readonly effects: readonly Effect[]
}

/** While prices of tickers and positions lie together, the risk is unknown. */
function isMisled({ plan: { faults } }: World): boolean {
  return faults.pricesWrong !== undefined || faults.tickerAbsurd !== undefined
}

/** @param now Unix ms, our clock */
function judgeOrders(
  world: World,
  count: SurvivalCount,
  { effects, now }: { readonly effects: readonly Effect[]; readonly now: number },
): void {
  if (isMisled(world)) return
  for (const effect of effects) {
    if (effect.kind !== 'record' || effect.record.kind !== 'send') continue
    const { orders } = effect.record
    if (!orders.some(({ purpose }) => purpose !== 'flatten')) continue
    // What reduces must not wait for a price or for what the account is worth.
    if (count.isUnknown(now) && orders.every((terms) => opensNothing(world, terms))) continue
    count.look()
    const { equity } = count.most(KNOWN_WITHIN_MS)
    const added = new Set<string>(orders.map(({ clientOid }) => clientOid))
    const before = count.needs({ isMild: true, without: added })
    for (const [scenario, need] of count.needs({ isMild: true })) {
      const was = before.get(scenario) ?? 0
      if (need <= Math.max(equity * (1 + SLACK), was + Math.abs(was) * SLACK)) continue
      // A move that closes and opens nothing takes fees and margin alone.
      if (count.isGain(scenario)) continue
      violate(
        world,
        'RSK1',
        `${scenario} would take ${need} of ${equity}, and ${was} without what leaves`,
      )
    }
  }
}

function opensNothing(
  { process, plan }: World,
  { action, symbol, lots }: Pick<OrderTerms, 'action' | 'symbol' | 'lots'>,
): boolean {
  if (isClosing(action)) return true
  const { book } = process.engine ?? {}
  if (!book || plan.positionMode === 'hedge_mode') return false
  const { longLots, shortLots } = accountHoldingOf(book, symbol)
  return lots <= (tradesAs(action) === 'buy' ? shortLots : longLots)
}

/**
 * Everything that strategies may have on the instrument would fit, and an order is denied: others
 * of its batch may have been approved. While the figures of a profit differ, the worse one denies;
 * it denies no close either.
 */
function judgeDenials(world: World, count: SurvivalCount, effects: readonly Effect[]): void {
  for (const effect of effects) {
    if (effect.kind !== 'record' || effect.record.kind !== 'denial') continue
    const { code, detail, symbol } = effect.record
    if (code !== 'WORST_CASE' || !detail.includes('would take')) continue
    if (isClose(world, effect.record))
      violate(world, 'WISH', `denied for the worst case, and it only closes: ${detail}`)
    const isDisputed = (world.process.engine?.disputes.size ?? 0) > 0
    if (isDisputed || isMisled(world)) continue
    count.look()
    const { equity } = count.least(KNOWN_WITHIN_MS)
    const lots = positionsMax(world, symbol)
    const most = Math.max(...count.needs({ isMild: false, more: { symbol, lots } }).values())
    if (most < equity * (1 - SLACK))
      violate(
        world,
        'WISH',
        `denied for the worst case, and ${most} of ${equity} would be used at most`,
      )
  }
}

/**
 * Whether the strategy, which wants nothing but a position here, wants less than it holds, and the
 * account holds that much beside everything that could close it already.
 */
function isClose({ process, plan }: World, { strategyId, symbol }: Denied): boolean {
  const { book } = process.engine ?? {}
  const pair = pairKey(strategyId, symbol)
  const target = book?.targets.get(pair)
  if (!book || target === undefined || (book.quotes.get(pair)?.length ?? 0) > 0) return false
  if ([...book.places.values()].some((place) => place.strategyId === strategyId)) return false
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  // In hedge mode a turn opens one leg and closes the other.
  if (plan.positionMode === 'hedge_mode' && Math.min(longLots, shortLots) > 0) return false
  const held = longLots - shortLots
  const sign = Math.sign(held)
  if (held === 0 || target * sign < 0 || Math.abs(target) >= Math.abs(held)) return false
  const account = accountHoldingOf(book, symbol)
  let closing = Math.abs(held - target)
  for (const order of book.open.get(symbol)?.values() ?? []) {
    if ((tradesAs(order.terms.action) === 'sell' ? 1 : -1) === sign) closing += openLots(order)
  }
  return (account.longLots - account.shortLots) * sign >= closing
}

type Denied = Pick<DenialRecord, 'strategyId' | 'symbol'>

function positionsMax({ settings }: World, symbol: string): number {
  return [...settings.strategies.values()].reduce(
    (sum, { limits }) => sum + (limits.get(symbol)?.positionMax ?? 0),
    0,
  )
}

function judgeMissingHold(world: World, count: SurvivalCount, { event, effects }: Step): void {
  const { engine } = world.process
  if (!isPositionRead(event, effects) || engine?.phase !== 'running') return
  count.look()
  count.noteReading()
  const lowest = count.lowestOfLast(HELD_WITHIN_MS)
  if (lowest === undefined || lowest <= 1 + SLACK) return
  if (engine.restrictions.some(({ code }) => code === 'worstCase')) return
  violate(
    world,
    'MON1',
    `${lowest} of the budget was used at least for seconds, and nothing is held for it`,
  )
}

function isPositionRead(
  event: EngineEvent,
  effects: readonly Effect[],
): event is Extract<EngineEvent, { kind: 'positionRead' }> {
  const isRefused = effects.some(
    (effect) => effect.kind === 'announce' && effect.event === 'read.failed',
  )
  return event.kind === 'positionRead' && !isRefused
}

interface Sample {
  readonly at: number
  readonly equity: number
  readonly lowest: number
  readonly highest: number
  readonly prices: ReadonlyMap<string, number>
}

interface Counted {
  /** At the lowest prices of the last seconds, else the highest. */
  readonly isMild: boolean
  readonly without?: ReadonlySet<string>
  /** Further lots on each side of an instrument. */
  readonly more?: { readonly symbol: string; readonly lots: number }
}

class SurvivalCount {
  readonly known = new KnownPrices()
  readonly #world: World
  #samples: Sample[] = []
  readonly #readInRun = new Set<string>()
  #readAt = 0
  #readSince = 0
  #releasedAt = 0

  constructor(world: World) {
    this.#world = world
  }

  forget(): void {
    this.known.forget()
    this.#samples = []
    this.#readInRun.clear()
    this.#readSince = this.#world.time.now
  }

  /** The hold for an excess has ended, and two readings have to confirm another. */
  noteRelease(): void {
    this.#releasedAt = this.#world.time.now
  }

  look(): void {
    const { settings, exchange, time } = this.#world
    const prices = new Map(
      [...settings.instruments].map(([symbol, { tick }]) => [
        symbol,
        floatOnGrid(tick, exchange.priceOf(symbol)),
      ]),
    )
    const equity = this.#equity(prices)
    this.#samples.push({ at: time.now, equity, prices, lowest: Number.NaN, highest: Number.NaN })
    const usedAt = (isMild: boolean): number => {
      const need = Math.max(0, ...this.needs({ isMild }).values())
      return equity > 0 ? need / equity : need > 0 ? Number.POSITIVE_INFINITY : 0
    }
    this.#samples[this.#samples.length - 1] = {
      at: time.now,
      equity,
      prices,
      lowest: usedAt(true),
      highest: usedAt(false),
    }
    if (this.#samples.length > 400) this.#samples = this.#samples.slice(-200)
  }

  /**
   * A price of what is held or ordered is older than its limit, or this run has yet to read a
   * position that is held. @param now Unix ms, our clock
   */
  isUnknown(now: number): boolean {
    const { settings, process } = this.#world
    const { book } = process.engine ?? {}
    return [...settings.instruments.keys()].some((symbol) => {
      if (!book) return true
      const { longLots, shortLots } = accountHoldingOf(book, symbol)
      const isHeld = longLots + shortLots > 0
      if (isHeld && !this.#readInRun.has(symbol)) return true
      const isAtRisk = isHeld || (book.open.get(symbol)?.size ?? 0) > 0
      return isAtRisk && !(this.known.ageOf(symbol, now) <= settings.limits.dataAgeMaxMs)
    })
  }

  noteRead(symbol: string): void {
    this.#readInRun.add(symbol)
  }

  /** Long unread positions prove nothing about what should have been done. */
  noteReading(): void {
    const { now } = this.#world.time
    if (now - this.#readAt > READ_EVERY_MS) this.#readSince = now
    this.#readAt = now
  }

  within(ms: number): { readonly highest: number; readonly lowest: number } {
    const samples = this.#last(ms)
    return {
      highest: Math.max(...samples.map(({ highest }) => highest)),
      lowest: Math.min(...samples.map(({ lowest }) => lowest)),
    }
  }

  most(ms: number): { readonly equity: number } {
    return { equity: Math.max(...this.#last(ms).map(({ equity }) => equity)) }
  }

  least(ms: number): { readonly equity: number } {
    return { equity: Math.min(...this.#last(ms).map(({ equity }) => equity)) }
  }

  /** Undefined without looks or readings for so long, and so long after a release. */
  lowestOfLast(ms: number): number | undefined {
    const since = this.#world.time.now - ms
    const first = this.#samples[0]
    if (first === undefined || first.at > since) return undefined
    if (Math.max(this.#readSince, this.#releasedAt) > since) return undefined
    return this.within(ms).lowest
  }

  /**
   * Whether a move only takes gains away that were there before it: what is filled on its way turns
   * no position.
   */
  isGain(scenario: string): boolean {
    const { book } = this.#world.process.engine ?? {}
    const [symbol = '', way] = scenario.split(' ')
    if (!book || (way !== 'up' && way !== 'down')) return false
    const sign = way === 'up' ? 1 : -1
    const { longLots, shortLots } = accountHoldingOf(book, symbol)
    let left = (longLots - shortLots) * sign
    for (const order of book.open.get(symbol)?.values() ?? []) {
      if ((tradesAs(order.terms.action) === 'sell' ? 1 : -1) === sign) left -= openLots(order)
    }
    return left >= 0
  }

  /** Keyed by scenario, in the margin coin: loss, fees, funding and maintenance. */
  needs(counted: Counted): ReadonlyMap<string, number> {
    const { plan, settings, process } = this.#world
    const { survives } = plan
    const { book } = process.engine ?? {}
    const needs = new Map<string, number>()
    if (survives === undefined || book === undefined) return needs
    const symbols = [...settings.instruments.keys()]
    const at = (symbol: string, sign: 1 | -1, move: number): number =>
      this.#need(book, symbol, { sign, move, counted })
    const worse = (symbol: string, move: number): number =>
      Math.max(at(symbol, 1, move), at(symbol, -1, move))
    let [joint, standing] = [0, 0]
    for (const symbol of symbols) {
      joint += worse(symbol, survives.joint)
      standing += worse(symbol, 0)
    }
    for (const symbol of symbols) {
      const others = standing - worse(symbol, 0)
      needs.set(`${symbol} down`, others + at(symbol, -1, survives.move))
      needs.set(`${symbol} up`, others + at(symbol, 1, survives.move))
    }
    return needs.set('all at once', joint)
  }

  #need(
    book: Book,
    symbol: string,
    {
      sign,
      move,
      counted,
    }: { readonly sign: 1 | -1; readonly move: number; readonly counted: Counted },
  ): number {
    const { settings, plan } = this.#world
    const spec = settings.instruments.get(symbol)
    const rules = settings.liquidation?.rules.get(symbol)
    if (spec === undefined || rules === undefined) return 0
    const isHedged = plan.positionMode === 'hedge_mode'
    const price = this.#price(symbol, counted.isMild)
    const to = price * (1 + sign * move)
    const { longLots, shortLots } = accountHoldingOf(book, symbol)
    const [long, short] = [floatOnGrid(spec.lot, longLots), floatOnGrid(spec.lot, shortLots)]
    let [taken, paid, opened, closed] = [(long - short) * (price - to), 0, 0, 0]
    const shrinking = sign < 0 ? short : long
    const fill = (lots: number, own: number | undefined, closes: boolean): void => {
      const at = own === undefined || plan.survives?.isGap === true ? price : own
      if (sign < 0 ? at < to : at > to) return
      // In hedge mode nothing closes more than its side holds.
      const size = closes ? Math.min(lots, shrinking - closed) : lots
      taken += size * (at - to) * -sign
      paid += size * at
      if (closes) closed += size
      else opened += size
    }
    const side = sign < 0 ? 'buy' : 'sell'
    for (const order of book.open.get(symbol)?.values() ?? []) {
      const { action, ticks, clientOid } = order.terms
      if (tradesAs(action) !== side || counted.without?.has(clientOid) === true) continue
      const own = ticks === undefined ? undefined : floatOnGrid(spec.tick, ticks)
      fill(floatOnGrid(spec.lot, openLots(order)), own, isHedged && isClosing(action))
    }
    if (counted.more?.symbol === symbol)
      fill(floatOnGrid(spec.lot, counted.more.lots), undefined, false)
    const net = long - short - sign * (opened + closed)
    const grown = isHedged ? (sign < 0 ? long : short) + opened : Math.max(0, -sign * net)
    const needy = isHedged ? grown + shrinking : Math.max(grown, shrinking)
    const gross = isHedged ? grown + shrinking - closed : Math.abs(net)
    const rate = this.known.tickers?.read(symbol, 'fundingRate') || 0
    const funding = Math.max(0, rate * net * Math.max(price, to))
    const [tier] = rules.tiers
    return (
      taken + funding + rules.takerFeeRate * (paid + gross * to) + needy * to * (tier?.rate ?? 0)
    )
  }

  #price(symbol: string, isMild: boolean): number {
    const prices = this.#last(KNOWN_WITHIN_MS).map(
      (sample) => sample.prices.get(symbol) ?? Number.NaN,
    )
    return isMild ? Math.min(...prices) : Math.max(...prices)
  }

  #last(ms: number): readonly Sample[] {
    const since = this.#world.time.now - ms
    return this.#samples.filter(({ at }) => at >= since)
  }

  #equity(prices: Sample['prices']): number {
    const { exchange, plan } = this.#world
    const { coins, positions } = exchange.ledger()
    let equity = capitalOf(this.#world) + formerNetOf(plan)
    for (const { realisedProfit, fees, funding } of coins)
      equity += Number(realisedProfit) - Number(fees) + Number(funding)
    for (const { symbol, size, holdSide, openPriceAvg } of positions) {
      const price = prices.get(symbol)
      // The daemon does not look at what another program holds elsewhere.
      if (price === undefined) continue
      equity += (price - Number(openPriceAvg)) * Number(size) * (holdSide === 'long' ? 1 : -1)
    }
    return equity
  }
}
