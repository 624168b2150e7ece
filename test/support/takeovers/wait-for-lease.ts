import { type Effect } from '../../../src/engine/effect.ts'
import { type World } from '../world/world.ts'

/** Same interval as `intentd standby`. */
const LOOK_MS = 250
/** Maximum time until another has it: a lease, the validity of requests, a machine that is down. */
const WITHOUT_MS = 16_000
/** About a lease and the validity of requests, or more. */
const HUNG_MS = [5000, 12_000] as const
/** Position among the effects around a call: before its record, between, or after. */
const AROUND = 4
/** One of this many reads is considered. */
const READS = 4
const CALLS: ReadonlySet<Effect['kind']> = new Set(['sendBatch', 'sendCancelAll', 'readPosition'])

/** After the end or takeover of a run, machines look for the lease until one has it. */
export function waitForLease({ facts, time }: World): void {
  facts.downUntil = Math.max(facts.downUntil, time.now + WITHOUT_MS)
}

/** Each idle machine looks for the lease repeatedly, one after the other. */
export function lookForLease(world: World): void {
  const { process, time, facts } = world
  time.after(LOOK_MS, () => {
    for (const machine of process.machines.waiting) if (!facts.isLastStop) process.start(machine)
    lookForLease(world)
  })
}

/** The process stands still beyond its lease right before or after a call. */
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
