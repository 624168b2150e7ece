import type { Order, OrderTerms } from '../../../src/domain/order.ts'
import { tradesAs } from '../../../src/domain/order-action.ts'
import {
  killOf,
  type Book,
  holdingOf,
  pairKey,
  restrictionsOn,
} from '../../../src/engine/book/book.ts'
import { decimal, decimalOfInteger, ZERO } from '../../../src/lib/decimal.ts'
import { type CancelAllRequest } from '../../../src/protocol/futures/cancel-all-orders.ts'
import { type BatchPlaceItem } from '../../../src/protocol/futures/batch-place-order.ts'
import { AskedStop } from './asked-stop.ts'
import { ResolvingInstruments } from './standing-invariants.ts'
import { bodyOf, type World, type WorldWatcher, violate } from '../world/world.ts'

const PLAIN = /^(0|[1-9]\d*)(\.\d*[1-9])?$/

/** Keyed by position mode and action: from the document and not from our own table. */
const DIRECTIONS: Readonly<
  Record<string, readonly [string, string | undefined, string | undefined]>
> = {
  'one_way_mode openLong': ['buy', undefined, undefined],
  'one_way_mode closeLong': ['sell', undefined, 'YES'],
  'one_way_mode openShort': ['sell', undefined, undefined],
  'one_way_mode closeShort': ['buy', undefined, 'YES'],
  'hedge_mode openLong': ['buy', 'open', undefined],
  'hedge_mode closeLong': ['buy', 'close', undefined],
  'hedge_mode openShort': ['sell', 'open', undefined],
  'hedge_mode closeShort': ['sell', 'close', undefined],
}

/** The bytes equal the book's order: side, price and size on the grid, time in force. */
export function watchWire(world: World): WorldWatcher {
  return {
    onWrite(batch) {
      const { orderList, symbol, productType, marginCoin } = bodyOf(batch)
      const { settings } = world
      const isWhole =
        symbol === batch.symbol &&
        productType === settings.productType &&
        marginCoin === settings.instruments.get(symbol)?.marginCoin
      if (!isWhole)
        violate(
          world,
          'ORD6',
          `batch ${batch.batchId} is of ${symbol} ${productType} ${marginCoin}`,
        )
      for (const item of orderList) {
        const order = orderNamed(world, item.clientOid)
        if (!order) violate(world, 'ORD1', `${item.clientOid} is on the wire and not in the book`)
        else if (!isFaithful(world, order, item)) {
          violate(world, 'ORD1', `${JSON.stringify(item)} for ${JSON.stringify(order.terms)}`)
        }
      }
    },
  }
}

/**
 * A cancel-all takes only ours: one instrument, or the product type if the account is exclusive and
 * no stop leaves orders, or in a kill.
 */
export function watchCancelScopes(world: World): WorldWatcher {
  const stop = new AskedStop(world)
  const resolving = new ResolvingInstruments()
  return {
    onBirth: () => {
      stop.forget()
      resolving.clear()
    },
    afterStep(event, effects) {
      // A continuing resolution still asks what it must, also that of an earlier flatten; lost
      // orders are resolved.
      if (stop.policy !== 'leave') resolving.note(effects)
      resolving.noteDistrust(effects)
      resolving.noteCancelAlls(effects, world.plan.symbols)
      stop.note(event)
      const { policy } = stop
      const { book } = world.process.engine ?? {}
      for (const effect of effects) {
        if (effect.kind !== 'sendCancelAll') continue
        const { symbol, productType } = JSON.parse(effect.body) as CancelAllRequest
        if (productType !== world.settings.productType)
          violate(world, 'CANCEL', `a cancel-all of ${productType} leaves`)
        const isKilled = book !== undefined && killOf(book) !== undefined
        const mayTakeAll = isKilled || (world.settings.isExclusive && policy !== 'leave')
        if (symbol === undefined ? !mayTakeAll : !world.plan.symbols.includes(symbol))
          violate(world, 'CANCEL', `a cancel-all takes more away than is ours: ${effect.body}`)
        if (isKilled || policy !== 'leave' || symbol === undefined || resolving.has(symbol))
          continue
        const orders = [...(book?.open.get(symbol)?.values() ?? [])]
        if (!orders.some(({ state }) => state === 'unknown'))
          violate(world, 'RSK3', `a stop that leaves takes away what rests in ${symbol}`)
      }
    },
  }
}

export function orderNamed({ process }: World, clientOid: string | undefined): Order | undefined {
  return process.engine?.book.orders.get(clientOid as Order['terms']['clientOid'])
}

function isFaithful({ plan, settings }: World, { terms }: Order, item: BatchPlaceItem): boolean {
  const instrument = settings.instruments.get(terms.symbol)
  const [side, tradeSide, reduceOnly] = DIRECTIONS[`${plan.positionMode} ${terms.action}`] ?? []
  if (!instrument || item.side !== side || item.tradeSide !== tradeSide) return false
  if ((item.reduceOnly ?? 'NO') !== (reduceOnly ?? 'NO')) return false
  if (!isSteps(item.size, instrument.lot.step, terms.lots)) return false
  if (terms.ticks === undefined) return item.orderType === 'market' && item.price === undefined
  return (
    item.orderType === 'limit' &&
    item.force === terms.force &&
    isSteps(item.price ?? '', instrument.tick.step, terms.ticks)
  )
}

function isSteps(text: string, step: string, steps: number): boolean {
  if (!PLAIN.test(text) || steps <= 0) return false
  return decimal(text)
    .minus(decimal(step).times(decimalOfInteger(steps)))
    .eq(ZERO)
}

/**
 * Every leaving order was wished for: a rung of the standing ladder, a step to the target and not
 * beyond it, or an order by name within its size over all generations.
 */
