import { type BatchResult } from '../../../src/protocol/values.ts'
import { type FaultKind, type VirtualFaults } from './virtual-faults.ts'

type Failure = BatchResult['failureList'][number]

/** Codes that refuse single orders for good, one a topic. Those that must halt are below. */
const REJECTIONS: readonly (readonly [code: string, message: string])[] = [
  ['45111', 'less than the minimum order quantity'],
  ['40754', 'balance not enough'],
  ['45115', 'The price you enter should be a multiple'],
  ['22002', 'No position to close'],
  ['40017', 'Parameter verification failed'],
  ['40844', 'The symbol is under maintenance'],
  ['40723', 'too many open orders'],
]

/** Codes after which the daemon waits for a person. */
const RESTRICTIONS: readonly (readonly [code: string, message: string])[] = [
  ['40710', 'The account status is abnormal'],
  ['45107', 'API is restricted to open'],
  ['40931', 'Closing positions is prohibited'],
]

export interface SplitItems<Item> {
  readonly taken: readonly Item[]
  readonly failures: readonly Failure[]
}

export function splitItems<Item extends { readonly clientOid?: string | undefined }>(
  items: readonly Item[],
  faults: VirtualFaults,
): SplitItems<Item> {
  const taken: Item[] = []
  const failures: Failure[] = []
  for (const item of items) {
    const clientOid = item.clientOid ?? ''
    const strikes = (fault: FaultKind): boolean => faults.strikes(fault, 'item')
    if (strikes('itemDropped')) continue
    else if (strikes('itemRejected')) {
      const [code, message] = REJECTIONS[faults.severity(0, REJECTIONS.length)] ?? ['45111', '']
      failures.push(failure(clientOid, code, message))
    } else if (strikes('itemRetried')) failures.push(failure(clientOid, '429', 'Too Many Requests'))
    else if (strikes('itemRestricted')) {
      const [code, message] = RESTRICTIONS[faults.severity(0, RESTRICTIONS.length)] ?? ['40710', '']
      failures.push(failure(clientOid, code, message))
    } else if (strikes('itemAmbiguous'))
      failures.push(failure(clientOid, '40725', 'service return an error'))
    else taken.push(item)
  }
  return { taken, failures }
}

/** The answer may say less than the truth of accepted items, never more. */
export function blurItems(
  { successList, failureList }: BatchResult,
  faults: VirtualFaults,
): BatchResult {
  const failures = [...failureList]
  const strikes = (fault: FaultKind): boolean => faults.strikes(fault, 'item')
  const successes = successList.flatMap((item) => {
    const clientOid = item.clientOid ?? ''
    if (strikes('itemMissing')) return []
    if (strikes('itemAmbiguousAfter')) {
      failures.push(failure(clientOid, '45001', 'Unknown error'))
      return []
    }
    if (strikes('itemTwice')) failures.push(failure(clientOid, '40754', 'balance not enough'))
    return [strikes('orderIdMissing') ? { ...item, orderId: null } : item]
  })
  return { successList: successes, failureList: failures }
}

/** Everything was cancelled, but the answer denies it for some orders. */
export function blurCancel(
  { successList, failureList }: BatchResult,
  faults: VirtualFaults,
): BatchResult {
  const failures = [...failureList]
  const successes = successList.filter(({ clientOid }) => {
    const isBlurred = faults.strikes('cancelBlurred', 'item')
    if (isBlurred) failures.push(failure(clientOid ?? '', '40908', 'Concurrent operation failed'))
    return !isBlurred
  })
  return { successList: successes, failureList: failures }
}

function failure(clientOid: string, errorCode: string, errorMsg: string): Failure {
  return { orderId: '', clientOid, errorMsg, errorCode }
}
