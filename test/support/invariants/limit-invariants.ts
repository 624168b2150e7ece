import { type GrantedEndpoint } from '../../../src/engine/event.ts'
import { endpointNamed, endpointNames } from '../../../src/protocol/endpoints.ts'
import { violate, type World, type WorldWatcher } from '../world/world.ts'

/** A call that nothing delayed is written and at the exchange within so many ms of its grant. */
const ON_ITS_WAY_MS = 60
/** A time-out of a call, its window, and the first back-off: what a call that reduces risk waits at most. */
const URGENT_WAIT_MS_MAX = 600 + 1000 + 250 + ON_ITS_WAY_MS
/** How often a process that moves hears that time has passed. */
const TICK_MS = 100
/** The worlds' process reads tickers without asking the limiter. */
const UNLIMITED: ReadonlySet<string> = new Set(['tickers'])

/**
 * No sliding window sees more calls of an endpoint than the document allows, but for copies that came late.
 * When calls arrive is known from what the exchange says of its time; of one that lies nothing can be asked.
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

/** What reduces risk never waits for more than the calls that are out, in the time of its process. */
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

/** After a 429 an endpoint rests for a window. That no order is lost by it is for ORD5 to say. */
export function watchRests(world: World): WorldWatcher {
  const refusedAt = new Map<string, number>()
  listen(world, (site) => {
    const sinceMs = world.time.now - (refusedAt.get(site) ?? Number.NEGATIVE_INFINITY)
    if (sinceMs > ON_ITS_WAY_MS && sinceMs < 1000)
      violate(world, 'LIM3', `${site} was called again ${sinceMs} ms after a 429`)
  })
  return {
    // Another process does not know of it; it rests for its own reason.
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

/** Hears of every call that reaches the exchange in ordinary time, with whoever listens already. */
function listen(world: World, hear: (site: string) => void): void {
  const { network } = world
  const others = network.onPunctual
  network.onPunctual = (site) => {
    others(site)
    hear(site)
  }
}
