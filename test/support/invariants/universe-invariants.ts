import { type ContractRules } from '../../../src/domain/contract-rules.ts'
import { toClientOid } from '../../../src/domain/ids.ts'
import { type OrderTerms } from '../../../src/domain/order.ts'
import { isClosing, tradesAs } from '../../../src/domain/order-action.ts'
import { netLots } from '../../../src/domain/position.ts'
import { type JournalRecord, type UniverseRecord } from '../../../src/domain/record.ts'
import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import {
  type LeavingPolicy,
  LEAVING_TIMES,
  type UniverseReason,
} from '../../../src/domain/universe.ts'
import { holdingOf } from '../../../src/engine/book/book.ts'
import { type OutgoingBatch } from '../../../src/engine/effect.ts'
import { isAllocationKnown } from '../faults/foreign-fills.ts'
import { isForeign } from '../virtual/exchange-truth.ts'
import { bodyOf, violate, type World, type WorldWatcher } from '../world/world.ts'

type Universe = NonNullable<World['plan']['universe']>

interface Member {
  readonly since: number
  readonly leaving: LeavingPolicy | undefined
}

/** Keyed by strategy and then by symbol, as the records of the journal say. */
type Members = Map<string, Map<string, Member>>

/**
 * UNIVERSE: an order names an instrument that is in, or closes one that leaves; one that has left
 * leaves nothing behind; what a rule chooses is what the exchange listed in that moment, within its
 * count and the poll budget.
 */
export function watchUniverses(world: World): WorldWatcher {
  const { universe } = world.plan
  if (universe === undefined) return {}
  const members: Members = new Map()
  const written = new Set<string>()
  const unwanted: Unwanted = new Map()
  let contracts: AnsweredContracts = { last: new Map(), counting: new Map() }
  return {
    onBirth() {
      members.clear()
      const kept = new Map<string, ContractRules>()
      const evaluatedAt = new Map<string, number>()
      for (const record of world.process.journal.loadAll()) {
        follow(members, record)
        if (record.kind !== 'universe') continue
        evaluatedAt.set(record.strategyId, record.marketAt)
        for (const { symbol, rules } of record.joined)
          if (!isIn(members, symbol) || !kept.has(symbol)) kept.set(symbol, rules)
      }
      for (const symbol of kept.keys()) if (!isIn(members, symbol)) kept.delete(symbol)
      contracts = { last: kept, counting: kept }
      // An evaluation that the journal has lost was none.
      // The last evaluation may not have become durable; the one before counts again.
      for (const [id, evaluations] of unwanted)
        unwanted.set(
          id,
          evaluations.slice(0, 1 + evaluations.findIndex(({ at }) => at === evaluatedAt.get(id))),
        )
    },
    afterStep(event, effects) {
      if (event.kind === 'contractsRead') contracts = answer(contracts, event.contracts)
      if (event.kind !== 'snapshotTaken') return
      // Records of earlier rules were followed when they were recorded.
      const known = copyOf(members)
      for (const effect of effects) {
        if (effect.kind !== 'record') continue
        if (effect.record.kind === 'universe')
          judgeChoice(
            { world, universe, contracts: contracts.counting, tickers: event.tickers, unwanted },
            known,
            effect.record,
          )
        follow(known, effect.record)
      }
    },
    onRecord(record) {
      if (record.kind === 'departed') judgeDeparture(world, members, record)
      follow(members, record)
      if (record.kind === 'universe') judgeCounts(world, universe, members)
    },
    onWrite(batch) {
      for (const clientOid of judgedOf(batch, written)) judgeOrder(world, members, clientOid)
    },
  }
}

/** Keyed by strategy: what its last evaluation did not choose; exchange clock. */
type Unwanted = Map<
  string,
  readonly { readonly at: number; readonly symbols: ReadonlySet<string> }[]
>

interface AnsweredContracts {
  readonly last: ReadonlyMap<string, ContractRules>
  /** Stated alike by the last two answers that stated them alike. */
  readonly counting: ReadonlyMap<string, ContractRules>
}

function answer(
  { last, counting }: AnsweredContracts,
  next: ReadonlyMap<string, ContractRules>,
): AnsweredContracts {
  const result = new Map(counting)
  for (const symbol of [...last.keys(), ...counting.keys(), ...next.keys()]) {
    const [was, is] = [last.get(symbol), next.get(symbol)]
    const isAlike = JSON.stringify(was) === JSON.stringify(is)
    if (is && (isAlike || !counting.has(symbol))) result.set(symbol, is)
    if (!is && isAlike) result.delete(symbol)
  }
  return { last: next, counting: result }
}

