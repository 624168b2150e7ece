import { type Command } from 'commander'
import { readConfig } from '../config/load-config.ts'
import { loadCredentials } from '../config/secrets.ts'
import { ConfigError, EXIT_CONFIG, formatProblems, sortProblems } from '../config/yaml/problem.ts'
import { toInstruments } from '../daemon/account/engine-settings.ts'
import { listUnlimited } from '../daemon/account/loss-settings.ts'
import { readStrategies } from '../daemon/strategies/strategies.ts'
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
    try {
      loadCredentials(config, request)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      found.push(...error.problems)
    }
  }
  if (found.length > 0) {
    process.stderr.write(`${formatProblems(sortProblems(found), adviseAgain(words))}\n`)
    return EXIT_CONFIG
  }
  const off = loaded ? listUnlimited(loaded.config) : []
  if (off.length > 0) process.stdout.write(`limits that are off: ${off.join(', ')}\n`)
  process.stdout.write(
    `${request.file}: nothing wrong; ${loaded?.config.strategies.length ?? 0} strategies\n`,
  )
  return 0
}
