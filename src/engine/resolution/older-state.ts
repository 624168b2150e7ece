import type { ItemOutcome } from '../../domain/record.ts'
import type { ClientOid } from '../../domain/ids.ts'
import { isTerminal, type Order } from '../../domain/order.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { deriveClientOid } from '../../execution/batch.ts'
import { Failure } from '../../lib/failure.ts'
import { mutable } from '../../lib/mutable.ts'
import { pairOf, splitPair } from '../book/book.ts'
import { noteChanged } from '../state/changes.ts'
import { announce, type Core, emit, instrumentOf, type OpenCancel } from '../state/core.ts'
import { halt } from '../state/trading-mode.ts'
import { noteListing } from '../state/readings.ts'
import { startResolution } from './resolution.ts'

/**
 * A state put back from a copy does not know the lost run's orders, and gives their names to
 * others. docs/operations.md says what proves it (An older copy); then the run ends.
 *
 * A request doubled on its way is called a duplicate too, if only the copy is answered. Its orders
 * rest, or were filled, since a moment ago; a lost run's have mostly ended. So a suspected order is
 * looked for first:
 *
 *     duplicate ──► suspected ──a cancel-all lists it, or it is filled──► ours
 *                     ├──it has ended, had to rest, and neither─────► proof
 *                     ├──it may have ended by itself────────────────► open
 *                     └──a cancel-all that may have taken it away
 *                        has listed nothing: lost, or a 429────────► ours, until the next one
 *     open ──the next duplicate is not found either────────────────► proof
 *
 * Nothing is placed meanwhile. One found order speaks for all of its request, and one accepted as
 * new for its strategy on the instrument.
 */

/** The clocks are known far better. */
const SKEW_MS = 60_000

/** A step is 5 ms of work. The maximum covers a day of a hundred thousand orders, twenty times. */
const NAMES_A_STEP = 2000
const NAMES_MAX = 2_000_000

/** `deriveClientOid` makes such names. */
const NAME = /^t[a-z2-7]{26}-[0-9a-z]+$/

/** This comes after the outcomes were recorded. */
export function judgeNames(core: Core, symbol: string, items: readonly ItemOutcome[]): void {
  const first = items.flatMap((item) => {
    const order = core.book.orders.get(item.clientOid)
    return order?.attempts === 1 ? [{ item, order }] : []
  })
  const suspected = first.filter(({ item, order }) => isDuplicate(item) && !isExcused(core, order))
  const names = mutable(core.names)
  for (const { item, order } of first) {
    if (item.outcome === 'accepted') names.suspectedWishes.delete(wishOf(order))
  }
  for (const { order } of suspected) {
    names.suspected.add(order.terms.clientOid)
    const wish = wishOf(order)
    if (!names.suspectedWishes.has(wish)) names.suspectedWishes.set(wish, order.firstSentAt)
  }
  for (const { item, order } of suspected) {
    if (order.orderId !== undefined && item.orderId === undefined) noteFound(core, order)
    else if (isUnlisted(core, order)) forgetSuspected(core, order.terms.clientOid)
  }
  if (names.suspected.size === 0) return
  noteAllChanged(core)
  const instrument = instrumentOf(core, symbol)
  if (instrument.phase !== 'resolving') startResolution(core, instrument, 'unwanted')
}

export function judgeSuspected(core: Core): void {
  for (const clientOid of core.names.suspected) {
    const order = core.book.orders.get(clientOid)
    if (order && order.filledLots > 0) noteFound(core, order)
  }
  for (const clientOid of core.names.suspected) {
    const order = core.book.orders.get(clientOid)
    if (order && !isTerminal(order)) continue
    if (order && (hadToRest(order) || isSecond(core, order))) return refuseDuplicate(core, order)
    forgetSuspected(core, clientOid)
  }
}

/** An earlier request of the strategy on the instrument was called a duplicate and not found. */
function isSecond(core: Core, order: Order): boolean {
  const since = core.names.suspectedWishes.get(wishOf(order))
  return since !== undefined && since < order.firstSentAt
}

