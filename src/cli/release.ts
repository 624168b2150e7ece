import { existsSync } from 'node:fs'
import { type Command } from 'commander'
import { loadConfig } from '../config/load-config.ts'
import { killFileOf } from '../daemon/account/kill-switch.ts'
import { postCommand } from '../daemon/account/command-inbox.ts'
import { lookFor, operatorName } from './process/operator.ts'
import { addConfigOptions, type ConfigOptions, parseDuration, toConfigRequest } from './process/options.ts'

const OBEYED_WITHIN_MS = 10_000
/** sysexits.h: it waits for the daemon. */
const EXIT_WAITING = 75

interface ReleaseOptions extends ConfigOptions {
  readonly reason: string
  readonly wait: number
}

/** `intentd release`: ends a kill, or what holds an instrument, a strategy or the account, with a reason. */
export function addReleaseCommand(program: Command, setExit: (code: number) => void): void {
  addConfigOptions(program.command('release'))
    .description('let the daemon trade again after a kill, or where it is halted')
    .argument('[scope]', 'an instrument, strategy:ID, or * for the account; absent: the kill switch')
    .requiredOption('--reason <text>', 'why it is safe again, for the journal')
    .option('--wait <duration>', 'how long to wait for the daemon', parseDuration, OBEYED_WITHIN_MS)
    .action(async (scope: string | undefined, options: ReleaseOptions) =>
      setExit(await release(scope, options)),
    )
}

async function release(scope: string | undefined, options: ReleaseOptions): Promise<number> {
  const { reason, wait } = options
  const { config } = loadConfig(toConfigRequest(options))
  const { directory } = config.state
  const command = { kind: 'release', reason, by: operatorName() } as const
  const file = postCommand(directory, scope === undefined ? command : { ...command, scope })
  const isObeyed = (): true | undefined => {
    if (existsSync(file)) return undefined
    return scope === undefined && existsSync(killFileOf(directory)) ? undefined : true
  }
  if (await lookFor(isObeyed, wait)) {
    const done = scope && 'read by the daemon; its log says trading.released, or trading.notRestricted'
    process.stderr.write(`${done ?? 'released: the kill switch'}\n`)
    return 0
  }
  process.stderr.write(
    existsSync(file)
      ? 'no daemon has read it yet; the next one that starts here will\n'
      : 'the daemon has read it, and releases the switch once it is proved that nothing rests\n',
  )
  return EXIT_WAITING
}
