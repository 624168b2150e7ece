import { fillKey } from '../../../src/domain/fill.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { NOBODY } from '../../../src/domain/allocation.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { NO_MONEY } from '../../../src/domain/fill-money.ts'
import { type Book, pairKey, isHalted as isHaltedInBook } from '../../../src/engine/book/book.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { decimal, sumDecimals } from '../../../src/lib/decimal.ts'
import { orderIdText } from '../../../src/simulator/futures/orders/order.ts'
import { type Take } from './account-allocation.ts'
import { DoubledOrders } from './doubled-orders.ts'
import { hidesMoney } from './fill-invariants.ts'
import { fillKeyOf, isForeign, type TrueFill } from '../virtual/exchange-truth.ts'
import { foreignFills, hasUnseen, isOfApi } from '../faults/foreign-fills.ts'
import { isKnownFill, type World, type WorldWatcher, violate } from '../world/world.ts'
import { namesAnother, SETTINGS } from './refusal-invariants.ts'

interface Step {
  readonly event: EngineEvent
  readonly effects: readonly Effect[]
}

/** Another position mode, a restricted account, a refused key. */
const HALTING = /^(40774|40710|45107|40931|40014)$/

type Halt = Extract<JournalRecord, { kind: 'restricted' }>

/**
 * Exactly the fills of others are recognised: their money is attributed to none, to the last digit,
 * and with that policy each halts its instrument once known.
 */
export function watchForeign(world: World): WorldWatcher {
  const { facts, process } = world
  const doubled = new DoubledOrders(world)
  return {
    onBirth() {
      // Non-durable ones arrive again.
      for (const key of facts.answered) {
        if (!isKnownFill(world, key)) facts.answered.delete(key)
      }
    },
    afterStep(event, effects) {
      for (const effect of effects) {
        if (effect.kind !== 'record' || effect.record.kind !== 'restricted') continue
        const { record } = effect
        const isCalledOlder =
          record.code === 'olderState' && doubled.mayBeCalledOlder(record.reason)
        if (record.by === 'intentd' && !isCalledOlder) judgeHalt(world, record, { event, effects })
      }
      judgeAnswer(world, { event, effects })
    },
    onRecord(record) {
      if (record.kind === 'restricted' && record.code === 'foreignFills') {
        for (const fill of unanswered(world, record.scope)) facts.answered.add(fillKeyOf(fill))
      }
      if (record.kind === 'foreign' && isHalted(world, record.symbol)) {
        for (const fill of foreignFills(world, record.symbol)) {
          const isNamed = record.orderIds.some(
            (orderId) => orderId === orderIdText(fill.orderSequence),
          )
          if (isNamed) facts.answered.add(fillKeyOf(fill))
        }
      }
      if (record.kind !== 'fills') return
      for (const fill of record.fills)
        if (isHalted(world, fill.symbol)) facts.answered.add(fillKey(fill))
    },
    atEnd() {
      const { book } = process.engine ?? {}
      if (!book || world.violations.length > 0) return
      for (const symbol of world.plan.symbols) compareNobody(world, book, symbol)
    },
  }
}

function isHalted({ facts }: World, symbol: string): boolean {
  return [facts.halted.get('*'), facts.halted.get(symbol)].some((held) => held?.mode === 'halted')
}

/** Tests of the limits judge their halts. */
const OF_LIMITS = /, limit [\d.]+(?: %)?$/

/** Checks that this step contained a reason for a person to look. */
function judgeHalt(world: World, halt: Halt, { event, effects }: Step): void {
  // Its own checker judges the need.
  if (halt.code === 'worstCase' || isOfSetting(world, halt, event)) return
  if (isAnswerTo(halt, event) || (world.plan.isLimited && OF_LIMITS.test(halt.reason))) return
  const heard = new Set(
    effects.flatMap((effect) =>
      effect.kind === 'record' && effect.record.kind === 'fills'
        ? effect.record.fills.map(fillKey)
        : [],
    ),
  )
  const isStrange = foreignFills(world, halt.scope).some((fill) => heard.has(fillKeyOf(fill)))
  const isDue =
    isStrange &&
    world.plan.foreignFills === 'halt' &&
    halt.reason.startsWith('a fill that is not ours')
  const isAdopted =
    halt.reason.startsWith('the position is not what') && hasUnseen(world, halt.scope)
  // Each part of another program's large order may belong to an unknown order of ours.
  const [, orderId = ''] =
    /^fills of order (\d+), which is not ours/.exec(halt.reason) ??
    /is in quarantine, fills of (\d+)/.exec(halt.reason) ??
    []
  if (!isDue && !isAdopted && !isOfApi(world, orderId))
    violate(world, 'ORD5', `halted without need: ${halt.reason}`)
}

