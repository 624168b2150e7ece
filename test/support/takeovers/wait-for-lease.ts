import { type Effect } from '../../../src/engine/effect.ts'
import { type World } from '../world/world.ts'

/** How often a machine on which nothing runs looks for the lease, ms: as `intentd standby` does. */
const LOOK_MS = 250
/** How long it may take until another has it: a lease, the validity of requests, a machine that is down. */
const WITHOUT_MS = 16_000
/** Beyond a lease and the validity of requests, or about as long. */
const HUNG_MS = [5000, 12_000] as const
/** Of the effects around a call, at which of them it stands still: before its record, between them, after it. */
const AROUND = 4
/** Reads are many: one in so many is looked at. */
const READS = 4
const CALLS: ReadonlySet<Effect['kind']> = new Set(['sendBatch', 'sendCancelAll', 'readPosition'])

/** A run is over, or passed over: the machines look for the lease until one has it. */
export function waitForLease({ facts, time }: World): void {
  facts.downUntil = Math.max(facts.downUntil, time.now + WITHOUT_MS)
}

/** Again and again each machine on which nothing runs looks for the lease, one after the other. */
export function lookForLease(world: World): void {
  const { process, time, facts } = world
  time.after(LOOK_MS, () => {
    for (const machine of process.machines.waiting) if (!facts.isLastStop) process.start(machine)
    lookForLease(world)
  })
}

/** At a call the process stands still beyond its lease, from right before it or right after it. */
export function hangAtCall(
  { process, faults, facts, time }: World,
  effects: readonly Effect[],
): void {
  const call = effects.find(({ kind }) => CALLS.has(kind))
  if (!call || (call.kind === 'readPosition' && faults.delayMs('hung/read', 0, READS) > 0)) return
  if (!faults.strikes('hungPastLease', call.kind)) return
  const forMs = faults.severity(...HUNG_MS)
  const { machineClock } = process
  facts.downUntil = Math.max(facts.downUntil, time.now + forMs + LOOK_MS)
  process.stallAfter(effects.indexOf(call) + (forMs % AROUND) - 2, forMs, () => {
    if (forMs % 3 === 0) machineClock.sleep(forMs)
    if (forMs % 3 === 1) machineClock.step(-forMs)
  })
}
