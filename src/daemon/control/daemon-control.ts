import { resolve } from 'node:path'
import type { ControlAnswer, ControlRequest } from '../../control/commands.ts'
import type {
  Approval,
  Controlled,
  CommandPlan,
  Readiness,
  ReloadRequest,
} from '../../control/controlled.ts'
import type { RiskierCommand } from '../../control/powers.ts'
import type {
  BacktestView,
  CandleDetail,
  ClosedTradesQuery,
  ClosedTradesView,
  CurvesView,
  DenialsView,
  ExplainQuery,
  InstrumentDetail,
  JournalQuery,
  JournalRowView,
  KeptCurveView,
  KeptPlotView,
  ReloadView,
  StoryView,
} from '../../control/detail-views.ts'
import { EventHistory } from '../../control/event-history.ts'
import type { FillView, OrderView, PositionView, StatusView } from '../../control/views.ts'
import type { UniverseView } from '../../control/universe-view.ts'
import { viewUniverses } from '../../views/universe-view.ts'
import type { WhatIfQuery, WhatIfView } from '../../control/what-if-view.ts'
import type { SharedLimits } from '../../exchange/limiter/shared/shared-limits.ts'
import { listScopes, type Restriction, type Scope } from '../../domain/trading-mode.ts'
import type { EngineCommand, EngineEvent, HandCommand } from '../../engine/event.ts'
import { scopeNamed } from '../../engine/lifecycle/close-part.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { describeUnclosable, isOpen } from '../../engine/lifecycle/flatten.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import { didYouMeanEnd } from '../../lib/did-you-mean.ts'
import { headlineOf, messageOf } from '../../lib/failure.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { describeCaller } from '../../control/access/verified-caller.ts'
import type { PollerStats } from '../../lib/poller.ts'
import type { Account } from '../account/account.ts'
import type { UnopenedAccount } from '../../views/shown-account.ts'
import {
  adviseUnclaimed,
  adviseUnclosable,
  type CommandAnswer,
  describePeak,
  describeRefusedRelease,
  describeStillHeld,
} from '../account/command-inbox.ts'
import type { BackgroundReadings } from '../explain/background-readings.ts'
import type { MarketListener } from '../market-data/market-data.ts'
import { ObserverQueue } from '../account/account-ports.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { viewAccount, viewFill, viewOrders, viewPositions } from '../../views/account-view.ts'
import { DenialCounts, PriceHistory, ProfitCurve } from './run-history.ts'
import type { FleetSource } from './fleet-source.ts'
import { type SignalCounts, viewSignals } from './view-signals.ts'
import { checkReadiness } from '../../views/hindrances.ts'
import { viewInstrument } from '../../views/instrument-view.ts'
import { viewEquity } from '../../views/losses-view.ts'
import { Metrics } from './metrics.ts'
import { planAccountCommand, planHandOrder, planReload } from './command-plans.ts'
import { viewProfit } from '../../views/money-view.ts'
import {
  adviseHeld,
  type RestrictionContext,
  viewRestriction,
} from '../../views/restriction-view.ts'
import { type Rest, viewWhatIf } from '../../views/what-if.ts'

export interface DaemonControlOptions {
  readonly name: string
  readonly version: string
  readonly environment: string
  readonly exchange: string
  readonly configOption: string
  readonly speed: number
  readonly accounts: readonly Pick<Account, 'shown' | 'command'>[]
  readonly off: readonly UnopenedAccount[]
  readonly market: { readonly polls: PollerStats; listen(listener: MarketListener): void }
  readonly isReadOnly: boolean
  readonly closedPort: () => StatusView['closedPort']
  readonly sharedLimits: Pick<SharedLimits, 'view'> | undefined
  readonly alertTargets?: (() => AlertTargets) | undefined
  readonly signalCounts?: SignalCounts | undefined
  readonly readings: Pick<BackgroundReadings, 'ask' | 'stop'>
  readonly clock: Clock
  readonly timers: Timers
  readonly processStartedAt?: number | undefined
  readonly fleet?: FleetSource | undefined
  readonly onReload?: ((order: ReloadRequest) => void) | undefined
  readonly tryReload?: (() => Promise<ReloadView> | undefined) | undefined
  readonly logger: Pick<DaemonLogger, 'log' | 'listen' | 'setLevel'>
}

export type AlertTargets = ReadonlyMap<
  string,
  { readonly since: number; readonly reason: string } | undefined
