import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Pair,
  parseDocument,
  visit,
  YAMLMap,
} from 'yaml'
import type { z } from 'zod'
import { type Problem, formatPath, quote, type SettingPath } from './problem.ts'
import { childSchema, isTextSchema } from './schema-walk.ts'

/**
 * A setting of the command line has no line, and a path only if it differs from that in the file.
 */
type SettingPlace = Pick<Problem, 'source' | 'line' | 'column'> & Partial<Pick<Problem, 'path'>>

export const SET_OPTION = '--set'
export const PARAM_OPTION = '--param'

const PARAMS = 'params'

/** Deeper nesting is a mistake or an attack. */
const DEPTH_MAX = 32

/** An alias counts at each use, so that few lines cannot make millions of values. */
const VALUES_MAX = 20_000

export interface SourceCopy {
  readonly text: string
  readonly shown: string
  readonly overrides: readonly SourceOverride[]
}

interface SourceOverride {
  readonly path: readonly string[]
  readonly text: string
  readonly strategy: string | undefined
}

export class YamlSource {
  readonly shown: string
  readonly #document: Document
  readonly #lines: LineCounter
  readonly #complaints: ParsedText['complaints']
  readonly #text: string
  readonly #overridden: SourceOverride[] = []
  #strategy: string | undefined

  /** Never throws: see {@link check}. */
  constructor(text: string, shown: string) {
    const { document, lines, complaints } = parseText(text)
    this.shown = shown
    this.#text = text
    this.#document = document
    this.#lines = lines
    this.#complaints = complaints
  }

  /**
   * Checks syntax, duplicate keys and secrets. {@link read} may only be called if it is `usable`.
   */
  check(): { usable: boolean; problems: Problem[] } {
    if (this.#complaints.length > 0) {
      const problems = this.#complaints.map(({ offset, message }) =>
        this.#problemAt(this.#placeOf(offset), [], message),
      )
      return { usable: false, problems }
    }
    const root = this.#document.contents
    if (root === null || (isScalar(root) && root.value === null)) {
      return {
        usable: false,
        problems: [this.#problemAt(this.#placeOf(0), [], 'the file is empty')],
      }
    }
    if (!isMap(root)) {
      const message = `expected a mapping of settings, got ${isSeq(root) ? 'a list' : 'a single value'}`
      return { usable: false, problems: [this.problem([], message)] }
    }
    const walk: PlainWalk = { problems: [], values: 0, isBounded: true }
    this.#checkNode(root, { path: [], depth: 0, walk })
    return { usable: walk.isBounded, problems: walk.problems }
  }

  has(path: SettingPath): boolean {
    return this.#find(path).isFound
  }

  keysOf(path: SettingPath): readonly string[] {
    const { node } = this.#find(path)
    return isMap(node) ? node.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : []
  }

