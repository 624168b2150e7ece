/** Brackets alone would keep the parser busy for seconds. */
const DEPTH_MAX = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** @throws SyntaxError for no JSON, or more than 64 levels, counted before parsing */
export function parseBoundedJson(
  text: string,
  reviver?: Parameters<typeof JSON.parse>[1],
): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`nested deeper than ${DEPTH_MAX} levels`)
  return JSON.parse(text, reviver)
}

/** The parser refuses earlier what this misreads. */
function isTooDeep(text: string): boolean {
  if (text.length <= DEPTH_MAX) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at)
    else if (code === 0x5b || code === 0x7b) depth++
    else if (code === 0x5d || code === 0x7d) depth--
    if (depth > DEPTH_MAX) return true
  }
  return false
}

function endOfText(text: string, at: number): number {
  for (let index = at + 1; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) return index
    if (code === BACKSLASH) index++
  }
  return text.length
}