>

export class DaemonControl implements Controlled {
  readonly events: EventHistory
  readonly #options: DaemonControlOptions
  readonly #startedAt: number
  readonly #metrics: Metrics
  readonly #denials = new DenialCounts()
  readonly #curve = new ProfitCurve()
  readonly #prices: PriceHistory
  readonly #observers: ObserverQueue

  constructor(options: DaemonControlOptions) {
    const { clock, timers, logger } = options
    this.#options = options
    this.#metrics = new Metrics(timers)
    this.#startedAt = clock.now()
    // A run has fewer events than microseconds, so the ids of later runs are larger.
    this.events = new EventHistory(this.#startedAt * 1000)
    logger.listen((fact) => {
      const { level, event, fields } = fact
      this.events.add({ at: clock.now(), level, event, fields: { ...fields } })
      this.#denials.hear(fact)
    })
    this.#prices = new PriceHistory(() =>
      this.#shown.flatMap(({ settings }) => [...settings.instruments.keys()]),
    )
    this.#observers = new ObserverQueue(timers, (error) =>
      logger.log('error', 'control.failed', { reason: messageOf(error) }),
    )
  }

  /** Must be called after the accounts listen, because they come first. */
  start(): void {
    this.#options.market.listen({
      hear: (event) => this.#observers.later(() => this.#hear(event)),
      rollDay: () => undefined,
    })
    this.#metrics.start()
  }

  stop(): void {
    this.#metrics.stop()
    this.#options.readings.stop()
  }

  status(): StatusView {
    const { name, version, environment, exchange, configOption, speed, isReadOnly, clock } =
      this.#options
    const sharedLimits = this.#options.sharedLimits?.view()
    const closedPort = this.#options.closedPort()
    const counts = this.#options.signalCounts
    const signals = counts && viewSignals(counts, this.#shown, clock.now())
    const targets = this.#options.alertTargets?.()
    const alerts = targets && [...targets].map(([target, failing]) => viewTarget(target, failing))
    return {
      name,
      version,
      environment,
      exchange,
      configOption,
      speed,
      isReadOnly,
      pid: process.pid,
      processStartedAt: this.#options.processStartedAt ?? this.#startedAt,
      startedAt: this.#startedAt,
      now: clock.now(),
      accounts: this.#shown.map((account) => viewAccount(account, configOption)),
      off: this.#options.off.map(({ config, error }) => ({
        name: config.name,
        file: resolve(config.file),
        reason: headlineOf(error),
      })),
      ...(sharedLimits && {
        sharedLimits: {
          ...sharedLimits,
          reason: sharedLimits.reason ?? null,
        },
      }),
      ...(alerts && { alerts }),
      ...(signals && { signals }),
      ...(closedPort && { closedPort }),
      ...(this.#options.fleet && { hasFleet: true as const }),
    }
  }

  positions(): readonly PositionView[] {
    return this.#shown.flatMap(viewPositions)
  }

  orders(symbol?: string): readonly OrderView[] {
    return this.#shown
      .flatMap(viewOrders)
      .filter((order) => symbol === undefined || order.symbol === symbol)
  }

  fills(limit: number, symbol?: string): readonly FillView[] {
    return this.#shown
      .flatMap((account) =>
        account.recent.fills(limit, symbol).map((fill) => viewFill(account, fill)),
      )
      .toSorted((one, other) => other.at - one.at)
      .slice(0, limit)
  }

  trades(query: ClosedTradesQuery): Promise<ClosedTradesView> {
    return this.#options.readings.ask({ kind: 'trades', query }) as Promise<ClosedTradesView>
  }

  candles(symbol: string, intervalMs: number): readonly CandleDetail[] | undefined {
    this.#observers.flush()
    return this.#prices.candles(symbol, intervalMs)
  }

  curves(): CurvesView {
    this.#observers.flush()
    return this.#curve.view()
  }

  keptCurve(since?: number): Promise<KeptCurveView> {
    return this.#options.readings.ask({ kind: 'curve', since }) as Promise<KeptCurveView>
  }

  plots(symbol: string, since?: number): Promise<readonly KeptPlotView[]> {
    return this.#options.readings.ask({ kind: 'plots', symbol, since }) as Promise<
      readonly KeptPlotView[]
    >
  }

  async whatIf(query: WhatIfQuery): Promise<readonly WhatIfView[]> {
    const rest: Rest = () => new Promise((goOn) => void this.#options.timers.after(0, goOn))
    const views: WhatIfView[] = []
    for (const account of this.#shown) views.push(await viewWhatIf(account, query, rest))
    return views
  }

  universes(): readonly UniverseView[] {
    return this.#shown.flatMap((account) => viewUniverses(account))
  }

  instrument(symbol: string): InstrumentDetail | undefined {
    const views = this.#shown.flatMap((account) => viewInstrument(account, symbol) ?? [])
    return views[0]
  }

  denials(): DenialsView {
    return this.#denials.view()
  }

  explain(query: ExplainQuery): Promise<readonly StoryView[]> {
    return this.#options.readings.ask({ kind: 'explain', query }) as Promise<readonly StoryView[]>
  }

  journal(query: JournalQuery): Promise<readonly JournalRowView[]> {
    return this.#options.readings.ask({ kind: 'journal', query }) as Promise<
      readonly JournalRowView[]
    >
  }

  backtests(): Promise<readonly BacktestView[]> {
    return this.#options.readings.ask({ kind: 'backtests' }) as Promise<readonly BacktestView[]>
  }

  fleet(): ReturnType<FleetSource> | undefined {
    return this.#options.fleet?.()
  }

  tryReload(): Promise<ReloadView> | undefined {
    return this.#options.tryReload?.()
  }

  planCommand(order: RiskierCommand): CommandPlan | Promise<CommandPlan> {
    if (order.kind === 'reload') return planReload(this.tryReload())
    if (isHandRequest(order)) {
      const account = this.#accountFor(order)
      if (typeof account === 'string') return { changes: [], notes: [], refusal: account }
      const source = { key: PLANNED_KEY, reason: '', by: '' }
      const command = toHandCommand(order, source, account.shown.settings)
      return planHandOrder(account.shown, command)
    }
    const { configOption } = this.#options
    const plans = this.#shown
      .filter(({ state }) => state === 'begun')
      .map((shown) => planAccountCommand(shown, order, configOption))
    return plans[0] ?? { changes: [], notes: [], refusal: 'the run has not begun, or is over' }
  }

  readiness(): Readiness {
    return checkReadiness(this.#shown)
  }

  metrics(): string {
    return this.#metrics.render({
      status: this.status(),
      accounts: this.#shown,
      isReady: this.readiness().isReady,
      polls: this.#options.market.polls,
    })
  }

  command(request: ControlRequest, verified: string, approval?: Approval): ControlAnswer {
    const { logger } = this.#options
    const { order, reason, requestId } = request
    const caller = describeCaller(verified, request.by)
    const by = approval === undefined ? caller : `${caller}, ${approval.text}`
    const answer = this.#obey(request, by, approval)
    const { kind, ...details } = order
    logger.log(answer.isObeyed ? 'info' : 'warn', 'control.commanded', {
      order: kind,
      ...details,
      by,
      reason,
      requestId,
      result: answer.text,
    })
    return answer
  }

  #obey(
    { order, reason, requestId }: ControlRequest,
    by: string,
    approval: Approval | undefined,
  ): ControlAnswer {
    const nothing = { requestId, held: [], lifted: [], stillHeld: {} }
    if (order.kind === 'logLevel') {
      this.#options.logger.setLevel(order.level)
      return {
        ...nothing,
        isObeyed: true,
        text: `the log is written from ${order.level} up, until the next start`,
      }
    }
    if (order.kind === 'reload') {
      const { onReload } = this.#options
      onReload?.({ by, reason, approved: approval?.changes })
      const text = 'it reads the configuration again; the log says reload.begun or reload.refused'
      return { ...nothing, isObeyed: onReload !== undefined, text }
    }
    if (isHandRequest(order)) {
      const verdict = this.#tradeByHand(order, { key: requestId, reason, by })
      return { ...nothing, ...verdict }
    }
    const unknown =
      'scope' in order && order.kind !== 'release' ? this.#objectToScope(order.scope) : undefined
    if (unknown !== undefined) return { ...nothing, isObeyed: false, text: unknown }
    const answers = this.#options.accounts.flatMap(
      (account) => account.command({ ...order, reason, by } satisfies EngineCommand) ?? [],
    )
    if (answers.length === 0) {
      return { ...nothing, isObeyed: false, text: NOT_NOW }
    }
    const { configOption } = this.#options
    const coolDownMs = Math.max(
      0,
      ...this.#shown.map(({ settings }) => settings.losses?.coolDownMs ?? 0),
    )
    const isToClose = (scope: Scope) => this.#shown.some((shown) => isOpen(shown, scope))
    const isKilled = this.#shown.some(({ engine }) => engine.kill !== undefined)
    const verdict = judge(order, answers, { configOption, isKilled, isToClose, coolDownMs })
    const text = [verdict.text, ...answers.flatMap(describePeak)].join('; ')
    return { ...nothing, ...verdict, text }
  }

  #tradeByHand(
    order: HandRequest,
    source: { readonly key: string; readonly reason: string; readonly by: string },
  ): Pick<ControlAnswer, 'isObeyed' | 'text'> {
    const account = this.#accountFor(order)
    if (typeof account === 'string') return { isObeyed: false, text: account }
    const { shown } = account
    const command = toHandCommand(order, source, shown.settings)
    if (order.dryRun === true) {
      const plan = shown.engine.planByHand(command)
      const { refusal } = plan
      const text =
        refusal === undefined
          ? `would be done: ${this.#describe(plan)}`
          : `would be denied: ${refusal}`
      return { isObeyed: refusal === undefined, text }
    }
    const answer = account.command(command)
    if (answer === undefined) return { isObeyed: false, text: NOT_NOW }
    const { refusal } = answer
    return refusal === undefined
      ? { isObeyed: true, text: this.#describe(answer) }
      : { isObeyed: false, text: `not done: ${refusal}` }
  }

  #describe({ detail = '', holds }: Pick<CommandAnswer, 'detail' | 'holds'>): string {
    return holds ? `${detail}; ${adviseHeld(holds, this.#options.configOption)}` : detail
  }

  /** Returns advice if several accounts are meant, because the order would be placed in each. */
  #accountFor({ account: name }: HandRequest): Pick<Account, 'shown' | 'command'> | string {
    const accounts = this.#options.accounts.filter(
      ({ shown }) => name === undefined || shown.config.name === name,
    )
    const [account] = accounts
    if (account !== undefined && accounts.length === 1) return account
    return `name the account: ${this.#shown.map(({ config }) => config.name).join(', ')}`
  }

  #objectToScope(scope: string): string | undefined {
    const scopes = this.#shown.flatMap(({ settings }) =>
      listScopes(settings.instruments.keys(), settings.strategies.keys()),
    )
    if (scopes.includes(scope)) return undefined
    const unclosable = this.#shown.flatMap((shown) =>
      adviseUnclosable(describeUnclosable(shown, scope)),
    )
    return [
      `not in this configuration: ${scope}${didYouMeanEnd(scope, scopes)}; scopes: ${[...new Set(scopes)].join(', ')}`,
      ...unclosable,
    ].join('; ')
  }

  /** Errors here must not disturb trading: prices and profits are only shown. */
  #hear(event: EngineEvent): void {
    const { clock } = this.#options
    if (event.kind === 'snapshotTaken') this.#prices.take(event.tickers)
    const now = clock.monotonic()
    if (!this.#curve.isDue(now)) return
    const [account] = this.#shown
    if (account?.state !== 'begun') return
    const profit = viewProfit(account)
    this.#curve.take(now, clock.now(), { profit, ...viewEquity(account, profit) })
  }

  get #shown() {
    return this.#options.accounts.map(({ shown }) => shown)
  }
}

