import type { EndpointName } from '../../protocol/endpoints.ts'

/** Endpoints that move money out of the account or make accounts. */
export type GuardedEndpoint = Extract<EndpointName, 'spotWithdrawal' | 'createVirtualSubaccounts'>

const GUARDED: readonly EndpointName[] = [
  'spotWithdrawal',
  'createVirtualSubaccounts',
] satisfies GuardedEndpoint[]

/**
 * A guarded endpoint is locked in every client that was not created for it by name. The daemon's clients are created for
 * none, so no strategy, defect or journal can make it withdraw.
 */
export function isGuarded(endpoint: EndpointName): endpoint is GuardedEndpoint {
  return GUARDED.includes(endpoint)
}
