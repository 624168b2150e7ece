import { TickerTable } from '../../../src/domain/ticker-table.ts'
import { debtsOf, isUnexplained, nameDebt } from '../invariants/debts.ts'
import { isForeign } from '../virtual/exchange-truth.ts'
import { denialsOf } from '../invariants/live-invariants.ts'
import { type World } from './world.ts'

/** Time for everything to come right after the faults, virtual ms. */
const CALM_MS = 12_000
/** Minimum time for slow symptoms. */
const CALM_MS_MIN = 2000
const LOOK_MS = 100

/**
 * Runs a world without faults until everything has come right, or should have. Patient worlds run
 * on, which shows what breaks again later.
 */
export function passCalm(world: World): void {
  const { time, plan, violations } = world
  const endAt = time.now + CALM_MS
  const troubles = new Troubles(world)
  let lookAt = time.now + CALM_MS_MIN
  time.runUntil(endAt, () => {
    if (violations.length > 0) return true
    if (plan.isPatient || time.now < lookAt || !isTrading(world)) return false
    lookAt = time.now + LOOK_MS
    return troubles.areOver()
  })
}

/** A process trades, nothing late is in flight, and nothing of others rests. */
function isTrading({ plan, process, network, exchange, time }: World): boolean {
  // The owner of another program's fills shows after a while.
  if (plan.apiTrader > 0 && process.engine && process.engine.book.orphans.size > 0) return false
  if (!process.isAlive || process.engine?.isTrading !== true || time.now < network.lateUntil)
    return false
  return ![...exchange.truth.open].some(isForeign)
}

/**
 * Named troubles. In a moving market something has always just begun, so each of those at the first
 * look must have been over once.
 */
class Troubles {
  readonly #world: World
  #left: readonly string[] | undefined
  #denied = 0

  constructor(world: World) {
    this.#world = world
  }

  areOver(): boolean {
    const now = this.#look()
    this.#left = this.#left?.filter((name) => now.has(name)) ?? [...now]
    return this.#left.length === 0
  }

  #readPrices(): TickerTable {
    const { exchange, settings } = this.#world
    const table = new TickerTable(settings.instruments.size)
    exchange.readTickers(table)
    return table
  }

  #look(): ReadonlySet<string> {
    const { settings, process } = this.#world
    const { engine } = process
    if (!engine) return new Set()
    const { book } = engine
    const names = [...book.restrictions.values()].map(({ scope, mode }) => `${mode} ${scope}`)
    for (const symbol of book.cancels.keys()) names.push(`cancel ${symbol}`)
    for (const orders of book.open.values()) {
      for (const { state, terms } of orders.values())
        if (state !== 'live') names.push(terms.clientOid)
    }
    const denied = denialsOf(engine.denied)
    const isExplained = denied !== this.#denied
    this.#denied = denied
    const debts = debtsOf({ book, settings }, this.#readPrices()).filter(
      (debt) => isUnexplained(debt) || (!isExplained && debt.kind !== 'place'),
    )
    return new Set([...names, ...debts.map(nameDebt)])
  }
}
