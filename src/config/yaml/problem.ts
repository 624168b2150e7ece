/** Problems of the operator's input, and their text. */

import { hideLogins } from './setting-path.ts'

/** Exit code of a process that cannot start with this configuration (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIG = 78

/** One thing to correct. */
export interface Problem {
  /** A file as the operator would type it here, `--set`, or the name of an environment variable. */
  readonly source: string
  /** From 1; absent if there is no text to point at. */
  readonly line?: number
  readonly column?: number
  /** Dotted path of the setting such as `risk.openOrdersMax`; empty for the whole source. */
  readonly path: string
  /** The expected and the found value. Never a secret. */
  readonly message: string
  /**
   * Options or the file on the command line that the next command must omit, because they are
   * wrong.
   */
  readonly refusedWords?: readonly string[]
}

/** Thrown when the configuration cannot be used; carries every problem of every file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  /** The next command after the correction, if that is not to check the configuration. */
  readonly again: string | undefined

  constructor(problems: readonly Problem[], again?: string) {
    const sorted = sortProblems(problems)
    super(formatProblems(sorted))
    this.problems = sorted
    this.again = again
  }
}

/** Sorts by source, line and column, otherwise in the order found, and removes duplicates. */
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

/**
 * @param again The command to run after the correction.
 * @param kept The outcome so far.
 */
export function formatProblems(
  problems: readonly Problem[],
  again = 'Check again with: intentd check',
  kept = 'nothing was started',
): string {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  return [...problems.map(formatProblem), '', `${count}; ${kept}. ${hideLogins(again)}`].join('\n')
}

/** Code-unit order: the same on every machine and in every locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
