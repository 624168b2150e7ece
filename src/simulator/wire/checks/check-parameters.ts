import { type z } from 'zod'
import { type Endpoint } from '../../../protocol/endpoint.ts'
import { type RefusedItem } from './batches.ts'
import { type Parameters } from './parameters.ts'
import { parameterRefusals, type Refusal } from './refusal.ts'

export interface CheckOptions {
  /** The document's own samples carry parameters that it does not list. */
  readonly unknownParameters: 'ignore' | 'refuse'
  /** See WireSettings.limitAboveMaximum. */
  readonly limitAboveMaximum?: 'refuse' | 'cut'
  /** HTTP status of a refusal. */
  readonly status: number
  /** The parameter whose items are refused one by one; of a request without one, all is refused. */
  readonly batchList?: string | undefined
}

export interface CheckedParameters {
  readonly ok: true
  /** Without the items that are refused: their list may have become empty. */
  readonly parameters: Parameters
  readonly refusedItems: readonly RefusedItem[]
}

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/**
 * What the exchange takes as a clientOid: letters, digits and `_ : # - + .` or a blank, fewer than 50. Wider
 * than the row's schema, which is what our own client restricts itself to: other clients may not.
 */
const CLIENT_OID = /^[0-9A-Za-z_:#+.\-\s]{1,49}$/

/** Any value that the schema takes where a {@link CLIENT_OID} stands. */
const PLAIN_CLIENT_OID = 'x'

/** What the exchange was sent, and the same as the schema is to see it. */
interface Taken {
  readonly parameters: Parameters
  readonly forSchema: Parameters
}

/** Holds the parameters against the row's schema, and says what is wrong in the exchange's own codes. */
export function checkParameters(
  endpoint: Endpoint,
  read: Parameters,
  options: CheckOptions,
): CheckedParameters | Refusal {
  const parameters = withDocumentedDefaults(read)
  const taken: Taken = { parameters, forSchema: parameters }
  const issues = issuesOf(endpoint, taken)
  if (issues.length === 0) return { ok: true, parameters, refusedItems: [] }
  const tolerated = tolerate(parameters, issues, options)
  if (tolerated === undefined) return refuseItems(endpoint, { taken, issues }, options)
  const left = issuesOf(endpoint, tolerated)
  return refuseItems(endpoint, { taken: tolerated, issues: left }, options)
}

function issuesOf(endpoint: Endpoint, { forSchema }: Taken): readonly Issue[] {
  const checked = endpoint.request.safeParse(forSchema)
  return checked.success ? [] : checked.error.issues
}

interface Found {
  readonly taken: Taken
  readonly issues: readonly Issue[]
}

/** Takes the malformed items out of a batch. Any other fault refuses the request, and so does one without a batch. */
function refuseItems(
  endpoint: Endpoint,
  { taken, issues }: Found,
  options: CheckOptions,
): CheckedParameters | Refusal {
  const { batchList: list } = options
  const faults = issues.filter(({ path }) => list === undefined || !isOfItem(path, list))
  if (faults.length > 0) return refusalOf(faults, taken.parameters, options)
  if (list === undefined || issues.length === 0) {
    return { ok: true, parameters: taken.parameters, refusedItems: [] }
  }
  const items = taken.parameters[list] as readonly unknown[]
  const byIndex = new Map<PropertyKey | undefined, Issue[]>()
  for (const issue of issues) byIndex.set(issue.path[1], [...(byIndex.get(issue.path[1]) ?? []), issue])
  const refusedItems = [...byIndex].map(([index, found]) => ({
    item: items[Number(index)],
    refusal: refusalOf(found, taken.parameters, { ...options, of: [list, Number(index)] }),
  }))
  const keep = (of: Parameters): Parameters => ({
    ...of,
    [list]: (of[list] as readonly unknown[]).filter((_, index) => !byIndex.has(index)),
  })
  const kept = { parameters: keep(taken.parameters), forSchema: keep(taken.forSchema) }
  // What a schema says of the whole it says only of one whose items are right. An empty list is right by now.
  const left = issuesOf(endpoint, kept).filter(({ path }) => !(path.length === 1 && path[0] === list))
  if (left.length > 0) return refusalOf(left, kept.parameters, options)
  return { ok: true, parameters: kept.parameters, refusedItems }
}

function isOfItem(path: Path, list: string): boolean {
  return path[0] === list && typeof path[1] === 'number'
}

/** Document: force is "required when orderType is limit; default gtc when omitted". Both hold here. */
function withDocumentedDefaults(parameters: Parameters): Parameters {
  if (!Array.isArray(parameters['orderList'])) return parameters
  const orderList = parameters['orderList'].map((item: unknown) =>
    isObject(item) && item['orderType'] === 'limit' && item['force'] === undefined
      ? { ...item, force: 'gtc' }
      : item,
  )
  return { ...parameters, orderList }
}

/**
 * Takes away what the exchange bears and the schema does not: unknown parameters, a limit above its maximum
 * where it is cut, and a clientOid in the exchange's wider form. Undefined when there is nothing of the kind.
 */
function tolerate(parameters: Parameters, issues: readonly Issue[], options: CheckOptions) {
  const { unknownParameters, limitAboveMaximum } = options
  let changed = false
  const kept = copyOf(parameters)
  for (const issue of issues) {
    const target = valueAt(kept, issue.path)
    if (issue.code !== 'unrecognized_keys' || unknownParameters === 'refuse' || !isObject(target)) continue
    for (const key of issue.keys) delete target[key]
    changed = true
  }
  const limit = limitAboveMaximum === 'cut' ? cutLimit(kept['limit'], issues) : undefined
  if (limit !== undefined) {
    kept['limit'] = limit
    changed = true
  }
  const forSchema = copyOf(kept)
  for (const issue of issues) {
    const parent = valueAt(forSchema, issue.path.slice(0, -1))
    const clientOid = isObject(parent) ? parent['clientOid'] : undefined
    const isWide =
      issue.path.at(-1) === 'clientOid' && typeof clientOid === 'string' && CLIENT_OID.test(clientOid)
    if (!isWide || !isObject(parent)) continue
    parent['clientOid'] = PLAIN_CLIENT_OID
    changed = true
  }
  return changed ? { parameters: kept, forSchema } : undefined
}

/** The maximum that the row names, where the asked limit is a number above it. */
function cutLimit(asked: unknown, issues: readonly Issue[]): string | undefined {
  const issue = issues.find(({ path }) => path.length === 1 && path[0] === 'limit')
  const [max] = /\d+$/.exec(issue?.message ?? '') ?? []
  return max !== undefined && typeof asked === 'string' && Number(asked) > Number(max) ? max : undefined
}

/** As deep as parameters go, and no deeper: what a client nests a thousand times is not followed. */
function copyOf(parameters: Parameters): Parameters {
  const copy: Parameters = { ...parameters }
  for (const [name, value] of Object.entries(copy)) {
    if (Array.isArray(value)) copy[name] = value.map((item: unknown) => (isObject(item) ? { ...item } : item))
  }
  return copy
}

interface RefusalOptions extends Pick<CheckOptions, 'status'> {
  /** The item of a batch that is refused: its parameters are named without their way there. */
  readonly of?: Path
}

/** The first issue decides, as the exchange names one parameter only. */
function refusalOf(
  issues: readonly Issue[],
  parameters: Parameters,
  { status, of = [] }: RefusalOptions,
): Refusal {
  const [issue] = issues
  if (issue === undefined) return parameterRefusals.broken('', status)
  const name = nameOf(issue.path.slice(of.length)) || nameOf(of.slice(0, 1))
  const value = valueAt(parameters, issue.path)
  if (issue.code === 'unrecognized_keys')
    return parameterRefusals.broken(issue.keys.join(',').slice(0, 40), status)
  if (value === undefined) return parameterRefusals.missing(name, status)
  // Document: values are Strings. A number is no value of a wrong kind, but of a wrong type.
  if (isOfWrongType(issue, value)) return parameterRefusals.malformed(name, status)
  switch (name) {
    case 'symbol':
      // A rule between parameters says nothing of the symbol's existence.
      if (issue.code === 'custom') return refusalOfIssue(issue, name, status)
      return parameterRefusals.unknownName(typeof value === 'string' ? value.slice(0, 40) : name, status)
    case 'limit':
      return parameterRefusals.outOfRange(name, rangeOf(issue.message), status)
    case 'receiveWindow':
      return typeof value === 'string' && /^\d+$/.test(value)
        ? parameterRefusals.windowTooLong(status)
        : parameterRefusals.malformed(name, status)
    default:
      return refusalOfIssue(issue, name, status)
  }
}

function isOfWrongType(issue: Issue, value: unknown): boolean {
  return issue.code === 'invalid_type' || (issue.code === 'invalid_value' && typeof value !== 'string')
}

/** A row says of its limit `limit is 1 to 100`. */
function rangeOf(message: string): string {
  const [max] = /\d+$/.exec(message) ?? []
  return max === undefined ? '(0, 9999]' : `(0, ${max}]`
}

function refusalOfIssue(issue: Issue, name: string, status: number): Refusal {
  if (issue.code === 'invalid_value') return parameterRefusals.illegal(name, status)
  if (issue.code === 'custom') return parameterRefusals.broken(issue.message, status)
  if (issue.code === 'too_big' && issue.origin === 'array') {
    return parameterRefusals.tooManyOrders(Number(issue.maximum), status)
  }
  if (issue.code === 'too_small' && issue.origin === 'array') return parameterRefusals.missing(name, status)
  return parameterRefusals.malformed(name, status)
}

/** `orderList[3].size`. */
function nameOf(path: Path): string {
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index ? '.' : ''}${String(step)}`))
    .join('')
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root
  for (const step of path) value = isIndexable(value) ? value[step] : undefined
  return value
}

function isIndexable(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null
}

function isObject(value: unknown): value is Parameters {
  return isIndexable(value) && !Array.isArray(value)
}
