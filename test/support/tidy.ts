// The rules of the house as functions over its sources: the tables first, the checks below. `.oxlintrc.json`
// says the imports part once more for the editor; the test compares the two.

import { dirname, join } from 'node:path/posix'
import { type ImportReference, type SourceText, findFunctions, lineAt, parseSource } from './source-text.ts'

/** Every room of src/ and its floor. An import points only to a lower floor. */
export const FLOORS: Readonly<Record<string, number>> = {
  cli: 7,
  daemon: 6,
  backtest: 6,
  interpreter: 5,
  engine: 4,
  market: 3,
  strategy: 3,
  risk: 3,
  execution: 3,
  exchange: 3,
  simulator: 3,
  journal: 3,
  recording: 3,
  control: 3,
  protocol: 2,
  config: 2,
  domain: 1,
  lib: 0,
}

/** Rooms that see less than their floor would allow. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  protocol: ['lib'],
  config: ['lib', 'domain'],
  simulator: ['lib', 'protocol'], // It is the other company.
  recording: ['lib'], // It keeps lines of text, whatever they say.
}

/** The core and its interpreter know the rooms that do I/O by their types, and the other company not at all. */
const NEVER: Readonly<Record<string, readonly string[]>> = {
  engine: ['simulator'],
  interpreter: ['simulator'],
}
const TYPES_ONLY: Readonly<Record<string, readonly string[]>> = {
  engine: ['exchange', 'journal', 'recording'],
  interpreter: ['exchange', 'journal', 'recording'],
}

