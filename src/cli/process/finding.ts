/** A person has to check what is `notChecked`. */
export type FindingState = 'ok' | 'warn' | 'fail' | 'notChecked'

/** Holds no secret. */
export interface CheckFinding {
  readonly state: FindingState
  readonly what: string
  readonly found: string
  readonly advice?: string
}

export const ok = (what: string, found: string): CheckFinding => ({ state: 'ok', what, found })

export function finding(
  state: Exclude<FindingState, 'ok'>,
  what: string,
  found: string,
  advice: string,
): CheckFinding {
  return { state, what, found, advice }
}

const SHOWN: Readonly<Record<FindingState, string>> = {
  ok: 'ok',
  warn: 'warn',
  fail: 'FAIL',
  notChecked: 'not checked',
}

export function formatFindings(findings: readonly CheckFinding[]): string {
  const width = Math.max(...findings.map(({ what }) => what.length))
  return findings.map((one) => formatFinding(one, width)).join('\n')
}

export function formatFinding({ state, what, found, advice }: CheckFinding, width: number): string {
  const line = `${SHOWN[state].padEnd(11)}  ${what.padEnd(width)}  ${found}`
  return advice === undefined ? line : `${line}\n${' '.repeat(width + 15)}-> ${advice}`
}
