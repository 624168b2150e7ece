import { z } from 'zod'
import { READ_ROUTES } from '../../control/routes.ts'

/** A daemon's answer, completed with what an older daemon does not know. */
export interface CompletedAnswer {
  readonly value: unknown
  /** Named as in the answer: `accounts.waits`. */
  readonly absent: readonly string[]
}

/**
 * During an upgrade an older daemon answers a newer command. A field that its answer does not have
 * is unknown: null, NaN or empty here, and named, so that nothing is taken for told.
 */
export function completeAnswer(path: string, value: unknown): CompletedAnswer {
  const [bare = path] = path.split('?')
  const schema = READ_ROUTES.find((route) => route.path === bare)?.response
  const absent = new Set<string>()
  if (schema === undefined) return { value, absent: [] }
  return { value: complete(schema, value, { path: '', absent }), absent: [...absent] }
}

interface AnswerPlace {
  readonly path: string
  readonly absent: Set<string>
}

type Schema = z.core.$ZodType

function complete(schema: Schema, value: unknown, { path, absent }: AnswerPlace): unknown {
  if (value === undefined) {
    if (schema instanceof z.core.$ZodOptional) return undefined
    absent.add(path)
    return unknownOf(schema)
  }
  const inner = unwrap(schema)
  if (inner instanceof z.core.$ZodArray && Array.isArray(value))
    return value.map((one: unknown) => complete(inner._zod.def.element, one, { path, absent }))
  if (typeof value !== 'object' || value === null) return value
  const found = Object.entries(value)
  if (inner instanceof z.core.$ZodRecord) {
    const { valueType } = inner._zod.def
    return Object.fromEntries(
      found.map(([key, one]) => [key, complete(valueType, one, { path, absent })]),
    )
  }
  if (!(inner instanceof z.core.$ZodObject)) return value
  const completed: Record<string, unknown> = { ...value }
  for (const [key, field] of Object.entries(inner._zod.def.shape)) {
    const place = { path: path === '' ? key : `${path}.${key}`, absent }
    const known = complete(field, completed[key], place)
    if (known !== undefined) completed[key] = known
  }
  return completed
}

function unwrap(schema: Schema): Schema {
  return schema instanceof z.core.$ZodOptional || schema instanceof z.core.$ZodNullable
    ? unwrap(schema._zod.def.innerType)
    : schema
}

function unknownOf(schema: Schema): unknown {
  if (schema instanceof z.core.$ZodOptional) return undefined
  if (schema instanceof z.core.$ZodNullable) return null
  if (schema instanceof z.core.$ZodArray) return []
  if (schema instanceof z.core.$ZodRecord) return {}
  if (schema instanceof z.core.$ZodNumber) return Number.NaN
  if (schema instanceof z.core.$ZodBoolean) return undefined
  if (!(schema instanceof z.core.$ZodObject)) return 'not known'
  return Object.fromEntries(
    Object.entries(schema._zod.def.shape).map(([key, field]) => [key, unknownOf(field)]),
  )
}

const NAMED_MAX = 5

/** One sentence; undefined if the answer has everything. */
export function describeOlder(
  absent: readonly string[],
  version: string | undefined,
): string | undefined {
  if (absent.length === 0) return undefined
  const named = absent.slice(0, NAMED_MAX).join(', ')
  const more = absent.length > NAMED_MAX ? ` and ${absent.length - NAMED_MAX} more` : ''
  const which = version === undefined ? '' : ` (it says ${version})`
  return `the daemon runs an older version${which} that does not tell ${named}${more}: that is not known here until it is started anew`
}
