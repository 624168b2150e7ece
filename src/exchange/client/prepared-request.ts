import type { z } from 'zod'
import type { RuleContext } from '../../protocol/endpoint.ts'
import { type EndpointName, endpointNamed, type RequestOf } from '../../protocol/endpoints.ts'
import { toWireRequest, writeRequest, type WrittenRequest } from '../../protocol/write-request.ts'

/** A checked request with its exact bytes, made once: the same bytes are recorded, signed and sent. */
export interface PreparedRequest<Name extends EndpointName = EndpointName> extends WrittenRequest {
  readonly endpoint: Name
}

export type Preparation<Name extends EndpointName> =
  | { readonly kind: 'prepared'; readonly request: PreparedRequest<Name> }
  | { readonly kind: 'invalid'; readonly problem: string }

/** So many problems of one request are named in its message. */
const PROBLEMS_MAX = 5

/**
 * Checks a clean request against the document and writes it down under the names of the wire. Values stand in
 * the order of the given object, and keys that are undefined are left out.
 */
export function prepareRequest<Name extends EndpointName>(
  endpoint: Name,
  request: RequestOf<Name>,
  context: RuleContext,
): Preparation<Name> {
  const row = endpointNamed(endpoint)
  const wire = toWireRequest(row, request)
  const checked = row.request.safeParse(wire)
  const problems = checked.success
    ? (row.rules?.(checked.data, context) ?? [])
    : checked.error.issues.map(describeIssue)
  if (problems.length > 0)
    return { kind: 'invalid', problem: problems.slice(0, PROBLEMS_MAX).join('; ') }
  try {
    return { kind: 'prepared', request: { endpoint, ...writeRequest(row, wire) } }
  } catch (error) {
    // A query value that clients of the exchange would sign in different ways.
    if (!(error instanceof RangeError)) throw error
    return { kind: 'invalid', problem: error.message }
  }
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const at = issue.path.map(String).join('.')
  return at === '' ? issue.message : `${at}: ${issue.message}`
}