  /** The place of a missing setting is that of the nearest key above it. */
  locate(path: SettingPath): SettingPlace {
    if (this.#isOverridden(path)) return this.#placeOfOption(path)
    const { node, isFound } = this.#find(path)
    if (isFound && isNode(node) && node.range) return this.#placeOf(node.range[0])
    return this.locateKey(isFound ? path : path.slice(0, -1))
  }

  locateKey(path: SettingPath): SettingPlace {
    if (this.#isOverridden(path)) return this.#placeOfOption(path)
    if (path.length === 0) return this.#placeOf(this.#document.contents?.range?.[0] ?? 0)
    const { key, node, isFound } = this.#find(path)
    const place = isNode(key) && key.range ? key : node
    if (isFound && isNode(place) && place.range) return this.#placeOf(place.range[0])
    return this.locateKey(path.slice(0, -1))
  }

  problem(path: SettingPath, message: string): Problem {
    return this.#problemAt(this.locate(path), path, message)
  }

  problemOfKey(path: SettingPath, message: string): Problem {
    return this.#problemAt(this.locateKey(path), path, message)
  }

  /** An unquoted `0.10` becomes "0.10" where text is expected. Needs {@link check}. */
  read(schema: z.core.$ZodType | undefined, path: SettingPath = []): unknown {
    return this.#toPlain(this.#find(path).node, schema)
  }

  /** The text follows the word "got", and never contains a secret. */
  describe(path: SettingPath): string {
    const { node, isFound } = this.#find(path)
    if (!isFound) return 'nothing'
    if (path.some(mayHoldSecret)) return 'a value that is not shown'
    if (isMap(node)) return 'a mapping'
    if (isSeq(node))
      return node.items.length === 0 ? 'an empty list' : `a list of ${node.items.length}`
    if (!isScalar(node) || node.value === null) return 'nothing'
    return typeof node.value === 'string' ? quote(node.value) : (node.source ?? 'something else')
  }

  isMapping(path: SettingPath): boolean {
    return isMap(this.#find(path).node)
  }

  isText(path: SettingPath, text: string): boolean {
    const { node } = this.#find(path)
    return isScalar(node) && node.value === text
  }

  /** @returns what is wrong with it */
  override(path: readonly string[], text: string): string | undefined {
    const { document, complaints } = parseText(text)
    if (complaints.length > 0) return 'the value is not valid YAML'
    if (path.some((_, depth) => this.#isBeyondEnd(path.slice(0, depth + 1))))
      return 'this list is shorter'
    // Places in the other text are not places in the file.
    visit(document, { Node: (_, node) => void (node.range = null) })
    try {
      this.#document.setIn(path, document.contents)
    } catch {
      return 'there are no settings under this path'
    }
    this.#overridden.push({ path: [...path], text, strategy: this.#strategy })
    return undefined
  }

  expandNames(path: readonly string[]): void {
    const { node, isFound } = this.#find(path)
    if (!isFound) return
    if (isMap(node)) {
      for (const pair of node.items)
        if (isNothing(this.#resolve(pair.value))) pair.value = new YAMLMap()
      return
    }
    if (!isSeq(node) || !node.items.every((item) => isScalar(item))) return
    const names = new YAMLMap()
    names.range = node.range ?? null
    names.items = node.items.map((name) => new Pair(name, new YAMLMap()))
    this.#document.setIn(path, names)
  }

  overrideParam(strategy: string, path: readonly string[], text: string): string | undefined {
    this.#strategy = strategy
    return this.override([PARAMS, ...path], text)
  }

  copy(): SourceCopy {
    return { text: this.#text, shown: this.shown, overrides: this.#overridden }
  }

  repeat(overrides: readonly SourceOverride[]): void {
    for (const { path, text, strategy } of overrides) {
      this.#strategy = strategy
      this.override(path, text)
    }
  }

  #placeOfOption(path: SettingPath): SettingPlace {
    if (this.#strategy === undefined) return { source: SET_OPTION }
    return { source: PARAM_OPTION, path: formatPath([this.#strategy, ...path.slice(1)]) }
  }

  /** A value far beyond a list's end would leave a gap. */
  #isBeyondEnd(path: readonly string[]): boolean {
    const { node } = this.#find(path.slice(0, -1))
    return isSeq(node) && Number(path.at(-1)) > node.items.length
  }

  #isOverridden(path: SettingPath): boolean {
    const texts = path.map(String)
    return this.#overridden.some(({ path: overridden }) => {
      const isUnder = overridden.every((key, index) => key === texts[index])
      const isMadeFor =
        texts.every((key, index) => key === overridden[index]) && !this.#isInFile(path)
      return isUnder || isMadeFor
    })
  }

  #isInFile(path: SettingPath): boolean {
    const { key, node } = this.#find(path)
    return path.length === 0 || [key, node].some((part) => isNode(part) && part.range)
  }

  #find(path: SettingPath): NodeLookup {
    let found: NodeLookup = { key: undefined, node: this.#document.contents, isFound: true }
    for (const step of path) {
      const parent = this.#resolve(found.node)
      if (isMap(parent)) {
        const pair = parent.items.findLast((item) => keyText(item) === String(step))
        found = { key: pair?.key, node: this.#resolve(pair?.value), isFound: pair !== undefined }
      } else if (isSeq(parent) && Number(step) < parent.items.length) {
        found = { key: undefined, node: this.#resolve(parent.items[Number(step)]), isFound: true }
      } else return NOT_FOUND
    }
    return found
  }

  #resolve(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node
  }

  #checkNode(
    unresolved: unknown,
    { path, depth, walk }: { path: SettingPath; depth: number; walk: PlainWalk },
  ): void {
    if (!walk.isBounded) return
    walk.values += 1
    if (depth > DEPTH_MAX || walk.values > VALUES_MAX) {
      walk.isBounded = false
      walk.problems.push(this.problem(path.slice(0, 4), 'nested too deeply, or too many values'))
      return
    }
    const node = this.#resolve(unresolved)
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        this.#checkNode(item, { path: [...path, index], depth: depth + 1, walk })
      }
    }
    if (!isMap(node)) return
    const seen = new Set<string>()
    for (const pair of node.items) {
      const key = keyText(pair)
      const message = explainKey(key, seen)
      if (message !== undefined)
        walk.problems.push(this.#problemAt(this.#placeOfKey(pair, path), [...path, key], message))
      seen.add(key)
      this.#checkNode(pair.value, { path: [...path, key], depth: depth + 1, walk })
    }
  }

  #toPlain(unresolved: unknown, schema: z.core.$ZodType | undefined): unknown {
    const node = this.#resolve(unresolved)
    if (isMap(node)) {
      const entries = node.items.map((pair) => [keyText(pair), pair.value] as const)
      return Object.fromEntries(
        entries.map(([key, value]) => [
          key,
          this.#toPlain(value, schema && childSchema(schema, key)),
        ]),
      )
    }
    if (isSeq(node))
      return node.items.map((item, index) =>
        this.#toPlain(item, schema && childSchema(schema, index)),
      )
    if (!isScalar(node)) return null
    const isNumber = typeof node.value === 'number' && node.source !== undefined
    return isNumber && schema && isTextSchema(schema) ? node.source : node.value
  }

  #placeOfKey(pair: Pair, parent: SettingPath): SettingPlace {
    const isPlaced = isNode(pair.key) && pair.key.range
    return isPlaced ? this.#placeOf(isPlaced[0]) : this.locateKey([...parent, keyText(pair)])
  }

  #placeOf(offset: number): SettingPlace {
    const { line, col } = this.#lines.linePos(offset)
    return { source: this.shown, line: Math.max(line, 1), column: Math.max(col, 1) }
  }

  #problemAt(place: SettingPlace, path: SettingPath, message: string): Problem {
    return { path: formatPath(path), ...place, message }
  }
}

interface NodeLookup {
  readonly key: unknown
  readonly node: unknown
  readonly isFound: boolean
}

const NOT_FOUND: NodeLookup = { key: undefined, node: undefined, isFound: false }

interface PlainWalk {
  readonly problems: Problem[]
  values: number
  isBounded: boolean
}

/** These keys hold names of variables, but a secret may have been pasted there. */
function mayHoldSecret(key: PropertyKey): boolean {
  return secretVariableFor(String(key)) !== undefined || /^(?:v|\w+V)ariable$/.test(String(key))
}

/** `''` for a mapping or list as key. */
function keyText({ key }: Pair): string {
  if (!isScalar(key)) return typeof key === 'string' ? key : ''
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}

function isNothing(node: unknown): boolean {
  return node === null || node === undefined || (isScalar(node) && node.value === null)
}

function explainKey(key: string, seen: ReadonlySet<string>): string | undefined {
  if (seen.has(key)) return 'this key is written twice'
  if (key === '' || key === '__proto__') return 'this cannot be a key'
  const variable = secretVariableFor(key)
  return variable && `secrets do not belong in YAML; set ${variable} in the environment or in .env`
}

interface ParsedText {
  readonly document: Document
  readonly lines: LineCounter
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
    .map(({ code, pos: [offset] }) => {
      const open = code === 'BAD_INDENT' ? findOpenBracket(text, offset) : undefined
      return open ?? { offset, message: describe(text, code, offset) }
    })
}

/** The parser takes a list or section that goes on for a wrong indentation. */
function findOpenBracket(text: string, before: number): Complaint | undefined {
  const open: number[] = []
  let offset = 0
  for (const token of new Lexer().lex(text)) {
    if (offset >= before) break
    if (token === '[' || token === '{') open.push(offset)
    else if (token === ']' || token === '}') open.pop()
    if (!MARKS.has(token)) offset += token.length
  }
  const last = open.at(-1)
  if (last === undefined) return undefined
  const [opening, closing] = text[last] === '[' ? ['[', ']'] : ['{', '}']
  return { offset: last, message: `this ${opening} is not closed: a ${closing} is missing` }
}

const COMPLAINTS_MAX = 20

/** Each alias searches the file above it, so many would take minutes. */
const ALIASES_MAX = 100

const BRACKETS_DEEP_MAX = 64

const TOKENS_MAX = 100_000

/** YAML 1.2; the parser's errors are said in other words. Never throws. */
function parseText(text: string): ParsedText {
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

/** The lexer marks the end of a document, a text or a line of brackets with these. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001F'])

/** They would keep the parser busy for seconds or minutes. */
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

/** Keys that seem to hold a secret: lower case, no separators. */
const SECRET_KEYS = new Map([
  ['apikey', 'INTENTD_API_KEY'],
  ['accesskey', 'INTENTD_API_KEY'],
  ['apisecret', 'INTENTD_API_SECRET'],
  ['secret', 'INTENTD_API_SECRET'],
  ['secretkey', 'INTENTD_API_SECRET'],
  ['privatekey', 'INTENTD_API_SECRET'],
  ['passphrase', 'INTENTD_API_PASSPHRASE'],
  ['apipassphrase', 'INTENTD_API_PASSPHRASE'],
  ['password', 'INTENTD_API_PASSPHRASE'],
  ['bottoken', 'INTENTD_ALERT_...'],
  ['webhook', 'INTENTD_ALERT_...'],
  ['webhookurl', 'INTENTD_ALERT_...'],
])

export const secretVariableFor = (key: string): string | undefined =>
  SECRET_KEYS.get(key.toLowerCase().replaceAll(/[^a-z]/g, ''))
