import { findFunctions, lineAt } from '../source-text.ts'
import {
  type FileRule,
  type SourceFile,
  type Violation,
  STRATEGY_CONTRACT,
  findAll,
} from './source-tree.ts'

const FILE_LINES_MAX = 600
const FUNCTION_LINES_MAX = 70
/** Tables and schemas that may be longer. */
const LONG_TABLES: readonly string[] = ['src/alerts/rules/alert-table.ts']

const VAGUE_NAMES = ['utils', 'util', 'helpers', 'helper', 'common', 'types', 'index', 'misc']

/** Traces of a machine, in any tracked file. */
const TRACES: readonly { what: string; pattern: RegExp }[] = [
  {
    what: 'a path of one machine',
    pattern: /(?<![\w.~-])\/(?:home|Users)\/[\w.-]+\/|(?<![\w.~/-])\/(?:root|work)\/\w/g,
  },
  { what: 'a path of one machine', pattern: /\b[A-Z]:\\Users\\/g },
  { what: 'a package registry', pattern: /\bregistry\.[a-z0-9-]+\.[a-z]+|"resolved":\s*"https?:/g },
]

export const SHAPE_RULES: readonly FileRule[] = [
  checkLengths,
  checkName,
  checkBarrel,
  checkAny,
  checkTypeImports,
  checkReminders,
]

/** Machine paths and registry hosts in any text, including documents and lock files. */
export function checkTraces(texts: ReadonlyMap<string, string>): Violation[] {
  return [...texts].flatMap(([file, text]) =>
    TRACES.flatMap(({ what, pattern }) =>
      [...text.matchAll(pattern)].map((match) => ({
        rule: 'trace' as const,
        file,
        line: lineAt(text, match.index),
        message: `names ${what}: ${match[0]}`,
      })),
    ),
  )
}

function checkLengths({ path, lines, code }: SourceFile): Violation[] {
  const violations: Violation[] = findFunctions(code)
    .filter((span) => span.lines > FUNCTION_LINES_MAX)
    .map((span) => ({
      rule: 'function-length',
      file: path,
      line: span.line,
      message: `a function of ${span.lines} lines; at most ${FUNCTION_LINES_MAX}`,
    }))
  if (lines <= FILE_LINES_MAX || LONG_TABLES.includes(path)) return violations
  const message = `${lines} lines; at most ${FILE_LINES_MAX}`
  return [...violations, { rule: 'file-length', file: path, line: lines, message }]
}

function checkName({ path }: SourceFile): Violation[] {
  const stems = path.replace(/\.[cm]?[jt]s$/, '').split('/')
  const notKebab = stems.filter((stem) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(stem))
  const vague = stems.filter((stem) => VAGUE_NAMES.includes(stem))
  return [
    ...notKebab.map((stem) => `'${stem}' is not kebab-case`),
    ...vague.map((stem) => `'${stem}' names no subject`),
  ].map((message) => ({ rule: 'file-name', file: path, line: 1, message }))
}

function checkBarrel({ path, code }: SourceFile): Violation[] {
  if (path === STRATEGY_CONTRACT) return []
  const rest = code
    .replaceAll(
      /\b(?:import|export)\s+(?:type\s+)?(?:[\w$*\s,]|\{[^{}]*\})*?from\s*(['"])[^'"]*\1/g,
      '',
    )
    .replaceAll(/\bimport\s*(['"])[^'"]*\1/g, '')
    .replaceAll(/\bexport\s+(?:type\s+)?\{[^{}]*\}/g, '')
  const isBarrel = /\bexport\b/.test(code) && /^[\s;]*$/.test(rest)
  return isBarrel
    ? [{ rule: 'barrel', file: path, line: 1, message: 'only hands on what others define' }]
    : []
}

/** The linter checks `any` as a type (`typescript/no-explicit-any`), but not its schema. */
function checkAny({ path, code }: SourceFile): Violation[] {
  const message = 'any switches the types off; take unknown'
  return findAll(code, /\bz\.any\(/g).map((line) => ({ rule: 'any', file: path, line, message }))
}

/** With `import { type X }` the runtime still reads the file. */
function checkTypeImports({ path, code }: SourceFile): Violation[] {
  const message = 'write `import type { … }`: of types alone, nothing is to be read at a start'
  return findAll(code, /^import \{(?:\s*type \w+(?: as \w+)?,?)+\s*\} from/gm).map((line) => ({
    rule: 'type-import',
    file: path,
    line,
    message,
  }))
}

function checkReminders({ path, comments }: SourceFile): Violation[] {
  return findAll(comments, /\b(?:TODO|FIXME|XXX|HACK)\b/g).map((line) => ({
    rule: 'reminder',
    file: path,
    line,
    message: 'do it, or write it where it is planned',
  }))
}
