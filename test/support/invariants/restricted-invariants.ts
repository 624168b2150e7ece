import { canRest, openLots, type Order, type OrderTerms } from '../../../src/domain/order.ts'
import { isClosing, tradesAs } from '../../../src/domain/order-action.ts'
import { ACCOUNT, type ModeReason, strategyScope } from '../../../src/domain/trading-mode.ts'
import {
  type Book,
  backedHolding,
  holdingOf,
  pairKey,
  restrictionsOn,
} from '../../../src/engine/book/book.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { type Engine } from '../../../src/engine/engine.ts'
import { parseCore } from '../../../src/engine/replay/core-image.ts'
import { isOpenThere } from '../virtual/exchange-truth.ts'
import { DueListings } from './listing-invariants.ts'
import { ResolvingInstruments } from './standing-invariants.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

/**
 * How long an adding order may rest in a restricted scope with a free instrument. The operator
 * releases after 900 ms.
 */
const RESTS_MS = 300
/** Looks farther apart prove nothing: the process stood still. */
const STOOD_STILL_MS = 500

/**
 * Some time after a recorded restriction nothing in its scope rests that could add risk, unless its
 * instrument is being resolved or has a batch in flight. Restrictions are known from the records
 * alone.
 */
export function watchRestricted(world: World): WorldWatcher {
  const restricted = new Map<string, Set<string>>()
  const since = new Map<string, number>()
  const resolving = new ResolvingInstruments()
  let lookedAt = 0
  const note = (record: JournalRecord): void => {
    if (record.kind === 'restricted') {
      restricted.set(record.scope, new Set([...(restricted.get(record.scope) ?? []), record.code]))
    }
    if (record.kind === 'released') {
      const codes = restricted.get(record.scope)
      for (const code of codes ?? []) {
        if (record.code === undefined ? code !== 'kill' : code === record.code) codes?.delete(code)
      }
    }
  }
  return {
    onBirth() {
      since.clear()
      resolving.clear()
      restricted.clear()
      for (const record of world.process.journal.loadAll()) note(record)
    },
    onRecord: note,
    afterStep(event, effects) {
      resolving.note(effects)
      resolving.noteDistrust(effects)
      if (event.kind !== 'timePassed') return
      const { engine } = world.process
      const isStill = world.time.now - lookedAt > STOOD_STILL_MS
      lookedAt = world.time.now
      if (isStill || world.quiet.isOn || engine?.isTrading !== true) return since.clear()
      for (const [symbol, orders] of engine.book.open) {
        const isFree =
          !resolving.has(symbol) &&
          !engine.unproved.includes(symbol) &&
          [...orders.values()].every(({ state }) => state !== 'sent')
        for (const [strategyId, own] of Map.groupBy(
          orders.values(),
          ({ terms }) => terms.strategyId,
        )) {
          const scopes = [ACCOUNT, symbol, strategyScope(strategyId)]
          const isRestricted = scopes.some((scope) => (restricted.get(scope)?.size ?? 0) > 0)
          const resting = own.filter((order) => rests(world, order))
          const adding =
            isFree &&
            isRestricted &&
            (['buy', 'sell'] as const).find((side) => adds(engine.book, resting, side))
          const name = `${strategyId} ${symbol}`
          if (!adding) since.delete(name)
          else if (!since.has(name)) since.set(name, world.time.now)
          if (adding && world.time.now - (since.get(name) ?? 0) > RESTS_MS)
            violate(
              world,
              'RSK2',
              `what rests of ${name} to ${adding} may add risk, and it is restricted`,
            )
        }
      }
    },
  }
}

function rests({ exchange }: World, { state, terms }: Order): boolean {
  const there = exchange.truth.orderOf(terms.clientOid)
  return state === 'live' && canRest(terms) && there !== undefined && isOpenThere(there)
}

/**
 * Where a restriction reduces ladders, no cancel for unwanted orders is made while all resting ones
 * are wanted: they would only be placed again. One that lists what rests may be. While the daemon
 * closes a part of what a strategy holds, none of its orders is wanted there (docs/risk.md).
 */
export function watchNeedlessCancels(world: World): WorldWatcher {
  const listings = new DueListings(world)
  return {
    onBirth: () => listings.restart(),
    afterStep(_, effects) {
      const { engine } = world.process
      const { book } = engine ?? {}
      // A duplicate is searched by a cancel-all: the state may be an older copy.
      const isSearched = effects.some(
        (effect) => effect.kind === 'announce' && effect.event === 'order.exists',
      )
      for (const effect of effects) {
        const isListing = listings.note(effect)
        if (isSearched || isListing) continue
        if (
          !engine ||
          !book ||
          effect.kind !== 'announce' ||
          effect.event !== 'instrument.resolving'
        )
          continue
        const symbol = String(effect.fields['symbol'])
        const resting = [...(book.open.get(symbol)?.values() ?? [])].filter(
          ({ state }) => state === 'live',
        )
        const isCut = resting.some(
          ({ terms }) => restrictionsOn(book, symbol, terms.strategyId).length > 0,
        )
        if (effect.fields['cause'] !== 'unwanted' || !isCut || world.facts.isStopping) continue
        const isNeedless = resting.every((order) => isWantedThere(book, order))
        if (isNeedless && !resting.some(({ terms }) => isClosedInPart(engine, terms)))
          violate(world, 'WISH', `${symbol} is cancelled, and all that rests there is wanted`)
      }
    },
  }
}

