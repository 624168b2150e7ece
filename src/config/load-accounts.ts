import { relative, sep } from 'node:path'
import {
  type ConfigRequest,
  type ConfigReading,
  type DaemonConfig,
  type LoadedConfig,
  readConfig,
} from './load-config.ts'
import { listDraftFolders } from './draft-strategies.ts'
import { ConfigError, type Problem, sortProblems } from './yaml/problem.ts'
import type { YamlSource } from './yaml/yaml-source.ts'

/** Accounts are only given without problems, the main file's first. */
export interface AccountsReading {
  readonly problems: readonly Problem[]
  readonly main?: LoadedConfig
  readonly others: readonly LoadedConfig[]
}

export interface LoadedAccounts {
  readonly main: LoadedConfig
  readonly others: readonly LoadedConfig[]
}

/** @throws ConfigError with all problems */
export function loadAccounts(request: ConfigRequest): LoadedAccounts {
  const { main, others, problems } = readAccounts(request)
  if (main === undefined || problems.length > 0) throw new ConfigError(problems)
  return { main, others }
}

/** Never throws. `--set` and `--param` only change the main file. */
export function readAccounts(request: ConfigRequest): AccountsReading {
  const { loaded: main, problems } = readConfig(request)
  if (main === undefined) return { problems, others: [] }
  const files = main.config.accounts ?? []
  const { cwd, contracts } = request
  const drafts = listDraftFolders(main.config)
  const readings = files.map((file): ConfigReading => readConfig({ file, cwd, contracts, drafts }))
  const others = readings.flatMap(({ loaded }) => loaded ?? [])
  const found = [
    ...problems,
    ...readings.flatMap((reading) => reading.problems),
    ...(files.length > 0 ? checkMain(main) : []),
    ...others.flatMap((other, index) => [
      ...checkAlike(other, main.config),
      ...checkApart(other, [main, ...others.slice(0, index)]),
    ]),
  ]
  return { problems: sortProblems(found), main, others }
}

export function listKeys(accounts: readonly LoadedConfig[]): readonly (string | undefined)[] {
  return accounts.map(({ config }) => config.account.keys)
}

function checkMain({ config, documents }: LoadedConfig): readonly Problem[] {
  if (config.exchange.baseUrl !== undefined) return []
  const message =
    'the simulator inside the daemon has one account: name an exchange outside by exchange.baseUrl'
  return [documents.main.problem(['accounts'], message)]
}

function checkAlike(
  { config, documents: { main: source } }: LoadedConfig,
  main: DaemonConfig,
): readonly Problem[] {
  const alike: readonly [path: readonly string[], own: unknown, mains: unknown][] = [
    [['environment'], config.environment, main.environment],
    [['exchange', 'baseUrl'], config.exchange.baseUrl, main.exchange.baseUrl],
    [['polling', 'tickersMs'], config.polling.tickersMs, main.polling.tickersMs],
  ]
  const differing = alike.filter(([, own, mains]) => own !== mains)
  return [
    ...differing.map(([path, , mains]) =>
      source.problem(
        path,
        `all accounts of a daemon share this: the main file says ${String(mains)}`,
      ),
    ),
    ...(['accounts', 'alerts'] as const)
      .filter((name) => config[name] !== undefined)
      .map((name) => source.problem([name], `this belongs into the main file, ${main.name}`)),
  ]
}

function checkApart(
  { config, documents }: LoadedConfig,
  earlier: readonly LoadedConfig[],
): readonly Problem[] {
  const { main: source } = documents
  return earlier.flatMap(({ config: other }) => [
    ...blameSame(source, ['name'], config.name === other.name && other.name),
    ...blameSame(
      source,
      ['account', 'keys'],
      config.account.keys === other.account.keys && other.name,
    ),
    ...blameSame(
      source,
      ['state', 'directory'],
      (isWithin(config.state.directory, other.state.directory) ||
        isWithin(other.state.directory, config.state.directory)) &&
        other.name,
    ),
    ...blameSame(
      source,
      ['control', 'port'],
      (config.control.port ?? 0) !== 0 && config.control.port === other.control.port && other.name,
    ),
  ])
}

function blameSame(
  source: YamlSource,
  path: readonly string[],
  name: string | false,
): readonly Problem[] {
  if (name === false) return []
  return [source.problem(path, `each account has its own: this is that of ${name}, or within it`)]
}

function isWithin(directory: string, other: string): boolean {
  const way = relative(other, directory)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`))
}
