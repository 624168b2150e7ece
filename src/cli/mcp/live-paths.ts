import { MOVE_MAX, MOVE_MIN, MOVE_USUAL } from '../../control/what-if-view.ts'
import { parseInstant } from '../process/options.ts'

interface ExplainInput {
  readonly subject: string
  readonly since?: string | undefined
  readonly limit: number
}

/** Where the daemon answers what a tool asks for; undefined if only its command can. */
export function explainPath({ subject, since, limit: most }: ExplainInput): string | undefined {
  const sinceAt = since === undefined ? undefined : tryInstant(since)
  if (since !== undefined && sinceAt === undefined) return undefined
  const search = new URLSearchParams({
    subject,
    ...(sinceAt !== undefined && { since: String(sinceAt) }),
    limit: String(most),
  })
  return `/v1/explain?${search.toString()}`
}

/** Undefined: the command says how an instant is written. */
function tryInstant(text: string): number | undefined {
  try {
    return parseInstant(text)
  } catch {
    return undefined
  }
}

interface WhatIfInput {
  readonly move?: readonly string[] | undefined
  readonly fillAll: boolean
}

/** The command alone knows which instruments may be named. */
export function whatIfPath({ move: texts = [], fillAll }: WhatIfInput): string | undefined {
  if (texts.some((text) => text.includes('='))) return undefined
  const last = texts.at(-1)
  const share = last === undefined ? MOVE_USUAL : Number(last.slice(0, -1)) / 100
  if (!(share >= MOVE_MIN && share <= MOVE_MAX)) return undefined
  const fill = fillAll ? 'all' : 'reached'
  return `/v1/whatif?${new URLSearchParams({ move: String(share), moves: '', fill }).toString()}`
}
