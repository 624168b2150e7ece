/**
 * Foreign texts must not move a cursor, set a colour or turn the direction of writing. Such
 * characters are removed, not replaced, so that `HiddenTexts` finds a text behind them.
 */

const PLAIN = /^[\x20-\x7E]*$/

/** A terminal obeys these escapes. */
const ESCAPES = new RegExp(
  [
    String.raw`(?:\x1B\[|\x9B)[0-?]*[ -/]*[@-~]`,
    String.raw`(?:\x1B[\]PX^_]|[\x90\x98\x9D-\x9F])[^\x07\x1B\x9C\n]*(?:\x07|\x1B\\|\x9C)?`,
    String.raw`\x1B[ -/]*[0-~]`,
  ].join('|'),
  'g',
)

/** All control characters but the line break, signs of direction, and what has no width. */
const UNSEEN = /(?!\n)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g

export function cleanLine(text: string): string {
  return PLAIN.test(text) ? text : cleanLines(text.replaceAll(BREAKS, ' '))
}

export function cleanLines(text: string): string {
  if (PLAIN.test(text)) return text
  return text
    .replaceAll(ESCAPES, '')
    .replaceAll(/\r\n|\u2028|\u2029|\u0085/g, '\n')
    .replaceAll('\t', ' ')
    .replaceAll(UNSEEN, '')
}

export function cleanData(value: unknown): unknown {
  if (typeof value === 'string') return cleanLines(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list = value.map(cleanData)
    return list.every((part, index) => part === value[index]) ? value : list
  }
  // An error, a date or a secret shows itself in its own way.
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const entries = Object.entries(value)
  const clean = entries.map(([name, part]) => [cleanLine(name), cleanData(part)] as const)
  const isClean = clean.every(
    ([name, part], index) => name === entries[index]?.[0] && part === entries[index]?.[1],
  )
  return isClean ? value : Object.fromEntries(clean)
}
