import { type Core } from './core.ts'

/** From where fills must be read again to miss none: the newest known, less what may have become visible late. */
export function fillsSince(core: Core): number {
  const { fillVisibilityMs } = core.settings.execution
  const unresolved = [...core.book.open.values()]
    .flatMap((orders) => [...orders.values()])
    .filter((order) => order.state !== 'live' && order.attempts > 0)
    .map((order) => order.firstSentAt - 10_000)
  const known = core.book.fillsThroughAt - fillVisibilityMs - 2000
  return Math.max(0, Math.min(known, ...unresolved))
}
