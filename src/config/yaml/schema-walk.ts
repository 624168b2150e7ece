import { z } from 'zod'

type SettingSchema = z.core.$ZodType

export function unwrapSchema(schema: SettingSchema): SettingSchema {
  if (schema instanceof z.core.$ZodPipe) return unwrapSchema(schema._zod.def.in)
  if (schema instanceof z.core.$ZodLazy) return unwrapSchema(schema._zod.innerType)
  const isWrapper =
    schema instanceof z.core.$ZodOptional ||
    schema instanceof z.core.$ZodDefault ||
    schema instanceof z.core.$ZodPrefault ||
    schema instanceof z.core.$ZodNullable ||
    schema instanceof z.core.$ZodReadonly
  return isWrapper ? unwrapSchema(schema._zod.def.innerType) : schema
}

export function childSchema(schema: SettingSchema, key: PropertyKey): SettingSchema | undefined {
  const inner = unwrapSchema(schema)
  if (inner instanceof z.core.$ZodObject) {
    return Object.hasOwn(inner._zod.def.shape, key) ? inner._zod.def.shape[String(key)] : undefined
  }
  if (inner instanceof z.core.$ZodRecord) return inner._zod.def.valueType
  if (inner instanceof z.core.$ZodArray) return inner._zod.def.element
  if (inner instanceof z.core.$ZodUnion) {
    return inner._zod.def.options
      .map((option) => childSchema(option, key))
      .find((child) => child !== undefined)
  }
  return undefined
}

export function schemaAt(
  schema: SettingSchema,
  path: readonly PropertyKey[],
): SettingSchema | undefined {
  let current: SettingSchema | undefined = schema
  for (const key of path) current = current && childSchema(current, key)
  return current
}

/** An unquoted number in place of a text is passed digit for digit. */
export const isTextSchema = (schema: SettingSchema): boolean =>
  unwrapSchema(schema) instanceof z.core.$ZodString

/** Empty if any key is allowed. */
export function knownKeys(schema: SettingSchema | undefined): string[] {
  const inner = schema && unwrapSchema(schema)
  if (inner instanceof z.core.$ZodObject) return Object.keys(inner._zod.def.shape)
  if (inner instanceof z.core.$ZodUnion) return inner._zod.def.options.flatMap(knownKeys)
  return []
}

export function describeSchema(schema: SettingSchema): string | undefined {
  return describe(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
}

export function describeMeaning(schema: SettingSchema): string | undefined {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return typeof json === 'boolean' ? undefined : json.description
}

type SettingJsonSchema = z.core.JSONSchema._JSONSchema

function describe(json: SettingJsonSchema): string | undefined {
  if (typeof json === 'boolean') return undefined
  if (json.title !== undefined) return json.title
  if (json.const !== undefined) return JSON.stringify(json.const)
  if (json.enum) return joinWithOr(json.enum.map((value) => JSON.stringify(value)))
  const options = json.anyOf ?? json.oneOf
  if (options) return joinWithOr(options.map((option) => describe(option) ?? 'something else'))
  if (json.type === 'boolean') return 'true or false'
  if (json.type === 'integer') return `a whole number${describeRange(json)}`
  if (json.type === 'number') return `a number${describeRange(json)}`
  if (json.type === 'string')
    return `text${describeCount(json.minLength, json.maxLength, 'characters')}`
  if (json.type === 'array') return `a list${describeCount(json.minItems, json.maxItems, 'values')}`
  if (json.type === 'object') return 'a mapping of settings'
  return undefined
}

function describeRange({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
}: z.core.JSONSchema.BaseSchema): string {
  const low = isLimit(minimum) ? minimum : undefined
  const high = isLimit(maximum) ? maximum : undefined
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`
  const parts = [
    isLimit(exclusiveMinimum) && `above ${exclusiveMinimum}`,
    low !== undefined && `of at least ${low}`,
    isLimit(exclusiveMaximum) && `below ${exclusiveMaximum}`,
    high !== undefined && `of at most ${high}`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? '' : ` ${parts.join(' and ')}`
}

/** zod bounds integers by the exact range of a float, which is of no use to an operator. */
const isLimit = (bound: unknown): bound is number =>
  typeof bound === 'number' && Math.abs(bound) !== Number.MAX_SAFE_INTEGER

function describeCount(
  least: number | undefined,
  most: number | undefined,
  things: string,
): string {
  if (most === undefined) return least ? ` of at least ${least} ${things}` : ''
  return ` of ${least ?? 0} to ${most} ${things}`
}

function joinWithOr(words: readonly string[]): string {
  const unique = [...new Set(words)]
  if (unique.length < 2) return unique.join('')
  return `${unique.slice(0, -1).join(', ')} or ${unique.at(-1)}`
}
