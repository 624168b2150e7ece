import type { DaemonConfig } from '../../config/load-config.ts'
import { listScopes, type Scope } from '../../domain/trading-mode.ts'
import type { Engine } from '../../engine/engine.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import { type EngineCommand, isKeyed } from '../../engine/event.ts'
import { describeBeyondLimit } from '../../engine/lifecycle/adopt.ts'
import { describeUnclaimed, describeUnclosable } from '../../engine/lifecycle/flatten.ts'
import type { ReleaseCommand } from '../../engine/state/trading-mode.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { OpenedJournal } from '../../journal/journal.ts'
import type { Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import {
  type CommandAnswer,
  CommandInbox,
  type CommandInboxOptions,
  type ControlCommand,
  refuseCommand,
} from './command-inbox.ts'
import { KillSwitch, type KillSwitchOptions } from '../../assembly/state/kill-switch.ts'

export interface OperatorOptions {
  readonly directory: string
  readonly config: Pick<DaemonConfig, 'state'>
  readonly trusted: { readonly clock: Clock }
  readonly timers: Timers
  readonly logger: Pick<DaemonLogger, 'log'>
  readonly onKillNoted?: KillSwitchOptions['onNoted'] | undefined
}

export interface OperatedAccount {
  readonly onCommand: (command: EngineCommand) => CommandAnswer | undefined
  readonly whenWritten: CommandInboxOptions['whenWritten']
  readonly killedAt: () => number | undefined
}

export interface Operator {
  readonly killSwitch: KillSwitch
  readonly inbox: Pick<CommandInbox, 'empty'>
}

export function listenToOperator(
  { config, directory: stateDirectory, trusted, timers, logger, onKillNoted }: OperatorOptions,
  { onCommand, whenWritten, killedAt }: OperatedAccount,
): Operator {
  const { directory } = config.state
  const killSwitch = new KillSwitch({
    directory,
    stateDirectory,
    clock: trusted.clock,
    // The switch may be noticed during a write, so the core gets the kill afterwards.
    onThrown: ({ reason, by }) => timers.after(0, () => onCommand({ kind: 'kill', reason, by })),
    onNoted: onKillNoted,
    onTrouble: (reason) => logger.log('error', 'kill.notWrittenDown', { reason }),
  })
  const options: Omit<CommandInboxOptions, 'directory'> = {
    onCommand: (given, givenAt) => {
      const command = toEngineCommand(given)
      if (command.kind === 'release' && givenAt < processStartedAt()) {
        const { scope, reason, by } = command
        const facts = { scope, reason, by, givenAt: new Date(givenAt).toISOString() }
        logger.log('warn', 'trading.releaseTooOld', facts)
        return refuseCommand({ isTooOld: true })
      }
      if (command.kind !== 'releaseKill') return onCommand(command)
      const thrownAt = killSwitch.thrownAt() ?? killedAt() ?? givenAt
      // A kill in the future means that the clock was set back, so times prove nothing.
      if (thrownAt <= givenAt || thrownAt > systemClock.now()) return onCommand(command)
      const { reason, by } = command
      logger.log('warn', 'kill.releaseTooOld', {
        reason,
        by,
        givenAt: new Date(givenAt).toISOString(),
      })
      return refuseCommand({ isTooOld: true })
    },
    whenWritten,
    onUnreadable: (file, reason) => logger.log('warn', 'operator.unreadable', { file, reason }),
  }
  // Where two simulated accounts share the configured directory, each has one of its own too.
  const inboxes = [...new Set([directory, stateDirectory])].map(
    (place) => new CommandInbox({ ...options, directory: place }),
  )
  return { killSwitch, inbox: { empty: () => inboxes.forEach((inbox) => inbox.empty()) } }
}

/**
 * Machine's clock. A release that was given before the start may not mean what is restricted now.
 */
function processStartedAt(): number {
  return systemClock.now() - process.uptime() * 1000
}

function toEngineCommand(command: ControlCommand): EngineCommand {
  if (command.kind === 'adopt') {
    const { kind, scope: symbol, strategy: strategyId, reason, by } = command
    return { kind, symbol, strategyId, reason, by }
  }
  if (command.kind !== 'release') return command
  const { scope, reason, by, newPeak, unclaimed } = command
  return scope === undefined
    ? { kind: 'releaseKill', reason, by }
    : { kind: 'release', scope, reason, by, newPeak, unclaimed }
}

/** Asks the journal, because the book forgets the keys of ended orders and closes. */
export function withUsedKey(
  command: EngineCommand,
  journal: Pick<OpenedJournal, 'usedKeys'>,
): EngineCommand {
  if (!isKeyed(command)) return command
  const purpose = command.kind === 'order' ? 'place' : 'command'
  const used = { purpose, strategyId: MANUAL, key: command.key } as const
  return journal.usedKeys([used]).length > 0 ? { ...command, isKeyUsed: true } : command
}

type ScopeAnswer = Pick<
  CommandAnswer,
  'isScopeUnknown' | 'unclosable' | 'unclaimed' | 'coolsDownUntil' | 'beyondLimit'
>

export function judgeScope(
  command: EngineCommand,
  { settings, book, now }: Parameters<typeof describeUnclosable>[0] & { readonly now: number },
): ScopeAnswer {
  if (command.kind === 'release') {
    const coolsDownUntil = coolDownEnd({ settings, book }, command.scope)
    const unclaimed = describeUnclaimed({ settings, book }, command.scope)
    return {
      isScopeUnknown: false,
      unclosable: {},
      unclaimed,
      ...(coolsDownUntil !== undefined && coolsDownUntil > now && { coolsDownUntil }),
    }
  }
  if (command.kind === 'adopt') {
    const beyondLimit = describeBeyondLimit({ settings, book }, command)
    return {
      isScopeUnknown: false,
      unclosable: {},
      ...(beyondLimit !== undefined && { beyondLimit }),
    }
  }
  if (command.kind !== 'restrict' && command.kind !== 'flatten')
    return { isScopeUnknown: false, unclosable: {} }
  const scopes = listScopes(settings.instruments.keys(), settings.strategies.keys())
  return {
    isScopeUnknown: !scopes.includes(command.scope),
    unclosable:
      command.kind === 'flatten' ? describeUnclosable({ settings, book }, command.scope) : {},
  }
}

function coolDownEnd(
  { settings, book }: Parameters<typeof describeUnclosable>[0],
  scope: Scope,
): number | undefined {
  const reached = [...book.restrictions.values()].filter(
    (one) => one.scope === scope && (one.code === 'drawdown' || one.code === 'drawdownFlatten'),
  )
  if (reached.length === 0) return undefined
  return Math.max(...reached.map(({ at }) => at)) + (settings.losses?.coolDownMs ?? 0)
}

/** A release can change the losses that are counted, and let targets order again. */
export function judgeRelease(
  engine: Pick<Engine, 'objectToRelease' | 'planPeakRelease' | 'findOrderedAgain'>,
  command: ReleaseCommand,
): Pick<CommandAnswer, 'refusal' | 'peak' | 'orderedAgain'> {
  const refusal = engine.objectToRelease(command)
  if (refusal !== undefined) return { refusal }
  const peak = engine.planPeakRelease(command)
  const orderedAgain = engine.findOrderedAgain(command)
  if (orderedAgain && peak?.closesBelow === undefined) return { orderedAgain }
  return peak ? { peak } : {}
}
