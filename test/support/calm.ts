import { debtsOf } from './debts.ts'
import { type World } from './world.ts'

/** How long everything has to come right once the faults are over, virtual ms. */
const CALM_MS = 12_000
/** What only shows after a while has at least this long. */
const CALM_MS_MIN = 2000
/** The looks are this far apart. */
const LOOK_MS = 100

/**
 * Lets a world without faults run until everything has come right, or until it should have. Some worlds are
 * patient: they run on, and what breaks again later shows in them.
 */
export function passCalm(world: World): void {
  const { time, plan, violations } = world
  const endAt = time.now + CALM_MS
  let lookAt = time.now + CALM_MS_MIN
  time.runUntil(endAt, () => {
    if (violations.length > 0) return true
    if (plan.isPatient || time.now < lookAt) return false
    lookAt = time.now + LOOK_MS
    return isRight(world)
  })
}

/** Nothing late is on its way, no order's fate is open, nobody is called to look, and nothing is owed. */
function isRight({ shell, network, time }: World): boolean {
  const { engine } = shell
  if (!shell.isAlive || engine?.mode !== 'running' || time.now < network.lateUntil) return false
  const { book } = engine
  if (book.halts.size > 0 || book.cancels.size > 0) return false
  for (const orders of book.open.values()) {
    for (const { state } of orders.values()) if (state !== 'live') return false
  }
  // Somebody always places something by name just now: that it leaves is seen in worlds that are patient.
  return debtsOf(book).every(({ kind }) => kind === 'place')
}
