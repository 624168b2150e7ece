export const EXIT_CONFIG = 78

export interface Problem {
  /** The path of a file from the working directory, `--set`, or the name of a variable. */
  readonly source: string
  readonly line?: number
  readonly column?: number
  /** Empty if the problem concerns the whole source. */
  readonly path: string
  /** It says what was expected and found, and never contains a secret. */
  readonly message: string
  /** The advised command must leave out these wrong arguments. */
  readonly refusedWords?: readonly string[]
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  readonly again: string | undefined
  /** Says what was left as it was; `nothing was started` if undefined. */
  readonly kept: string | undefined

  constructor(problems: readonly Problem[], again?: string, kept?: string) {
    const sorted = sortProblems(problems)
    super(formatProblems(sorted, undefined, kept))
    this.problems = sorted
    this.again = again
    this.kept = kept
  }
}

export function sortProblems(problems: readonly Problem[]): Problem[] {
  const unique = new Map(problems.map((problem) => [formatProblem(problem), problem]))
  return [...unique.values()].toSorted(
    (a, b) =>
      compareText(a.source, b.source) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  )
}

/**
 * `config/paper.yaml:5:9 risk.openOrdersMax: expected a whole number from 1 to 1000, got "many"`.
 */
export function formatProblem({ source, line, column, path, message }: Problem): string {
  const place = line === undefined ? source : `${source}:${line}:${column ?? 1}`
  if (path === '') return `${place}: ${message}`
  return `${place} ${path}: ${message}`
}

/** @param again the command that is to be run after the correction */
export function formatProblems(
  problems: readonly Problem[],
  again = 'Check again with: intentd check',
  kept = 'nothing was started',
): string {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  return [...problems.map(formatProblem), '', `${count}; ${kept}. ${hideLogins(again)}`].join('\n')
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export type SettingPath = readonly PropertyKey[]

/** Keys with odd characters are quoted. */
export const formatPath = (path: SettingPath): string =>
  path
    .map((key) => (/^[\w-]{1,64}$/.test(String(key)) ? String(key) : quote(String(key))))
    .join('.')

export function quote(text: string): string {
  const safe = hideLogins(text)
  return JSON.stringify(safe.length > 60 ? `${safe.slice(0, 60)}…` : safe)
}

/** user:password@ and ?password= are secrets (SEC1). */
export function hideLogins(text: string): string {
  return text
    .replaceAll(/\/\/[^\s'"]*@/g, '//[hidden]@')
    .replaceAll(/([?&]password=)[^&\s'"]*/g, '$1[hidden]')
}
