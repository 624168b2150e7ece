import { z } from 'zod'
import { isRecord } from '../lib/plain-data.ts'
import type { Endpoint } from './endpoint.ts'

export interface EndpointDescription extends Pick<
  Endpoint,
  'name' | 'method' | 'path' | 'auth' | 'limit' | 'retry' | 'section'
> {
  readonly outside: boolean
  readonly pathParameters: readonly string[]
  readonly parameters: readonly FieldDescription[]
  readonly answer: readonly FieldDescription[]
}

export interface FieldDescription {
  readonly name: string
  readonly type: 'string' | 'number' | 'boolean' | 'list' | 'object' | 'any'
  /** A description says when a field is required only sometimes. */
  readonly isRequired: boolean
  readonly description: string | undefined
  readonly values: readonly string[]
  /** The exchange's, if the field is missing. */
  readonly default: string | undefined
  readonly itemsMax: number | undefined
  /** An empty text has its own meaning. */
  readonly mayBeEmpty: boolean
  /** The name to use instead of this spelling. */
  readonly aliasOf: string | undefined
}

export function describeEndpoint(endpoint: Endpoint): EndpointDescription {
  const { name, method, path, auth, limit, retry, section, outside = false } = endpoint
  return {
    name,
    method,
    path,
    auth,
    limit,
    retry,
    section,
    outside,
    pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter ?? ''),
    parameters: describeFields(endpoint.request),
    answer: describeFields(endpoint.response),
  }
}

type JsonSchema = z.core.JSONSchema.BaseSchema

function describeFields(schema: z.ZodType): readonly FieldDescription[] {
  return fieldsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), '')
}

function fieldsOf(schema: JsonSchema, prefix: string): readonly FieldDescription[] {
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
  schema: JsonSchema,
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

interface SchemaShape {
  readonly object: JsonSchema | undefined
  readonly list: JsonSchema | undefined
  readonly texts: readonly JsonSchema[]
  readonly plain: 'number' | 'boolean' | 'any'
}

function shapeOf(schema: JsonSchema): SchemaShape {
  const parts = partsOf(schema)
  const isOf = (type: string) => (part: JsonSchema) => [part.type].flat().includes(type as 'string')
  return {
    object:
      parts.find((part) => isOf('object')(part) && Object.keys(part.properties ?? {}).length > 0) ??
      parts.find((part) => isOf('object')(part) && parts.length === 1),
    list: parts.find(isOf('array')),
    texts: parts.filter(isOf('string')),
    plain: parts.some(isOf('number')) ? 'number' : parts.some(isOf('boolean')) ? 'boolean' : 'any',
  }
}

function partsOf(schema: JsonSchema): readonly JsonSchema[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.filter(isSchema).flatMap(partsOf)
}

function isList(schema: JsonSchema): boolean {
  return shapeOf(schema).list !== undefined
}

function isSchema(value: unknown): value is JsonSchema {
  return isRecord(value)
}

function knownValuesOf(schema: JsonSchema): readonly string[] {
  const values: unknown = schema['knownValues']
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : []
}
