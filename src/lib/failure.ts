import { cleanLines } from './text/clean-text.ts'

export interface FailureDetails {
  readonly code: string
  readonly sentence: string
  /** They contain no secret. */
  readonly facts?: Readonly<Record<string, string | number>>
  readonly hint?: string
  readonly cause?: unknown
}

/**
 * The message lets a person act: the misconfigured, the broken, the impossible. Expected outcomes
 * are values.
 */
export class Failure extends Error {
  override readonly name: string = 'Failure'
  readonly code: string
  readonly facts: Readonly<Record<string, string | number>>
  readonly hint: string | undefined

  constructor(details: FailureDetails) {
    super(
      renderFailure(details),
      details.cause === undefined ? undefined : { cause: details.cause },
    )
    this.code = details.code
    this.facts = details.facts ?? {}
    this.hint = details.hint
  }
}

function renderFailure({ code, sentence, facts = {}, hint }: FailureDetails): string {
  const rows = Object.entries(facts).map(([name, value]) => [name, String(value)] as const)
  if (hint !== undefined) rows.push(['hint', hint])
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  // A file's text may be anything, and no terminal is to obey it.
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${cleanLines(value)}`)
  return [`${code}: ${sentence}`, ...lines].join('\n')
}

export function headlineOf(error: unknown): string {
  return messageOf(error).split('\n', 1).join('')
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const message = error.message || error.name
  const cause = error.cause === undefined ? '' : messageOf(error.cause)
  return cause === '' || message.includes(cause) ? message : `${message}: ${cause}`
}
