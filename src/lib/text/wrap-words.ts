/** A longer word stays whole. */
export function wrapWords(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(/\s*\p{Cc}[\s\p{Cc}]*| /u)) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

const HANGING = '  '

export function wrapForScreen(text: string, columns: number): string {
  const wrapped = text.split('\n').flatMap((line) => {
    if (line.length <= columns) return [line]
    const [indent = ''] = /^ */.exec(line) ?? []
    const rest = wrapWords(line.trimStart(), columns - indent.length - HANGING.length)
    return rest.map((part, index) => `${indent}${index === 0 ? '' : HANGING}${part}`)
  })
  return wrapped.join('\n')
}
