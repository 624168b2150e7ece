/** Rewords the parser's errors. */
import { type Alias, type Document, Lexer, LineCounter, parseDocument, visit } from 'yaml'

export interface ParsedText {
  readonly document: Document
  readonly lines: LineCounter
  /** With offsets. */
  readonly complaints: readonly Complaint[]
}

/** The parser's messages may repeat a secret pasted into the wrong file. */
const SENTENCES: Readonly<Record<string, string>> = {
  BAD_DQ_ESCAPE: 'unknown escape in a text between double quotes',
  BAD_INDENT:
    'the indentation does not fit the lines above: keys of one section begin in one column, with spaces, and what belongs to a key stands deeper than it',
  BAD_SCALAR_START: 'a text that starts with a special character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second ": " on this line; a text with ": " in it needs quotes',
  MISSING_CHAR:
    'something is missing here: a quote, a bracket, a comma, a colon or a space after one',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line and be followed by ": "',
  MULTIPLE_DOCS: 'a second document begins here; a file holds one',
  TAB_AS_INDENT: 'a tab cannot indent YAML; use spaces',
  TAG_RESOLVE_FAILED: 'this tag (!name) is not supported',
  UNEXPECTED_TOKEN: 'this does not belong here',
}

const DEEPER_BELOW =
  'the line below is indented deeper than this one, which has a value already; keys of one section begin in one column'

const COLON_MISSING = 'a colon is missing behind this key'

/** One slip in the shape of a text often makes all lines below it wrong. */
const OF_SHAPE: ReadonlySet<string> = new Set([
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
  'MISSING_CHAR',
  'TAB_AS_INDENT',
  'MULTILINE_IMPLICIT_KEY',
  'UNEXPECTED_TOKEN',
])

interface Complaint {
  readonly offset: number
  readonly message: string
}

function describe(text: string, code: string, offset: number): string {
  const sentence = SENTENCES[code] ?? 'this is not valid YAML'
  if (code !== 'BLOCK_AS_IMPLICIT_KEY' && code !== 'MULTILINE_IMPLICIT_KEY') return sentence
  const [line = ''] = text.slice(offset).split('\n', 1)
  if (/:(?:\s|$)/.test(line)) return sentence
  // The line's value continues below, where it meets the next key.
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return before.trim() === '' && /^[\w-]+$/.test(line.trim()) ? COLON_MISSING : DEEPER_BELOW
}

/** Errors about the shape may all follow from the first. */
function listCauses(text: string, { errors, warnings }: Document): Complaint[] {
  const found = [...errors, ...warnings].toSorted((one, other) => one.pos[0] - other.pos[0])
  const first = found.find(({ code }) => OF_SHAPE.has(code))
  return found
    .filter((one) => one === first || !OF_SHAPE.has(one.code))
    .map(({ code, pos: [offset] }) => ({ offset, message: describe(text, code, offset) }))
}

const COMPLAINTS_MAX = 20

/** Each alias searches the file above it, so many would take minutes. */
const ALIASES_MAX = 100

/** Thousands of levels take minutes. */
const BRACKETS_DEEP_MAX = 64

/** Ten times the largest sensible file. */
const TOKENS_MAX = 100_000

/** YAML 1.2. Never throws. */
export function parseText(text: string): ParsedText {
  const lines = new LineCounter()
  const excess = findExcess(text)
  if (excess !== undefined) {
    for (const line of text.matchAll(/^/gm)) lines.addNewLine(line.index)
    return { document: parseDocument(''), lines, complaints: [excess] }
  }
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
    })
    const complaints = listCauses(text, document)
    if (document.directives?.yaml.explicit && document.directives.yaml.version !== '1.2') {
      // YAML 1.1 would read 010 as eight and yes as true.
      complaints.push({ offset: 0, message: 'only YAML 1.2 is read; remove the %YAML line' })
    }
    const aliases = listAliases(document)
    const tooMany = aliases[ALIASES_MAX]
    if (tooMany !== undefined) {
      const message = `more than ${ALIASES_MAX} aliases (*name) in one file`
      return { document, lines, complaints: [{ offset: tooMany.range?.[0] ?? 0, message }] }
    }
    for (const alias of aliases.filter((each) => each.resolve(document) === undefined)) {
      complaints.push({
        offset: alias.range?.[0] ?? 0,
        message: 'this alias (*name) has no anchor (&name) above it',
      })
    }
    return { document, lines, complaints: complaints.slice(0, COMPLAINTS_MAX) }
  } catch {
    // The parser is recursive: deep nesting overflows its stack.
    const complaints = [
      { offset: 0, message: 'this is not valid YAML, or it is nested too deeply' },
    ]
    return { document: parseDocument(''), lines, complaints }
  }
}

/** The lexer's marks for the end of a document, a text or a line of brackets. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001F'])

/** Finds constructs that would keep the parser busy for seconds or minutes. */
function findExcess(text: string): ParsedText['complaints'][number] | undefined {
  let depth = 0
  let tokens = 0
  let offset = 0
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth++
    // An unmatched closing bracket must not make room for another opening one.
    else if (token === ']' || token === '}') depth = Math.max(0, depth - 1)
    if (depth > BRACKETS_DEEP_MAX) {
      return {
        offset,
        message: `more than ${BRACKETS_DEEP_MAX} brackets are open here, one in another`,
      }
    }
    if (++tokens > TOKENS_MAX)
      return { offset, message: `the file has more parts than are read (${TOKENS_MAX})` }
    if (!MARKS.has(token)) offset += token.length
  }
  return undefined
}

function listAliases(document: Document): readonly Alias[] {
  const aliases: Alias[] = []
  visit(document, { Alias: (_, alias) => void aliases.push(alias) })
  return aliases
}