/** A plan places nothing, so its key is no order's. */
const PLANNED_KEY = 'planned'

const NOT_NOW =
  'not now: the run has not begun, or is over; a command of the command line waits for it'

type HandRequest = Extract<
  ControlRequest['order'],
  { readonly kind: 'order' | 'close' | 'cancel' | 'deposit' | 'withdrawal' | 'correctDeposit' }
>

type AccountCommand = Exclude<
  ControlRequest['order'],
  HandRequest | { readonly kind: 'logLevel' | 'reload' }
>

const HAND_REQUESTS: ReadonlySet<ControlRequest['order']['kind']> = new Set<HandRequest['kind']>([
  'order',
  'close',
  'cancel',
  'deposit',
  'withdrawal',
  'correctDeposit',
])

function isHandRequest(order: ControlRequest['order']): order is HandRequest {
  return HAND_REQUESTS.has(order.kind)
}

function toHandCommand(
  { account: _account, dryRun: _dryRun, ...order }: HandRequest,
  source: { readonly key: string; readonly reason: string; readonly by: string },
  settings: EngineSettings,
): HandCommand {
  switch (order.kind) {
    case 'order':
    case 'cancel':
    case 'deposit':
    case 'correctDeposit':
      return { ...order, ...source }
    case 'withdrawal':
      return { ...order, kind: 'deposit', amount: `-${order.amount}`, ...source }
    case 'close': {
      const { kind, scope, percent } = order
      return { kind, scope: scopeNamed(settings, scope), share: percent / 100, ...source }
    }
    default:
      return unreachable(order)
  }
}

