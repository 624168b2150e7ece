import { z } from 'zod'
import { isRecord } from '../lib/is-record.ts'
import type { Endpoint } from './endpoint.ts'

/** A row in plain words and values, for help texts and pages of documentation. */
export interface EndpointDescription extends Pick<
  Endpoint,
  'name' | 'method' | 'path' | 'auth' | 'limit' | 'retry' | 'section'
> {
  /** Names in the path that the configuration fills in. */
  readonly pathParameters: readonly string[]
  /** In the order of the document; the fields of a list's items follow the list. */
  readonly parameters: readonly FieldDescription[]
  /** Fields of the envelope's `data`, as they stand on the wire. */
  readonly answer: readonly FieldDescription[]
}

export interface FieldDescription {
  /** With its way there: `orderList[].size`. */
  readonly name: string
  readonly type: 'string' | 'number' | 'boolean' | 'list' | 'object' | 'any'
  /** Must be there whatever the others say. What is required now and then says so in its description. */
  readonly isRequired: boolean
  readonly description: string | undefined
  /** Values that the document lists: in a request the only ones, in an answer those that are known. */
  readonly values: readonly string[]
  /** What the exchange takes when it is left out. */
  readonly default: string | undefined
  /** Most items of a list. */
  readonly itemsMax: number | undefined
  /** An empty text has a meaning of its own. */
  readonly mayBeEmpty: boolean
  /** Another spelling of the wire: the name to use instead. */
  readonly aliasOf: string | undefined
}

export function describeEndpoint(endpoint: Endpoint): EndpointDescription {
  const { name, method, path, auth, limit, retry, section } = endpoint
  return {
    name,
    method,
    path,
    auth,
    limit,
    retry,
    section,
    pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter ?? ''),
    parameters: describeFields(endpoint.request),
    answer: describeFields(endpoint.response),
  }
}

type Schema = z.core.JSONSchema.BaseSchema

/** Fields of an object, or of the items of a list of objects, as the wire has them. */
function describeFields(schema: z.ZodType): readonly FieldDescription[] {
  return fieldsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), '')
}

function fieldsOf(schema: Schema, prefix: string): readonly FieldDescription[] {
  const { object, list } = shapeOf(schema)
  if (object?.properties !== undefined) {
    const required = new Set(object.required)
    return Object.entries(object.properties).flatMap(([key, property]) => {
      if (typeof property === 'boolean') return []
      const name = `${prefix}${key}`
      const nested = fieldsOf(property, isList(property) ? `${name}[].` : `${name}.`)
      return [describeField(property, { name, isRequired: required.has(key) }), ...nested]
    })
  }
  const items = list?.items
  return isSchema(items) ? fieldsOf(items, prefix) : []
}

function describeField(
  schema: Schema,
  { name, isRequired }: { readonly name: string; readonly isRequired: boolean },
): FieldDescription {
  const { object, list, texts, plain } = shapeOf(schema)
  const ofItems = isSchema(list?.items) ? knownValuesOf(list.items) : []
  const listed = texts.flatMap((text) => text.enum ?? [])
  return {
    name,
    type: list ? 'list' : object ? 'object' : texts.length > 0 ? 'string' : plain,
    isRequired,
    description: schema.description,
    values: [
      ...listed.filter((value) => typeof value === 'string'),
      ...knownValuesOf(schema),
      ...ofItems,
    ],
    default: typeof schema.default === 'string' ? schema.default : undefined,
    itemsMax: list?.maxItems,
    mayBeEmpty: texts.some((text) => text.const === ''),
    aliasOf: typeof schema['aliasOf'] === 'string' ? schema['aliasOf'] : undefined,
  }
}

interface Shape {
  readonly object: Schema | undefined
  readonly list: Schema | undefined
  readonly texts: readonly Schema[]
  readonly plain: 'number' | 'boolean' | 'any'
}

/** What a schema is, through unions with null, with an empty text or with an empty object. */
function shapeOf(schema: Schema): Shape {
  const parts = partsOf(schema)
  const isOf = (type: string) => (part: Schema) => [part.type].flat().includes(type as 'string')
  return {
    object:
      parts.find((part) => isOf('object')(part) && Object.keys(part.properties ?? {}).length > 0) ??
      parts.find((part) => isOf('object')(part) && parts.length === 1),
    list: parts.find(isOf('array')),
    texts: parts.filter(isOf('string')),
    plain: parts.some(isOf('number')) ? 'number' : parts.some(isOf('boolean')) ? 'boolean' : 'any',
  }
}

function partsOf(schema: Schema): readonly Schema[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.filter(isSchema).flatMap(partsOf)
}

function isList(schema: Schema): boolean {
  return shapeOf(schema).list !== undefined
}

function isSchema(value: unknown): value is Schema {
  return isRecord(value)
}

function knownValuesOf(schema: Schema): readonly string[] {
  const values: unknown = schema['knownValues']
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : []
}
