import type { z } from 'zod'
import { guessKey } from './misspelt-keys.ts'
import type { Problem } from './problem.ts'
import {
  describeMeaning,
  describeSchema,
  knownKeys,
  schemaAt,
  unwrapSchema,
} from './schema-walk.ts'
import { secretVariableFor } from '../secret-key.ts'
import { quote, type SettingPath } from './setting-path.ts'
import type { YamlSource } from './yaml-source.ts'

type ZodIssue = z.core.$ZodIssue

export interface CheckedPart {
  readonly source: YamlSource
  readonly schema: z.core.$ZodType
  /** Path of the checked value, such as `['params']`. */
  readonly prefix?: SettingPath
}

export const problemsFromZod = (checked: CheckedPart, issues: readonly ZodIssue[]): Problem[] =>
  issues.flatMap((issue) => problemsOfIssue(checked, issue))

function problemsOfIssue({ source, schema, prefix = [] }: CheckedPart, issue: ZodIssue): Problem[] {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(schemaAt(schema, issue.path))
    // No schema file lists a strategy's own keys.
    const listed = prefix.length === 0 || known.length === 0 ? '' : `; there are ${listKeys(known)}`
    return issue.keys
      .filter((key) => secretVariableFor(key) === undefined)
      .map((key) => {
        const guess = guessKey(key, known, source.keysOf(path))
        return source.problemOfKey([...path, key], explainUnknownKey(guess, listed))
      })
  }
  if (issue.code === 'invalid_key') {
    const expected = keyExpectation(schemaAt(schema, issue.path.slice(0, -1)))
    return [
      source.problemOfKey(path, `expected ${expected} as key, got ${quote(String(path.at(-1)))}`),
    ]
  }
  if (issue.code === 'custom') return [source.problem(path, issue.message)]
  const inside = issuesInside(issue, () => source.isMapping(path))
  const section = schemaAt(schema, issue.path)
  if (inside && section)
    return inside.flatMap((each) =>
      problemsOfIssue({ source, schema: section, prefix: path }, each),
    )
  const expected = expectation(schema, issue)
  if (source.isText(path, TO_DECIDE))
    return [source.problem(path, explainToDecide(schema, issue, expected))]
  if (path.length > 0 && !source.has(path))
    return isMisspelt(source, schemaAt(schema, issue.path.slice(0, -1)), path)
      ? []
      : [missingProblem(source, path, expected)]
  const got = source.describe(path)
  const advice = adviseShare(schema, issue, got)
  return [source.problem(path, `expected ${expected}, got ${got}${advice}`)]
}

/** `5`, `"5%"`, `"5 %"` */
const PERCENT = /^"?(\d{1,4}(?:\.\d{1,6})?) ?%?"?$/

/** Where a share is wanted, a number above it is mostly meant in per cent. */
function adviseShare(schema: z.core.$ZodType, issue: ZodIssue, got: string): string {
  const [, percent] = PERCENT.exec(got) ?? []
  const part = schemaAt(schema, issue.path)
  const table = schemaAt(schema, issue.path.slice(0, -1))
  const meaning = [part, table].map((one) => one && describeMeaning(one)).join(' ')
  if (percent === undefined || !/\bshares?\b/i.test(meaning)) return ''
  return `: this is a share, and ${percent} % is ${Number((Number(percent) / 100).toPrecision(12))}`
}

/** Shipped files hold it where the operator must decide. */
const TO_DECIDE = 'DECIDE'

function explainToDecide(schema: z.core.$ZodType, issue: ZodIssue, expected: string): string {
  const wanted = schemaAt(schema, issue.path)
  const meaning = wanted && describeMeaning(wanted)
  return `you have to decide this: write ${expected}${meaning === undefined ? '' : `. ${meaning}`}`
}

/** If a section may also be one word, reports the issues inside it. */
function issuesInside(issue: ZodIssue, isMapping: () => boolean): readonly ZodIssue[] | undefined {
  if (issue.code !== 'invalid_union' || issue.discriminator !== undefined || !isMapping())
    return undefined
  return issue.errors.find((errors) => errors.every(isInside))
}

/** An unknown key belongs to the section of its path. */
function isInside({ code, path }: ZodIssue): boolean {
  return path.length > 0 || code === 'unrecognized_keys' || code === 'custom'
}

/** The unknown key beside it is reported already. */
function isMisspelt(
  source: YamlSource,
  section: z.core.$ZodType | undefined,
  path: SettingPath,
): boolean {
  const known = knownKeys(section)
  const written = source.keysOf(path.slice(0, -1))
  return written.some(
    (key) => !known.includes(key) && guessKey(key, known, written) === String(path.at(-1)),
  )
}

function missingProblem(source: YamlSource, path: SettingPath, expected: string): Problem {
  const parent = path.slice(0, -1)
  return source.problemOfKey(
    parent,
    `the key ${quote(String(path.at(-1)))} is missing: expected ${expected}`,
  )
}

function explainUnknownKey(guess: string | undefined, listed: string): string {
  return `unknown key${listed}${guess === undefined ? '' : `; did you mean "${guess}"?`}`
}

/** A strategy may have any number of params. */
const KEYS_LISTED = 20

function listKeys(keys: readonly string[]): string {
  const more = keys.length - KEYS_LISTED
  return `${keys.slice(0, KEYS_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function expectation(schema: z.core.$ZodType, issue: ZodIssue): string {
  if (issue.code === 'invalid_union' && issue.discriminator !== undefined) {
    const parent = schemaAt(schema, issue.path.slice(0, -1))
    const options = parent && knownValues(parent, issue.discriminator)
    if (options) return options
  }
  const expected = schemaAt(schema, issue.path)
  return (expected && describeSchema(expected)) ?? issue.message
}

function knownValues(schema: z.core.$ZodType, discriminator: string): string | undefined {
  const union = unwrapSchema(schema)
  if (!isUnion(union)) return undefined
  const values = union._zod.def.options.map((option) => schemaAt(option, [discriminator]))
  return values.map((value) => (value && describeSchema(value)) ?? 'something else').join(' or ')
}

const isUnion = (schema: z.core.$ZodType): schema is z.core.$ZodUnion =>
  schema._zod.def.type === 'union'

function keyExpectation(schema: z.core.$ZodType | undefined): string {
  const record = schema && unwrapSchema(schema)
  if (record?._zod.def.type !== 'record') return 'another key'
  return describeSchema((record as z.core.$ZodRecord)._zod.def.keyType) ?? 'another key'
}