interface OrderFrame extends RestrictionContext {
  readonly isKilled: boolean
}

function judge(
  order: AccountCommand,
  answers: readonly CommandAnswer[],
  around: OrderFrame,
): Pick<ControlAnswer, 'isObeyed' | 'text' | 'held' | 'lifted' | 'stillHeld'> {
  const held = answers.flatMap((answer) => answer.held)
  const lifted = answers.flatMap((answer) => answer.lifted)
  return {
    ...verdictOf(order, answers, around),
    held: held.map((one) => viewRestriction(one, around)),
    lifted: lifted.map((one) => viewRestriction(one, around)),
    stillHeld: Object.assign({}, ...answers.map(({ stillHeld }) => stillHeld)) as Record<
      string,
      string
    >,
  }
}

function verdictOf(
  order: AccountCommand,
  answers: readonly CommandAnswer[],
  { isKilled, configOption }: Pick<OrderFrame, 'isKilled' | 'configOption'>,
): Pick<ControlAnswer, 'isObeyed' | 'text'> {
  const [held, lifted] = [
    answers.flatMap((answer) => answer.held),
    answers.flatMap((answer) => answer.lifted),
  ]
  const holds = (scope: string, code: Restriction['code']) =>
    held.find((one) => one.scope === scope && one.code === code)
  switch (order.kind) {
    case 'restrict': {
      const own = holds(order.scope, 'operator')
      if (own?.mode === order.mode)
        return { isObeyed: true, text: `${order.scope} is held ${order.mode}` }
      return {
        isObeyed: false,
        text: `not done: a restriction never loosens; release ${order.scope} first`,
      }
    }
    case 'flatten':
      return holds(order.scope, 'flatten')
        ? {
            isObeyed: true,
            text: [
              isKilled
                ? `${order.scope} is noted to be closed; under a kill nothing is: release the kill, and it is closed then`
                : `${order.scope} is being closed; its reason here and in status, and flatten.done in the log, say when nothing is left`,
              ...answers.flatMap(({ unclosable }) => adviseUnclosable(unclosable)),
            ].join('; '),
          }
        : { isObeyed: false, text: 'not done: the log says why' }
    case 'adopt': {
      const refusals = answers.flatMap(({ refusal }) => refusal ?? [])
      return refusals.length < answers.length
        ? {
            isObeyed: true,
            text: `${order.strategyId} holds now what no strategy held of ${order.symbol}`,
          }
        : { isObeyed: false, text: `not done: ${refusals.join('; ')}` }
    }
    case 'release':
      return lifted.length > 0
        ? {
            isObeyed: true,
            text: [
              `${order.scope} is released`,
              ...answers.flatMap(describeStillHeld),
              ...answers.flatMap((answer) => adviseUnclaimed(answer, configOption)),
            ].join('; '),
          }
        : { isObeyed: false, text: describeRefusedRelease(order.scope, answers, configOption) }
    case 'kill':
      return holds('*', 'kill')
        ? {
            isObeyed: true,
            text: 'killed: nothing that creates an order leaves; kill.clean says when nothing rests',
          }
        : { isObeyed: false, text: 'not done: the log says why' }
    case 'releaseKill':
      if (lifted.some(({ code }) => code === 'kill'))
        return { isObeyed: true, text: 'the kill switch is released' }
      return answers.some(({ killFiles }) => killFiles.length > 0)
        ? {
            isObeyed: true,
            text: 'the kill switch is released once it is proved that nothing rests',
          }
        : {
            isObeyed: false,
            text: 'not done: no kill stands; name the scope that is to be released',
          }
    default:
      return unreachable(order)
  }
}

function viewTarget(
  target: string,
  failing: { readonly since: number; readonly reason: string } | undefined,
): NonNullable<StatusView['alerts']>[number] {
  return { target, failing: failing ? { since: failing.since, reason: failing.reason } : null }
}
