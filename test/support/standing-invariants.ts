import { type Book, pairKey } from '../../src/engine/book.ts'
import { type Effect } from '../../src/engine/effect.ts'
import { tradesAs } from '../../src/domain/order-action.ts'
import { type World, type WorldWatcher, violate } from './world.ts'

/** The looks are this many steps of time apart: half a second. */
const LOOK_EVERY = 5
/** An order that a cancel-all took may be called live no longer than this, its lane being free. */
const GHOST_MS = 1500
/** A rung may be missing so long, nobody having said why. */
const MISSING_MS = 8000
/** Refused so often in a row, a wish waits longer than the rest of a world. */
const REFUSALS_MAX = 6

/** Which lanes are fenced, as far as announcements tell. */
class FencedLanes {
  readonly #symbols = new Set<string>()

  clear(): void {
    this.#symbols.clear()
  }

  note(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'announce') continue
      if (effect.event === 'lane.fenced') this.#symbols.add(String(effect.fields['symbol']))
      else if (effect.event === 'lane.free') this.#symbols.delete(String(effect.fields['symbol']))
    }
  }

  has(symbol: string): boolean {
    return this.#symbols.has(symbol)
  }
}

/** What a cancel-all took away is not called live for long: it is being asked after, or is known to be gone. */
export function watchGhosts(world: World): WorldWatcher {
  const fenced = new FencedLanes()
  const since = new Map<string, number>()
  let looks = 0
  return {
    onBirth: () => {
      fenced.clear()
      since.clear()
    },
    afterStep(event, effects) {
      fenced.note(effects)
      const { engine } = world.shell
      if (event.kind !== 'timePassed' || ++looks % LOOK_EVERY !== 0 || engine?.mode !== 'running') return
      for (const [symbol, orders] of engine.book.open) {
        for (const [clientOid, { state }] of orders) {
          const there = world.exchange.truth.orderOf(clientOid)
          const isGhost = state === 'live' && there?.cancelReason === 'user' && !fenced.has(symbol)
          if (!isGhost) since.delete(clientOid)
          else if (!since.has(clientOid)) since.set(clientOid, world.time.now)
          if (!isGhost || world.time.now - (since.get(clientOid) ?? 0) < GHOST_MS) continue
          violate(world, 'ORD8', `${clientOid} was cancelled, and is called live on a free lane`)
        }
      }
    },
  }
}

/** What makes the limiter rest for longer than the calm after the faults. */
const RATE_FAULTS = ['rateLimited', 'rateLimitedAfter', 'rateStorm'] as const

/** Once nothing goes wrong any more, every rung of a ladder stands, or somebody has said why it does not. */
export function watchLadders(world: World): WorldWatcher {
  if (RATE_FAULTS.some((fault) => (world.plan.faults[fault] ?? 0) > 0)) return {}
  const missingSince = new Map<string, number>()
  const refusals = new Map<string, number>()
  let [looks, denied] = [0, 0]
  return {
    onBirth: () => missingSince.clear(),
    onRecord(record) {
      const orders = world.shell.engine?.book.orders
      if (record.kind === 'send') {
        for (const { strategyId, symbol } of record.orders) missingSince.delete(pairKey(strategyId, symbol))
      }
      if (record.kind !== 'outcome') return
      for (const { clientOid, outcome } of record.items) {
        const terms = orders?.get(clientOid)?.terms
        if (!terms) continue
        const pair = pairKey(terms.strategyId, terms.symbol)
        refusals.set(pair, outcome === 'rejected' ? (refusals.get(pair) ?? 0) + 1 : 0)
      }
    },
    afterStep(event) {
      const { engine } = world.shell
      if (event.kind !== 'timePassed' || ++looks % LOOK_EVERY !== 0) return
      if (!world.facts.isCalm || world.facts.isStopping || engine?.mode !== 'running') {
        return missingSince.clear()
      }
      const deniedNow = [...engine.denied.values()].reduce((sum, count) => sum + count, 0)
      if (deniedNow !== denied) missingSince.clear()
      denied = deniedNow
      for (const pair of engine.book.quotes.keys()) {
        const symbol = pair.slice(pair.indexOf('|') + 1)
        const isExcused = (refusals.get(pair) ?? 0) >= REFUSALS_MAX || isHalted(engine.book, symbol)
        if (isExcused || isComplete(engine.book, pair)) missingSince.delete(pair)
        else if (!missingSince.has(pair)) missingSince.set(pair, world.time.now)
        const at = missingSince.get(pair) ?? world.time.now
        if (world.time.now - at > MISSING_MS) violate(world, 'LIVE', `${pair} lacks a rung since ${at}`)
      }
    },
  }
}

function isHalted({ halts }: Book, symbol: string): boolean {
  return halts.has('*') || halts.has(symbol)
}

/** Every rung that its strategy wants rests, or is on its way. */
export function isComplete(book: Book, pair: string): boolean {
  const [strategyId, symbol] = [pair.slice(0, pair.indexOf('|')), pair.slice(pair.indexOf('|') + 1)]
  const rungs = new Set<string>()
  for (const { terms, state } of book.open.get(symbol)?.values() ?? []) {
    if (terms.strategyId === strategyId && (state === 'live' || state === 'sent')) {
      rungs.add(`${tradesAs(terms.action)} ${terms.ticks}`)
    }
  }
  return (book.quotes.get(pair) ?? []).every(({ side, ticks }) => rungs.has(`${side} ${ticks}`))
}
