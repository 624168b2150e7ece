import { type Command } from 'commander'
import { type VerbFrame } from '../process/verb-frame.ts'
import { compareConfigs } from '../../config/config-changes.ts'
import { type DaemonConfig } from '../../config/load-config.ts'
import { EXIT_CONFIG, formatProblems } from '../../config/yaml/problem.ts'
import { viewOrders, viewPositions } from '../../daemon/control/account-view.ts'
import { readRunningConfig, withCode } from '../../daemon/state/running-config.ts'
import { readDaemon } from '../control/find-daemon.ts'
import { checkFully } from '../process/full-check.ts'
import { print } from '../process/operator.ts'
import { addConfigOptions, adviseAgain, type ConfigOptions, toConfigRequest } from '../process/options.ts'
import { formatPlan, type Plan } from './plan-text.ts'

/** Nothing would change. */
const EXIT_NOTHING = 1

/** `intentd plan`: what a changed configuration would do. */
export function addPlanCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('plan'))
    .description('what `reload`, or a restart, would do with the configuration as it is now; nothing is done')
    .action(async (options: ConfigOptions) => {
      const planned = await planChange(options)
      setExit(planned.kind === 'planned' ? 0 : planned.exitCode)
    })
}

export type Planned =
  | { readonly kind: 'planned'; readonly plan: Plan; readonly running: DaemonConfig }
  | { readonly kind: 'none'; readonly exitCode: number }

/** Prints what would happen, or why nothing can. */
export async function planChange(options: ConfigOptions): Promise<Planned> {
  const request = toConfigRequest(options)
  const words = options.config === undefined ? [] : ['plan', '-c', options.config]
  const { problems, loaded } = await checkFully(request)
  if (problems.length > 0 || !loaded) {
    process.stderr.write(`${formatProblems(problems, adviseAgain(words))}\n`)
    return { kind: 'none', exitCode: EXIT_CONFIG }
  }
  const { config } = loaded
  const running = readRunningConfig(config)
  if (running === undefined) {
    print('nothing has run with this state yet: a start begins from nothing')
    return { kind: 'none', exitCode: EXIT_NOTHING }
  }
  if (running.file !== config.file)
    print(`! what runs was started with ${running.file}, not with ${config.file}`)
  const changes = compareConfigs(running, withCode(config))
  const orders = await readDaemon(options, '/v1/orders', viewOrders)
  const positions = await readDaemon(options, '/v1/positions', viewPositions)
  if (orders.kind === 'nothing') return { kind: 'none', exitCode: orders.exitCode }
  if (positions.kind === 'nothing') return { kind: 'none', exitCode: positions.exitCode }
  const plan: Plan = { changes, orders: orders.view, positions: positions.view, next: config }
  const text = formatPlan(plan)
  process.stdout.write(text === '' ? 'nothing would change\n' : text)
  return text === '' ? { kind: 'none', exitCode: EXIT_NOTHING } : { kind: 'planned', plan, running }
}
