import { type z } from 'zod'
import { type PositionMode } from '../protocol/endpoint.ts'
import { type EndpointName, endpointNamed, type RequestOf } from '../protocol/endpoints.ts'
import { formatQuery } from '../protocol/signing.ts'

/** A checked request: its exact bytes, made once. What is journaled is what is signed is what is sent. */
export interface PreparedRequest<Name extends EndpointName = EndpointName> {
  readonly endpoint: Name
  /** The JSON text of a POST; empty for a GET. */
  readonly body: string
  /** The query of a GET, in the order in which it is signed; empty for a POST. */
  readonly query: string
}

export type Preparation<Name extends EndpointName> =
  | { readonly kind: 'prepared'; readonly request: PreparedRequest<Name> }
  | { readonly kind: 'invalid'; readonly problem: string }

/** Problems of one request that a message names. */
const PROBLEMS_MAX = 5

/**
 * Checks a request against the document and writes it down. Values stand in the order of the given object,
 * and keys that are undefined are left out.
 */
export function prepareRequest<Name extends EndpointName>(
  endpoint: Name,
  request: RequestOf<Name>,
  positionMode: PositionMode,
): Preparation<Name> {
  const row = endpointNamed(endpoint)
  const checked = row.request.safeParse(request)
  const problems = checked.success
    ? (row.rules?.(checked.data, { positionMode }) ?? [])
    : checked.error.issues.map(describeIssue)
  if (problems.length > 0) return { kind: 'invalid', problem: problems.slice(0, PROBLEMS_MAX).join('; ') }
  const isPost = row.method === 'POST'
  return {
    kind: 'prepared',
    request: {
      endpoint,
      body: isPost ? JSON.stringify(request) : '',
      query: isPost ? '' : formatQuery(request as Record<string, string | undefined>),
    },
  }
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const at = issue.path.map(String).join('.')
  return at === '' ? issue.message : `${at}: ${issue.message}`
}
