/** A YAML document that knows the line and column of every value. */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type LineCounter,
  Pair,
  visit,
  YAMLMap,
} from 'yaml'
import type { z } from 'zod'
import type { Problem } from './problem.ts'
import { childSchema, isTextSchema } from './schema-walk.ts'
import { secretVariableFor } from '../secret-key.ts'
import { formatPath, quote, type SettingPath } from './setting-path.ts'
import { type ParsedText, parseText } from './yaml-text.ts'

/** A command-line setting has no line, and a path only if it differs. */
type SettingPlace = Pick<Problem, 'source' | 'line' | 'column'> & Partial<Pick<Problem, 'path'>>

export const SET_OPTION = '--set'
export const PARAM_OPTION = '--param'

const PARAMS = 'params'

/** Deeper nesting is a mistake or an attack. */
const DEPTH_MAX = 32

/** Counts an alias at each use, against alias bombs. */
const VALUES_MAX = 20_000

/** Source and overrides as data for a thread. */
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
  /** Relative to the working directory. */
  readonly shown: string
  readonly #document: Document
  readonly #lines: LineCounter
  readonly #complaints: ParsedText['complaints']
  readonly #text: string
  readonly #overridden: SourceOverride[] = []
  /** Nothing else in its file comes from the command line. */
  #strategy: string | undefined

  /** `shown` names it in messages. Never throws: see {@link check}. */
  constructor(text: string, shown: string) {
    const { document, lines, complaints } = parseText(text)
    this.shown = shown
    this.#text = text
    this.#document = document
    this.#lines = lines
    this.#complaints = complaints
  }

  /** Syntax, duplicate keys, secrets. {@link read} needs `usable`. */
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

  /** Includes null. */
  has(path: SettingPath): boolean {
    return this.#find(path).isFound
  }

  /** Empty if there is no mapping. */
  keysOf(path: SettingPath): readonly string[] {
    const { node } = this.#find(path)
    return isMap(node) ? node.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : []
  }

  /** If missing, that of the nearest parent's key. */
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

  /**
   * If text is expected, a number keeps its digits: an unquoted `0.10` becomes "0.10". Needs {@link
   * check}.
   */
  read(schema: z.core.$ZodType | undefined, path: SettingPath = []): unknown {
    return this.#toPlain(this.#find(path).node, schema)
  }

  /** Fits after "got"; never a secret. */
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

  /**
   * Applies `--set path=value`.
   * @returns its problem
   */
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

  /** A list of names, or a name without a value, becomes a mapping to empty ones. */
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

  /** For a strategy file, like {@link override}. */
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

  /** The file itself, not only an override, has the key. */
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

/** Such keys hold names of variables, but a secret may have been pasted. */
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
