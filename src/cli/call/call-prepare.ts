import { prepareRequest, type PreparedRequest } from '../../exchange/client/request-writer.ts'
import {
  describeEndpoint,
  type EndpointDescription,
  type FieldDescription,
} from '../../protocol/describe-endpoint.ts'
import type { RuleContext, Endpoint } from '../../protocol/endpoint.ts'
import { endpointNamed, type CallableName, type RequestOf } from '../../protocol/endpoints.ts'
import type { CallArguments, PendingOrder } from './call-arguments.ts'
import { readParameters, type CallProblem } from './call-parameters.ts'
import { CallRefused } from './call-refused.ts'
import type { z } from 'zod'
import { didYouMeanEnd } from '../../lib/did-you-mean.ts'
import { toWireRequest } from '../../protocol/write-request.ts'
import { toOption } from './endpoint-words.ts'

export interface GivenCall extends Pick<CallArguments, 'given'> {
  readonly endpoint: CallableName
}

export interface PreparedCall {
  readonly request: Readonly<Record<string, unknown>>
  readonly prepared: PreparedRequest
}

/** @throws CallRefused with all problems */
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

function refuse(endpoint: CallableName, problems: readonly CallProblem[]): CallRefused {
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

export function toPlanOrder(pending: PendingOrder | undefined): Pick<RuleContext, 'planOrder'> {
  if (pending === undefined) return {}
  const isTrailing = pending === 'trailing'
  return { planOrder: { type: pending === 'limit' ? 'limit' : 'market', trailing: isTrailing } }
}

interface CallCheck {
  readonly row: Endpoint
  readonly description: EndpointDescription
  readonly request: Readonly<Record<string, unknown>>
  readonly context: RuleContext
}

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

function checkCall(check: CallCheck): readonly CallProblem[] {
  const { row, request, context } = check
  const checked = row.request.safeParse(request)
  if (!checked.success) return checked.error.issues.flatMap((issue) => toProblems(issue, check))
  const wire = row.request.safeParse(toWireRequest(row, request))
  if (!wire.success) return wire.error.issues.flatMap((issue) => toProblems(issue, check))
  return (row.rules?.(wire.data, context) ?? []).map((message) => ({ at: 'rule', message }))
}

function toProblems(issue: Issue, check: CallCheck): CallProblem[] {
  const at = toPlace(issue.path)
  const field = fieldAt(issue.path, check.description)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ at, message: toUnknownKey(key, issue.path, check) }))
  }
  return [{ at, message: toMessage(issue, field, valueAt(check.request, issue.path)) }]
}

function toMessage(issue: Issue, field: FieldDescription | undefined, value: unknown): string {
  if (issue.code === 'custom') return issue.message
  if (value === undefined)
    return `required${field?.description ? `: ${field.description}` : ''}${toChoice(field)}`
  if (typeof value === 'number') {
    return `takes a text: write "${value}" in quotes; nearly every value of the document is a string`
  }
  if (issue.code === 'invalid_value')
    return toWrongChoice(field?.values ?? issue.values.map(String), value)
  if (issue.code === 'invalid_union') {
    if (field !== undefined && field.values.length > 0) return toWrongChoice(field.values, value)
    return `takes ${firstMessage(issue)}${field?.mayBeEmpty ? ', or nothing' : ''}`
  }
  if (issue.code === 'too_small' && issue.origin === 'array')
    return `takes at least ${issue.minimum} item`
  return issue.message
}

function toChoice(field: FieldDescription | undefined): string {
  return field === undefined || field.values.length === 0 ? '' : ` (${field.values.join(', ')})`
}

function toWrongChoice(values: readonly string[], value: unknown): string {
  const end = typeof value === 'string' ? didYouMeanEnd(value, values) : ''
  return `takes ${values.join(', ')}, not ${JSON.stringify(value)}${end}`
}

function firstMessage(issue: z.core.$ZodIssueInvalidUnion): string {
  return issue.errors[0]?.[0]?.message ?? issue.message
}

function toUnknownKey(key: string, path: Path, { description }: CallCheck): string {
  const prefix = path.length === 0 ? '' : `${toFieldName(path)}.`
  const siblings = description.parameters
    .filter(({ name, aliasOf }) => name.startsWith(prefix) && aliasOf === undefined)
    .map(({ name }) => name.slice(prefix.length))
    .filter((name) => /^\w+$/.test(name))
  return `there is no field "${key}"${didYouMeanEnd(key, siblings)}`
}

function toPlace(path: Path): string {
  const [first, ...rest] = path
  if (first === undefined) return 'request'
  const steps = rest.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  return `${toOption(String(first))}${steps.join('')}`
}

function toFieldName(path: Path): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? '[]' : `${index > 0 ? '.' : ''}${String(step)}`,
    )
    .join('')
}

function fieldAt(path: Path, { parameters }: EndpointDescription): FieldDescription | undefined {
  const wanted = toFieldName(path)
  return parameters.find(({ name }) => name === wanted)
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root
  for (const step of path) {
    value =
      typeof value === 'object' && value !== null
        ? (value as Record<PropertyKey, unknown>)[step]
        : undefined
  }
  return value
}
