/** `notChecked`: it could not be looked at from here; somebody has to. */
export type FindingState = 'ok' | 'warn' | 'fail' | 'notChecked'

/** One thing that was looked at. Never holds a secret. */
export interface Finding {
  readonly state: FindingState
  readonly what: string
  /** What was found, a sentence without its full stop. */
  readonly found: string
  /** What to do; absent where there is nothing to do. */
  readonly advice?: string
}

export const ok = (what: string, found: string): Finding => ({ state: 'ok', what, found })

/** The other states come with what to do. */
export function finding(
  state: Exclude<FindingState, 'ok'>,
  what: string,
  found: string,
  advice: string,
): Finding {
  return { state, what, found, advice }
}

const SHOWN: Readonly<Record<FindingState, string>> = {
  ok: 'ok',
  warn: 'warn',
  fail: 'FAIL',
  notChecked: 'not checked',
}

/** A line for each, and one more for what to do. */
export function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ what }) => what.length))
  return findings.map((one) => formatFinding(one, width)).join('\n')
}

/** @param width Characters of the longest name beside it. */
export function formatFinding({ state, what, found, advice }: Finding, width: number): string {
  const line = `${SHOWN[state].padEnd(11)}  ${what.padEnd(width)}  ${found}`
  return advice === undefined ? line : `${line}\n${' '.repeat(width + 15)}-> ${advice}`
}
