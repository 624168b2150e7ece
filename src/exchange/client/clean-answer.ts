import { cleanLine } from '../../lib/text/clean-text.ts'

/** Names that the exchange gives: what is odd in one is not put right, since another order could be called so. */
const IDS: ReadonlySet<string> = new Set(['orderId', 'clientOid', 'tradeId', 'endId'])

const NUMBER = /^[\d.+-]*$/

/**
 * An answer whose texts are for people and files: on one line each, without signs that a terminal obeys, and then without
 * our secrets, whatever came between their letters. Ids only lose secrets; their pattern refuses what is odd in them.
 * Nothing but copying is done where the whole text shows that there is nothing to remove.
 * @param text from which `json` was parsed
 */
export function cleanAnswer(json: unknown, text: string, scrub: (text: string) => string): unknown {
  if (/^[\x20-\x5B\x5D-\x7E\t\n\r]*$/.test(text) && scrub(text) === text) return json
  return cleanPart('', json, scrub)
}

function cleanPart(name: string, value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === 'string') {
    // A short secret may stand in any number.
    if (NUMBER.test(value)) return value
    return scrub(IDS.has(name) ? value : cleanLine(value))
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((part) => cleanPart(name, part, scrub))
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      scrub(cleanLine(key)),
      cleanPart(key, part, scrub),
    ]),
  )
}