function isIn(members: Members, symbol: string): boolean {
  return [...members.values()].some((own) => own.has(symbol))
}

function copyOf(members: Members): Members {
  return new Map([...members].map(([id, own]) => [id, new Map(own)]))
}

function ownOf(members: Members, strategyId: string): Map<string, Member> {
  const known = members.get(strategyId)
  if (known) return known
  const fresh = new Map<string, Member>()
  members.set(strategyId, fresh)
  return fresh
}

function follow(members: Members, record: JournalRecord): void {
  if (record.kind === 'departed') ownOf(members, record.strategyId).delete(record.symbol)
  if (record.kind !== 'universe') return
  const own = ownOf(members, record.strategyId)
  for (const { symbol } of record.joined)
    own.set(symbol, { since: record.marketAt, leaving: undefined })
  for (const { symbol, policy } of record.left)
    own.set(symbol, { since: own.get(symbol)?.since ?? 0, leaving: policy })
}

/** A copy of an earlier request is no new order. */
function judgedOf(batch: OutgoingBatch, written: Set<string>): readonly string[] {
  const names = bodyOf(batch).orderList.flatMap(({ clientOid }) => clientOid ?? [])
  const fresh = names.filter((name) => !written.has(name))
  for (const name of fresh) written.add(name)
  return fresh
}

function judgeOrder(world: World, members: Members, clientOid: string): void {
  const { process, facts, plan } = world
  const terms = process.engine?.book.orders.get(toClientOid(clientOid))?.terms
  const strategyId = facts.strategyOf.get(clientOid)
  if (!terms || strategyId === undefined || isFixed(world, terms.symbol)) return
  const member = members.get(strategyId)?.get(terms.symbol)
  const order = `${clientOid} of ${strategyId} ${terms.action} on ${terms.symbol}`
  if (member === undefined) return violate(world, 'UNIVERSE', `${order}, which is out`)
  if (member.leaving === undefined) return
  if (!isReducing(world, terms))
    violate(world, 'UNIVERSE', `${order}, which leaves by ${member.leaving}`)
  // Those that are stopped or limited are flattened whatever leaves.
  const isFlattened = facts.isStopping || plan.isLimited || 'flattenedByHand' in plan.faults
  if (member.leaving === 'handBack' && !isFlattened)
    violate(world, 'UNIVERSE', `${order}, which is handed back`)
}

/** In one-way mode every order against the holding makes it smaller. */
function isReducing({ plan, process }: World, { action, strategyId, symbol }: OrderTerms): boolean {
  if (plan.positionMode === 'hedge_mode') return isClosing(action)
  const { book } = process.engine ?? {}
  const net = book ? netLots(holdingOf(book, strategyId, symbol)) : 0
  return tradesAs(action) === 'buy' ? net < 0 : net > 0
}

/** Every strategy trades it in any case. */
export function isFixed({ plan: { universe, symbols } }: World, symbol: string): boolean {
  return universe?.hasFixed === true && symbol === symbols[0]
}

/** Nothing of the strategy is open at the exchange, and with `close` and `keep` nothing is held. */
function judgeDeparture(
  world: World,
  members: Members,
  { strategyId, symbol }: { readonly strategyId: string; readonly symbol: string },
): void {
  const { exchange, facts, allocation, plan, settings } = world
  const leaving = members.get(strategyId)?.get(symbol)?.leaving
  const isOwn = (clientOid: string): boolean => facts.strategyOf.get(clientOid) === strategyId
  for (const order of exchange.truth.open)
    if (order.symbol === symbol && !isForeign(order) && isOwn(order.clientOid))
      violate(world, 'UNIVERSE', `${symbol} has left ${strategyId}, and ${order.clientOid} is open`)
  if (leaving === undefined)
    return violate(world, 'UNIVERSE', `${symbol} has left ${strategyId}, which was not to leave`)
  if (leaving === 'handBack' || plan.positionMode === 'hedge_mode') return
  if (!isAllocationKnown(world, symbol)) return
  const net = Math.abs(allocation.netOf(symbol, strategyId))
  if (net >= (settings.instruments.get(symbol)?.lotsMin ?? 1))
    violate(world, 'UNIVERSE', `${symbol} has left ${strategyId}, which holds ${net}`)
}

