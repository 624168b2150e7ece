import type { DaemonConfig } from '../config/load-config.ts'
import type { FollowSettings, StandbyState } from '../journal/postgres/follow.ts'
import type { Clock } from '../lib/clock.ts'
import type { Secret } from '../lib/secret.ts'
import { Failure } from '../lib/failure.ts'
import type { Timers } from '../lib/timers.ts'
import { CommandInbox, refuseCommand } from './account/command-inbox.ts'
import { serveControl } from './control/open-control.ts'
import { pairingFileOf } from '../assembly/state/state-place.ts'
import { createFleetSource } from './control/fleet-source.ts'
import { noteLook, type StandbyLook, StandbyControl } from './control/standby-control.ts'
import type { DaemonLogger } from '../logging/logger.ts'

export interface StandbyFrame {
  readonly isOver: () => boolean
  readonly onLooked: () => void
}

export interface StandbyOptions {
  readonly config: DaemonConfig
  readonly directory: string
  readonly frame: StandbyFrame
  readonly password: Secret | undefined
  readonly version: string
  readonly configOption: string
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: DaemonLogger
}

export interface Standby {
  readonly following: FollowSettings
  whom(): string
  differs(): readonly string[]
  end(): Promise<void>
}

/** Follows the writer until it may take over, with a control interface of its own. */
export async function startStandby(options: StandbyOptions): Promise<Standby> {
  const { config, clock, timers, logger, frame } = options
  let seen: StandbyLook | undefined
  const log = createFollowingLog(logger, config.journal?.onDifference === 'refuse')
  const control = serveControl(
    (closedPort) =>
      new StandbyControl({
        ...options,
        name: config.name,
        environment: config.environment,
        exchange: config.exchange.baseUrl ?? '',
        seen: () => seen,
        closedPort,
        refusesDifference: config.journal?.onDifference === 'refuse',
        fleet: createFleetSource(config, options.password),
      }),
    { ...options, pairingFile: pairingFileOf(config) },
  )
  await control.start()
  // A standby answers commands at once, because a takeover, perhaps days later, would carry out
  // those that wait.
  const inbox = new CommandInbox({
    directory: config.state.directory,
    onCommand: () => refuseCommand({ standbyOf: seen?.state.holder ?? '' }),
    whenWritten: (done) => done(true),
    onUnreadable: (file, reason) => logger.log('warn', 'operator.unreadable', { file, reason }),
  })
  return {
    following: {
      onState(state) {
        seen = noteLook(seen, state, clock.now())
        frame.onLooked()
        log(state)
      },
      async pause(ms) {
        await new Promise<void>((resolve) => timers.after(ms, resolve))
        inbox.empty()
        if (frame.isOver()) throw ended()
      },
    },
    whom: () => seen?.state.holder ?? '',
    differs: () => seen?.state.differs ?? [],
    end: () => control.stop(),
  }
}

function ended(): Failure {
  return new Failure({ code: 'STANDBY_ENDED', sentence: 'the standby was stopped' })
}

const WORDS_MAX = 10

export function createFollowingLog(
  logger: Pick<DaemonLogger, 'log'>,
  refusesDifference = false,
): (state: Pick<StandbyState, 'holder' | 'behind' | 'trouble' | 'differs'>) => void {
  let followed = ''
  const said = new Set<string>()
  let differed = ''
  return ({ holder, behind, trouble, differs }) => {
    const whom = holder === '' ? {} : { holder }
    const differing = differs.join(', ')
    if (trouble === undefined && differing !== differed) {
      differed = differing
      if (differing === '') logger.log('info', 'standby.agrees', { ...whom })
      else
        logger.log('warn', 'standby.differs', { ...whom, differs, takesOver: !refusesDifference })
    }
    if (trouble !== undefined) {
      if (said.has(trouble) || said.size >= WORDS_MAX) return
      said.add(trouble)
      logger.log('warn', 'standby.unable', { ...whom, reason: trouble })
    } else if (followed !== holder || said.size > 0) {
      followed = holder
      said.clear()
      logger.log('info', 'standby.following', { ...whom, behind })
    }
  }
}
