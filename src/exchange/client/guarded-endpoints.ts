import { type EndpointName } from '../../protocol/endpoints.ts'

/** What moves money out of the account or makes accounts. */
export type GuardedEndpoint = Extract<EndpointName, 'spotWithdrawal' | 'createVirtualSubaccounts'>

const GUARDED: readonly EndpointName[] = [
  'spotWithdrawal',
  'createVirtualSubaccounts',
] satisfies GuardedEndpoint[]

/**
 * Guarded endpoints are locked in every client that was not opened for them by name. The daemon opens none:
 * no strategy, no defect and no journal can make it withdraw.
 */
export function isGuarded(endpoint: EndpointName): endpoint is GuardedEndpoint {
  return GUARDED.includes(endpoint)
}
