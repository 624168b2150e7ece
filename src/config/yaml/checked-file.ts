import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, relative } from 'node:path'
import { z } from 'zod'
import { didYouMean } from '../../lib/did-you-mean.ts'
import { isRecord } from '../../lib/plain-data.ts'
import { type Problem, quote, type SettingPath } from './problem.ts'
import {
  childSchema,
  describeMeaning,
  describeSchema,
  knownKeys,
  schemaAt,
  unwrapSchema,
} from './schema-walk.ts'
import { secretVariableFor, YamlSource } from './yaml-source.ts'

export interface CheckedFile<T> {
  readonly problems: readonly Problem[]
  readonly source?: YamlSource
  readonly settings?: PartialSettings<T>
  readonly value?: T
}

export interface FileRequest {
  readonly file: string
  readonly cwd: string
  /** @returns problems of `--set` options */
  readonly change?: (source: YamlSource) => readonly Problem[]
  /** For an unreadable file that is reported elsewhere. */
  readonly blame?: (failure: string) => Problem
}

/** Never throws. */
export function checkFile<S extends z.core.$ZodType>(
  schema: S,
  { file, cwd, change, blame }: FileRequest,
): CheckedFile<z.infer<S>> {
  const shown = shownPath(file, cwd)
  const read = readTextFile(file)
  if ('failure' in read) {
    return {
      problems: [blame?.(read.failure) ?? { source: shown, path: '', message: read.failure }],
    }
  }
  const source = new YamlSource(read.text, shown)
  const before = source.check()
  if (!before.usable) return { problems: before.problems }
  const changes = change?.(source) ?? []
  const { usable, problems } = source.check()
  if (!usable) return { problems: [...changes, ...problems] }
  return { source, ...checkSource(schema, source, [...changes, ...problems]) }
}

function checkSource<S extends z.core.$ZodType>(
  schema: S,
  source: YamlSource,
  before: readonly Problem[],
) {
  const plain = source.read(schema)
  const parsed = z.safeParse(schema, plain)
  if (parsed.success)
    return {
      problems: before,
      settings: parsed.data as PartialSettings<z.infer<S>>,
      value: parsed.data,
    }
  const found = problemsFromZod({ source, schema }, parsed.error.issues)
  const settings = salvage(schema, correctKeys(schema, plain))
  return { problems: [...before, ...found], ...(settings === undefined ? {} : { settings }) }
}

export type CheckedSection<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Decimals keep their digits. */
export function checkSection<S extends z.core.$ZodType>(
  source: YamlSource,
  schema: S,
  path: readonly string[],
): CheckedSection<z.infer<S>> {
  const parsed = z.safeParse(schema, source.has(path) ? source.read(schema, path) : {})
  if (parsed.success) return { ok: true, value: parsed.data }
  return {
    ok: false,
    problems: problemsFromZod({ source, schema, prefix: path }, parsed.error.issues),
  }
}

// One wrong field must not hide other problems.

export type PartialSettings<T> = T extends string
  ? T
  : T extends readonly (infer Item)[]
    ? readonly (PartialSettings<Item> | undefined)[]
    : T extends object
      ? { readonly [Key in keyof T]?: PartialSettings<T[Key]> | undefined }
      : T

