import { LOG_EVENTS, type LogEvent } from '../../src/domain/log-events.ts'

/** One place that logs: the levels and the fields of each event that it may name. */
export interface LogCall {
  readonly file: string
  readonly uses: readonly { readonly event: LogEvent; readonly levels: readonly string[] }[]
  readonly fields: readonly string[]
}

/** Fields that are spread from a value: where its type stands. */
const SPREAD_TYPES: Readonly<Record<string, string>> = {
  jump: 'ClockJump',
  position: 'UnattendedPosition',
}

/** A call that hands on what another call has named. */
const HANDED_ON = /^(?:event|kind)$/

const LEVEL = /'(debug|info|warn|error|fatal)'/g

/**
 * Every call of the log in the sources (path, to content). A name that is put together stands for every event that
 * begins like it, is named nowhere in full, and whose end stands somewhere as a word of its own.
 */
export function readLogCalls(sources: ReadonlyMap<string, string>): readonly LogCall[] {
  const everything = [...sources.values()].join('\n')
  const found = [...sources].flatMap(([file, text]) =>
    readFile(file, text.replaceAll(/^ *\/\/.*$/gm, '')),
  )
  const named = new Set(found.flatMap(({ event }) => namesIn(event)))
  return found.map(({ file, text, level, event, fields }) => {
    const part = /\$\{/.test(event) ? event.slice(1, event.indexOf('${')) : undefined
    const events =
      part === undefined
        ? namesIn(event)
        : allEvents.filter(
            (name) => name.startsWith(part) && !named.has(name) && isWordOf(everything, name, part),
          )
    const uses = events.map((name) => ({
      event: name,
      levels: levelsOf({ level, event, name, text, everything }),
    }))
    return { file, uses, fields: fieldsOf(fields, text, everything) }
  })
}

/** The simulator's events are named in its own sources. */
function isWordOf(everything: string, name: LogEvent, part: string): boolean {
  return (
    part === 'simulator.' || new RegExp(`(?<!\\.)\\b${name.slice(part.length)}\\b`).test(everything)
  )
}

const allEvents = Object.keys(LOG_EVENTS) as readonly LogEvent[]

interface FoundCall {
  readonly file: string
  readonly text: string
  /** The arguments, as they stand in the source. */
  readonly level: string
  readonly event: string
  readonly fields: string
}

function readFile(file: string, text: string): readonly FoundCall[] {
  const calls = [...text.matchAll(/(?:\bannounce|#announce|\.log)\(/g)].map(({ index, 0: head }) =>
    splitArguments(text, index + head.length),
  )
  const literals = [
    ...text.matchAll(/kind: 'announce', level: ('\w+'), event: ('[\w.]+'), (fields)/g),
  ]
  return [
    ...calls.map((words) => (words[0] === 'core' ? words.slice(1) : words)),
    ...literals.map((one) => one.slice(1)),
  ]
    .filter(([, event = '']) => /['`]/.test(event) && !HANDED_ON.test(event))
    .map(([level = '', event = '', fields = '']) => ({ file, text, level, event, fields }))
}

function namesIn(event: string): readonly LogEvent[] {
  return [...event.matchAll(/'([a-zA-Z]+\.[a-zA-Z]+)'/g)].map(([, name]) => name as LogEvent)
}

interface LevelSource {
  readonly level: string
  readonly event: string
  readonly name: LogEvent
  readonly text: string
  readonly everything: string
}

/** `x ? 'error' : 'info'` beside `x ? 'a.b' : 'c.d'` is told apart, and so is a level that is looked up by the name. */
function levelsOf({ level, event, name, text, everything }: LevelSource): readonly string[] {
  const names = namesIn(event)
  const literals = matchesOf(LEVEL, level)
  if (names.length === 2 && literals.length === 2 && conditionOf(level) === conditionOf(event)) {
    return [literals[names.indexOf(name)] ?? '']
  }
  if (literals.length > 0) return [...new Set(literals)]
  const word = /\w+/.exec(level)?.[0] ?? ''
  const declared = declarationOf(word, text) ?? declarationOf(word, everything) ?? ''
  const last = name.slice(name.indexOf('.') + 1)
  const own = new RegExp(`\\b${last}: ${LEVEL.source}`).exec(declared)?.[1]
  const chosen = matchesOf(LEVEL, declared)
  return [own ?? (declared.includes(`'${last}'`) ? chosen[0] : chosen.at(-1)) ?? '']
}

function conditionOf(expression: string): string {
  return expression.split(' ? ')[0] ?? ''
}

function matchesOf(pattern: RegExp, text: string): readonly string[] {
  return [...text.matchAll(pattern)].map(([, match = '']) => match)
}

/** The text of `const NAME …` or `function NAME …`: to the end of its line, or of its brackets. */
function declarationOf(name: string, text: string): string | undefined {
  const start = new RegExp(`^ *(?:export )?(?:const|function|interface) ${name}\\b`, 'm').exec(text)
  if (!start) return undefined
  const rest = text.slice(start.index + start[0].length)
  const [line = ''] = rest.split('\n')
  if (!/[{[(]$/.test(line)) return line
  return rest.slice(0, rest.search(/\n *[}\])]/))
}

/** The names in an object literal; what is spread is followed to where it is made. */
function fieldsOf(expression: string, text: string, everything: string): readonly string[] {
  const source = expression.trim()
  if (source === '') return []
  if (!source.startsWith('{')) return fieldsOfName(source, text, everything)
  return splitArguments(source, 1).flatMap((entry) => {
    if (!entry.startsWith('...')) return [/^\w+/.exec(entry)?.[0] ?? '']
    const inner = entry.slice(3)
    const objects = objectsIn(inner)
    if (objects.length === 0) return fieldsOfName(inner, text, everything)
    return objects.flatMap((object) => fieldsOf(object, text, everything))
  })
}

function fieldsOfName(expression: string, text: string, everything: string): readonly string[] {
  const type = SPREAD_TYPES[expression]
  if (type !== undefined) return typeFields(declarationOf(type, everything) ?? '')
  const name = /^\w+/.exec(expression)?.[0] ?? ''
  const start = new RegExp(`(?:const ${name} = |function ${name}\\()`).exec(text)
  if (!start) return []
  const rest = text.slice(start.index)
  if (!start[0].startsWith('const'))
    return fieldsOf(rest.slice(rest.indexOf('return {') + 7), text, everything)
  const [line = ''] = rest.split('\n')
  const objects = objectsIn(line.endsWith('{') ? rest.slice(0, endOf(rest, line.length) + 1) : line)
  return objects.flatMap((object) => fieldsOf(object, text, everything))
}

/** The fields of an event of the simulator, by its kind. */
export function simulatorFields(
  kind: string,
  sources: ReadonlyMap<string, string>,
): readonly string[] {
  for (const text of sources.values()) {
    const at = text.indexOf(`readonly kind: '${kind}'`)
    if (at >= 0)
      return typeFields(text.slice(at, text.indexOf('}', at))).filter((name) => name !== 'kind')
  }
  return []
}

function typeFields(declaration: string): readonly string[] {
  return matchesOf(/readonly (\w+)\??:/g, declaration)
}

/** The outermost `{…}` of an expression, without those of its calls. */
function objectsIn(expression: string): readonly string[] {
  const objects: string[] = []
  for (let at = expression.indexOf('{'); at >= 0; at = expression.indexOf('{', at)) {
    const end = endOf(expression, at + 1)
    objects.push(expression.slice(at, end + 1))
    at = end
  }
  return objects
}

/** The arguments from a position behind the opening bracket on, each without the blanks around it. */
function splitArguments(text: string, start: number): readonly string[] {
  const found: string[] = []
  let [from, at] = [start, start]
  const end = endOf(text, start)
  for (; at < end; at += 1) {
    at = skip(text, at)
    if (text[at] !== ',') continue
    found.push(text.slice(from, at).trim())
    from = at + 1
  }
  return [...found, text.slice(from, end).trim()].filter((entry) => entry !== '')
}

/** Where the bracket closes that was opened before `start`. */
function endOf(text: string, start: number): number {
  let at = start
  while (at < text.length && !/[)\]}]/.test(text[at] ?? '')) at = skip(text, at) + 1
  return at
}

/** Over a string, or over a pair of brackets, to its last character. */
function skip(text: string, at: number): number {
  const char = text[at] ?? ''
  if (/['"`]/.test(char)) return text.indexOf(char, at + 1)
  return /[([{]/.test(char) ? endOf(text, at + 1) : at
}
