import type { Command } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import {
  type ConfigOptions,
  type DaemonConfig,
  type LoadedConfig,
  toConfigRequest,
} from '../config/load-config.ts'
import {
  EXIT_CONFIG,
  formatProblem,
  formatProblems,
  type Problem,
  sortProblems,
} from '../config/yaml/problem.ts'
import { checkFully, listChatProblems } from './process/full-check.ts'
import { findCapitalProblems } from './process/stored-capital.ts'
import { findGridProblems } from './process/stored-grids.ts'
import { explainUnchecked, findTypeErrors } from './process/type-check.ts'
import {
  findKnownPrices,
  listBudget,
  listFlips,
  listIdleLimits,
  listPositionValues,
} from './process/position-values.ts'
import { keptUniverseOf } from '../assembly/state/state-place.ts'
import { LEAVING_TIMES } from '../domain/universe.ts'
import { listUniverseFiles } from '../recording/universe/universe-file.ts'
import { addMarketOptions, listCheckWords } from './process/market-options.ts'
import { withPlayed, type MarketOptions } from '../assembly/instruments/played-request.ts'
import { filesOf } from '../assembly/simulator/simulated-exchange.ts'
import { listMadeUp, listPriceless } from '../assembly/simulator/simulated-prices.ts'
import { listUnlistedStrategies } from '../config/unlisted-strategies.ts'
import { usualFundingMinutes } from '../config/funding-minutes.ts'
import { loadWithFunding } from '../prices/load-funding.ts'
import { showMinutes } from '../prices/funding.ts'
import { remarksOnCalendar, remarksOnFunding } from '../backtest/opening/price-remarks.ts'
import { listUnlimited } from '../assembly/settings/unlimited.ts'
import { addConfigOptions, addParamOption, adviseAgain } from './process/options.ts'
import { writeAside, writeOut } from '../lib/write-out.ts'

interface CheckOptions extends ConfigOptions, MarketOptions {
  readonly secrets: boolean
  readonly types: boolean
}

const NOTHING_PLAYED = { files: [], speed: undefined }

export function addCheckCommand(program: Command, { setExit }: VerbFrame): void {
  addMarketOptions(addParamOption(addConfigOptions(program.command('check'))))
    .argument('[config]', 'the configuration by itself, as backtest takes it; or -c')
    .description('read the whole configuration and its strategies, and report every problem')
    .option(
      '--no-secrets',
      'do not ask for keys: where only the daemon has them (systemd), or in a pipeline',
    )
    .option('--no-types', 'do not check the types of strategies, where TypeScript is installed')
    .action(async (file: string | undefined, options: CheckOptions, command: Command) => {
      if (file !== undefined && options.config !== undefined)
        command.error(
          `error: two configurations: ${file}, and -c ${options.config}; name one of them`,
        )
      setExit(await check(file === undefined ? options : { ...options, config: file }))
    })
}

async function check(options: CheckOptions): Promise<number> {
  const request = await withPlayed(toConfigRequest(options), options)
  const { problems: found, missingSecrets, loaded, others, warnings } = await checkFully(request)
  const accounts = loaded ? [loaded, ...others] : []
  const problems = sortProblems([
    ...found,
    ...(options.secrets ? missingSecrets : []),
    ...(options.secrets && loaded ? listChatProblems(loaded.config, request) : []),
    ...(options.types ? await findTypeProblems(accounts, request.cwd) : []),
    ...accounts.flatMap(findGridProblems),
    ...accounts.flatMap(findCapitalProblems),
  ])
  if (problems.length > 0) {
    writeAside(`${formatProblems(problems, adviseAgain(listCheckWords(options), problems))}\n`)
    return EXIT_CONFIG
  }
  for (const warning of warnings) writeOut(`warning: ${formatProblem(warning)}\n`)
  for (const account of accounts) {
    const { config } = account
    const off = listUnlimited(config)
    const of = accounts.length > 1 ? `${config.name}: ` : ''
    const played = request.played ?? NOTHING_PLAYED
    const priceless = listPriceless(config, played)
    const madeUp = listMadeUp(config, played).filter((symbol) => !priceless.includes(symbol))
    if (madeUp.length > 0)
      writeOut(
        `${of}no file has prices of ${madeUp.join(', ')}: they are made up (simulator.seed)\n`,
      )
    if (priceless.length > 0)
      writeOut(
        `${of}nothing has prices of ${priceless.join(', ')}, which no strategy trades: they are listed at a price of the simulator's own\n`,
      )
    if (off.length > 0) writeOut(`${of}limits that are off: ${off.join(', ')}\n`)
    const idle = listIdleLimits(config)
    if (idle.length > 0)
      writeOut(`${of}limits of strategies that one of the account is below: ${idle.join(', ')}\n`)
    const prices = await findKnownPrices(account, played)
    const values = listPositionValues(account, prices)
    if (values.length > 0)
      writeOut(`${of}largest positions: ${values.map(({ words }) => words).join('; ')}\n`)
    const budget = listBudget(config, prices)
    if (budget.length > 0)
      writeOut(
        `${of}risk.survives lets be held at most, with nothing else held or resting: ${budget.join('; ')}\n`,
      )
    const flips = listFlips(config)
    if (flips.length > 0)
      writeOut(
        `${of}orders from the largest long to the largest short (orderSizeMax): ${flips.join(', ')}\n`,
      )
    for (const remark of await describeFunding(config, options.market)) writeOut(`${of}${remark}\n`)
    for (const line of [...describeUniverses(config), ...describeKeptStops(config)])
      writeOut(`${of}${line}\n`)
    writeOut(`${of}orders of a strategy that fails (onFailure): ${describePolicies(config)}\n`)
  }
  sayUnlisted(accounts, request.cwd)
  if (options.types) sayUnchecked(accounts, request.cwd)
  const several = accounts.length > 1 ? `${accounts.length} accounts, ` : ''
  writeOut(
    `${request.file}: ${warnings.length === 0 ? 'nothing wrong' : 'can be started, with what is warned of above'}; ${several}${countStrategies(accounts)}\n`,
  )
  return 0
}

