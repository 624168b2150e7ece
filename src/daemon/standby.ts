import type { DaemonConfig } from '../config/load-config.ts'
import type { Following, StandbyState } from '../journal/postgres/follow.ts'
import type { Clock } from '../lib/clock.ts'
import type { Secret } from '../lib/secret.ts'
import { Failure } from '../lib/failure.ts'
import type { Timers } from '../lib/timers.ts'
import { CommandInbox, refuseCommand } from './account/command-inbox.ts'
import { serveControl } from './control/open-control.ts'
import { createFleetSource } from './control/fleet-source.ts'
import { noteLook, type Seen, StandbyControl } from './control/standby-control.ts'
import type { DaemonLogger } from '../logging/logger.ts'

export interface StandbyFrame {
  /** It should stop following. */
  readonly isOver: () => boolean
  /** Called after each look. */
  readonly onLooked: () => void
}

export interface StandbyOptions {
  readonly config: DaemonConfig
  /** The locked state directory. */
  readonly directory: string
  readonly frame: StandbyFrame
  /** Password of the journal's server. */
  readonly password: Secret | undefined
  readonly version: string
  readonly configOption: string
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: DaemonLogger
}

/** A process that waits for a journal's lease. */
export interface Standby {
  readonly following: Following
  /** The last writer that it followed. */
  whom(): string
  /** Settings and code that differed from the writer's at the last look. */
  differs(): readonly string[]
  end(): Promise<void>
}

/** Follows until it may take over, and serves the control interface of its own state directory. */
export async function startStandby(options: StandbyOptions): Promise<Standby> {
  const { config, clock, timers, logger, frame } = options
  let seen: Seen | undefined
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
    options,
  )
  await control.start()
  // Otherwise commands would be obeyed at a takeover, perhaps days later.
  const inbox = new CommandInbox({
    directory: config.state.directory,
    onCommand: () => refuseCommand({ standbyOf: seen?.state.holder ?? '' }),
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

/** The standby was stopped before it began. */
function ended(): Failure {
  return new Failure({ code: 'STANDBY_ENDED', sentence: 'the standby was stopped' })
}

/** Limits remembered texts; beyond it they are logged again. */
const WORDS_MAX = 10

/** Logs changes of the followed writer, and each problem once until following works again. */
export function createFollowingLog(
  logger: Pick<DaemonLogger, 'log'>,
  refusesDifference = false,
): (state: Pick<StandbyState, 'holder' | 'behind' | 'trouble' | 'differs'>) => void {
  // Empty if the journal never had a writer.
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