export function watchWishes(world: World): WorldWatcher {
  const placed = new Map<string, { readonly lots: number; readonly text: string }>()
  return {
    onRecord(record) {
      if (record.kind !== 'decision') return
      for (const { strategyId, key, lots, ...rest } of record.places ?? []) {
        placed.set(pairKey(strategyId, key), {
          lots,
          text: [rest.action, rest.ticks, rest.force].join(),
        })
      }
    },
    afterStep(_, effects) {
      const { book } = world.process.engine ?? {}
      if (!book || world.facts.isStopping) return
      for (const effect of effects) {
        if (effect.kind !== 'sendBatch') continue
        for (const clientOid of effect.batch.clientOids) {
          const order = book.orders.get(clientOid)
          if (order && !isWished(world, order, placed)) {
            violate(world, 'WISH', `nobody wants ${JSON.stringify(order.terms)}`)
          }
        }
      }
    },
  }
}

type Placed = ReadonlyMap<string, { readonly lots: number; readonly text: string }>

function isWished(world: World, order: Order, placed: Placed): boolean {
  const { book } = world.process.engine ?? {}
  const { terms } = order
  if (!book) return false
  if (terms.purpose === 'quote') return isRung(book, order)
  if (terms.purpose === 'target') return isTowards(world, book, order)
  if (terms.purpose !== 'place') return true
  if (book.withdrawn.has(terms.clientOid)) return false
  const intent = placed.get(pairKey(terms.strategyId, terms.key))
  // Decided in a run whose record is lost, or under a name that is no longer used.
  if (!intent) return false
  if (intent.text !== [terms.action, terms.ticks, terms.force].join()) return false
  let lots = 0
  for (const other of book.orders.values()) {
    if (other.terms.strategyId !== terms.strategyId || other.terms.key !== terms.key) continue
    lots += book.open.get(terms.symbol)?.has(other.terms.clientOid)
      ? other.terms.lots
      : other.filledLots
  }
  return lots <= intent.lots
}

/**
 * One order stands for a rung, whatever became of it: another one is doubled. In a restricted
 * ladder it may be smaller, with others beside it as far as the rung has room.
 */
function isRung(book: Book, { terms }: Order): boolean {
  const { strategyId, symbol, ticks, lots } = terms
  const side = tradesAs(terms.action)
  const levels = book.quotes.get(pairKey(strategyId, symbol)) ?? []
  const rung = levels.find((level) => level.side === side && level.ticks === ticks)
  const others = [...(book.open.get(symbol)?.values() ?? [])].filter(
    ({ terms: other }) =>
      other.clientOid !== terms.clientOid &&
      other.strategyId === strategyId &&
      other.purpose === 'quote' &&
      tradesAs(other.action) === side &&
      other.ticks === ticks,
  )
  const mayBeCut =
    restrictionsOn(book, symbol, strategyId).length > 0 ||
    book.leavings.has(pairKey(strategyId, symbol))
  if (rung === undefined || (mayBeCut ? rung.lots < lots : rung.lots !== lots)) return false
  // A larger order stood for another rung, and will be cancelled.
  const standing = others.filter((other) =>
    mayBeCut ? other.terms.lots <= rung.lots : other.terms.lots === lots,
  )
  return standing.every((other) => mayBeCut && other.terms.lots + lots <= rung.lots)
}

/** In hedge mode each leg counts, in one-way mode the net. */
function isTowards(world: World, book: Book, { terms }: Order): boolean {
  if (terms.exit !== undefined) return isOfExit(book, terms)
  const target = book.targets.get(pairKey(terms.strategyId, terms.symbol))
  if (target === undefined) return false
  const { longLots, shortLots } = holdingOf(book, terms.strategyId, terms.symbol)
  const pending = { openLong: 0, closeLong: 0, openShort: 0, closeShort: 0 }
  for (const order of book.open.get(terms.symbol)?.values() ?? []) {
    if (order.terms.strategyId !== terms.strategyId || order.terms.purpose !== 'target') continue
    pending[order.terms.action] += order.terms.lots - order.filledLots
  }
  if (world.plan.positionMode === 'one_way_mode') {
    const leg = { held: longLots - shortLots, target }
    const more = pending.openLong + pending.closeShort
    return isWithin(leg, { more, less: pending.openShort + pending.closeLong })
  }
  return terms.action.endsWith('Long')
    ? isWithin(
        { held: longLots, target: Math.max(0, target) },
        { more: pending.openLong, less: pending.closeLong },
      )
    : isWithin(
        { held: shortLots, target: Math.max(0, -target) },
        { more: pending.openShort, less: pending.closeShort },
      )
}

/** An exit is due on the side that the order makes smaller, and not more of it is closed than is to be. */
function isOfExit(
  book: Book,
  { strategyId, symbol, action, exit, clientOid }: OrderTerms,
): boolean {
  const side = tradesAs(action) === 'sell' ? 'long' : 'short'
  const due = book.exitStates.get(pairKey(strategyId, symbol))?.[side]?.due
  if (!due || due.kind !== exit) return false
  let left = holdingOf(book, strategyId, symbol)[`${side}Lots`]
  for (const { terms, filledLots } of book.open.get(symbol)?.values() ?? []) {
    const isSame = terms.strategyId === strategyId && terms.exit !== undefined
    if (isSame || terms.clientOid === clientOid) left -= terms.lots - filledLots
  }
  return left >= due.keptLots
}

/** Lots that stay within the target, however much of the pending ones is filled. */
function isWithin(
  { held, target }: { readonly held: number; readonly target: number },
  { more, less }: { readonly more: number; readonly less: number },
): boolean {
  return held + more <= Math.max(target, held) && held - less >= Math.min(target, held)
}
