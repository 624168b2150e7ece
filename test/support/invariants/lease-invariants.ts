import { violate, type World, type WorldWatcher } from '../world/world.ts'

/**
 * Only one of several machines trades the account: nothing of another is written, sent or executed.
 */
export function watchLease(world: World): WorldWatcher {
  return {
    onStray: (what) => violate(world, 'LEASE', what),
  }
}
