/** Lines shown before and after what differs. */
const CONTEXT_LINES = 3
/** Of each side: a core that is another altogether would fill the screen for hours. */
const LINES_MAX = 40

/**
 * Two JSON texts line by line, from the first line that differs to the last: `-` was expected, `+` came. What is
 * the same around it stands there without a sign, as far as it helps.
 */
export function showDifference(
  expected: string | undefined,
  actual: string | undefined,
): readonly string[] {
  const [was, is] = [toLines(expected), toLines(actual)]
  let start = 0
  while (start < was.length && start < is.length && was[start] === is[start]) start += 1
  let end = 0
  const common = Math.min(was.length, is.length) - start
  while (end < common && was.at(-1 - end) === is.at(-1 - end)) end += 1
  return [
    ...was.slice(Math.max(0, start - CONTEXT_LINES), start).map((line) => `    ${line}`),
    ...limit(was.slice(start, was.length - end)).map((line) => `  - ${line}`),
    ...limit(is.slice(start, is.length - end)).map((line) => `  + ${line}`),
    ...was.slice(was.length - end, was.length - end + CONTEXT_LINES).map((line) => `    ${line}`),
  ]
}

function toLines(text: string | undefined): readonly string[] {
  return text === undefined
    ? ['nothing']
    : JSON.stringify(JSON.parse(text), undefined, 2).split('\n')
}

function limit(lines: readonly string[]): readonly string[] {
  if (lines.length <= LINES_MAX) return lines
  return [...lines.slice(0, LINES_MAX), `… and ${lines.length - LINES_MAX} lines more`]
}
