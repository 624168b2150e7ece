/** What is wrong with what the operator wrote, and how it is printed. */

import { hideLogins } from './setting-path.ts'

/** Exit code of a process that cannot start with this configuration (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIG = 78

/** One thing to put right. */
export interface Problem {
  /** A file as the operator would type it here, `--set`, or the name of an environment variable. */
  readonly source: string
  /** From 1; absent where there is no text to point at. */
  readonly line?: number
  readonly column?: number
  /** Dotted path of the setting such as `risk.openOrdersMax`; empty for the whole source. */
  readonly path: string
  /** What was expected and what was found. Never a secret. */
  readonly message: string
  /** Options or the file of the command line that must not be given again, because they are what is wrong. */
  readonly refusedWords?: readonly string[]
}

/** Thrown when the configuration cannot be used; carries every problem of every file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  /** What to do when they are put right, where that is not to check the configuration. */
  readonly again: string | undefined

  constructor(problems: readonly Problem[], again?: string) {
    const sorted = sortProblems(problems)
    super(formatProblems(sorted))
    this.problems = sorted
    this.again = again
  }
}

/** By source, then line, then column; in the order found where these are equal. Says each thing once. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  const unique = new Map(problems.map((problem) => [formatProblem(problem), problem]))
  return [...unique.values()].toSorted(
    (a, b) =>
      compareText(a.source, b.source) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  )
}

/** `config/paper.yaml:5:9 risk.openOrdersMax: expected a whole number from 1 to 1000, got "many"`. */
export function formatProblem({ source, line, column, path, message }: Problem): string {
  const place = line === undefined ? source : `${source}:${line}:${column ?? 1}`
  if (path === '') return `${place}: ${message}`
  return `${place} ${path}: ${message}`
}

/** @param again What to do next, when they are put right: the command that was given, with what was wrong in it. @param kept What came of it. */
export function formatProblems(
  problems: readonly Problem[],
  again = 'Check again with: intentd check',
  kept = 'nothing was started',
): string {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  return [...problems.map(formatProblem), '', `${count}; ${kept}. ${hideLogins(again)}`].join('\n')
}

/** Code-unit order: the same on every machine, whatever its language. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
