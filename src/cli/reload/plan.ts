import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { compareConfigs } from '../../config/config-changes.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import { EXIT_CONFIG, formatProblem, formatProblems } from '../../config/yaml/problem.ts'
import { viewOrders, viewPositions } from '../../daemon/control/account-view.ts'
import { describeOff } from '../../daemon/control/hindrances.ts'
import { readRunningConfig, readRunStart, withCode } from '../../daemon/state/running-config.ts'
import { listHolders } from '../../daemon/state/state-directory.ts'
import { findOff, findSocket, readDaemon } from '../control/find-daemon.ts'
import { checkFully } from '../process/full-check.ts'
import { asStarted, setOtherwise } from '../operator/operated-config.ts'
import { print } from '../process/operator.ts'
import { listCheckWords, type MarketOptions, repeatMarket, withPlayed } from '../process/market-options.ts'
import { addConfigOptions, adviseAgain, type ConfigOptions, toConfigRequest } from '../process/options.ts'
import { formatCancels, formatPlan, type Plan } from './plan-text.ts'

/** Nothing would change. */
export const EXIT_NOTHING = 1

/** `intentd plan`: what a changed configuration would do. */
export function addPlanCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('plan'))
    .description('show what `reload` or a restart would do with the configuration as it is now; does nothing')
    .action(async (options: ConfigOptions) => {
      const planned = await planChange(asStarted(options))
      setExit(planned.kind === 'planned' ? 0 : planned.exitCode)
    })
}

/** Of each account, the main file's first; one that never ran is not among them. */
export type Planned =
  | { readonly kind: 'planned'; readonly plans: readonly Plan[] }
  | { readonly kind: 'none'; readonly exitCode: number }

/**
 * Prints what would happen, or why nothing can: of each account under its name, where there are several.
 * @param isRetry All begin anew also where nothing changes: an account is off, and is tried again.
 */
export async function planChange(options: ConfigOptions & MarketOptions, isRetry = false): Promise<Planned> {
  const request = await withPlayed(toConfigRequest(options), options)
  const { problems, missingSecrets, loaded, others } = await checkFully(request)
  if (problems.length > 0 || !loaded) {
    const kept = 'nothing was changed, and what runs goes on as it was'
    process.stderr.write(
      `${formatProblems(problems, adviseAgain(listCheckWords(options), problems), kept)}\n`,
    )
    return { kind: 'none', exitCode: EXIT_CONFIG }
  }
  // A running daemon has its own.
  for (const problem of missingSecrets) print(`! not here: ${formatProblem(problem)}`)
  const plans: Plan[] = []
  let isChange = false
  for (const { config } of [loaded, ...others]) {
    if (others.length > 0) process.stdout.write(`${config === loaded.config ? '' : '\n'}== ${config.name}\n`)
    const own = config === loaded.config ? options : { ...options, config: config.file, set: [] }
    const planned = await planAccount(own, config)
    if (typeof planned === 'number') {
      if (planned !== EXIT_NOTHING) return { kind: 'none', exitCode: planned }
      continue
    }
    const text = formatPlan(planned)
    process.stdout.write(text === '' ? 'nothing would change\n' : text)
    isChange ||= text !== ''
    plans.push(planned)
  }
  const isTaken = (isChange || isRetry) && plans.every(({ changes }) => changes.refused.length === 0)
  if (isTaken)
    for (const plan of plans)
      process.stdout.write(formatCancels(plan, others.length > 0 ? plan.next.name : undefined))
  return isChange ? { kind: 'planned', plans } : { kind: 'none', exitCode: EXIT_NOTHING }
}

/** Or the exit code, where there is nothing to compare with. */
async function planAccount(options: ConfigOptions, config: DaemonConfig): Promise<Plan | number> {
  const running = readRunningConfig(config)
  if (running === undefined) {
    print('nothing has run with this state yet: a start begins from nothing')
    return EXIT_NOTHING
  }
  if (running.file !== config.file)
    print(`! what runs was started with ${running.file}, not with ${config.file}`)
  const others = setOtherwise(config, options.set)
  if (others !== undefined) print(`! it was started with${others}: a reload reads the files with that again`)
  const played = describePlayed(config)
  if (played !== '')
    print(`! the last run was started with${played}: this is what a start with the same would do`)
  const changes = compareConfigs(running, withCode(config))
  const off = findSocket(config) === undefined ? await findOff(config) : undefined
  if (off !== undefined) {
    print(`! ${describeOff(off.reason)}; what it may hold is not looked at`)
    return { changes, orders: [], positions: [], next: config }
  }
  const orders = await readDaemon(options, '/v1/orders', viewOrders)
  if (orders.kind === 'nothing') return orders.exitCode
  const positions = await readDaemon(options, '/v1/positions', viewPositions)
  if (positions.kind === 'nothing') return positions.exitCode
  return { changes, orders: orders.view, positions: positions.view, next: config }
}

/** `--market` and `--speed` of the last run, where none runs; empty where there were none. */
function describePlayed(config: DaemonConfig): string {
  const start = listHolders(config.state.directory).length === 0 ? readRunStart(config) : undefined
  return start?.mainFile === config.file ? repeatMarket(start) : ''
}