/** Undefined without valid parts. */
function salvage<S extends z.core.$ZodType>(
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

type ZodIssue = z.core.$ZodIssue

interface CheckedPart {
  readonly source: YamlSource
  readonly schema: z.core.$ZodType
  readonly prefix?: SettingPath
}

const problemsFromZod = (checked: CheckedPart, issues: readonly ZodIssue[]): Problem[] =>
  issues.flatMap((issue) => problemsOfIssue(checked, issue))

function problemsOfIssue({ source, schema, prefix = [] }: CheckedPart, issue: ZodIssue): Problem[] {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(schemaAt(schema, issue.path))
    const listed = prefix.length === 0 || known.length === 0 ? '' : `; there are ${listKeys(known)}`
    return issue.keys
      .filter((key) => secretVariableFor(key) === undefined)
      .map((key) => {
        const removed = REMOVED_KEYS[[...path, key].join('.')]
        if (removed !== undefined) return source.problemOfKey([...path, key], removed)
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

const TO_DECIDE = 'DECIDE'

function explainToDecide(schema: z.core.$ZodType, issue: ZodIssue, expected: string): string {
  const wanted = schemaAt(schema, issue.path)
  const meaning = wanted && describeMeaning(wanted)
  return `you have to decide this: write ${expected}${meaning === undefined ? '' : `. ${meaning}`}`
}

function issuesInside(issue: ZodIssue, isMapping: () => boolean): readonly ZodIssue[] | undefined {
  if (issue.code !== 'invalid_union' || issue.discriminator !== undefined || !isMapping())
    return undefined
  return issue.errors.find((errors) => errors.every(isInside))
}

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

/** Keys of earlier versions, which a configuration may still have. */
const REMOVED_KEYS: Readonly<Record<string, string>> = {
  'exchange.shared.marketData':
    'this key is gone: each daemon reads its own tickers, within the shared limits. Remove it',
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

type Schema = z.core.$ZodType

/** A key that is there already is hardly meant. */
function guessKey(
  key: string,
  known: readonly string[],
  written: readonly string[],
): string | undefined {
  const lacking = known.filter((one) => !written.includes(one))
  return didYouMean(key, lacking) ?? didYouMean(key, known)
}

/** Nothing else should then complain about them. */
function correctKeys(schema: Schema, value: unknown): unknown {
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

type FileKind = 'main' | 'strategy' | 'simulator'

const KINDS: Readonly<
  Record<
    FileKind,
    {
      readonly marks: readonly string[]
      readonly what: string
      readonly use: (file: string) => string
    }
  >
> = {
  main: {
    marks: ['environment', 'strategies'],
    what: 'the main file of a daemon',
    use: (file) => `check it with \`intentd check -c ${file}\``,
  },
  strategy: {
    marks: ['id', 'module'],
    what: 'the file of a strategy',
    use: () => 'name the main file that lists it under `strategies`; the two are read together',
  },
  simulator: {
    marks: ['seed', 'market'],
    what: 'the file of the exchange simulator as a server',
    use: (file) => `\`intentd simulate -c ${file}\` reads it`,
  },
}

export function isOfKind(source: YamlSource, kind: FileKind): boolean {
  return KINDS[kind].marks.every((key) => source.has([key]))
}

export function objectToKind(
  source: YamlSource,
  file: string,
  wanted: FileKind,
): Problem | undefined {
  if (KINDS[wanted].marks.some((key) => source.has([key]))) return undefined
  const other = Object.values(KINDS).find(({ marks }) => marks.every((key) => source.has([key])))
  if (other === undefined) return undefined
  const message = `this is ${other.what}, not ${KINDS[wanted].what}: ${other.use(source.shown)}`
  return { source: source.shown, path: '', message, refusedWords: [file] }
}

/** A hundred times the largest sensible file. */
const FILE_BYTES_MAX = 1_048_576

type FileText = { readonly text: string } | { readonly failure: string }

const FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'no permission to read this file',
  EPERM: 'no permission to read this file',
  ELOOP: 'a symbolic link that leads nowhere',
  ENAMETOOLONG: 'no such file: the name is too long',
  EISDIR: 'not a file',
  ERR_INVALID_ARG_VALUE: 'no such file: the name has a null byte in it',
}

/** Never throws. */
export function readTextFile(file: string): FileText {
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return { failure: 'not a file' }
    if (stats.size > FILE_BYTES_MAX) return { failure: `larger than ${FILE_BYTES_MAX} bytes` }
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)) }
  } catch (error) {
    return { failure: explainFailure(error) }
  }
}

export function explainFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'not UTF-8 text'
  return FAILURES[code] ?? `cannot be read (${code})`
}

const NAMED_MAX = 4

export function adviseMissing(file: string): string {
  const beside = listBeside(file)
  const guess = didYouMean(basename(file), beside)
  if (guess !== undefined) return `; did you mean ${guess}?`
  if (beside.length === 0) return '; paths are relative to the file that they stand in'
  const named = beside.slice(0, NAMED_MAX).join(', ')
  return `; paths are relative to the file that they stand in, and in that folder are ${named}${beside.length > NAMED_MAX ? ', …' : ''}`
}

function listBeside(file: string): readonly string[] {
  try {
    return readdirSync(dirname(file)).filter(
      (name) => extname(name) === extname(file) && !/\p{Cc}/u.test(name),
    )
  } catch {
    return []
  }
}

/** Never throws. */
export function isFile(file: string): boolean {
  try {
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Relative to the working directory; control characters become `?`. */
export const shownPath = (file: string, cwd: string): string =>
  (relative(cwd, file) || file).replaceAll(/\p{Cc}/gu, '?')
