import { cleanLine } from '../lib/text/clean-text.ts'
import { unreachable } from '../lib/unreachable.ts'
import type { SignalValue } from './signal.ts'

interface Optional {
  readonly optional: boolean
}

export type SignalField =
  | ({
      readonly type: 'number'
      readonly min?: number | undefined
      readonly max?: number | undefined
    } & Optional)
  | ({ readonly type: 'text'; readonly lengthMax: number } & Optional)
  | ({ readonly type: 'oneOf'; readonly values: readonly string[] } & Optional)
  | ({ readonly type: 'boolean' } & Optional)

export type SignalFields = Readonly<Record<string, SignalField>>

/**
 * The fields are in the schema's order, so that equal contents are equal text. A problem repeats
 * nothing of what was sent.
 */
export function readSignalFields(
  fields: SignalFields,
  given: Readonly<Record<string, unknown>>,
): { readonly value: SignalValue } | { readonly problem: string } {
  const names = Object.keys(fields)
  if (Object.keys(given).some((name) => !names.includes(name)))
    return { problem: `a field that is not listed; listed are ${names.join(', ')}` }
  const value: [string, string | number | boolean][] = []
  for (const [name, field] of Object.entries(fields)) {
    const part = Object.hasOwn(given, name) ? given[name] : undefined
    if (part === undefined && field.optional) continue
    const problem = part === undefined ? 'is missing' : objectTo(field, part)
    if (problem !== undefined) return { problem: `${name} ${problem}` }
    // -0 would be another number after a restart.
    value.push([name, typeof part === 'number' ? part + 0 : (part as string | boolean)])
  }
  return { value: Object.fromEntries(value) }
}

function objectTo(field: SignalField, part: unknown): string | undefined {
  switch (field.type) {
    case 'number':
      return objectToNumber(field, part)
    case 'text':
      if (typeof part !== 'string') return 'is no text'
      if (part.length > field.lengthMax) return `is longer than ${field.lengthMax} characters`
      // A lone half of a character would be stored as another text.
      return part.isWellFormed() && part === cleanLine(part)
        ? undefined
        : 'has characters that are not seen'
    case 'oneOf':
      return typeof part === 'string' && field.values.includes(part)
        ? undefined
        : `is none of ${field.values.join(', ')}`
    case 'boolean':
      return typeof part === 'boolean' ? undefined : 'is neither true nor false'
    default:
      return unreachable(field)
  }
}

function objectToNumber(
  {
    min = Number.NEGATIVE_INFINITY,
    max = Number.POSITIVE_INFINITY,
  }: Extract<SignalField, { readonly type: 'number' }>,
  part: unknown,
): string | undefined {
  if (typeof part === 'string') return 'is a text: write the number without quotes'
  if (typeof part !== 'number' || !Number.isFinite(part)) return 'is no number'
  if (part < min) return `is below ${min}`
  return part > max ? `is above ${max}` : undefined
}
