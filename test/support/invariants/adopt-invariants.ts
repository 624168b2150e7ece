import { type AssignedRecord, type JournalRecord } from '../../../src/domain/record.ts'
import { isAllocationKnown } from '../faults/foreign-fills.ts'
import { fillKeyOf, type TrueFill } from '../virtual/exchange-truth.ts'
import { isKnownFill, type World, type WorldWatcher, violate } from '../world/world.ts'

/**
 * A strategy takes over only what no strategy holds by the exchange's fills, and a finished flatten
 * leaves nothing closable. Both are judged only while the daemon knows every fill.
 */
export function watchAssignments(world: World): WorldWatcher {
  return {
    // Non-durable records are gone with their process.
    onBirth() {
      const kept: readonly JournalRecord[] = [...world.process.journal.loadAll()]
      world.allocation.keepOnly(kept.filter((record) => record.kind === 'assigned'))
    },
    onRecord(record) {
      if (record.kind !== 'assigned') return
      judgeAssignment(world, record)
      const { book } = world.process.engine ?? {}
      const open = [...(book?.orders.values() ?? [])].filter(({ endedAt }) => endedAt === 0)
      const known = knownFills(world, record.symbol)
      world.allocation.assign({
        record,
        open: open.map(({ terms }) => terms.clientOid),
        isKnown: (fill) => fill.symbol !== record.symbol || known.has(fill),
      })
    },
    afterStep(_event, effects) {
      // Its assignments are not recorded yet when a step is watched.
      const assigned = effects.flatMap((effect) =>
        effect.kind === 'record' && effect.record.kind === 'assigned' ? [effect.record] : [],
      )
      for (const effect of effects) {
        if (effect.kind !== 'announce') continue
        // Only what no strategy here can close may be left.
        if (effect.event !== 'flatten.done' && effect.event !== 'flatten.left') continue
        judgeDone(world, String(effect.fields['scope']), assigned)
      }
    },
  }
}

function judgeAssignment(world: World, { symbol, strategyId, holding }: AssignedRecord): void {
  const isListed = [...world.settings.strategies.values()].some(
    ({ id, symbols }) => id === strategyId && symbols.includes(symbol),
  )
  if (!isListed)
    violate(world, 'RSK4', `${strategyId} takes over ${symbol}, which it does not trade`)
  if (!knowsAll(world, symbol) || !isAllocationKnown(world, symbol)) return
  const { longLots, shortLots } = holding
  const unclaimed = world.allocation.unclaimedOf(symbol)
  const taken = unclaimed.length === 1 ? [longLots - shortLots] : [longLots, shortLots]
  const isThere = taken.every((lots, index) => {
    const there = unclaimed[index] ?? 0
    return Math.abs(lots) <= Math.abs(there) && lots * there >= 0
  })
  if (!isThere)
    violate(
      world,
      'RSK4',
      `${strategyId} takes over ${taken.join(' and ')} lots of ${symbol}, of ${unclaimed.join(' and ')}`,
    )
}

function judgeDone(world: World, scope: string, assigned: readonly AssignedRecord[]): void {
  const { allocation, plan, settings } = world
  const symbols = plan.symbols.filter((symbol) => scope === '*' || scope === symbol)
  for (const symbol of symbols) {
    const isTraded = [...settings.strategies.values()].some((one) => one.symbols.includes(symbol))
    if (!isTraded || !knowsAll(world, symbol)) continue
    const lotsMin = settings.instruments.get(symbol)?.lotsMin ?? 1
    const unclaimed = allocation.unclaimedOf(symbol)
    const left = unclaimed
      .map(
        (lots, index) =>
          lots - assignedOf(assigned, symbol, unclaimed.length === 1 ? 'net' : index),
      )
      .filter((lots) => Math.abs(lots) >= lotsMin)
    if (left.length > 0)
      violate(
        world,
        'RSK2',
        `${symbol}: a flatten is over, and ${left.join(' and ')} lots of nobody are left`,
      )
  }
}

/** Lots of the net position, or of its long (0) or short (1) side. */
function assignedOf(
  assigned: readonly AssignedRecord[],
  symbol: string,
  side: 'net' | number,
): number {
  return assigned.reduce((sum, { symbol: of, holding: { longLots, shortLots } }) => {
    if (of !== symbol) return sum
    if (side === 'net') return sum + longLots - shortLots
    return sum + (side === 0 ? longLots : shortLots)
  }, 0)
}

function knownFills(world: World, symbol: string): ReadonlySet<TrueFill> {
  const fills = world.exchange.truth.fillsInOrder
  return new Set(
    fills.filter((fill) => fill.symbol === symbol && isKnownFill(world, fillKeyOf(fill))),
  )
}

function knowsAll(world: World, symbol: string): boolean {
  const { truth, unseen } = world.exchange
  if (unseen.size > 0) return false
  return truth.fillsInOrder.every(
    (fill) => fill.symbol !== symbol || isKnownFill(world, fillKeyOf(fill)),
  )
}
