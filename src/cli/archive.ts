import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import { type ConfigOptions, loadConfig, toConfigRequest } from '../config/load-config.ts'
import { loadJournalPassword } from '../config/secrets.ts'
import { archiveState } from '../assembly/state/archive-state.ts'
import { stateDirectoryOf } from '../assembly/state/state-place.ts'
import { parseTime } from '../lib/text/parse-time.ts'
import { systemClock } from '../lib/clock.ts'
import { systemTimers } from '../lib/timers.ts'
import type { MarketOptions } from '../assembly/instruments/played-request.ts'
import { addConfigOptions, listOption, parseSpeed, repeatOptions } from './process/options.ts'
import { writeOut } from '../lib/write-out.ts'

interface ArchiveCommandOptions extends ConfigOptions, MarketOptions {
  readonly before: number
  readonly to?: string
}

export function addArchiveCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('archive'))
    .description(
      'move fills and funding payments before a date from the journal into a CSV file; the daemon must not run',
    )
    .requiredOption(
      '--before <date>',
      'such as 2025-06-02 (its beginning in UTC), or an instant',
      parseBefore,
    )
    .option('--to <file>', 'a new CSV file (default: in the state directory)')
    .addOption(listOption('--market <file>', 'as given to run'))
    .option('--speed <n>', 'as given to run', parseSpeed)
    .action(async (options: ArchiveCommandOptions) => setExit(await archive(options)))
}

function parseBefore(text: string): number {
  const isDate = /^\d{4}-\d{2}-\d{2}($|T.*(Z|[+-]\d{2}:?\d{2})$)/.test(text)
  const at = isDate ? parseTime(text) : undefined
  if (at === undefined)
    throw new InvalidArgumentError('write a date such as 2025-06-02, or 2025-06-02T06:00Z.')
  if (at > systemClock.now()) throw new InvalidArgumentError('it lies in the future.')
  return at
}

async function archive({
  before,
  to,
  market,
  speed,
  ...options
}: ArchiveCommandOptions): Promise<number> {
  const played = { files: market, speed }
  const request = { ...toConfigRequest(options), played }
  const { config } = loadConfig(request)
  const directory = stateDirectoryOf(config, played)
  const file = to === undefined ? undefined : resolve(to)
  const report = await archiveState({
    config,
    directory,
    before,
    file,
    clock: systemClock,
    timers: systemTimers,
    password: loadJournalPassword(config, request),
    configOption: repeatOptions(options),
    logger: { log: () => undefined },
  })
  const until = new Date(before).toISOString()
  writeOut(
    report === undefined
      ? `${directory}: nothing is from before ${until}\n`
      : `${report.file}: ${report.fills} fills and ${report.fundings} funding payments from before ${until}\n`,
  )
  return 0
}
