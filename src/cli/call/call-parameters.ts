import { didYouMean } from '../../lib/did-you-mean.ts'
import { messageOf } from '../../lib/failure.ts'
import { isRecord } from '../../lib/plain-data.ts'
import { withCapitals } from '../../protocol/capitals.ts'
import type { EndpointDescription, FieldDescription } from '../../protocol/describe-endpoint.ts'
import { toKey } from './call-arguments.ts'
import { hasItems, toOption, toShortName } from './endpoint-words.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

export interface CallProblem {
  readonly at: string
  readonly message: string
}

export interface ReadParameters {
  readonly request: Readonly<Record<string, unknown>>
  readonly problems: readonly CallProblem[]
}

type GivenParameters = readonly (readonly [name: string, value: string])[]

export function readParameters(
  description: EndpointDescription,
  given: GivenParameters,
): ReadParameters {
  const problems: CallProblem[] = []
  const texts = new Map<FieldDescription, string[]>()
  for (const [name, text] of given) {
    const field = findParameter(description, name)
    if (typeof field === 'string') problems.push({ at: `--${name}`, message: field })
    else texts.set(field, [...(texts.get(field) ?? []), text])
  }
  const request: Record<string, unknown> = {}
  for (const [field, values] of texts) {
    try {
      request[field.name] = readValue(field, values, description)
    } catch (error) {
      problems.push({
        at: toOption(field.name),
        message: error instanceof Error ? error.message : String(error),
      })
    }
  }
  return { request: withCapitals(request), problems }
}

export function topParameters({ parameters }: EndpointDescription): readonly FieldDescription[] {
  return parameters.filter(({ name, aliasOf }) => /^\w+$/.test(name) && aliasOf === undefined)
}

/** @returns the parameter, or as text why there is none */
function findParameter(description: EndpointDescription, name: string): FieldDescription | string {
  const wanted = toKey(name)
  const fields = topParameters(description)
  const found = fields.find((field) =>
    [field.name, toShortName(field.name)].some((own) => own !== undefined && toKey(own) === wanted),
  )
  if (found !== undefined) return found
  const alias = description.parameters.find(
    (field) => field.aliasOf && toKey(field.name) === wanted,
  )
  if (alias?.aliasOf !== undefined) {
    return `another spelling of the wire: write ${toOption(alias.aliasOf)}, and both are sent`
  }
  const options = fields.map((field) => toOption(field.name).slice(2))
  const guess = didYouMean(name, options)
  return `${description.name} has no such parameter${guess === undefined ? '' : `; did you mean --${guess}?`}`
}

function readValue(
  field: FieldDescription,
  texts: readonly string[],
  description: EndpointDescription,
) {
  if (field.type === 'list') {
    const isOfObjects = hasItems(field, description.parameters)
    return texts.flatMap((text) => readItems(text, isOfObjects))
  }
  const [text = '', ...more] = texts
  if (more.length > 0) throw new Error('given more than once, and is no list')
  return field.type === 'object' ? readObject(text) : text
}

/** Takes JSON, `name=value,name=value`, or strings separated by commas. */
function readItems(text: string, isOfObjects: boolean): unknown[] {
  const isJson = /^\s*[[{]/.test(text)
  if (!isJson) return isOfObjects ? [readPairs(text)] : text.split(',').map((item) => item.trim())
  const value = parseJson(text)
  const items = Array.isArray(value) ? value : [value]
  if (isOfObjects && !items.every(isRecord)) throw new Error('takes a JSON list of objects')
  return items
}

function readObject(text: string): unknown {
  return /^\s*[[{]/.test(text) ? parseJson(text) : readPairs(text)
}

function readPairs(text: string): Record<string, string> {
  const pairs = text
    .split(/[,\s]+/)
    .filter((pair) => pair !== '')
    .map((pair): [string, string] => {
      const at = pair.indexOf('=')
      if (at < 1) throw new Error(`takes JSON, or name=value,name=value: "${pair}" is neither`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    })
  return Object.fromEntries(pairs)
}

function parseJson(text: string): unknown {
  try {
    return parseBoundedJson(text)
  } catch (error) {
    throw new Error(`is not JSON: ${messageOf(error)}`, { cause: error })
  }
}
