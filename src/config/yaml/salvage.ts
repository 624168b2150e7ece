/**
 * Keeps the usable parts of an invalid value, so that one wrong field does not hide other problems.
 */
import { z } from 'zod'
import { childSchema, knownKeys, unwrapSchema } from './schema-walk.ts'

export type PartialSettings<T> = T extends string
  ? T
  : T extends readonly (infer Item)[]
    ? readonly (PartialSettings<Item> | undefined)[]
    : T extends object
      ? { readonly [Key in keyof T]?: PartialSettings<T[Key]> | undefined }
      : T

/** The valid parts with their defaults; undefined if there are none. */
export function salvage<S extends z.core.$ZodType>(
  schema: S,
  value: unknown,
): PartialSettings<z.infer<S>> | undefined {
  return salvagePart(schema, value) as PartialSettings<z.infer<S>> | undefined
}

function salvagePart(schema: z.core.$ZodType, value: unknown): unknown {
  const parsed = z.safeParse(schema, value)
  if (parsed.success) return parsed.data
  const inner = unwrapSchema(schema)
  if (Array.isArray(value)) {
    return inner instanceof z.core.$ZodArray
      ? value.map((item) => salvagePart(inner._zod.def.element, item))
      : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const keys = keysToSalvage(inner, value)
  return keys && Object.fromEntries(keys.map((key) => [key, salvageKey(schema, { key, value })]))
}

function keysToSalvage(schema: z.core.$ZodType, value: object): readonly string[] | undefined {
  if (schema instanceof z.core.$ZodObject) return knownKeys(schema)
  // Such a section may also be one word.
  if (schema instanceof z.core.$ZodUnion) return knownKeys(schema)
  return schema instanceof z.core.$ZodRecord && hasGoodKeys(schema, value)
    ? Object.keys(value)
    : undefined
}

function salvageKey(
  schema: z.core.$ZodType,
  { key, value }: { key: string; value: object },
): unknown {
  const child = childSchema(schema, key)
  const item: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
  return child && salvagePart(child, item)
}

/** Comparing with a key that is wrong would only repeat the mistake. */
function hasGoodKeys(record: z.core.$ZodRecord, value: object): boolean {
  return Object.keys(value).every((key) => z.safeParse(record._zod.def.keyType, key).success)
}
