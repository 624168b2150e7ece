import { type EngineEvent } from '../../../src/engine/event.ts'
import { type FaultKind, type VirtualFaults } from './virtual-faults.ts'

/** What may be heard twice, and by which fault. */
const TWICE: { readonly [Kind in EngineEvent['kind']]?: FaultKind } = {
  granted: 'grantTwice',
  snapshotTaken: 'snapshotTwice',
  fillsRead: 'readingTwice',
  positionRead: 'readingTwice',
  commanded: 'commandTwice',
}

/** Whether the core hears of it once more, right after it was handled (I17). */
export function isHeardTwice({ kind }: EngineEvent, faults: VirtualFaults): boolean {
  const fault = TWICE[kind]
  return fault !== undefined && faults.strikes(fault, 'input')
}
