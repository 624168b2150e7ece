import type { Command } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import { type ConfigOptions, loadConfig, toConfigRequest } from '../config/load-config.ts'
import { EXITS } from './process/exit-codes.ts'
import { openAlerts } from './process/open-alerts.ts'
import { openLogger } from './process/open-logger.ts'
import { print } from './process/operator.ts'
import { addConfigOptions } from './process/options.ts'
import { writeOut } from '../lib/write-out.ts'

export function addAlertCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('alert'))
    .description('test the targets of alerts')
    .requiredOption('--test', 'send one alert to each target, and say what each answered')
    .action(async (options: ConfigOptions) => setExit(await testAlerts(options)))
}

async function testAlerts(options: ConfigOptions): Promise<number> {
  const request = toConfigRequest(options)
  const { config } = loadConfig(request)
  const alerts = openAlerts(
    config,
    { ...request, ...options },
    openLogger({ level: 'warn', name: config.name, aside: true }),
  )
  const results = await alerts?.test()
  await alerts?.stop()
  if (results === undefined || results.length === 0) {
    print('nothing was sent: the configuration lists no target under alerts.targets')
    return EXITS.usage
  }
  for (const { name, kind, isDelivered, words } of results) {
    writeOut(`${name} (${kind}): ${isDelivered ? 'delivered' : 'NOT delivered'}, ${words}\n`)
  }
  return results.every(({ isDelivered }) => isDelivered) ? 0 : EXITS.temporary
}
