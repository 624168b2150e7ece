import type { Violation } from '../support/world/world.ts'
import type { FaultKind } from '../support/faults/virtual-faults.ts'
import type { WorldReport } from '../support/world/virtual-world.ts'

/** What many worlds came to, added up. */
export interface CampaignSummary {
  worlds: number
  events: number
  processes: number
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

export function createSummary(): CampaignSummary {
  return { worlds: 0, events: 0, processes: 0, orders: 0, fills: 0, faults: {}, failures: [] }
}

export function addWorld(summary: CampaignSummary, report: WorldReport): void {
  summary.worlds += 1
  summary.events += report.events
  summary.processes += report.processes
  summary.orders += report.orders
  summary.fills += report.fills
  for (const [fault, count] of report.faults) addFault(summary, fault, count)
  const [violation] = report.violations
  if (violation) summary.failures.push({ seed: report.seed, violation })
}

export function addSummary(summary: CampaignSummary, other: CampaignSummary): void {
  summary.worlds += other.worlds
  summary.events += other.events
  summary.processes += other.processes
  summary.orders += other.orders
  summary.fills += other.fills
  for (const [fault, count] of Object.entries(other.faults))
    addFault(summary, fault as FaultKind, count)
  summary.failures.push(...other.failures)
}

function addFault(summary: CampaignSummary, fault: FaultKind, count: number): void {
  summary.faults[fault] = (summary.faults[fault] ?? 0) + count
}