/**
 * The daemon closes a part of what the strategy holds there. The book says what a person closes;
 * the image of the core, which says the rest, is written only while something is held for that.
 */
export function isClosedInPart(engine: Engine, terms: OrderTerms): boolean {
  const { strategyId, symbol } = terms
  const { book } = engine
  if (isClosedByHand(book, terms)) return true
  const held = restrictionsOn(book, symbol).filter(({ code }) => REDUCING.has(code))
  if (held.length === 0) return false
  const reduction = parseCore(engine.write()).reductions.get(symbol)
  const keptLots = reduction?.keeps.get(strategyId)
  if (reduction === undefined || keptLots === undefined) return false
  return (
    held.some(({ code }) => code === reduction.code) &&
    holdingOf(book, strategyId, symbol)[`${reduction.holdSide}Lots`] > keptLots
  )
}

/** Open orders of these strategies are cancelled first (docs/trading-modes.md). */
function isClosedByHand(book: Book, { strategyId, symbol }: OrderTerms): boolean {
  const held = holdingOf(book, strategyId, symbol)
  return restrictionsOn(book, symbol, strategyId)
    .flatMap(({ code, keeps }) => (code === 'close' ? (keeps ?? []) : []))
    .filter((kept) => kept.strategyId === strategyId && kept.symbol === symbol)
    .some((kept) => held.longLots > kept.longLots || held.shortLots > kept.shortLots)
}

const REDUCING: ReadonlySet<ModeReason> = new Set(['worstCase', 'liquidationNear'])

function isWantedThere(book: Book, order: Order): boolean {
  const { strategyId, symbol, purpose, clientOid, action, ticks, lots } = order.terms
  const restrictions = restrictionsOn(book, symbol, strategyId)
  if (restrictions.some(({ code }) => code === 'flatten' || code === 'kill')) return false
  const side = tradesAs(action)
  const own = [...(book.open.get(symbol)?.values() ?? [])].filter(
    ({ terms }) => terms.strategyId === strategyId,
  )
  if (restrictions.length > 0 && adds(book, own, side)) return false
  if (purpose === 'place') return !book.withdrawn.has(clientOid)
  const levels = book.quotes.get(pairKey(strategyId, symbol)) ?? []
  const rung = levels.find((level) => level.side === side && level.ticks === ticks)
  if (!rung || restrictions.length === 0) return rung?.lots === lots
  const together = own.filter(
    ({ terms }) =>
      terms.purpose === 'quote' && terms.ticks === ticks && tradesAs(terms.action) === side,
  )
  return together.reduce((sum, { terms }) => sum + terms.lots, 0) <= rung.lots
}

/** Filled together, a strategy's orders on one side could exceed its holding. */
function adds(book: Book, resting: readonly Order[], side: 'buy' | 'sell'): boolean {
  const alike = resting.filter(({ terms }) => tradesAs(terms.action) === side)
  const first = alike.find(({ terms }) => !isClosing(terms.action))
  if (first === undefined) return false
  return alike.reduce((sum, order) => sum + openLots(order), 0) > closableBy(book, first.terms)
}

/** The displaced order would add risk in a restricted scope. `beside`: orders displaced with it. */
export function isKeptFromReturn(
  book: Book | undefined,
  { terms }: Pick<Order, 'terms'>,
  beside: readonly Order[] = [],
): boolean {
  const { strategyId, symbol, action, clientOid } = terms
  const scopes = [ACCOUNT, symbol, strategyScope(strategyId)]
  // A member that leaves a universe may only close.
  const isRestricted =
    book?.leavings.has(pairKey(strategyId, symbol)) === true ||
    [...(book?.restrictions.values() ?? [])].some(({ scope }) => scopes.includes(scope))
  if (!book || !isRestricted || isClosing(action)) return false
  const lotsOf = (orders: Iterable<Order>, size: (order: Order) => number): number =>
    [...orders]
      .filter(
        ({ terms: other }) => other.strategyId === strategyId && other.clientOid !== clientOid,
      )
      .filter((order) => tradesAs(order.terms.action) === tradesAs(action))
      .reduce((sum, order) => sum + size(order), 0)
  const pending =
    terms.lots +
    lotsOf(book.open.get(symbol)?.values() ?? [], openLots) +
    lotsOf(beside, (order) => order.terms.lots)
  return pending > closableBy(book, terms)
}

/**
 * In hedge mode opening orders close nothing; in one-way mode closing needs a position of the
 * account.
 */
function closableBy(book: Book, { strategyId, symbol, action }: OrderTerms): number {
  if (book.positionMode === 'hedge_mode') return 0
  const { longLots, shortLots } = backedHolding(book, strategyId, symbol)
  return tradesAs(action) === 'buy' ? shortLots : longLots
}
