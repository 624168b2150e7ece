import { type z } from 'zod'
import { type Endpoint } from '../../protocol/endpoint.ts'
import { type Parameters } from './parameters.ts'
import { parameterRefusals, type Refusal } from './refusal.ts'

export interface CheckOptions {
  /** The document's own samples carry parameters that it does not list. */
  readonly unknownParameters: 'ignore' | 'refuse'
  /** See WireSettings.limitAboveMaximum. */
  readonly limitAboveMaximum?: 'refuse' | 'cut'
  /** HTTP status of a refusal. */
  readonly status: number
}

export interface CheckedParameters {
  readonly ok: true
  readonly parameters: Parameters
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

/** Holds the parameters against the row's schema, and says what is wrong in the exchange's own codes. */
export function checkParameters(
  endpoint: Endpoint,
  read: Parameters,
  options: CheckOptions,
): CheckedParameters | Refusal {
  const parameters = withDocumentedDefaults(read)
  const checked = endpoint.request.safeParse(parameters)
  if (checked.success) return { ok: true, parameters }
  const tolerated = tolerate(parameters, checked.error.issues, options)
  if (tolerated === undefined) return refusalOf(checked.error.issues, parameters, options)
  const again = endpoint.request.safeParse(tolerated.forSchema)
  return again.success
    ? { ok: true, parameters: tolerated.parameters }
    : refusalOf(again.error.issues, tolerated.parameters, options)
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

/** The first issue decides, as the exchange names one parameter only. */
function refusalOf(issues: readonly Issue[], parameters: Parameters, { status }: CheckOptions): Refusal {
  const [issue] = issues
  if (issue === undefined) return parameterRefusals.broken('', status)
  const name = nameOf(issue.path)
  const value = valueAt(parameters, issue.path)
  if (issue.code === 'unrecognized_keys')
    return parameterRefusals.broken(issue.keys.join(',').slice(0, 40), status)
  if (value === undefined) return parameterRefusals.missing(name, status)
  switch (name) {
    case 'symbol':
      // A rule between parameters says nothing of the symbol's existence.
      if (issue.code === 'custom') return refusalOfIssue(issue, name, status)
      return parameterRefusals.unknownName(typeof value === 'string' ? value.slice(0, 40) : name, status)
    case 'limit':
      return parameterRefusals.outOfRange(name, rangeOf(issue.message), status)
    case 'receiveWindow':
      return Number(value) >= 0
        ? parameterRefusals.windowTooLong(status)
        : parameterRefusals.malformed(name, status)
    default:
      return refusalOfIssue(issue, name, status)
  }
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
