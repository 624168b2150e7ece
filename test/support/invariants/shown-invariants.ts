import { type Holding } from '../../../src/domain/position.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { type InstrumentMoment } from '../../../src/domain/snapshot.ts'
import { accountHoldingOf, type Book, holdingOf } from '../../../src/engine/book/book.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

const WITHOUT_FILLS: ReadonlySet<JournalRecord['kind']> = new Set([
  'send',
  'cancel',
  'decision',
  'denial',
])

/**
 * A strategy decides on the book's view: its own position, the account's, and its own orders
 * (MKT2).
 */
export function watchShown(world: World): WorldWatcher {
  const shown = new Map<string, number>()
  return {
    onBirth: () => shown.clear(),
    afterStep(_, effects, now) {
      const { book } = world.process.engine ?? {}
      if (!book) return
      const leaving = new Set<string>(
        effects.flatMap((effect) => (effect.kind === 'sendBatch' ? effect.batch.clientOids : [])),
      )
      // Records later in the step may change what was shown.
      const settledAt = effects.findLastIndex(
        (effect) => effect.kind === 'record' && !WITHOUT_FILLS.has(effect.record.kind),
      )
      for (const [index, effect] of effects.entries()) {
        if (effect.kind !== 'decide') continue
        const { strategyId, snapshot } = effect
        const isNew = snapshot.sequence > (shown.get(strategyId) ?? 0)
        shown.set(strategyId, snapshot.sequence)
        if (!isNew || snapshot.takenAt !== now)
          violate(world, 'MKT2', `${strategyId} is asked again on snapshot ${snapshot.sequence}`)
        if (index < settledAt) continue
        for (const moment of snapshot.instruments) {
          const wrong = wrongOf(book, strategyId, moment, leaving)
          if (wrong !== undefined) violate(world, 'MKT2', `${strategyId} is shown ${wrong}`)
        }
      }
    },
  }
}

function wrongOf(
  book: Book,
  strategyId: string,
  { instrument: { symbol }, holding, accountHolding, orders }: InstrumentMoment,
  leaving: ReadonlySet<string>,
): string | undefined {
  if (!isSame(holding, holdingOf(book, strategyId, symbol)))
    return `a position in ${symbol} that is not its own`
  if (!isSame(accountHolding, accountHoldingOf(book, symbol)))
    return `another position of the account in ${symbol}`
  const stranger = orders.find(
    ({ terms }) => terms.strategyId !== strategyId || terms.symbol !== symbol,
  )
  if (stranger) return `${stranger.terms.clientOid}, which is not its own`
  const listed = new Set<string>(orders.map(({ terms }) => terms.clientOid))
  // Orders of the same step are newer.
  for (const { terms } of book.open.get(symbol)?.values() ?? []) {
    const isOwn = terms.strategyId === strategyId && !leaving.has(terms.clientOid)
    if (isOwn && !listed.has(terms.clientOid)) return `nothing of ${terms.clientOid}`
  }
  return undefined
}

function isSame(one: Holding, other: Holding): boolean {
  return one.longLots === other.longLots && one.shortLots === other.shortLots
}

/** A bad row of tickers costs only its instrument: the others' prices arrive (MKT4). */
export function watchRows(world: World): WorldWatcher {
  if (!world.plan.faults.tickerBroken) return {}
  return {
    afterStep(event) {
      if (event.kind !== 'snapshotTaken') return
      const missing = world.exchange.brokenTickers.missingFrom(event.tickers)
      if (missing.length > 0) violate(world, 'MKT4', `one bad row cost ${missing.join(', ')}`)
    },
  }
}
