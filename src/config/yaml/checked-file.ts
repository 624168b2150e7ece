import { z } from 'zod'
import type { Problem } from './problem.ts'
import { readTextFile, shownPath } from './read-file.ts'
import { correctKeys } from './misspelt-keys.ts'
import { salvage, type PartialSettings } from './salvage.ts'
import { YamlSource } from './yaml-source.ts'
import { problemsFromZod } from './zod-problems.ts'

export interface CheckedFile<T> {
  readonly problems: readonly Problem[]
  /** Absent without a file, YAML or mapping. */
  readonly source?: YamlSource
  /** The valid parts; absent with `source`. */
  readonly settings?: PartialSettings<T>
  /** Set if everything is valid. */
  readonly value?: T
}

export interface FileRequest {
  readonly file: string
  readonly cwd: string
  /** Applies `--set` options. @returns their problems */
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
  const found = parsed.success ? [] : problemsFromZod({ source, schema }, parsed.error.issues)
  const settings = salvage(schema, parsed.success ? plain : correctKeys(schema, plain))
  return {
    problems: [...before, ...found],
    ...(settings === undefined ? {} : { settings }),
    ...(parsed.success ? { value: parsed.data } : {}),
  }
}

export type CheckedSection<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Its own schema checks a section such as `['params']`; decimals keep their digits. */
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
