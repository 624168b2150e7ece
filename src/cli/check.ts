import { type Command } from 'commander'
import { readConfig } from '../config/load-config.ts'
import { EXIT_CONFIG, formatProblems, type Problem, sortProblems } from '../config/yaml/problem.ts'
import { toInstruments } from '../daemon/account/engine-settings.ts'
import { readStrategies } from '../daemon/strategies/strategies.ts'
import { addConfigOptions, configFile } from './process/options.ts'

const SHIPPED_CONFIG = 'config/paper.yaml'

interface CheckOptions {
  readonly config?: string
  readonly set: readonly string[]
}

/** `intentd check`: everything that a start would read and refuse, and nothing started. */
export function addCheckCommand(program: Command, setExit: (code: number) => void): void {
  addConfigOptions(program.command('check'), SHIPPED_CONFIG)
    .description('read the whole configuration and its strategies, and report every problem')
    .action(async (options: CheckOptions) => setExit(await check(options)))
}

async function check(options: CheckOptions): Promise<number> {
  const file = configFile(options.config, SHIPPED_CONFIG)
  const { problems, loaded } = readConfig({ file, overrides: options.set, cwd: process.cwd() })
  const found: Problem[] = [...problems]
  if (loaded) {
    const { config, documents } = loaded
    const read = await readStrategies(config, documents, toInstruments(config))
    found.push(...read.problems)
  }
  if (found.length > 0) {
    process.stderr.write(`${formatProblems(sortProblems(found))}\n`)
    return EXIT_CONFIG
  }
  process.stdout.write(`${file}: nothing wrong; ${loaded?.config.strategies.length ?? 0} strategies\n`)
  return 0
}
