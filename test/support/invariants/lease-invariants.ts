import { violate, type World, type WorldWatcher } from '../world/world.ts'

/** Of several machines that want the account one trades it: nothing of another is written, sent or done. */
export function watchLease(world: World): WorldWatcher {
  return {
    onStray: (what) => violate(world, 'LEASE', what),
  }
}