/** A row just read names another setting than the configuration. */
function isOfSetting(world: World, { code, scope }: Halt, event: EngineEvent): boolean {
  const setting = SETTINGS.find((one) => one === code)
  if (setting === undefined || event.kind !== 'positionRead' || event.reading.symbol !== scope)
    return false
  return namesAnother(world, event.reading, setting) === true
}

/** A refused key concerns everything, the position mode or a restriction the instrument. */
function isAnswerTo({ scope, reason }: Halt, event: EngineEvent): boolean {
  if (event.kind !== 'batchAnswered') return false
  const { answer } = event
  if (answer.kind === 'refused') return scope === '*' && reason.endsWith(answer.code)
  if (answer.kind !== 'accepted' || scope === '*') return false
  const codes = answer.data.failureList.map(({ errorCode }) => errorCode ?? '')
  return codes.some((code) => HALTING.test(code) && reason.endsWith(code))
}

/** An accepted answer with such a code halts its instrument, or everything. */
function judgeAnswer(world: World, { event, effects }: Step): void {
  if (event.kind !== 'batchAnswered') return
  for (const effect of effects) {
    if (effect.kind !== 'record' || effect.record.kind !== 'outcome') continue
    const { items, batchId } = effect.record
    const fatal = items.find(({ code }) => HALTING.test(code ?? ''))
    const symbol = fatal && world.process.engine?.book.orders.get(fatal.clientOid)?.terms.symbol
    const { book } = world.process.engine ?? {}
    if (fatal && book && !isHaltedInBook(book, symbol ?? ''))
      violate(world, 'RSK2', `batch ${batchId} met ${fatal.code}, and nothing is halted`)
  }
}

/** Booked fills of others that should have halted the instrument, but did not. */
export function unanswered(world: World, symbol: string): readonly TrueFill[] {
  if (world.plan.foreignFills !== 'halt' || !world.process.engine) return []
  const { orphans } = world.process.engine.book
  return foreignFills(world, symbol).filter((fill) => {
    // A delivered contract ends as agreed.
    if (fill.tradeSide.startsWith('delivery_')) return false
    const key = fillKeyOf(fill)
    // A fill that an order of ours may have made is attributed later, and halts then.
    const isLater = orphans.has(toOrderId(orderIdText(fill.orderSequence)))
    return isKnownFill(world, key) && !isLater && !world.facts.answered.has(key)
  })
}

function compareNobody(world: World, book: Book, symbol: string): void {
  const fills = foreignFills(world, symbol)
  // Hidden money is compared fill by fill.
  if (fills.some((fill) => hidesMoney(world, fill))) return
  const ours = book.money.get(pairKey(NOBODY, symbol)) ?? NO_MONEY
  const theirs = {
    fills: fills.length,
    fees: sumDecimals(fills.map(({ fee }) => decimal(fee))),
    profit: sumDecimals(fills.map(({ profit }) => decimal(profit))),
  }
  const isSame =
    ours.fills === theirs.fills && ours.fees.eq(theirs.fees) && ours.profit.eq(theirs.profit)
  if (!isSame)
    violate(
      world,
      'ORD5',
      `${symbol}: of nobody ${JSON.stringify(theirs)}, the book says ${JSON.stringify(ours)}`,
    )
}

/** Orders formed before a fill was known arrive within this time. */
const ARRIVING_MS = 7000

/**
 * Lots of a net position that others took under orders relying on them: until those orders are
 * gone, more may be sold (bought) than the holding allows.
 */
export function createExcuses(
  world: World,
): (symbol: string) => { readonly buy: number; readonly sell: number } {
  const knownAt = new Map<Take, number>()
  const over = new Set<Take>()
  const isOver = (take: Take): boolean => {
    const { exchange, time } = world
    const orderId = orderIdText(take.fill.orderSequence)
    const isKnown = isOfApi(world, orderId)
      ? world.facts.disowned.has(orderId)
      : isKnownFill(world, fillKeyOf(take.fill))
    if (isKnown && !knownAt.has(take)) knownAt.set(take, time.now)
    const until = (knownAt.get(take) ?? Number.POSITIVE_INFINITY) + ARRIVING_MS
    if (time.now < until) return false
    return ![...exchange.truth.open].some(
      (order) => order.symbol === take.symbol && !isForeign(order) && order.createdAt <= until,
    )
  }
  return (symbol) => {
    const excused = { buy: 0, sell: 0 }
    for (const take of world.allocation.takes) {
      if (take.symbol !== symbol || over.has(take)) continue
      if (isOver(take)) over.add(take)
      else excused[take.direction] += take.lots
    }
    return excused
  }
}
