/**
 * What can still be used of a value that did not pass: comparisons between settings run on it, so that one
 * wrong field does not hide what is wrong with the others.
 */
import { z } from 'zod'
import { childSchema, knownKeys, unwrapSchema } from './schema-walk.ts'

/** A value with every part optional, however deep. */
export type Salvaged<T> = T extends readonly (infer Item)[]
  ? readonly (Salvaged<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Salvaged<T[Key]> | undefined }
    : T

/** The parts of a value that pass their own schema, with their defaults; undefined when there are none. */
export function salvage<S extends z.core.$ZodType>(
  schema: S,
  value: unknown,
): Salvaged<z.infer<S>> | undefined {
  return salvagePart(schema, value) as Salvaged<z.infer<S>> | undefined
}

function salvagePart(schema: z.core.$ZodType, value: unknown): unknown {
  const parsed = z.safeParse(schema, value)
  if (parsed.success) return parsed.data
  if (typeof value !== 'object' || value === null) return undefined
  const part = (key: string | number, item: unknown) => {
    const child = childSchema(schema, key)
    return child && salvagePart(child, item)
  }
  if (Array.isArray(value)) return value.map((item, index) => part(index, item))
  const inner = unwrapSchema(schema)
  const keys = inner instanceof z.core.$ZodObject ? knownKeys(inner) : Object.keys(value)
  const read = (key: string): unknown => (Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined)
  return Object.fromEntries(keys.map((key) => [key, part(key, read(key))]))
}
