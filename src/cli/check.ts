import { type Command } from 'commander'
import { readConfig } from '../config/load-config.ts'
import { loadAlertSecrets } from '../config/alert-secrets.ts'
import { loadCredentials } from '../config/secrets.ts'
import {
  ConfigError,
  EXIT_CONFIG,
  formatProblems,
  type Problem,
  sortProblems,
} from '../config/yaml/problem.ts'
import { toInstruments } from '../daemon/account/engine-settings.ts'
import { findThreadProblems, readStrategies } from '../daemon/strategies/strategies.ts'
import { checkPurity } from '../strategy/testing/check-purity.ts'
import { addConfigOptions, adviseAgain, type ConfigOptions, toConfigRequest } from './process/options.ts'

/** `intentd check`: everything that a start would read and refuse, and nothing started. */
export function addCheckCommand(program: Command, setExit: (code: number) => void): void {
  addConfigOptions(program.command('check'))
    .description('read the whole configuration and its strategies, and report every problem')
    .action(async (options: ConfigOptions) => setExit(await check(options)))
}

async function check(options: ConfigOptions): Promise<number> {
  const request = toConfigRequest(options)
  const words = options.config === undefined ? [] : ['check', '-c', options.config]
  const { problems, loaded } = readConfig(request)
  const found = [...problems]
  if (loaded) {
    const { config, documents } = loaded
    const read = await readStrategies(config, documents, toInstruments(config))
    found.push(...read.problems)
    if (read.problems.length === 0) found.push(...(await findThreadProblems(read.strategies, documents)))
    for (const { id, strategy, params, instruments } of read.strategies) {
      const source = documents.strategies.get(id)
      const impure = checkPurity(strategy, params, instruments)
      if (source) found.push(...impure.map((text) => source.problem(['module'], text)))
    }
    found.push(...listProblems(() => loadCredentials(config, request)))
    const { alerts } = config
    if (alerts) found.push(...listProblems(() => loadAlertSecrets(alerts, request)))
  }
  if (found.length > 0) {
    process.stderr.write(`${formatProblems(sortProblems(found), adviseAgain(words))}\n`)
    return EXIT_CONFIG
  }
  process.stdout.write(
    `${request.file}: nothing wrong; ${loaded?.config.strategies.length ?? 0} strategies\n`,
  )
  return 0
}

function listProblems(read: () => unknown): readonly Problem[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
