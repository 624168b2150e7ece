import type { Command } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import { type ConfigOptions, loadConfig, toConfigRequest } from '../config/load-config.ts'
import { loadCredentials, loadJournalPassword } from '../config/secrets.ts'
import { repairFromExchange } from '../daemon/repair-from-exchange.ts'
import { repairState } from '../assembly/state/repair-state.ts'
import { stateDirectoryOf } from '../assembly/state/state-place.ts'
import type { RepairReport } from '../journal/repair-journal.ts'
import { systemClock } from '../lib/clock.ts'
import { systemTimers } from '../lib/timers.ts'
import { repeatMarket } from './process/market-options.ts'
import type { MarketOptions } from '../assembly/instruments/played-request.ts'
import { addConfigOptions, listOption, parseSpeed, repeatOptions } from './process/options.ts'
import { writeOut } from '../lib/write-out.ts'
import { showDuration } from '../lib/text/show-duration.ts'

interface RepairCommandOptions extends ConfigOptions, MarketOptions {
  readonly fromExchange?: boolean
}

/** Not an option of `run`, so that no unit file repairs what a person should look at. */
export function addRepairCommand(program: Command, { version, setExit }: VerbFrame): void {
  addConfigOptions(program.command('repair'))
    .description(
      'make a damaged journal usable again: what is lost becomes unknown, and the account is halted',
    )
    .addOption(listOption('--market <file>', 'as given to run'))
    .option('--speed <n>', 'as given to run', parseSpeed)
    .option(
      '--from-exchange',
      'of a journal that is older than the exchange: cancel what rests, and take over its positions, nothing else',
    )
    .action(async (options: RepairCommandOptions) =>
      setExit(options.fromExchange === true ? await takeOver(options, version) : repair(options)),
    )
}

async function takeOver(
  { market, speed, fromExchange: _fromExchange, ...options }: RepairCommandOptions,
  version: string,
): Promise<number> {
  const request = { ...toConfigRequest(options), played: { files: market, speed } }
  const { config } = loadConfig(request)
  const configOption = repeatOptions(options)
  const { positions, cancelled } = await repairFromExchange({
    config,
    directory: config.state.directory,
    credentials: loadCredentials(config, request),
    password: loadJournalPassword(config, request),
    version,
    clock: systemClock,
    timers: systemTimers,
    configOption,
    onWait: (forMs) =>
      writeOut(
        `waiting:   ${showDuration(forMs)}: requests of a run that was killed just now may still be accepted\n`,
      ),
  })
  const lines = [
    `cancelled: ${cancelled === 1 ? '1 order' : `${cancelled} orders`} at the exchange`,
    ...positions.map(({ symbol, held, was }) => {
      const before = held === was ? 'as in the journal' : `in the journal ${was}`
      return `position:  ${symbol} ${held}, ${before}`
    }),
    'lost:      fills, profit and fees of what was traded since; they are at the exchange alone',
    `deposits:  what was entered since is lost, and no exchange shows it: compare \`intentd deposit --list${configOption}\` with your own notes, and enter what is missing again`,
    `next:      \`intentd run${configOption}\` opens nothing before a release; compare the positions with the exchange`,
    `first:     what no strategy holds: \`intentd adopt SYMBOL --to ID${configOption} --reason ...\` or \`intentd flatten SYMBOL${configOption} --reason ...\``,
    `release:   then \`intentd release '*'${configOption} --reason ...\``,
  ]
  writeOut(`${lines.join('\n')}\n`)
  return 0
}

function repair(given: RepairCommandOptions): number {
  const { market, speed, fromExchange: _fromExchange, ...options } = given
  const played = { files: market, speed }
  const { config } = loadConfig({ ...toConfigRequest(options), played })
  const directory = stateDirectoryOf(config, played)
  const report = repairState(config, directory, systemClock.now())
  writeOut(report === undefined ? `${directory}: the journal is sound\n` : describe(report, given))
  return 0
}

function describe(
  { refusal, aside, records, lostMin, hasCheckpoint, hasSalt }: RepairReport,
  options: RepairCommandOptions,
): string {
  const named = repeatOptions(options)
  const kept = `${hasCheckpoint ? 'the checkpoint and ' : ''}${records} records`
  const lines = [
    refusal.message,
    '',
    `kept:     ${kept}`,
    `lost:     ${describeLost(lostMin)}`,
    `aside:    ${aside} (as it was found)`,
    ...(hasSalt
      ? []
      : ['names:    the salt is lost too: an order that is decided again has another name']),
    `next:     \`intentd run${named}${repeatMarket(options)}\` asks the exchange about every order, cancels what rests, and opens nothing`,
    `deposits: those that were lost are not known at the exchange: compare \`intentd deposit --list${named}\` with your own notes after the run has begun, and enter what is missing again; until then equity and its limits count without it`,
    `release:  compare positions and fills with the exchange, then \`intentd release '*'${named} --reason ...\``,
    '          an instrument that run halts for foreign fills wants a release of its own, by its symbol',
  ]
  return `${lines.join('\n')}\n`
}

function describeLost(recordsMin: number | undefined): string {
  if (recordsMin === undefined) return 'it is not known how many records'
  return recordsMin === 0 ? 'no record that is known of' : `at least ${recordsMin} records`
}
