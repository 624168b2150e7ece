/** The fields of a log line. */
export type Facts = Readonly<Record<string, unknown>>

/** Longest text of one fact: what an exchange or a strategy says can have any length. */
const FACT_MAX = 300

/** A fact on one line, without control characters, cut to what a message has room for. */
export function showFact(fact: unknown): string {
  if (fact === undefined || fact === null) return ''
  const text = typeof fact === 'string' ? fact : (JSON.stringify(fact) ?? '')
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return line.length > FACT_MAX ? `${cutText(line, FACT_MAX)} …` : line
}

/** Its beginning: no half of a sign at the end, which JSON readers refuse. */
export function cutText(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '')
}

/** Where: the account, an instrument or a strategy. */
export function showScope(scope: unknown): string {
  const text = showFact(scope)
  if (text === '*') return 'the account'
  return text.startsWith('strategy:') ? `strategy ${text.slice('strategy:'.length)}` : text
}

/** A scope as a shell reads it back. */
export function toArgument(scope: unknown): string {
  const text = showFact(scope)
  return /^[\w:.-]+$/.test(text) ? text : `'${text.replaceAll("'", '')}'`
}
