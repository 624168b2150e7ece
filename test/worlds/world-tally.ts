import type { Violation } from '../support/world/world.ts'
import type { FaultKind } from '../support/faults/virtual-faults.ts'
import type { WorldReport } from '../support/world/virtual-world.ts'

/** What many worlds came to, added up. */
export interface WorldTally {
  worlds: number
  events: number
  lives: number
  orders: number
  fills: number
  faults: Partial<Record<FaultKind, number>>
  /** The first violation of each world that had one. */
  failures: WorldFailure[]
}

export interface WorldFailure {
  readonly seed: string
  readonly violation: Violation
}

export function createTally(): WorldTally {
  return { worlds: 0, events: 0, lives: 0, orders: 0, fills: 0, faults: {}, failures: [] }
}

export function addWorld(tally: WorldTally, report: WorldReport): void {
  tally.worlds += 1
  tally.events += report.events
  tally.lives += report.lives
  tally.orders += report.orders
  tally.fills += report.fills
  for (const [fault, count] of report.faults) addFault(tally, fault, count)
  const [violation] = report.violations
  if (violation) tally.failures.push({ seed: report.seed, violation })
}

export function addTally(tally: WorldTally, other: WorldTally): void {
  tally.worlds += other.worlds
  tally.events += other.events
  tally.lives += other.lives
  tally.orders += other.orders
  tally.fills += other.fills
  for (const [fault, count] of Object.entries(other.faults)) addFault(tally, fault as FaultKind, count)
  tally.failures.push(...other.failures)
}

function addFault(tally: WorldTally, fault: FaultKind, count: number): void {
  tally.faults[fault] = (tally.faults[fault] ?? 0) + count
}
