import { type PreparedRequest, prepareRequest } from '../../exchange/client/request-writer.ts'
import { describeEndpoint } from '../../protocol/describe-endpoint.ts'
import type { RuleContext } from '../../protocol/endpoint.ts'
import { type EndpointName, endpointNamed, type RequestOf } from '../../protocol/endpoints.ts'
import type { CallArguments, PendingOrder } from './call-arguments.ts'
import { checkCall } from './call-check.ts'
import { type CallProblem, readParameters } from './call-parameters.ts'
import { CallRefused } from './call-refused.ts'

/** A call as it was typed: the endpoint and its options. */
export interface GivenCall extends Pick<CallArguments, 'given'> {
  readonly endpoint: EndpointName
}

export interface PreparedCall {
  /** Clean. */
  readonly request: Readonly<Record<string, unknown>>
  readonly prepared: PreparedRequest
}

/**
 * The request that the options make, held against every rule of the document.
 * @throws CallRefused with everything that is wrong.
 */
export function prepareCall(call: GivenCall, context: RuleContext): PreparedCall {
  const { endpoint } = call
  const row = endpointNamed(endpoint)
  const description = describeEndpoint(row)
  const { request, problems } = readParameters(description, call.given)
  const broken = problems.length > 0 ? problems : checkCall({ row, description, request, context })
  if (broken.length > 0) throw refuse(endpoint, broken)
  const preparation = prepareRequest(endpoint, request as RequestOf<typeof endpoint>, context)
  if (preparation.kind === 'prepared') return { request, prepared: preparation.request }
  throw refuse(endpoint, [{ at: 'request', message: preparation.problem }])
}

function refuse(endpoint: EndpointName, problems: readonly CallProblem[]): CallRefused {
  const facts: Record<string, string> = {}
  for (const { at, message } of problems)
    facts[at] = at in facts ? `${facts[at]}; ${message}` : message
  return new CallRefused({
    code: 'REQUEST_INVALID',
    sentence: `${endpoint} was not sent: it breaks a rule of the document`,
    facts,
    hint: `intentd call ${endpoint} --help`,
  })
}

/** What the rules of modifyPlanOrder want to know of the pending order. */
export function toPlanOrder(pending: PendingOrder | undefined): Pick<RuleContext, 'planOrder'> {
  if (pending === undefined) return {}
  const isTrailing = pending === 'trailing'
  return { planOrder: { type: pending === 'limit' ? 'limit' : 'market', trailing: isTrailing } }
}
