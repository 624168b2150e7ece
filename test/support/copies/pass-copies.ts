import { createCore } from '../../../src/engine/state/create-core.ts'
import { rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { takeOverPositions } from '../../../src/engine/lifecycle/take-over-positions.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { UID } from '../../../src/backtest/direct-exchange.ts'
import { accountOf } from '../../../src/simulator/futures/core-state.ts'
import { cancelOrder } from '../../../src/simulator/futures/orders/order-lifecycle.ts'
import { tradeByProgram } from '../faults/foreign-hands.ts'
import { type World, violate } from '../world/world.ts'

/** During this pause requests in flight arrive or expire. */
const DOWN_MS = 8000
/** Limits the wait for a proof, and for recovery after the repair. */
const WATCHED_MS = 20_000
const CALM_MS = 20_000
const STOP_MS = 60_000

type Copy = NonNullable<World['plan']['copy']>

/** The run on the copy may end; then the repair, a release and trading follow. */
export function passCopies(world: World, copy: Copy): void {
  const { process, time, facts, faults, violations } = world
  const run = (forMs: number, isOver = (): boolean => false): void =>
    time.runUntil(time.now + forMs, () => violations.length > 0 || isOver())
  process.start()
  run(copy.tradedMs)
  const kept = copy.isStale ? process.journal.copy() : undefined
  if (copy.isStale) run(copy.lostMs)
  endRun(world, copy.isKilled && copy.isStale)
  run(DOWN_MS)
  const journal = kept ?? process.journal.copy()
  for (let trade = 0; trade < copy.foreignTrades; trade++) {
    tradeByProgram(world, createRandom(`${world.plan.seed}/copies/trade/${trade}`))
    run(500)
  }
  process.journal.putBack(journal)
  facts.isUnattended = !copy.isReleased
  facts.isStopping = false
  facts.copy = {
    known: new Set(process.journal.loadAll().flatMap(namesIn)),
    bornAt: time.now,
    proof: undefined,
    isRepaired: false,
    isTradingLast: false,
  }
  process.start()
  const isOver = (): boolean => !process.isAlive && !process.isRetreating
  run(WATCHED_MS, isOver)
  faults.isOn = false
  facts.isUnattended = false
  // A release here may lead to the proof.
  run(CALM_MS, isOver)
  if (facts.copy.proof !== undefined) {
    process.start()
    if (process.isAlive)
      violate(world, 'ORD2', 'a run begins on a state that was proved to be older')
    run(DOWN_MS)
    repairFromExchange(world)
    facts.copy.isRepaired = true
    process.start()
    run(CALM_MS)
  }
  facts.isCalm = true
  facts.copy.isTradingLast = process.isAlive && process.engine?.isTrading === true
  facts.isLastStop = true
  facts.stoppedClean = undefined
  process.stop('cancel')
  run(STOP_MS, () => facts.stoppedClean !== undefined)
}

function endRun({ process, time, facts }: World, isKilled: boolean): void {
  if (isKilled) return process.kill()
  facts.stoppedClean = undefined
  process.stop('leave')
  time.runUntil(time.now + STOP_MS, () => facts.stoppedClean !== undefined)
}

function namesIn(record: JournalRecord): readonly string[] {
  return record.kind === 'send' ? record.orders.map(({ clientOid }) => clientOid) : []
}

function repairFromExchange({ exchange, process, settings, time, plan }: World): void {
  exchange.core.carryOut(exchange.now, (state) => {
    for (const order of Array.from(accountOf(state, UID).openOrders.values()))
      cancelOrder(state, order, 'user')
  })
  const { journal } = process
  const core = createCore(settings, rebuildBook(journal.load(), settings.positionMode))
  const holdings = plan.symbols.map((symbol) => {
    const [longLots, shortLots] = [
      exchange.truth.lotsOf(symbol, 'long'),
      exchange.truth.lotsOf(symbol, 'short'),
    ]
    return [symbol, { longLots, shortLots }] as const
  })
  takeOverPositions(
    core,
    { holdings: new Map(holdings), exchangeAt: exchange.now },
    {
      kind: 'repaired',
      at: time.now,
      strategies: plan.strategies.map(({ id }) => id),
      symbols: plan.symbols,
      reason: 'the state was older than the exchange',
    },
  )
  for (const effect of core.effects) if (effect.kind === 'record') journal.append(effect.record)
  journal.flush()
}
