import type { ControlRequest } from '../../control/commands.ts'
import type {
  CommandOutcome,
  CommandPlan,
  Controlled,
  Readiness,
} from '../../control/controlled.ts'
import type {
  ClosedTradesView,
  CurvesView,
  DenialsView,
  JournalFillsView,
  JournalProfitView,
  KeptCurveView,
} from '../../control/detail-views.ts'
import { EventHistory } from '../../control/event-history.ts'
import { renderMetrics } from '../../control/metrics-text.ts'
import type { StatusView } from '../../control/views.ts'
import type { FleetSource } from './fleet-source.ts'
import type { StandbyState } from '../../journal/postgres/follow.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

const STANDBY = 'this is a standby: it trades nothing, and its writer is the one to be told'

export interface StandbyControlOptions {
  readonly name: string
  readonly version: string
  readonly environment: string
  readonly exchange: string
  readonly configOption: string
  readonly clock: Clock
  readonly logger: Pick<DaemonLogger, 'listen'>
  readonly fleet: FleetSource | undefined
  readonly refusesDifference: boolean
  readonly seen: () => StandbyLook | undefined
  readonly closedPort: () => StatusView['closedPort']
}

export interface StandbyLook {
  readonly state: StandbyState
  readonly at: number | undefined
}

export function noteLook(
  before: StandbyLook | undefined,
  state: StandbyState,
  at: number,
): StandbyLook {
  return { state, at: state.trouble === undefined ? at : before?.at }
}

export class StandbyControl implements Controlled {
  readonly events: EventHistory
  readonly #options: StandbyControlOptions
  readonly #startedAt: number

  constructor(options: StandbyControlOptions) {
    this.#options = options
    this.#startedAt = options.clock.now()
    this.events = new EventHistory(this.#startedAt * 1000)
    options.logger.listen(({ level, event, fields }) =>
      this.events.add({ at: options.clock.now(), level, event, fields: { ...fields } }),
    )
  }

  status(): StatusView {
    const { name, version, environment, exchange, configOption, clock, seen } = this.#options
    const found = seen()
    const closedPort = this.#options.closedPort()
    const canTakeOver = found?.at !== undefined && found.state.trouble === undefined
    return {
      name,
      version,
      environment,
      exchange,
      configOption,
      speed: 1,
      isReadOnly: true,
      pid: process.pid,
      processStartedAt: this.#startedAt,
      startedAt: this.#startedAt,
      now: clock.now(),
      accounts: [],
      off: [],
      hasFleet: true,
      ...(closedPort && { closedPort }),
      standby: {
        holder: found?.state.holder ?? '',
        behind: found?.at === undefined ? null : found.state.behind,
        seenAt: found?.at ?? null,
        freeInMs: canTakeOver ? Math.round(found.state.freeInMs) : null,
        trouble: found?.state.trouble ?? null,
        differs: [...(found?.state.differs ?? [])],
      },
    }
  }

  positions = (): [] => []
  orders = (): [] => []
  fills = (): [] => []
  journalFills = (): Promise<JournalFillsView> =>
    Promise.resolve({ journal: { run: 0, sequence: 0 }, fills: [] })
  journalProfit = (): Promise<JournalProfitView> =>
    Promise.resolve({ journal: { run: 0, sequence: 0 }, rows: [], uncounted: '' })
  trades = (): Promise<ClosedTradesView> =>
    Promise.resolve({ journal: { run: 0, sequence: 0 }, trades: [], unexplained: [] })
  candles = (): undefined => undefined
  curves = (): CurvesView => ({
    peak: null,
    at: [],
    netWithUnrealised: [],
    equity: [],
    strategies: {},
  })
  keptCurve = (): Promise<KeptCurveView> =>
    Promise.resolve({ at: [], equity: [], netWithUnrealised: [], peak: [] })
  plots = (): Promise<[]> => Promise.resolve([])
  whatIf = (): Promise<[]> => Promise.resolve([])
  universes = (): [] => []
  instrument = (): undefined => undefined
  denials = (): DenialsView => ({})
  explain = (): Promise<[]> => Promise.resolve([])
  journal = (): Promise<[]> => Promise.resolve([])
  backtests = (): Promise<[]> => Promise.resolve([])

  tryReload = (): undefined => undefined

  fleet = (): ReturnType<FleetSource> | undefined => this.#options.fleet?.()

  readiness(): Readiness {
    const found = this.#options.seen()
    const isFollowing = found?.at !== undefined && found.state.trouble === undefined
    const words = found
      ? (found.state.trouble ?? describeFollowed(found.state.holder))
      : 'has not looked yet'
    const differs = found?.state.differs ?? []
    const isBarred = this.#options.refusesDifference && differs.length > 0
    return {
      isReady: isFollowing && !isBarred,
      checks: {
        standby: { ok: isFollowing, found: words },
        ...(differs.length > 0 && {
          setup: { ok: !isBarred, found: `differs from the writer: ${differs.join(', ')}` },
        }),
      },
    }
  }

  metrics(): string {
    const { name, version, environment, clock, seen } = this.#options
    const found = seen()
    const seenAt = found?.at ?? Number.NEGATIVE_INFINITY
    return renderMetrics(
      new Map([
        ['intentd_build_info', [{ labels: { name, version, environment }, value: 1 }]],
        ['intentd_ready', [{ value: Number(this.readiness().isReady) }]],
        ['intentd_standby', [{ value: 1 }]],
        ['intentd_standby_differs', [{ value: found?.state.differs.length ?? 0 }]],
        ['intentd_standby_behind', [{ value: found?.state.behind ?? Number.NaN }]],
        ['intentd_standby_seen_age_seconds', [{ value: (clock.now() - seenAt) / 1000 }]],
        ['process_resident_memory_bytes', [{ value: process.memoryUsage.rss() }]],
        ['process_start_time_seconds', [{ value: this.#startedAt / 1000 }]],
      ]),
    )
  }

  planCommand = (): CommandPlan => ({ changes: [], notes: [], refusal: STANDBY })

  command({ requestId }: ControlRequest): CommandOutcome {
    const nothing = { isObeyed: false, held: [], lifted: [], stillHeld: {} }
    return { answer: { requestId, text: STANDBY, ...nothing } }
  }
}

function describeFollowed(holder: string): string {
  return holder === '' ? 'nobody has written the journal yet' : `follows ${holder}`
}
