import type { OrderTerms } from '../../../src/domain/order.ts'
import { tradesAs } from '../../../src/domain/order-action.ts'
import { type SettledOrder } from '../../../src/domain/record.ts'
import { type Book, pairKey, restrictionsOn } from '../../../src/engine/book/book.ts'
import { isClosedInPart, isKeptFromReturn } from './restricted-invariants.ts'
import { isOpenThere } from '../virtual/exchange-truth.ts'
import { violate, type World, type WorldWatcher } from '../world/world.ts'

/**
 * An instrument between a cancel-all's first byte and its proof. Unix ms of the exchange, since our
 * clock may be set back.
 */
interface Closing {
  answeredAt: number | undefined
}

/** Our clock drifts and counts whole ms, so a wait may be short by some at either end. */
const CLOCK_GRAIN_MS = 4
/** Steps of some minutes. */
const MOMENTS_KEPT = 5000

/**
 * Nothing is placed between a cancel-all and its proof: readings of fills and position requested
 * when everything before the answer was visible (A2). What is then called cancelled does not rest
 * any more (A5).
 */
export function watchResolutions(world: World): WorldWatcher {
  const closings = new Map<string, Closing>()
  const calls = new Map<number, readonly string[]>()
  const positionsAt = new Map<string, number>()
  let fillsAt = 0
  /**
   * Both clocks at each step, oldest first: ours drifts, and a reading may wait through a sleep.
   */
  const moments: { readonly ours: number; readonly theirs: number }[] = []
  const toTheirs = (ours: number): number => {
    const before = moments.findLastIndex((one) => one.ours <= ours)
    const [last, next] = [moments[before], moments[before + 1]]
    // After a sleep the nearer moment is the later one.
    const moment = last && next && next.ours - ours < ours - last.ours ? next : (last ?? next)
    return moment ? moment.theirs + ours - moment.ours : ours
  }
  return {
    afterStep(event, effects, now) {
      let symbols: readonly string[] = []
      for (const effect of effects) {
        if (effect.kind === 'record' && effect.record.kind === 'cancel')
          symbols = effect.record.symbols
        if (effect.kind === 'sendCancelAll') calls.set(effect.cancelId, symbols)
      }
      if (event.kind === 'cancelAnswered' && event.answer.kind !== 'unknown') {
        for (const symbol of calls.get(event.cancelId) ?? []) {
          const closing = closings.get(symbol)
          if (closing) closing.answeredAt ??= world.time.now
        }
      }
      const theirs = world.time.now
      // Many events that waited through a sleep arrive at one moment.
      const isNew = moments.at(-1)?.ours !== now || moments.at(-1)?.theirs !== theirs
      if (isNew) moments.push({ ours: now, theirs })
      if (moments.length > 2 * MOMENTS_KEPT) moments.splice(0, MOMENTS_KEPT)
      // An answer may overtake an earlier one.
      if (event.kind === 'fillsRead')
        fillsAt = Math.max(fillsAt, toTheirs(event.reading.requestedAt))
      if (event.kind === 'positionRead') {
        const { symbol, requestedAt, isSilent } = event.reading
        // A silent answer about an open position is no reading.
        const isReported = !isSilent || isFlatThere(world, symbol)
        if (isReported)
          positionsAt.set(symbol, Math.max(positionsAt.get(symbol) ?? 0, toTheirs(requestedAt)))
      }
    },
    onRecord(record) {
      if (record.kind === 'cancel') {
        for (const symbol of record.symbols) {
          closings.set(symbol, closings.get(symbol) ?? { answeredAt: undefined })
        }
      }
      if (record.kind === 'send' && closings.has(record.symbol)) {
        violate(
          world,
          'RESOLUTION',
          `batch ${record.batchId} of ${record.symbol} before a cancel-all is proved`,
        )
      }
      if (record.kind !== 'settle' || !record.isResolved) return
      for (const { clientOid } of record.orders.filter(wasCancelled)) {
        const there = world.exchange.truth.orderOf(clientOid)
        if (there && isOpenThere(there))
          violate(world, 'RESOLUTION', `${clientOid} is called cancelled, and rests`)
      }
      const { answeredAt } = closings.get(record.symbol) ?? {}
      closings.delete(record.symbol)
      if (answeredAt === undefined || !record.orders.some(wasCancelled)) return
      const provedFrom = answeredAt + world.settings.execution.fillVisibilityMs - CLOCK_GRAIN_MS
      if (fillsAt < provedFrom || (positionsAt.get(record.symbol) ?? 0) < provedFrom) {
        violate(
          world,
          'RESOLUTION',
          `${record.symbol} is free before its fills and position could be known`,
        )
      }
    },
    onDeath() {
      moments.length = 0
      calls.clear()
      // The next run proves everything anew.
      for (const closing of closings.values()) closing.answeredAt = undefined
    },
  }
}

