import { isClockRefused } from '../../../src/domain/answer.ts'
import { type FaultKind } from '../faults/virtual-faults.ts'
import { violate, type World, type WorldWatcher } from '../world/world.ts'

/** Precision of a known clock, and of a repeated cancel-all's time. */
const KNOWN_MS = 3000

/** Faults after which the exchange's clock is unknown for a moment. */
const UNKNOWABLE: readonly FaultKind[] = [
  'timeWrong',
  'clockStep',
  'clockSetFar',
  'clockSetWhileDown',
  'asleep',
  'hungPastLease',
]

/**
 * Compares our time with the exchange's clock: a batch is recorded with it, whatever public answers
 * say, and a cancel-all after a refused time has the time of the machine that refused.
 */
export function watchClocks(world: World): WorldWatcher {
  const { exchange, plan } = world
  const isKnowable = UNKNOWABLE.every((fault) => (plan.faults[fault] ?? 0) === 0)
  /** Lead of the clock that refused the last cancel-all, if its time was refused. */
  let refusedAheadMs: number | undefined
  let inRow = 0
  return {
    onBirth() {
      refusedAheadMs = undefined
      inRow = 0
    },
    onRecord(record) {
      if (record.kind !== 'send' || !isKnowable) return
      const offMs = record.requestAt - exchange.now
      if (Math.abs(offMs) > KNOWN_MS) violate(world, 'CLOCK', `a batch is signed ${offMs} ms off`)
    },
    afterStep(event, effects) {
      if (event.kind === 'cancelAnswered') {
        const isRefused = isClockRefused(event.answer)
        inRow = isRefused ? inRow + 1 : 0
        refusedAheadMs =
          isRefused && event.answer.requestTime !== undefined ? exchange.checkedAheadMs : undefined
      }
      for (const effect of effects) {
        if (effect.kind !== 'sendCancelAll' || refusedAheadMs === undefined || inRow !== 1) continue
        if (exchange.checkedAheadMs !== refusedAheadMs) continue
        const { requestTime } = JSON.parse(effect.body) as { readonly requestTime: string }
        const offMs = Number(requestTime) - (exchange.now + refusedAheadMs)
        refusedAheadMs = undefined
        if (Math.abs(offMs) > KNOWN_MS)
          violate(
            world,
            'CLOCK',
            `a refused cancel-all is made again with a time that is ${offMs} ms off`,
          )
      }
    },
  }
}
