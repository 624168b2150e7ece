import { HOLD_SIDES, type HoldSide } from '../../../src/domain/position.ts'
import { type OutgoingCall } from '../../../src/engine/effect.ts'
import { type Book, pairKey, splitPair } from '../../../src/engine/book/book.ts'
import { listUnkeptExits } from '../../../src/engine/book/ordered-exits.ts'
import { parseOnGrid } from '../../../src/lib/grid.ts'
import { modifyTpslOrder } from '../../../src/protocol/beyond/modify-tpsl-order.ts'
import { KnownPrices } from './known-prices.ts'
import { violate, type World, type WorldWatcher } from '../world/world.ts'

/** Another stop, and where one was moved to, is listed within seconds, also behind other calls. */
const SHOWN_MS = 10_000
/** A process without `timePassed` for so long stands still. */
const STILL_MS = 500
/** A list that failed is tried again after 30 s. */
const RETRIED_MS = 31_000

/**
 * STOP: the stop that the exchange keeps for a position is where the daemon says, after moves that
 * failed and after restarts too; it is moved by its own id, in front of the market, and not while
 * trading is halted.
 */
export function watchStops(world: World): WorldWatcher {
  if (world.plan.hasStops !== true) return {}
  const known = new KnownPrices()
  /** Keyed by position: since when the daemon has named another level than the exchange. */
  const since = new Map<string, number>()
  /** Instruments whose last list failed. */
  const unlisted = new Set<string>()
  let lookedAt = 0
  return {
    onBirth: () => {
      known.forget()
      since.clear()
      unlisted.clear()
    },
    afterStep(event, effects, now) {
      known.note(event, now)
      if (event.kind === 'exitsUnlisted') unlisted.add(event.symbol)
      if (event.kind === 'exitsListed') unlisted.delete(event.listed.symbol)
      for (const effect of effects)
        if (effect.kind === 'sendCall') judgeMove(world, known, effect.call)
      if (event.kind !== 'timePassed') return
      if (now - lookedAt > STILL_MS || world.facts.isStopping) since.clear()
      lookedAt = now
      compare(world, since, unlisted)
    },
  }
}

function compare(world: World, since: Map<string, number>, unlisted: ReadonlySet<string>): void {
  const { exchange, process, plan, time } = world
  const { engine } = process
  if (engine?.phase !== 'running') return since.clear()
  for (const symbol of plan.symbols) {
    for (const side of HOLD_SIDES) {
      const key = pairKey(symbol, side)
      const theirs = exchange.truth.stopOf(symbol, side)
      // What is not held has no stop. Other checkers say how soon a vanished position is noticed.
      const isHeld = exchange.truth.lotsOf(symbol, side) > 0
      const isCounted = isHeld && isCountedOn(engine.book, symbol, side)
      const ours = engine.book.exits.get(key)?.stopLossTicks
      const isRight = ours === undefined || ours === theirs
      if (theirs === undefined ? !isCounted : isRight) {
        since.delete(key)
        continue
      }
      const from = since.get(key) ?? time.now
      since.set(key, from)
      if (time.now - from > (unlisted.has(symbol) ? RETRIED_MS : SHOWN_MS))
        violate(world, 'STOP', `the stop of ${key} is at ${theirs}, and is called at ${ours}`)
    }
  }
}

/** A stop that the book has as ordered, and not among those that do not stand. */
function isCountedOn(book: Book, symbol: string, side: HoldSide): boolean {
  const unkept = listUnkeptExits(book)
  return [...book.orderedExits].some(([key, ordered]) => {
    const [strategyId, ofSymbol] = splitPair(key)
    if (ofSymbol !== symbol || ordered[side]?.stopLossTicks === undefined) return false
    return !unkept.some(
      (one) => one.strategyId === strategyId && one.symbol === symbol && one.side === side,
    )
  })
}

function judgeMove(world: World, known: KnownPrices, { endpoint, body }: OutgoingCall): void {
  if (endpoint !== 'modifyTpslOrder') return
  const { settings, process } = world
  const { orderId, symbol, triggerPrice } = modifyTpslOrder.request.parse(JSON.parse(body))
  const side = sideOf(world, symbol, orderId)
  // Its position may just have been closed there.
  if (side === undefined) return
  const tick = settings.instruments.get(symbol)?.tick
  const ticks = tick && parseOnGrid(tick, triggerPrice)
  const { tickers } = known
  const bid = tickers?.read(symbol, 'bidPr') ?? Number.NaN
  const ask = tickers?.read(symbol, 'askPr') ?? Number.NaN
  const isReached = side === 'long' ? Number(triggerPrice) >= bid : Number(triggerPrice) <= ask
  if (ticks === undefined || isReached)
    violate(world, 'STOP', `the stop of ${symbol} ${side} moves to ${triggerPrice}, at ${bid}`)
  const isHalted = process.engine?.restrictions.some(
    ({ scope, mode }) => (scope === '*' || scope === symbol) && mode === 'halted',
  )
  if (isHalted === true)
    violate(world, 'STOP', `the stop of ${symbol} ${side} moves while it is halted`)
}

function sideOf({ process }: World, symbol: string, orderId?: string): HoldSide | undefined {
  const { exits } = process.engine?.book ?? {}
  return HOLD_SIDES.find((side) =>
    exits?.get(pairKey(symbol, side))?.listed?.some((exit) => exit.orderId === orderId),
  )
}
