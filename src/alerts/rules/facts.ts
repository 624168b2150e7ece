export type LogFacts = Readonly<Record<string, unknown>>

const FACT_MAX = 300

export function showFact(fact: unknown): string {
  if (fact === undefined || fact === null) return ''
  const text = typeof fact === 'string' ? fact : (JSON.stringify(fact) ?? '')
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return line.length > FACT_MAX ? `${cutText(line, FACT_MAX)} …` : line
}

/** JSON readers refuse half of a surrogate pair. */
export function cutText(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '')
}

export function showScope(scope: unknown): string {
  const text = showFact(scope)
  if (text === '*') return 'the account'
  return text.startsWith('strategy:') ? `strategy ${text.slice('strategy:'.length)}` : text
}

export function toArgument(scope: unknown): string {
  const text = showFact(scope)
  return /^[\w:.-]+$/.test(text) ? text : `'${text.replaceAll("'", '')}'`
}