function isFlatThere({ process }: World, symbol: string): boolean {
  const { longLots = 0, shortLots = 0 } = process.engine?.book.account.get(symbol) ?? {}
  return longLots + shortLots === 0
}

function wasCancelled({ reason }: SettledOrder): boolean {
  return reason.startsWith('cancelled')
}

/** A displaced order, and the deadline to rest again or be reported (Unix ms, our clock). */
interface Expected {
  readonly terms: OrderTerms
  readonly lots: number
  readonly dueAt: number
}

/** Maximum delay of noticing a late displaced order. */
const NOTICED_MS = 200

/** During its start nothing of an instrument is late. */
function deferWhile(unproved: readonly string[], one: Expected, now: number): Expected {
  return unproved.includes(one.terms.symbol)
    ? { ...one, dueAt: Math.max(one.dueAt, now + NOTICED_MS) }
    : one
}

/**
 * Orders that a cancel-all took along rest again in time, or are reported. A close of a part of what
 * the strategy holds gives them up.
 */
export function watchDisplacedBack(world: World): WorldWatcher {
  let expected: Expected[] = []
  const answeredAt = new Map<string, number>()
  return {
    afterStep(event, effects, now) {
      const { engine } = world.process
      const { book, isTrading, unproved = [] } = engine ?? {}
      if (event.kind === 'cancelAnswered') {
        for (const symbol of world.plan.symbols) answeredAt.set(symbol, now)
      }
      if (!engine || !book || isTrading !== true) {
        expected = []
        return
      }
      for (const effect of effects) {
        if (effect.kind === 'announce' && effect.event === 'order.displacedLate') {
          expected = expected.filter(({ terms }) => terms.symbol !== effect.fields['symbol'])
        }
        if (
          effect.kind !== 'record' ||
          effect.record.kind !== 'settle' ||
          !effect.record.isResolved
        )
          continue
        const since = answeredAt.get(effect.record.symbol) ?? now
        const dueAt = since + world.settings.execution.displacedWithinMs + NOTICED_MS
        for (const settled of effect.record.orders)
          expected.push(...displacedOf(book, settled, dueAt))
      }
      expected = expected.filter((one) => isOwed(book, one) && !isClosedInPart(engine, one.terms))
      // An instrument that the start has not proved is reported later.
      if (expected.length > 0 && unproved.length > 0)
        expected = expected.map((one) => deferWhile(unproved, one, now))
      const late =
        event.kind === 'timePassed' ? expected.find(({ dueAt }) => now > dueAt) : undefined
      if (late) violate(world, 'ORD8', `${late.terms.clientOid} is neither back nor reported`)
    },
    onDeath: () => {
      expected = []
      answeredAt.clear()
    },
  }
}

/** Orders that a cancel-all took completely: rungs of ladders, and those placed again by name. */
function displacedOf(book: Book, settled: SettledOrder, dueAt: number): Expected[] {
  const order = book.orders.get(settled.clientOid)
  if (!order || order.filledLots > 0 || settled.state !== 'done' || !wasCancelled(settled))
    return []
  const { terms } = order
  if (terms.purpose === 'place') {
    return settled.replacement ? [{ terms, lots: settled.replacement.lots, dueAt }] : []
  }
  return terms.purpose === 'quote' ? [{ terms, lots: terms.lots, dueAt }] : []
}

/** Still wanted, with no replacement. */
function isOwed(book: Book, { terms, lots }: Expected): boolean {
  const { strategyId, symbol, key } = terms
  // A flatten gives them up; only a new wish returns.
  if (restrictionsOn(book, symbol, strategyId).some(({ code }) => code === 'flatten')) return false
  // A restriction keeps them away too.
  if (isKeptFromReturn(book, { terms })) return false
  const side = tradesAs(terms.action)
  // A restricted ladder may return in other sizes.
  const mayBeCut = terms.purpose === 'quote' && restrictionsOn(book, symbol, strategyId).length > 0
  for (const { terms: other, state } of book.open.get(symbol)?.values() ?? []) {
    const isAlike = other.strategyId === strategyId && other.ticks === terms.ticks
    const isSame = isAlike && (mayBeCut ? other.purpose === 'quote' : other.lots === lots)
    if (isSame && tradesAs(other.action) === side && (state === 'live' || state === 'sent'))
      return false
  }
  if (terms.purpose === 'place') return book.places.has(pairKey(strategyId, key))
  const levels = book.quotes.get(pairKey(strategyId, symbol)) ?? []
  const rung = levels.find((level) => level.side === side && level.ticks === terms.ticks)
  return rung !== undefined && (mayBeCut ? rung.lots >= lots : rung.lots === lots)
}
