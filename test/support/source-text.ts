// A small lexer of TypeScript for the tidy rules, which tells code from comments and strings.
// TypeScript 7 has no API in JavaScript.

export interface ImportReference {
  specifier: string
  line: number
  /** Erased before the program runs. */
  typeOnly: boolean
}

export interface FunctionSpan {
  line: number
  lines: number
}

export interface SourceText {
  /** With comments, string contents and regular expressions blanked; same length and lines. */
  code: string
  /** Only the comments, the rest blanked; same length and lines. */
  comments: string
  imports: readonly ImportReference[]
}

interface StringToken {
  start: number
  value: string
}

/** After these a `/` starts a regular expression, otherwise it divides. */
const BEFORE_REGEX =
  /(?:^|[=([{,;:!&|?+\-*%<>~^]|\b(?:return|typeof|case|in|of|void|throw|new|await|yield|else|do))$/

class Lexer {
  readonly #source: string
  readonly #code: string[]
  readonly #comments: string[]
  readonly strings: StringToken[] = []
  #at = 0

  constructor(source: string) {
    this.#source = source
    this.#code = source.split('')
    this.#comments = source.replaceAll(/[^\n]/g, ' ').split('')
  }

  read(): { code: string; comments: string } {
    this.#readCode(undefined)
    return { code: this.#code.join(''), comments: this.#comments.join('') }
  }

  /** Reads code until the end, or the `}` that closes a template's `${`. */
  #readCode(until: '}' | undefined): void {
    let depth = 0
    while (this.#at < this.#source.length) {
      const char = this.#source[this.#at]
      if (char === '{') depth += 1
      if (char === '}') {
        if (until !== undefined && depth === 0) return
        depth -= 1
      }
      if (!this.#readToken(char)) this.#at += 1
    }
  }

  /** True if something other than plain code was read. */
  #readToken(char: string | undefined): boolean {
    const pair = this.#source.slice(this.#at, this.#at + 2)
    if (pair === '//') return this.#readComment('\n', 0)
    if (pair === '/*') return this.#readComment('*/', 2)
    if (this.#at === 0 && pair === '#!') return this.#readComment('\n', 0)
    if (char === "'" || char === '"') return this.#readString(char)
    if (char === '`') return this.#readTemplate()
    if (char === '/') return this.#readRegex()
    return false
  }

  #readComment(end: string, endLength: number): true {
    const found = this.#source.indexOf(end, this.#at + 2)
    const stop = found < 0 ? this.#source.length : found + endLength
    for (let at = this.#at; at < stop; at += 1) this.#comments[at] = this.#source[at] ?? ' '
    this.#blank(this.#at, stop)
    this.#at = stop
    return true
  }

  #readString(quote: string): true {
    const start = this.#at
    this.#at += 1
    while (
      this.#at < this.#source.length &&
      this.#source[this.#at] !== quote &&
      this.#source[this.#at] !== '\n'
    ) {
      this.#at += this.#source[this.#at] === '\\' ? 2 : 1
    }
    this.strings.push({ start, value: this.#source.slice(start + 1, this.#at) })
    this.#blank(start + 1, this.#at)
    this.#at += 1
    return true
  }

  #readTemplate(): true {
    let textStart = this.#at + 1
    this.#at += 1
    while (this.#at < this.#source.length && this.#source[this.#at] !== '`') {
      if (this.#source[this.#at] === '\\') this.#at += 2
      else if (this.#source.startsWith('${', this.#at)) {
        this.#blank(textStart, this.#at)
        this.#at += 2
        this.#readCode('}')
        this.#at += 1
        textStart = this.#at
      } else this.#at += 1
    }
    this.#blank(textStart, this.#at)
    this.#at += 1
    return true
  }

  #readRegex(): boolean {
    const before = this.#code
      .slice(Math.max(0, this.#at - 80), this.#at)
      .join('')
      .trimEnd()
    if (!BEFORE_REGEX.test(before)) return false
    let inClass = false
    for (let at = this.#at + 1; at < this.#source.length && this.#source[at] !== '\n'; at += 1) {
      const char = this.#source[at]
      if (char === '\\') at += 1
      else if (char === '[') inClass = true
      else if (char === ']') inClass = false
      else if (char === '/' && !inClass) {
        this.#blank(this.#at + 1, at)
        this.#at = at + 1
        return true
      }
    }
    return false
  }

  #blank(start: number, end: number): void {
    for (let at = start; at < end; at += 1) if (this.#code[at] !== '\n') this.#code[at] = ' '
  }
}

export function parseSource(source: string): SourceText {
  const lexer = new Lexer(source)
  const { code, comments } = lexer.read()
  const imports = lexer.strings.flatMap((token) => toImport(code, token) ?? [])
  return { code, comments, imports }
}

function toImport(code: string, { start, value }: StringToken): ImportReference | undefined {
  const before = code.slice(0, start).trimEnd()
  const reference = { specifier: value, line: lineAt(code, start) }
  if (/\bfrom$/.test(before)) {
    const heads = [...before.matchAll(/\b(?:import|export)\b/g)]
    return { ...reference, typeOnly: isTypeOnly(before.slice(heads.at(-1)?.index ?? 0)) }
  }
  if (/\bimport$/.test(before)) return { ...reference, typeOnly: false }
  if (/\bimport\s*\($/.test(before)) return { ...reference, typeOnly: false }
  // A worker's file may have a computed ending: new URL('./worker.ts', …), new URL('./worker' +
  // ending, …).
  const isCode = /\.[cm]?[jt]s$/.test(value) || /^\s*\+/.test(code.slice(start + value.length + 2))
  if (/\bnew\s+URL\s*\($/.test(before) && isCode) return { ...reference, typeOnly: false }
  return undefined
}

function isTypeOnly(statement: string): boolean {
  if (/^(?:import|export)\s+type\b(?!\s+from\b|\s*,)/.test(statement)) return true
  const names = /^(?:import|export)\s*\{([^}]*)\}\s*from$/.exec(statement)?.[1]?.split(',')
  const named = names?.map((name) => name.trim()).filter((name) => name !== '') ?? []
  return named.length > 0 && named.every((name) => name.startsWith('type '))
}

export function lineAt(text: string, position: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < position; at = text.indexOf('\n', at + 1))
    line += 1
  return line
}

/**
 * Functions with bodies in braces, as lines from `{` to `}`. Works on `code` of
 * {@link parseSource}.
 */
export function findFunctions(code: string): FunctionSpan[] {
  const spans: FunctionSpan[] = []
  for (const start of findBodies(code)) {
    const end = findClosing(code, start)
    const line = lineAt(code, start)
    spans.push({ line, lines: lineAt(code, end) - line + 1 })
  }
  return spans
}

/** Positions of `{` after `=>`, or after parameters and a return type. */
function findBodies(code: string): Set<number> {
  const bodies = new Set<number>()
  for (const arrow of code.matchAll(/=>\s*\{/g)) bodies.add(arrow.index + arrow[0].length - 1)
  // A named function, method, constructor or accessor (`name(`, `name<T>(`), but no control
  // statement.
  const head =
    /(?<![\w.$])(?!(?:if|for|while|switch|catch|with|return|await|typeof)\b)(#?[A-Za-z_$][\w$]*)\s*(?:<[^()]*>)?\(/g
  for (const match of code.matchAll(head)) {
    const closing = findClosing(code, match.index + match[0].length - 1)
    const body = findBodyAfter(code, closing + 1)
    if (body !== undefined) bodies.add(body)
  }
  return bodies
}

/** Skips an optional return type; undefined without a body (a call, a signature). */
function findBodyAfter(code: string, position: number): number | undefined {
  const direct = /^\s*(:)?\s*/.exec(code.slice(position, position + 200))
  let at = position + (direct?.[0].length ?? 0)
  if (direct?.[1] === undefined) return code[at] === '{' ? at : undefined
  let previous = ':'
  while (at < code.length) {
    const char = code[at] ?? ''
    if (char === '{' && !/[:|&<,(?]/.test(previous)) return at
    if (char === '{' || char === '(' || char === '[') at = findClosing(code, at)
    else if (/[;,)}\]=]/.test(char) && !(char === '=' && code[at + 1] === '>')) return undefined
    else if (char === '\n' && !/[:|&<,(?]/.test(previous)) return undefined
    if (char.trim() !== '') previous = char === '{' ? '}' : char
    at += 1
  }
  return undefined
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

function findClosing(code: string, start: number): number {
  const expected: string[] = []
  for (let at = start; at < code.length; at += 1) {
    const char = code[at] ?? ''
    const closing = CLOSING[char]
    if (closing !== undefined) expected.push(closing)
    else if (char === expected.at(-1)) {
      expected.pop()
      if (expected.length === 0) return at
    }
  }
  return code.length
}