function judgeCounts(world: World, universe: Universe, members: Members): void {
  for (const [strategyId, own] of members) {
    const staying = [...own.values()].filter(({ leaving }) => leaving === undefined).length
    if (staying > universe.count || own.size > universe.count * LEAVING_TIMES)
      violate(world, 'UNIVERSE', `${strategyId} has ${staying} of ${own.size} members`)
  }
  const read = new Set([...members.values()].flatMap((own) => [...own.keys()]))
  const fixed = universe.hasFixed ? world.plan.symbols.slice(0, 1) : []
  for (const symbol of fixed) read.add(symbol)
  if (read.size > universe.readMax)
    violate(world, 'UNIVERSE', `${read.size} instruments are read, not ${universe.readMax}`)
}

interface Choice {
  readonly world: World
  readonly universe: Universe
  readonly contracts: ReadonlyMap<string, ContractRules>
  readonly tickers: TickerTable
  readonly unwanted: Unwanted
}

/** Objections of the account, which this checker takes as they are. */
const OBJECTIONS: ReadonlySet<UniverseReason> = new Set<UniverseReason>([
  'restricted',
  'gridConflict',
  'orderTooLarge',
  'marginTooLarge',
])

/** Chooses once more by other means: by counting for each instrument those that are before it. */
function judgeChoice(
  { world, universe, contracts, tickers, unwanted }: Choice,
  members: Members,
  record: UniverseRecord,
): void {
  const { strategyId, marketAt } = record
  const own = ownOf(members, strategyId)
  const kept = world.process.engine?.book.universes.get(record.strategyId)?.verdicts
  const volumeOf = (symbol: string): number => tickers.read(symbol, 'usdtVolume')
  const isObjected = (symbol: string): boolean =>
    !own.has(symbol) && OBJECTIONS.has(kept?.[symbol]?.reason ?? 'ranked')
  const candidates = world.plan.symbols.filter(
    (symbol) =>
      !isFixed(world, symbol) &&
      contracts.get(symbol)?.status === 'normal' &&
      tickers.read(symbol, 'lastPr') > 0 &&
      !(tickers.read(symbol, 'deliveryTime') > 0) &&
      volumeOf(symbol) >= 0 &&
      !isObjected(symbol),
  )
  const isChosen = (symbol: string): boolean =>
    candidates.includes(symbol) &&
    candidates.filter((other) => volumeOf(other) > volumeOf(symbol)).length < universe.count
  const say = (what: string): void =>
    violate(world, 'UNIVERSE', `${strategyId} at ${marketAt}: ${what}`)

  const evaluations = unwanted.get(strategyId) ?? []
  const before = evaluations.at(-1)
  const notChosen = world.plan.symbols.filter((symbol) => !isChosen(symbol))
  const evaluation = { at: marketAt, symbols: new Set(notChosen) }
  unwanted.set(strategyId, [...evaluations.slice(-1), evaluation])
  const left = new Set(record.left.map(({ symbol }) => symbol))
  for (const { symbol } of record.joined)
    if (!isChosen(symbol)) say(`${symbol} joins, and is not chosen`)
  for (const symbol of left) {
    if (isChosen(symbol)) say(`${symbol} leaves, and is chosen`)
    if (before?.symbols.has(symbol) !== true) say(`${symbol} leaves by one answer alone`)
    const isDelivered = tickers.read(symbol, 'deliveryTime') > 0
    const isListed = contracts.get(symbol)?.status === 'normal'
    const isGone = !contracts.has(symbol) && tickers.rowOf(symbol) < 0
    const { since = 0 } = own.get(symbol) ?? {}
    if (
      !isDelivered &&
      (isListed || (!contracts.has(symbol) && !isGone)) &&
      marketAt - since < universe.stickyMs
    )
      say(`${symbol} leaves ${marketAt - since} ms after it has joined`)
  }
  if (universe.changesPerDay === undefined)
    for (const [symbol, { since, leaving }] of own)
      if (leaving === undefined && !left.has(symbol) && !isChosen(symbol))
        if ((before?.at ?? 0) - since >= universe.stickyMs && before?.symbols.has(symbol) === true)
          say(`${symbol} stays, and is not chosen twice`)
}