function sayUnlisted(accounts: readonly LoadedConfig[], directory: string): void {
  const unlisted = listUnlistedStrategies(
    accounts.map(({ config }) => config),
    directory,
  )
  if (unlisted.length > 0)
    writeOut(
      `strategies that no configuration lists, so that they do not run: ${unlisted.join(', ')}\n`,
    )
}

function sayUnchecked(accounts: readonly LoadedConfig[], directory: string): void {
  const configs = accounts.map(({ config }) => config)
  const why = explainUnchecked(configs, directory)
  if (why !== undefined) writeOut(`types of strategies were not checked: ${why}\n`)
}

function countStrategies(accounts: readonly LoadedConfig[]): string {
  const all = accounts.flatMap(({ config }) => config.strategies)
  const [on, off] = [all.filter(({ enabled }) => enabled), all.filter(({ enabled }) => !enabled)]
  const count = `${on.length} ${on.length === 1 ? 'strategy' : 'strategies'}`
  if (off.length === 0) return count
  return `${count}, and ${off.length} more that ${off.length === 1 ? 'is' : 'are'} not enabled: ${off.map(({ id }) => id).join(', ')}`
}

async function findTypeProblems(
  accounts: readonly LoadedConfig[],
  directory: string,
): Promise<readonly Problem[]> {
  const found: Problem[] = []
  for (const { config } of accounts) found.push(...(await findTypeErrors(config, directory)))
  return found
}

async function describeFunding(
  config: DaemonConfig,
  files: readonly string[],
): Promise<readonly string[]> {
  const { simulator, instruments, calendar } = config
  const remarks = remarksOnCalendar(config)
  if (simulator === undefined) return remarks
  const played = filesOf(simulator, { files, speed: undefined })
  const recordings = await loadWithFunding(played, simulator.market.funding)
  const minutes = showMinutes(usualFundingMinutes(calendar))
  const own = Object.entries(instruments).flatMap(([symbol, { fundingHours }]) => [
    ...(fundingHours === undefined ? [] : [`${symbol} every ${fundingHours} h`]),
    ...(recordings.some((one) => one.symbol === symbol && one.funding)
      ? [`${symbol} as recorded`]
      : []),
  ])
  const paid = [`at ${minutes} UTC (calendar.funding)`, ...own].join('; ')
  return [...remarks, ...remarksOnFunding(config, recordings), `funding is paid ${paid}`]
}

const POLICIES = {
  leave: 'left',
  cancel: 'cancelled',
  flatten: 'cancelled, and what it holds is closed',
  absent: 'cancelled once it is halted',
  exits: 'cancelled once it is reducing, in which its exits go on',
} as const

function describeKeptStops({ strategies, exchange }: DaemonConfig): readonly string[] {
  const ids = strategies
    .filter(({ enabled, exits }) => enabled && exits?.stop?.atExchange === true)
    .map(({ id }) => id)
  if (ids.length === 0) return []
  return [
    exchange.beyondDocumentPrivate
      ? `stops at the exchange are moved with the exits: ${ids.join(', ')}`
      : `stops at the exchange stay where an order set them (exchange.beyondDocumentPrivate moves them): ${ids.join(', ')}`,
  ]
}

function describePolicies({ strategies }: DaemonConfig): string {
  const groups = Map.groupBy(
    strategies.filter(({ enabled }) => enabled),
    ({ onFailure, exits }): keyof typeof POLICIES =>
      onFailure ?? (exits === undefined ? 'absent' : 'exits'),
  )
  return [...groups]
    .map(([policy, members]) => `${POLICIES[policy]} (${members.map(({ id }) => id).join(', ')})`)
    .join('; ')
}

function describeUniverses(config: DaemonConfig): readonly string[] {
  const choosing = config.strategies.filter(({ enabled, universe }) => enabled && universe)
  if (choosing.length === 0) return []
  return [...choosing.flatMap((strategy) => describeRule(config, strategy)), describeKept(config)]
}

function describeRule(
  { account, risk }: DaemonConfig,
  { id, universe, risk: own, capital }: DaemonConfig['strategies'][number],
): readonly string[] {
  if (!universe) return []
  const { every, top } = universe
  const each = Number(own.positionNotionalMax)
  const all = each * top.count
  const gross = Number(risk.grossNotionalMax)
  const room =
    gross < all
      ? `; risk.grossNotionalMax ${risk.grossNotionalMax} lets ${Math.floor(gross / each)} of them be full`
      : ''
  const part = capital === undefined ? '' : `, with a capital of ${capital}`
  const leaving = top.count * LEAVING_TIMES
  return [
    `universe of ${id}: up to ${top.count} instruments, chosen anew each ${every} (${leaving} while members leave), each up to ${own.positionNotionalMax}, in all ${all} ${account.marginCoin}${part}${room}`,
  ]
}

function describeKept({ state, recordUniverse }: DaemonConfig): string {
  const days = listUniverseFiles(keptUniverseOf(state.directory)).map(({ day }) => day)
  const [first] = days
  if (first !== undefined)
    return `tickers of all instruments are kept from ${first} to ${days.at(-1)}: backtest --universe ${keptUniverseOf(state.directory)}`
  return recordUniverse.enabled
    ? 'tickers of all instruments will be kept for backtests (recordUniverse); none are yet'
    : 'no tickers of all instruments are kept: a backtest chooses among the instruments of the main file (recordUniverse.enabled keeps them)'
}
