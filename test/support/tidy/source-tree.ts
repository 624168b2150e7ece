import { dirname, join } from 'node:path/posix'
import { type ImportReference, type SourceText, lineAt, parseSource } from '../source-text.ts'

export const RULES = [
  'layer',
  'strategy-import',
  'pure-import',
  'synchronous',
  'folder-order',
  'folder-cycle',
  'cycle',
  'dead-file',
  'verb-import',
  'daemon-imports',
  'owned-call',
  'proof',
  'state-owner',
  'file-length',
  'function-length',
  'file-name',
  'barrel',
  'any',
  'type-import',
  'type-name',
  'reminder',
  'old-word',
  'comment-opening',
  'trace',
] as const

export interface Violation {
  rule: (typeof RULES)[number]
  file: string
  line: number
  message: string
}

export interface SourceFile extends SourceText {
  path: string
  source: string
  /** Folder in src/; undefined for bin/ and strategies/. */
  module: string | undefined
  lines: number
}

export type SourceTree = ReadonlyMap<string, SourceFile>
export type FileRule = (file: SourceFile) => Violation[]
export type TreeRule = (tree: SourceTree) => Violation[]

/** The one public face: `intentd/strategy`. */
export const STRATEGY_CONTRACT = 'src/strategy/contract.ts'

export function readSource(path: string, source: string): SourceFile {
  const lines = source.split('\n').length - (source.endsWith('\n') ? 1 : 0)
  return { path, source, module: moduleOf(path), lines, ...parseSource(source) }
}

export function moduleOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}

/** Path from the root of the repository; undefined for packages. */
export function targetOf(from: string, { specifier }: ImportReference): string | undefined {
  if (specifier === 'intentd/strategy') return STRATEGY_CONTRACT
  return specifier.startsWith('.') ? join(dirname(from), specifier) : undefined
}

export function importedBy(tree: SourceTree, path: string): string[] {
  const targets = tree.get(path)?.imports.map((reference) => targetOf(path, reference)) ?? []
  return targets.flatMap(
    (target) => [target, `${target}.ts`].find((name) => tree.has(name ?? '')) ?? [],
  )
}

/** Each cycle once, as its steps. */
export function findCycles(
  steps: Iterable<string>,
  nextOf: (step: string) => Iterable<string>,
): string[][] {
  const cycles: string[][] = []
  const finished = new Set<string>()
  const trail: string[] = []
  const visit = (step: string): void => {
    const start = trail.indexOf(step)
    if (start >= 0) cycles.push([...trail.slice(start), step])
    if (start >= 0 || finished.has(step)) return
    trail.push(step)
    for (const next of nextOf(step)) visit(next)
    trail.pop()
    finished.add(step)
  }
  for (const step of steps) visit(step)
  return cycles
}

/** The entry names the path itself, or with a `/` at its end a folder above it. */
export function covers(entry: string, path: string): boolean {
  return entry.endsWith('/') ? path.startsWith(entry) : path === entry
}

export function findAll(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map((match) => lineAt(text, match.index))
}
