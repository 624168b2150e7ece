import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { LOG_EVENTS, type LogEvent } from '../../src/domain/log-events.ts'
import { readLogCalls, simulatorFields } from './log-calls.ts'

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url))
const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal']

/** The log shows steps of a grid as decimals. */
const SHOWN_AS: Readonly<Record<string, string>> = { ticks: 'price', lots: 'size' }

const PREFACE = `# Log events

Generated from \`src/domain/log-events.ts\` and the places that log, by \`npm run docs\`; do not edit.

- One line a fact: its name under \`event\`, its fields behind it. Piped, a line is a JSON object; on a terminal it is text: what
  happens all the time is cut at its width ( …), everything else goes on below.
- \`error\`: a person must look. \`warn\`: handled, but odd. \`info\`: an operator wants it in the daily log. \`fatal\`: the run ends.
- \`batch.sent\` and \`batch.answered\` are logged at \`info\` where \`debug\` stands here; \`batch.answered\` also counts the
  outcomes of its orders. A terminal shows single orders only at \`log.level: debug\`.
- A field may be absent where it has no value. Prices and sizes are decimals, instants Unix milliseconds.
- Only \`kill.clean\` shows its positions in lots, the long and the short side of each instrument.`

/** The sources that log: everything but the exchange simulator and the documents. */
export function listLoggingSources(): ReadonlyMap<string, string> {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !/^(?:simulator|protocol)\//.test(file))
    .toSorted()
  return readFiles(files)
}

/** The whole of docs/log-events.md. */
export function buildEventDocs(): string {
  const calls = readLogCalls(listLoggingSources())
  const simulator = readFiles(['simulator/wire/server-event.ts', 'simulator/wire/server-event.ts'])
  const groups = Map.groupBy(Object.keys(LOG_EVENTS) as LogEvent[], prefixOf)
  const sections = [...groups].map(([prefix, events]) => {
    const rows = events.map((event) => {
      const own = calls.filter(({ uses }) => uses.some((use) => use.event === event))
      const levels = own.flatMap(({ uses }) =>
        uses.filter((use) => use.event === event).flatMap((use) => use.levels),
      )
      const found = own.flatMap(({ fields }) => fields)
      const fields = [...found, ...simulatorFields(event.slice(prefix.length + 1), simulator)]
      return `| \`${event}\` | ${sortLevels(levels)} | ${LOG_EVENTS[event]} | ${toWords(fields)} |`
    })
    return [
      `## ${prefix}`,
      '',
      '| event | level | what happened, and what to do | fields |',
      '|---|---|---|---|',
      ...rows,
    ].join('\n')
  })
  return `${[PREFACE, ...sections].join('\n\n')}\n`
}

function prefixOf(event: LogEvent): string {
  return event.slice(0, event.indexOf('.'))
}

function readFiles(files: readonly string[]): ReadonlyMap<string, string> {
  return new Map(files.map((file) => [file, readFileSync(`${SOURCES}${file}`, 'utf8')]))
}

function sortLevels(levels: readonly string[]): string {
  return LEVELS.filter((level) => levels.includes(level)).join(', ')
}

function toWords(fields: readonly string[]): string {
  return [...new Set(fields.map((field) => SHOWN_AS[field] ?? field))]
    .map((field) => `\`${field}\``)
    .join(', ')
}
