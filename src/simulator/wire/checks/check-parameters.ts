import type { z } from 'zod'
import { isRecord } from '../../../lib/plain-data.ts'
import { refusals } from '../../shared/refusals.ts'
import { accept, type RefusedReply, type Reply } from '../../shared/reply.ts'
import type { NamedEndpoint } from '../served-rows.ts'
import type { WireSettings } from '../settings.ts'
import type { ReceivedRequest } from '../wire-request.ts'
import { batchOf, type RefusedItem } from './batches.ts'
import { readParameters, type Parameters } from './parameters.ts'

export interface CheckedParameters {
  /** Without the refused items: their list may then be empty. */
  readonly parameters: Parameters
  readonly refusedItems: readonly RefusedItem[]
}

type ParameterIssue = z.core.$ZodIssue
type ParameterPath = readonly PropertyKey[]

/** Wider than the schema of the row, which restricts our client further. */
const CLIENT_OID = /^[0-9A-Za-z_:#+.\-\s]{1,49}$/

export function checkParameters(
  endpoint: NamedEndpoint,
  request: ReceivedRequest,
  settings: WireSettings,
): Reply<CheckedParameters> {
  const read = readParameters(endpoint, request)
  if (!read.ok) return read
  const parameters = withDocumentedDefaults(read.data)
  const issues = issuesOf(endpoint, parameters)
  if (issues.length === 0) return accept({ parameters, refusedItems: [] })
  tolerate(parameters, issues, settings)
  return refuseItems(endpoint, parameters)
}

function issuesOf(endpoint: NamedEndpoint, parameters: Parameters): readonly ParameterIssue[] {
  const issues = endpoint.request.safeParse(parameters).error?.issues ?? []
  return issues.filter(({ code, path }) => {
    const isForm = code === 'invalid_format' && path.at(-1) === 'clientOid'
    return !(isForm && CLIENT_OID.test(String(valueAt(parameters, path))))
  })
}

function refuseItems(endpoint: NamedEndpoint, parameters: Parameters): Reply<CheckedParameters> {
  const list = batchOf(endpoint.name)?.list
  const issues = issuesOf(endpoint, parameters)
  const faults = issues.filter(({ path }) => list === undefined || !isOfItem(path, list))
  if (faults.length > 0) return refusalOf(faults, parameters)
  if (list === undefined || issues.length === 0) return accept({ parameters, refusedItems: [] })
  const items = parameters[list] as readonly unknown[]
  const byIndex = Map.groupBy(issues, ({ path }) => path[1])
  const refusedItems = [...byIndex].map(([index, found]) => ({
    item: items[Number(index)],
    refusal: refusalOf(found, parameters, [list, Number(index)]),
  }))
  const kept = { ...parameters, [list]: items.filter((_, index) => !byIndex.has(index)) }
  // A schema checks rules for the whole only if all items are valid, so it runs again on those that
  // are kept.
  const left = issuesOf(endpoint, kept).filter(({ path }) => path.length > 1 || path[0] !== list)
  return left.length > 0 ? refusalOf(left, kept) : accept({ parameters: kept, refusedItems })
}

function isOfItem(path: ParameterPath, list: string): boolean {
  return path[0] === list && typeof path[1] === 'number'
}

/** Document: force is "required when orderType is limit; default gtc when omitted". */
function withDocumentedDefaults(parameters: Parameters): Parameters {
  if (!Array.isArray(parameters['orderList'])) return parameters
  const orderList = parameters['orderList'].map((item: unknown) =>
    isRecord(item) && item['orderType'] === 'limit'
      ? { ...item, force: item['force'] ?? 'gtc' }
      : item,
  )
  return { ...parameters, orderList }
}

function tolerate(
  parameters: Parameters,
  issues: readonly ParameterIssue[],
  settings: WireSettings,
): void {
  const { unknownParameters, limitAboveMaximum } = settings
  for (const issue of issues) {
    const target = valueAt(parameters, issue.path)
    if (issue.code !== 'unrecognized_keys' || unknownParameters === 'refuse' || !isRecord(target))
      continue
    for (const key of issue.keys) delete target[key]
  }
  const limit = limitAboveMaximum === 'cut' ? cutLimit(parameters['limit'], issues) : undefined
  if (limit !== undefined) parameters['limit'] = limit
}

function cutLimit(asked: unknown, issues: readonly ParameterIssue[]): string | undefined {
  const max = maximumIn(issues.find(({ path }) => path.length === 1 && path[0] === 'limit'))
  return max !== undefined && typeof asked === 'string' && Number(asked) > Number(max)
    ? max
    : undefined
}

/** Reads the maximum from a message such as `limit is 1 to 100`. */
function maximumIn(issue: ParameterIssue | undefined): string | undefined {
  return /\d+$/.exec(issue?.message ?? '')?.[0]
}

/**
 * Names the parameter of the first issue, because the exchange names only one.
 * @param of the path of the refused item of a batch
 */
function refusalOf(
  [issue]: readonly ParameterIssue[],
  parameters: Parameters,
  of: ParameterPath = [],
): RefusedReply {
  if (issue === undefined) return refusals.parameterPresent('')
  const name = nameOf(issue.path.slice(of.length)) || nameOf(of.slice(0, 1))
  const value = valueAt(parameters, issue.path)
  if (issue.code === 'unrecognized_keys')
    return refusals.parameterPresent(issue.keys.join(',').slice(0, 40))
  if (value === undefined) return refusals.parameterEmpty(name)
  // Document: values are Strings, so a number is a wrong type, not a wrong value.
  const isWrongValue = issue.code === 'invalid_value' && typeof value !== 'string'
  if (issue.code === 'invalid_type' || isWrongValue) return refusals.parameter(name)
  if (name === 'symbol' && issue.code !== 'custom')
    return refusals.symbolUnknown(typeof value === 'string' ? value.slice(0, 40) : name)
  if (name === 'limit') return refusals.outOfRange(name, `(0, ${maximumIn(issue) ?? '9999'}]`)
  if (name === 'receiveWindow')
    return typeof value === 'string' && /^\d+$/.test(value)
      ? refusals.windowTooLong
      : refusals.parameter(name)
  return refusalOfIssue(issue, name)
}

function refusalOfIssue(issue: ParameterIssue, name: string): RefusedReply {
  if (issue.code === 'invalid_value') return refusals.parameterIllegal(name)
  if (issue.code === 'custom') return refusals.parameterPresent(issue.message)
  const isOfList =
    (issue.code === 'too_big' || issue.code === 'too_small') && issue.origin === 'array'
  if (!isOfList) return refusals.parameter(name)
  return issue.code === 'too_big'
    ? refusals.tooManyOrders(Number(issue.maximum))
    : refusals.parameterEmpty(name)
}

function nameOf(path: ParameterPath): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : `${index ? '.' : ''}${String(step)}`,
    )
    .join('')
}

function valueAt(root: unknown, path: ParameterPath): unknown {
  let value = root
  for (const step of path) value = isIndexable(value) ? value[step] : undefined
  return value
}

function isIndexable(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null
}

/** Document: "receiveWindow (ms; must not exceed 60 s)". It is also the default. */
const RECEIVE_WINDOW_MS_MAX = 60_000

export function receiveWindowRefusal(
  { requestTime, receiveWindow }: Parameters,
  now: number,
): RefusedReply | undefined {
  if (typeof requestTime !== 'string') return undefined
  const windowMs = typeof receiveWindow === 'string' ? Number(receiveWindow) : RECEIVE_WINDOW_MS_MAX
  return Math.abs(now - Number(requestTime)) > windowMs ? refusals.outsideWindow : undefined
}
