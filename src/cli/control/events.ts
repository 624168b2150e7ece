import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { messageOf } from '../../lib/failure.ts'
import type { EventView } from '../../control/views.ts'
import { onStopSignals } from '../../lib/stop-signals.ts'
import { print } from '../process/operator.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { parseCount } from '../process/options.ts'
import {
  EXIT_SILENT,
  explainReply,
  findSocket,
  type ShowOptions,
  withClient,
} from '../operator/find-daemon.ts'
import { cleanLine } from '../../lib/text/clean-text.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { writeOut } from '../../lib/write-out.ts'

interface EventsOptions extends ShowOptions {
  readonly follow?: boolean
  readonly after?: number
}

export function addEventsCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('events'))
    .description('show the last events of a running daemon; with --follow also new ones')
    .option('--follow', 'go on with new ones, until Ctrl-C')
    .option('--after <id>', 'only those after this id', parseCount)
    .option('--json', 'one JSON object per line')
    .action(async (options: EventsOptions) => setExit(await showEvents(options)))
}

async function showEvents(options: EventsOptions): Promise<number> {
  const config = loadOperated(options)
  const socket = findSocket(config)
  if (socket === undefined) {
    print('no daemon runs with this configuration; `intentd explain` reads the journal')
    return EXIT_SILENT
  }
  const stopped = new AbortController()
  const forget = onStopSignals(() => stopped.abort())
  try {
    return await withClient(socket, async (client) => {
      for await (const line of client.follow(
        `/v1/events?after=${options.after ?? 0}`,
        stopped.signal,
      )) {
        if (line.startsWith('data: ')) printEvent(line.slice('data: '.length), options)
        if (line.startsWith(': ') && !options.follow) break
        if (process.stdout.errored) break
      }
      return 0
    })
  } catch (error) {
    if (stopped.signal.aborted) return 0
    return explainReply(config, { kind: 'silent', reason: messageOf(error) })
  } finally {
    forget()
  }
}

function printEvent(data: string, { json }: EventsOptions): void {
  const event = parseBoundedJson(data) as EventView | number
  if (typeof event === 'number') return print(`${event} events are not remembered any more`)
  if (json) return writeOut(`${data}\n`)
  const { at, level, event: name, fields } = event
  const words = Object.entries(fields).map(
    ([field, value]) =>
      `${field} ${cleanLine(typeof value === 'string' ? value : JSON.stringify(value))}`,
  )
  writeOut(
    `${new Date(at).toISOString().slice(11, 23)} ${level === 'info' ? '' : `${level} `}${name}  ${words.join(', ')}\n`,
  )
}
