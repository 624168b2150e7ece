import type { z } from 'zod'
import { didYouMean } from '../../lib/did-you-mean.ts'
import { isRecord } from '../../lib/plain-data.ts'
import { secretVariableFor } from '../secret-key.ts'
import { childSchema, knownKeys } from './schema-walk.ts'

type Schema = z.core.$ZodType

/** Only a key that the mapping lacks: one that is there is hardly meant. */
export function guessKey(
  key: string,
  known: readonly string[],
  written: readonly string[],
): string | undefined {
  const lacking = known.filter((one) => !written.includes(one))
  return didYouMean(key, lacking) ?? didYouMean(key, known)
}

/** Misspelt keys are written as meant, so that no problem follows from one. */
export function correctKeys(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((item: unknown, index) => correctChild(schema, index, item))
  if (!isRecord(value)) return value
  const written = Object.keys(value)
  const known = knownKeys(schema)
  const names = new Map(written.map((key) => [key, correctName(key, known, written)]))
  const taken = [...names.values()]
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => {
      const name = names.get(key) ?? key
      const isOnlyOne = taken.filter((one) => one === name).length === 1
      return isOnlyOne ? [name, correctChild(schema, name, child)] : [key, child]
    }),
  )
}

function correctName(key: string, known: readonly string[], written: readonly string[]): string {
  if (known.length === 0 || known.includes(key) || secretVariableFor(key) !== undefined) return key
  const guess = guessKey(key, known, written)
  return guess === undefined || written.includes(guess) ? key : guess
}

function correctChild(schema: Schema, key: PropertyKey, value: unknown): unknown {
  const child = childSchema(schema, key)
  return child === undefined ? value : correctKeys(child, value)
}