/** The exchange cancels a post-only order that would take, and what is left of a taker. */
function hadToRest({ terms }: Order): boolean {
  return terms.ticks !== undefined && terms.force === 'gtc'
}

/** @param names of orders that rested until a cancel-all listed them */
function forgetListed(core: Core, names: readonly string[]): void {
  for (const name of names as readonly ClientOid[]) {
    if (!core.names.suspected.has(name)) continue
    const order = core.book.orders.get(name)
    if (order) noteFound(core, order)
    else forgetSuspected(core, name)
  }
}

/** Something on the way doubled this order's whole request, and perhaps the next one. */
function noteFound(core: Core, order: Order): void {
  const { symbol } = order.terms
  const { suspected, suspectedWishes } = mutable(core.names)
  suspectedWishes.delete(wishOf(order))
  for (const [wish, sentAt] of suspectedWishes)
    if (sentAt === order.firstSentAt && splitPair(wish)[1] === symbol) suspectedWishes.delete(wish)
  for (const clientOid of suspected) {
    const other = core.book.orders.get(clientOid)
    if (other?.firstSentAt === order.firstSentAt && other.terms.symbol === symbol)
      forgetSuspected(core, clientOid)
  }
}

/** A cancel-all was perhaps carried out without a list. What it cancelled is never listed. */
export function noteUnlisted(core: Core, { symbols, requestAt }: OpenCancel): void {
  for (const symbol of symbols) mutable(core.names).unlistedAt.set(symbol, requestAt)
  for (const clientOid of core.names.suspected) {
    const symbol = core.book.orders.get(clientOid)?.terms.symbol
    if (symbol === undefined || symbols.includes(symbol)) forgetSuspected(core, clientOid)
  }
}

function isUnlisted({ names }: Core, { terms, firstSentAt }: Order): boolean {
  return (names.unlistedAt.get(terms.symbol) ?? 0) >= firstSentAt
}

function forgetSuspected(core: Core, clientOid: ClientOid): void {
  mutable(core.names).suspected.delete(clientOid)
  if (core.names.suspected.size === 0) noteAllChanged(core)
}

function refuseDuplicate(core: Core, { terms }: Order): void {
  const { clientOid } = terms
  refuse(core, `${clientOid} was sent for the first time, and the exchange calls it a duplicate`)
}

/**
 * Waiting fills may be older than the first request of the order, so this comes before outcomes are
 * recorded.
 */
export function judgeFills(core: Core, items: readonly ItemOutcome[]): void {
  for (const { clientOid, orderId } of items) {
    const order = core.book.orders.get(clientOid)
    const fills = orderId === undefined ? undefined : core.book.orphans.get(orderId)
    if (order?.attempts !== 1 || isExcused(core, order)) continue
    const older = fills?.find(({ filledAt }) => filledAt < order.firstSentAt - SKEW_MS)
    if (older)
      return refuse(
        core,
        `${clientOid} was filled (${older.tradeId}) before it was sent for the first time`,
      )
  }
}

function isDuplicate(item: ItemOutcome): boolean {
  return item.outcome === 'exists' || item.isDuplicate === true
}

/**
 * The part lost before a repair may have used a strategy's key. Ordinals of ladders and targets
 * were skipped.
 */
function isExcused({ book }: Core, { terms }: Order): boolean {
  return terms.purpose === 'place' && book.recordsLostAt > 0
}

function wishOf({ terms: { strategyId, symbol } }: Order): string {
  return pairOf(strategyId, symbol)
}

export function noteListedNames(core: Core, names: readonly string[]): void {
  forgetListed(core, names)
  const { orders } = core.book
  const unknown = names.filter((name) => NAME.test(name) && !orders.has(name as ClientOid))
  if (unknown.length === 0) return
  const { search } = core.names
  mutable(core.names).search = {
    names: new Set([...(search?.names ?? []), ...unknown]),
    since: search?.since ?? core.now,
    offset: 0,
  }
  noteAllChanged(core)
  const waiting = listNextKeys(core).find((next) => unknown.includes(nameOf(core, next)))
  if (waiting) refuseListed(core, nameOf(core, waiting))
}

