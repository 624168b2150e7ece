import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { loadAccounts } from '../../config/load-accounts.ts'
import { type ConfigOptions, type DaemonConfig, toConfigRequest } from '../../config/load-config.ts'
import type { ControlRequest } from '../../control/commands.ts'
import type { StatusView } from '../../control/views.ts'
import { readMainFile, readRunningConfig } from '../../assembly/state/running-config.ts'
import { systemClock } from '../../lib/clock.ts'
import { newRequestId } from '../operator/request-id.ts'
import { systemTimers } from '../../lib/timers.ts'
import { explainReply, findSocket, withClient } from '../operator/find-daemon.ts'
import { fileOfCode } from '../../strategy/load-strategy.ts'
import { describeThrown, onBreakdown } from '../../strategy/strategy-failure.ts'
import { asStarted } from '../operator/operated-config.ts'
import { proposeCommand } from '../operator/propose-command.ts'
import { middlemanKind } from '../process/middleman.ts'
import { operatorName, print, printResult } from '../process/operator.ts'
import { addConfigOptions, durationOption } from '../process/options.ts'
import { EXIT_NOTHING, EXIT_REFUSED, isRefused, planChange, tryReload } from './plan-change.ts'

const DONE_WITHIN_MS = 60_000
const LOOK_MS = 250
const EXIT_NOT_YET = 75
const REASONS = {
  none: 'ordered at the command line',
  chat: 'asked for in the chat',
  agent: 'asked for by an assistant',
} as const

interface ReloadOptions extends ConfigOptions {
  readonly wait: number
}

export function addReloadCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('reload'))
    .description(
      'make a running daemon use the configuration as it is now, whole or not at all; see `plan`',
    )
    .addOption(
      durationOption('--wait <duration>', 'how long to wait until it trades again', DONE_WITHIN_MS),
    )
    .action(async (options: ReloadOptions) => setExit(await reload(options)))
}

async function reload({ wait, ...given }: ReloadOptions): Promise<number> {
  const options = asStarted(given)
  const {
    main: { config },
    others,
  } = loadAccounts(toConfigRequest(options))
  const mainFile = readMainFile(config)
  if (mainFile !== undefined && mainFile !== resolve(config.file)) {
    printResult(
      `not done: this account is one of a daemon with ${mainFile}, which a reload reads: give that with -c`,
    )
    return EXIT_REFUSED
  }
  const further = others.map((other) => other.config)
  const configs = [config, ...further]
  const socket = findAnySocket(configs)
  if (socket === undefined) {
    printResult(
      'no daemon runs with this state: the next start takes the configuration as it is then',
    )
    return EXIT_NOT_YET
  }
  const isOneOff = listOff(configs).length > 0
  const planned = await planChange(options, isOneOff)
  const isRetry = planned.kind === 'none' && planned.exitCode === EXIT_NOTHING && isOneOff
  if (planned.kind === 'none' && !isRetry) return planned.exitCode
  if (planned.kind === 'planned' && isRefused(planned)) {
    const isOfProcess = planned.plans.some(({ changes }) => changes.refused.length > 0)
    printResult(
      isOfProcess
        ? 'not done: the lines with ! want a new process'
        : 'not done: the lines with ! say why',
    )
    return EXIT_REFUSED
  }
  const forget = onBreakdown(reportStray)
  try {
    if (middlemanKind() !== undefined)
      return await proposeCommand(config, {
        order: { kind: 'reload' },
        reason: REASONS[middlemanKind() ?? 'none'],
      })
    const isOfSecrets = planned.kind === 'planned' && planned.secrets.length > 0
    return await order([config, ...further], { socket, wait, isRetry, isOfSecrets })
  } finally {
    forget()
  }
}

/** Errors of strategies that were loaded for the check must not end this process. */
function reportStray(error: unknown, strategy: string | undefined): void {
  if (strategy === undefined) throw error
  print(
    `! code of ${fileOfCode(strategy)} failed by itself after it was loaded: ${describeThrown(error)}`,
  )
}

interface ReloadTask {
  readonly socket: string
  readonly wait: number
  readonly isRetry: boolean
  /** True if secrets changed; files may be as they were. */
  readonly isOfSecrets: boolean
}

async function order(
  configs: readonly [DaemonConfig, ...DaemonConfig[]],
  { socket, wait, isRetry, isOfSecrets }: ReloadTask,
): Promise<number> {
  const before = await startOf(configs)
  const runningBefore = readRunning(configs)
  const request: ControlRequest = {
    requestId: newRequestId(),
    by: operatorName(),
    reason: REASONS.none,
    order: { kind: 'reload' },
  }
  const reply = await withClient(socket, (client) => client.command(request))
  if (reply.kind !== 'answered' || reply.status !== 200) return explainReply(configs[0], reply)
  const endAt = systemClock.monotonic() + wait
  while (systemClock.monotonic() < endAt) {
    await new Promise<void>((done) => systemTimers.after(LOOK_MS, done))
    const now = await startOf(configs)
    if (now === undefined || now === before) continue
    if (isRetry) return reportRetry(configs)
    const isTaken =
      readRunning(configs) !== runningBefore ||
      (isOfSecrets && (await tryReload(configs[0])).secrets.length === 0)
    if (!isTaken) {
      printResult(
        'not done: it goes on with the configuration before; its log says why (reload.failed)',
      )
      return EXIT_REFUSED
    }
    printResult('done: it runs with the new configuration')
    return 0
  }
  printResult('not done in this time; its log says why (reload.refused, reload.failed)')
  return EXIT_NOT_YET
}

function listOff(configs: readonly DaemonConfig[]): readonly string[] {
  return configs.filter((config) => findSocket(config) === undefined).map(({ name }) => name)
}

function reportRetry(configs: readonly DaemonConfig[]): number {
  const off = listOff(configs)
  const tried =
    off.length === 0 ? 'done: every account is on' : `still off, status says why: ${off.join(', ')}`
  printResult(tried)
  return off.length === 0 ? 0 : EXIT_REFUSED
}

function readRunning(configs: readonly DaemonConfig[]): string {
  return JSON.stringify(configs.map(readRunningConfig))
}

function findAnySocket(configs: readonly DaemonConfig[]): string | undefined {
  return configs.map(findSocket).find((socket) => socket !== undefined)
}

async function startOf(configs: readonly DaemonConfig[]): Promise<number | undefined> {
  const socket = findAnySocket(configs)
  if (socket === undefined) return undefined
  const reply = await withClient(socket, (client) => client.read('/v1/status'))
  if (reply.kind !== 'answered' || reply.status !== 200) return undefined
  const { startedAt, accounts } = reply.body as StatusView
  return accounts.every(({ phase }) => phase === 'running') ? startedAt : undefined
}
