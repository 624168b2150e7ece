import { type GrantedEndpoint } from '../../../src/engine/event.ts'
import { endpointNamed, endpointNames } from '../../../src/protocol/endpoints.ts'
import { violate, type World, type WorldWatcher } from '../world/world.ts'

/** An undelayed call is written and arrives within this time of its grant. */
const ON_ITS_WAY_MS = 60
/** Maximum wait of a call that reduces risk: a time-out, its window, and the first back-off. */
const URGENT_WAIT_MS_MAX = 600 + 1000 + 250 + ON_ITS_WAY_MS
/** Interval of `timePassed` in a moving process. */
const TICK_MS = 100
/** The worlds' process reads tickers without the limiter. */
const UNLIMITED: ReadonlySet<string> = new Set(['tickers'])

/**
 * No sliding window sees more calls of an endpoint than documented, except late copies. Arrivals
 * follow from the exchange's times, so a lying one proves nothing.
 */
export function watchWindows(world: World): WorldWatcher {
  if ((world.plan.faults.timeWrong ?? 0) > 0) return {}
  const names = new Set<string>(endpointNames.filter((name) => !UNLIMITED.has(name)))
  const arrivals = new Map<string, number[]>()
  listen(world, (site) => {
    const endpoint = endpointNames.find((name) => name === site)
    if (endpoint === undefined || !names.has(site)) return
    const { calls, perMs } = endpointNamed(endpoint).limit
    const last = arrivals.get(site) ?? []
    arrivals.set(site, last)
    last.push(world.time.now)
    if (last.length <= calls) return
    const elapsedMs = world.time.now - (last.shift() ?? 0)
    if (elapsedMs < perMs)
      violate(world, 'LIM1', `${calls + 1} calls of ${site} in ${elapsedMs} ms`)
  })
  return {}
}

/** A call that reduces risk waits at most for the calls in flight, in its process's time. */
export function watchUrgency(world: World): WorldWatcher {
  const ticksMax = URGENT_WAIT_MS_MAX / TICK_MS + 1
  const waited = new Map<GrantedEndpoint, number>()
  return {
    onBirth: () => waited.clear(),
    afterStep(event, effects) {
      if (event.kind === 'granted') waited.delete(event.endpoint)
      if (event.kind === 'timePassed') {
        for (const [endpoint, ticks] of waited) {
          waited.set(endpoint, ticks + 1)
          if (ticks > ticksMax)
            violate(world, 'LIM2', `${endpoint} reduces risk and waits for ${ticks * TICK_MS} ms`)
        }
      }
      for (const effect of effects) {
        if (effect.kind === 'askGrant' && effect.priority === 'reduce')
          waited.set(effect.endpoint, 0)
      }
    },
  }
}

/** After a 429 an endpoint rests for a window; ORD5 checks that no order is lost by it. */
export function watchRests(world: World): WorldWatcher {
  const refusedAt = new Map<string, number>()
  listen(world, (site) => {
    const sinceMs = world.time.now - (refusedAt.get(site) ?? Number.NEGATIVE_INFINITY)
    if (sinceMs > ON_ITS_WAY_MS && sinceMs < 1000)
      violate(world, 'LIM3', `${site} was called again ${sinceMs} ms after a 429`)
  })
  return {
    // Another process does not know of it.
    onBirth: () => refusedAt.clear(),
    afterStep(event) {
      if (event.kind !== 'batchAnswered' && event.kind !== 'cancelAnswered') return
      const { answer } = event
      if (answer.kind !== 'refused' || answer.topic !== 'rate') return
      refusedAt.set(
        event.kind === 'batchAnswered' ? 'batchPlaceOrder' : 'cancelAllOrders',
        world.time.now,
      )
    },
  }
}

/** Adds a listener to calls that arrive in ordinary time. */
function listen(world: World, hear: (site: string) => void): void {
  const { network } = world
  const others = network.onPunctual
  network.onPunctual = (site) => {
    others(site)
    hear(site)
  }
}