export function listResting(core: Core): void {
  if (core.run.phase !== 'running') return
  for (const symbol of core.unlisted.symbols) {
    const instrument = core.instruments.get(symbol)
    if (instrument !== undefined && instrument.phase !== 'idle') continue
    noteListing(core, symbol)
    if (instrument) startResolution(core, instrument, 'unwanted')
  }
}

/** The nearest ordinals come first, and only some in a step. */
export function searchNames(core: Core): void {
  const { search } = core.names
  if (search === undefined) return
  const wishes = listWishes(core)
  const offsets = Math.max(1, Math.floor(NAMES_A_STEP / (2 * wishes.length)))
  for (let offset = search.offset; offset < search.offset + offsets; offset++) {
    for (const [strategyId, symbol, ordinal] of wishes) {
      for (const kind of ['quote', 'target']) {
        const name = nameOf(core, {
          strategyId,
          key: `${kind}:${symbol}:${ordinal + offset}`,
          generation: 0,
        })
        if (search.names.has(name)) return refuseListed(core, name)
      }
    }
  }
  const isOver = (search.offset + offsets) * 2 * wishes.length >= NAMES_MAX
  mutable(core.names).search = isOver ? undefined : { ...search, offset: search.offset + offsets }
  if (!isOver) return
  noteAllChanged(core)
  announce(core, 'warn', 'order.nameUnknown', { names: [...search.names] })
}

interface NextKey {
  readonly strategyId: string
  readonly key: string
  readonly generation: number
}

function nameOf({ settings: { salt } }: Core, next: NextKey): string {
  return deriveClientOid({ salt, ...next })
}

/** Names from these ordinals on were never sent. */
function listWishes({ book, settings }: Core): readonly (readonly [string, string, number])[] {
  const pairs = [...settings.strategies.values()].flatMap(({ id, symbols }) =>
    symbols.map((symbol) => pairOf(id, symbol)),
  )
  return [...new Set([...book.ordinals.keys(), ...pairs])].map((pair) => [
    ...splitPair(pair),
    book.ordinals.get(pair) ?? 0,
  ])
}

function listNextKeys({ book }: Core): readonly NextKey[] {
  if (book.recordsLostAt > 0) return []
  const waiting = [...book.places.values()].map(({ strategyId, key }) => pairOf(strategyId, key))
  return [...new Set([...waiting, ...book.keys.keys()])].map((pair) => {
    const [strategyId, key] = splitPair(pair)
    return { strategyId, key, generation: (book.keys.get(pair)?.generation ?? -1) + 1 }
  })
}

function noteAllChanged({ changes, instruments }: Core): void {
  for (const symbol of instruments.keys()) noteChanged(changes, symbol)
}

function refuseListed(core: Core, name: string): void {
  refuse(
    core,
    `the exchange has cancelled ${name}, which is our name of an order that was never sent`,
  )
}

/** The halt is recorded first, so the next start refuses the state too. */
function refuse(core: Core, proof: string): void {
  const names = mutable(core.names)
  names.search = undefined
  names.suspected.clear()
  halt(core, ACCOUNT, 'olderState', proof)
  emit(core, { kind: 'stateOlder', proof })
}

/** @param proof of orders at the exchange that this state never sent */
export function stateOlder(proof: string): Failure {
  return new Failure({
    code: 'STATE_OLDER_THAN_EXCHANGE',
    sentence:
      'this state is older than the exchange: it is a copy of before, and the account has traded on since',
    facts: { proof },
    hint:
      'put the newest state back; where it is lost, `intentd repair --from-exchange` takes over the positions of the ' +
      'exchange, and nothing else',
  })
}
