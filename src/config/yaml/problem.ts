export const EXIT_CONFIG = 78

export interface Problem {
  /** A file relative to the working directory, `--set`, or the name of a variable. */
  readonly source: string
  readonly line?: number
  readonly column?: number
  /** Empty for the whole source. */
  readonly path: string
  /** Expected and found value, never a secret. */
  readonly message: string
  /** Wrong arguments that the advised command must omit. */
  readonly refusedWords?: readonly string[]
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  readonly again: string | undefined

  constructor(problems: readonly Problem[], again?: string) {
    const sorted = sortProblems(problems)
    super(formatProblems(sorted))
    this.problems = sorted
    this.again = again
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

/** @param again command to run after the correction */
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