/** Calls that make a program unrepeatable or unstoppable, and the files (or folders) that own each. */
const OWNED_CALLS: readonly { call: string; pattern: RegExp; owners: readonly string[] }[] = [
  { call: 'Date.now', pattern: /\bDate\.now\b/g, owners: ['src/lib/clock.ts'] },
  { call: 'new Date() of now', pattern: /\bnew Date\b(?!\s*\(\s*[^)\s])/g, owners: [] },
  {
    call: 'performance.now',
    pattern: /\bperformance\.now\b|\bprocess\.hrtime\b/g,
    owners: ['src/lib/clock.ts'],
  },
  { call: 'Math.random', pattern: /\bMath\.random\b/g, owners: [] },
  {
    call: 'true randomness',
    pattern: /\b(?:randomBytes|randomUUID|randomInt|getRandomValues)\b/g,
    owners: ['src/lib/entropy.ts'],
  },
  {
    call: 'a timer',
    pattern: /\b(?:setTimeout|setInterval|setImmediate)\b/g,
    owners: ['src/lib/timers.ts'],
  },
  {
    call: 'process.env',
    pattern: /\bprocess\.env\b/g,
    owners: ['src/config/secrets.ts', 'src/cli/', 'bin/'],
  },
  { call: 'process.exit', pattern: /\bprocess\.exit\b/g, owners: [] },
  { call: 'fetch', pattern: /(?<![\w.#$])fetch\s*\(/g, owners: [] },
]

/** Rooms that open nothing, and what that means. */
const PURE_ROOMS = ['domain', 'protocol', 'engine', 'interpreter', 'execution', 'risk']
const IMPURE_MODULES =
  /^(?:node:(?:fs|http|https|http2|net|tls|dgram|timers|worker_threads|child_process|sqlite)(?:\/.*)?|undici|pino)$/
const SYNCHRONOUS_ROOMS = ['engine', 'interpreter', 'execution', 'risk']

const FILE_LINES_MAX = 400
const FUNCTION_LINES_MAX = 70
/** Tables and schemas that may be longer. */
const LONG_TABLES: readonly string[] = []

const VAGUE_NAMES = ['utils', 'util', 'helpers', 'helper', 'common', 'types', 'index', 'misc']
/** The one public face may hand on what others define. */
const PUBLIC_FACE = 'src/strategy/contract.ts'

/** Where the program begins; every other file of src/ must be reached from here. */
const ROOT = 'src/cli/main.ts'
const ENTRIES = [
  ROOT,
  PUBLIC_FACE,
  'src/backtest/backtest.ts',
  'src/config/write-schemas.ts',
  'src/cli/docs/write-api-docs.ts',
  'bin/',
  'strategies/',
]

/** Traces of somebody's machine, in any tracked file. */
const TRACES: readonly { what: string; pattern: RegExp }[] = [
  {
    what: 'a path of one machine',
    pattern: /(?<![\w.~-])\/(?:home|Users)\/[\w.-]+\/|(?<![\w.~/-])\/(?:root|work)\/\w/g,
  },
  { what: 'a path of one machine', pattern: /\b[A-Z]:\\Users\\/g },
  { what: 'a package registry', pattern: /\bregistry\.[a-z0-9-]+\.[a-z]+|"resolved":\s*"https?:/g },
]

export interface Breach {
  rule: string
  file: string
  line: number
  message: string
}

interface HouseFile extends SourceText {
  path: string
  /** Of src/; undefined for bin/ and strategies/. */
  room: string | undefined
  lines: number
}

type House = ReadonlyMap<string, HouseFile>
type FileRule = (file: HouseFile) => Breach[]

/** All breaches of the house rules in these sources (path from the root of the repository, to content). */
export function checkHouse(sources: ReadonlyMap<string, string>): Breach[] {
  const house: House = new Map([...sources].map(([path, source]) => [path, readFile(path, source)]))
  const ofFiles = [...house.values()].flatMap((file) => FILE_RULES.flatMap((rule) => rule(file)))
  return [...ofFiles, ...checkCycles(house), ...checkDeadFiles(house)]
}

/** Machine paths and registry hosts in any text: documents and lock files too. */
export function checkTraces(texts: ReadonlyMap<string, string>): Breach[] {
  return [...texts].flatMap(([file, text]) =>
    TRACES.flatMap(({ what, pattern }) =>
      [...text.matchAll(pattern)].map((match) => ({
        rule: 'trace',
        file,
        line: lineAt(text, match.index),
        message: `names ${what}: ${match[0]}`,
      })),
    ),
  )
}

export function toText({ rule, file, line, message }: Breach): string {
  return `${file}:${line} ${message} [${rule}]`
}

/** Whether a file of one room may import a file of another; `types` means by `import type` only. */
export function judgeImport(from: string, to: string): 'yes' | 'types' | 'no' {
  if (from === to) return 'yes'
  const [floor, target] = [FLOORS[from], FLOORS[to]]
  if (floor === undefined || target === undefined || target >= floor) return 'no'
  if (ONLY[from]?.includes(to) === false || NEVER[from]?.includes(to) === true) return 'no'
  return TYPES_ONLY[from]?.includes(to) === true ? 'types' : 'yes'
}

function readFile(path: string, source: string): HouseFile {
  const lines = source.split('\n').length - (source.endsWith('\n') ? 1 : 0)
  return { path, room: toRoom(path), lines, ...parseSource(source) }
}

function toRoom(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}

const FILE_RULES: readonly FileRule[] = [
  checkFloors,
  checkStrategyImports,
  checkOwnedCalls,
  checkPureImports,
  checkSynchronous,
  checkLengths,
  checkName,
  checkBarrel,
  checkAny,
  checkTickets,
  checkReminders,
]

function checkFloors({ path, room, imports }: HouseFile): Breach[] {
  if (!path.startsWith('src/')) return []
  if (room === undefined || FLOORS[room] === undefined) {
    return [{ rule: 'floor', file: path, line: 1, message: 'stands in no room of the house' }]
  }
  return imports.flatMap((reference) => {
    const target = toPath(path, reference)
    if (target === undefined) return []
    const other = toRoom(target)
    const verdict = other === undefined ? 'no' : judgeImport(room, other)
    if (verdict === 'yes' || (verdict === 'types' && reference.typeOnly)) return []
    const how = verdict === 'types' ? 'imports more than types of' : 'may not import'
    return [{ rule: 'floor', file: path, line: reference.line, message: `${room} ${how} ${target}` }]
  })
}

function checkStrategyImports({ path, imports }: HouseFile): Breach[] {
  const inStrategies = path.startsWith('strategies/')
  return imports
    .filter(({ specifier }) => (specifier === '#strategy') !== inStrategies)
    .map(({ specifier, line }) => ({
      rule: 'strategy-import',
      file: path,
      line,
      message: inStrategies ? `a strategy imports only '#strategy', not '${specifier}'` : 'is no strategy',
    }))
}

function checkOwnedCalls({ path, code }: HouseFile): Breach[] {
  return OWNED_CALLS.filter(({ owners }) => !owners.some((owner) => owns(owner, path))).flatMap(
    ({ call, pattern, owners }) =>
      findAll(code, pattern).map((line) => ({
        rule: 'owned-call',
        file: path,
        line,
        message: `uses ${call}, which ${owners.length === 0 ? 'nobody may' : `only ${owners.join(', ')} may`}`,
      })),
  )
}

function checkPureImports({ path, room, imports }: HouseFile): Breach[] {
  if (room === undefined || !PURE_ROOMS.includes(room)) return []
  return imports
    .filter(({ specifier }) => IMPURE_MODULES.test(specifier))
    .map(({ specifier, line }) => ({
      rule: 'pure-import',
      file: path,
      line,
      message: `${room} opens nothing, and this imports '${specifier}'`,
    }))
}

function checkSynchronous({ path, room, code }: HouseFile): Breach[] {
  if (room === undefined || !SYNCHRONOUS_ROOMS.includes(room)) return []
  return findAll(code, /(?<![\w.$])(?:async|await|Promise)\b/g).map((line) => ({
    rule: 'synchronous',
    file: path,
    line,
    message: `${room} never awaits`,
  }))
}

function checkLengths({ path, lines, code }: HouseFile): Breach[] {
  const breaches = findFunctions(code)
    .filter((span) => span.lines > FUNCTION_LINES_MAX)
    .map((span) => ({
      rule: 'function-length',
      file: path,
      line: span.line,
      message: `a function of ${span.lines} lines; the wall is ${FUNCTION_LINES_MAX}`,
    }))
  if (lines <= FILE_LINES_MAX || LONG_TABLES.includes(path)) return breaches
  const message = `${lines} lines; the wall is ${FILE_LINES_MAX}`
  return [...breaches, { rule: 'file-length', file: path, line: lines, message }]
}

function checkName({ path }: HouseFile): Breach[] {
  const stems = path.replace(/\.[cm]?[jt]s$/, '').split('/')
  const notKebab = stems.filter((stem) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(stem))
  const vague = stems.filter((stem) => VAGUE_NAMES.includes(stem))
  return [
    ...notKebab.map((stem) => `'${stem}' is not kebab-case`),
    ...vague.map((stem) => `'${stem}' names no subject`),
  ].map((message) => ({ rule: 'file-name', file: path, line: 1, message }))
}

function checkBarrel({ path, code }: HouseFile): Breach[] {
  if (path === PUBLIC_FACE) return []
  const rest = code
    .replaceAll(/\b(?:import|export)\s+(?:type\s+)?(?:[\w$*\s,]|\{[^{}]*\})*?from\s*(['"])[^'"]*\1/g, '')
    .replaceAll(/\bimport\s*(['"])[^'"]*\1/g, '')
    .replaceAll(/\bexport\s+(?:type\s+)?\{[^{}]*\}/g, '')
  const isBarrel = /\bexport\b/.test(code) && /^[\s;]*$/.test(rest)
  return isBarrel
    ? [{ rule: 'barrel', file: path, line: 1, message: 'only hands on what others define' }]
    : []
}

function checkAny({ path, code }: HouseFile): Breach[] {
  return findAll(code, /(?<![\w.$#-])any\b(?!\s*[(:])|\bz\.any\(/g).map((line) => ({
    rule: 'any',
    file: path,
    line,
    message: 'any switches the types off; take unknown',
  }))
}

/** Where each proof that a step was not skipped is made, and nowhere else. */
const TICKET_MAKERS: Readonly<Record<string, string>> = {
  Approved: 'src/risk/approve.ts',
  Recorded: 'src/engine/orders/record-send.ts',
}

function checkTickets({ path, code }: HouseFile): Breach[] {
  return Object.entries(TICKET_MAKERS)
    .filter(([, maker]) => path !== maker)
    .flatMap(([ticket, maker]) =>
      findAll(code, new RegExp(`\\bas\\s+${ticket}\\b`, 'g')).map((line) => ({
        rule: 'ticket',
        file: path,
        line,
        message: `makes ${ticket}, which only ${maker} may`,
      })),
    )
}

function checkReminders({ path, comments }: HouseFile): Breach[] {
  return findAll(comments, /\b(?:TODO|FIXME|XXX|HACK)\b/g).map((line) => ({
    rule: 'reminder',
    file: path,
    line,
    message: 'do it, or write it where it is planned',
  }))
}

function checkCycles(house: House): Breach[] {
  const breaches: Breach[] = []
  const finished = new Set<string>()
  const trail: string[] = []
  const visit = (path: string): void => {
    const start = trail.indexOf(path)
    if (start >= 0) {
      const message = `imports itself: ${[...trail.slice(start), path].join(' > ')}`
      breaches.push({ rule: 'cycle', file: path, line: 1, message })
    }
    if (start >= 0 || finished.has(path)) return
    trail.push(path)
    for (const target of importedBy(house, path)) visit(target)
    trail.pop()
    finished.add(path)
  }
  for (const path of house.keys()) visit(path)
  return breaches
}

/** While the program has no beginning yet, no file can be called dead. */
function checkDeadFiles(house: House): Breach[] {
  if (!house.has(ROOT)) return []
  const reached = new Set([...house.keys()].filter((path) => ENTRIES.some((entry) => owns(entry, path))))
  for (const path of reached) for (const target of importedBy(house, path)) reached.add(target)
  return [...house.keys()]
    .filter((path) => !reached.has(path))
    .map((file) => ({ rule: 'dead-file', file, line: 1, message: 'no entry point leads here' }))
}

/** The files of the house that this one imports. */
function importedBy(house: House, path: string): string[] {
  const targets = house.get(path)?.imports.map((reference) => toPath(path, reference)) ?? []
  return targets.flatMap((target) => [target, `${target}.ts`].find((name) => house.has(name ?? '')) ?? [])
}

/** Path from the root of the repository; undefined for packages. */
function toPath(from: string, { specifier }: ImportReference): string | undefined {
  if (specifier === '#strategy') return PUBLIC_FACE
  return specifier.startsWith('.') ? join(dirname(from), specifier) : undefined
}

function owns(owner: string, path: string): boolean {
  return owner.endsWith('/') ? path.startsWith(owner) : path === owner
}

function findAll(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map((match) => lineAt(text, match.index))
}
