import { resolve } from 'node:path'
import { asUncertain } from '../../control/answered-requests.ts'
import type { ControlAnswer, ControlRequest } from '../../control/commands.ts'
import type {
  Approval,
  CommandOutcome,
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
  FillsQuery,
  JournalFillsView,
  JournalProfitView,
  JournalRowView,
  ProfitQuery,
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
import { MANUAL } from '../../domain/hand-order.ts'
import { listScopes, type Scope } from '../../domain/trading-mode.ts'
import { pairKey } from '../../engine/book/book.ts'
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
import { adviseUnclosable, type CommandAnswer, describePeak } from '../account/command-inbox.ts'
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
import { type HandRequest, judgeAnswers } from './judge-answers.ts'
import { Metrics } from './metrics.ts'
import {
  asKept,
  describeBroken,
  describeLostBasis,
  describeUnobeyed,
  type KilledHere,
  ORDER_UNWRITTEN,
  REFUSAL_UNWRITTEN,
  UNWRITTEN,
  whyDropped,
} from './unwritten-commands.ts'
import { planAccountCommand, planHandOrder, planReload } from './command-plans.ts'
import { viewProfit } from '../../views/money-view.ts'
import { adviseHeld } from '../../views/restriction-view.ts'
import { type Rest, viewWhatIf } from '../../views/what-if.ts'

type ControlledAccount = Pick<Account, 'shown' | 'command' | 'throwKill' | 'untilWritten'>

export interface DaemonControlOptions {
  readonly name: string
  readonly version: string
  readonly environment: string
  readonly exchange: string
  readonly configOption: string
  readonly speed: number
  readonly accounts: readonly ControlledAccount[]
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

  journalFills(query: FillsQuery): Promise<JournalFillsView> {
    return this.#options.readings.ask({ kind: 'fills', query }) as Promise<JournalFillsView>
  }

  journalProfit(query: ProfitQuery): Promise<JournalProfitView> {
    return this.#options.readings.ask({ kind: 'profit', query }) as Promise<JournalProfitView>
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

  command(request: ControlRequest, verified: string, approval?: Approval): CommandOutcome {
    const { order, reason } = request
    const caller = describeCaller(verified, request.by)
    const by = approval === undefined ? caller : `${caller}, ${approval.text}`
    const { accounts } = this.#options
    // The files come first: they hold, whatever becomes of the journal and of this process.
    const files =
      order.kind === 'kill' ? accounts.map((one) => one.throwKill({ reason, by })) : undefined
    const killed = files && this.#describeKilled(files)
    const taking = accounts.filter(({ shown }) => shown.state === 'begun')
    const obeyed = this.#obey(request, by, approval)
    const isUntaken = obeyed.text === NOT_NOW
    const answer = isUntaken ? this.#describeUntaken(obeyed, killed, taking) : obeyed
    if (isUntaken || !isRecorded(order)) {
      this.#log(request, by, answer)
      return { answer }
    }
    const written = this.#untilWritten(request, answer, { killed, taking }).then((lasting) => {
      this.#log(request, by, lasting)
      return lasting
    })
    if (!answer.isObeyed) return { answer, written, unwritten: REFUSAL_UNWRITTEN }
    const unwritten = order.kind === 'order' ? ORDER_UNWRITTEN : UNWRITTEN
    return { answer, written, unwritten: killed?.text ?? unwritten }
  }

  /** A refusal may rest on a record of before that is not durable either. */
  async #untilWritten(
    { requestId, order }: ControlRequest,
    answer: ControlAnswer,
    { killed, taking }: TakenCommand,
  ): Promise<ControlAnswer> {
    const named = isHandRequest(order) ? this.#accountFor(order) : undefined
    // Advice to name an account rests on the configuration alone.
    const ofNamed = typeof named === 'string' ? [] : named && [named]
    const accounts = ofNamed ?? taking
    const pair = pairKey(MANUAL, requestId)
    const commanded = accounts.map(async (account) => {
      const { shown } = account
      const place =
        order.kind === 'order' && answer.isObeyed ? shown.book.places.get(pair) : undefined
      const isWritten = await account.untilWritten()
      // Nothing of it has been sent yet, because its batch is recorded later.
      const dropped = isWritten && place !== undefined ? whyDropped(shown, place) : undefined
      return { name: shown.config.name, isWritten, dropped }
    })
    const outcomes = await Promise.all(commanded)
    const [dropped] = outcomes.flatMap((one) => one.dropped ?? [])
    if (dropped !== undefined) return { ...answer, isObeyed: false, text: `not done: ${dropped}` }
    const isWritten = outcomes.every((one) => one.isWritten)
    if (isWritten) return answer
    const text = answer.isObeyed
      ? describeBroken(outcomes, killed)
      : `${describeLostBasis(outcomes)}: ${answer.text}`
    return asUncertain(answer, text)
  }

  /** @param taking accounts that had begun: the command broke them down, so it may be recorded */
  #describeUntaken(
    answer: ControlAnswer,
    killed: KilledHere | undefined,
    taking: readonly ControlledAccount[],
  ): ControlAnswer {
    const { configOption } = this.#options
    const broken = taking.filter(({ shown }) => shown.fatal !== undefined)
    if (killed && (killed.isWritten || broken.length === 0))
      return asKept(answer, killed, describeUnobeyed(this.#shown, configOption))
    if (broken.length === 0) return answer
    const outcomes = broken.map(({ shown }) => ({ name: shown.config.name, isWritten: false }))
    return asUncertain(answer, describeBroken(outcomes, undefined))
  }

  /** @param files undefined where one could not be written */
  #describeKilled(files: readonly (string | undefined)[]): KilledHere {
    const written = [...new Set(files.flatMap((file) => file ?? []))]
    const isWhole = !files.includes(undefined)
    const isShared = this.#shown.some(({ config }) => config.journal !== undefined)
    const text = [
      written.length > 0
        ? `killed here, also after a restart: nothing that creates an order leaves while ${written.join(' and ')} is there`
        : 'killed in this process',
      ...(isWhole ? [] : ['a kill file could not be written (kill.notWrittenDown says why)']),
      ...(isShared
        ? [
            'a daemon on another machine that takes this account over does not know of it: kill it there too, or by the server with `intentd kill --all`',
          ]
        : []),
    ].join('; ')
    return { text, isWritten: written.length > 0, isCertain: isWhole && !isShared }
  }

  #log(
    { order, reason, requestId }: ControlRequest,
    by: string,
    { isObeyed, text: result }: Pick<ControlAnswer, 'isObeyed' | 'text'>,
  ): void {
    const { kind, ...details } = order
    const fields = { order: kind, ...details, by, reason, requestId, result }
    this.#options.logger.log(isObeyed ? 'info' : 'warn', 'control.commanded', fields)
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
    const verdict = judgeAnswers(order, answers, { configOption, isKilled, isToClose, coolDownMs })
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
      const { refusal, hints = [] } = plan
      const text =
        refusal === undefined
          ? `would be done: ${[this.#describe(plan), ...hints].join('; ')}`
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
  #accountFor({ account: name }: HandRequest): ControlledAccount | string {
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

interface TakenCommand {
  readonly killed: KilledHere | undefined
  /** Accounts that had begun when it was given. */
  readonly taking: readonly ControlledAccount[]
}

/** These are not in the journal, or do nothing. */
function isRecorded(order: ControlRequest['order']): boolean {
  if (order.kind === 'logLevel' || order.kind === 'reload') return false
  return !('dryRun' in order && order.dryRun === true)
}

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

function viewTarget(
  target: string,
  failing: { readonly since: number; readonly reason: string } | undefined,
): NonNullable<StatusView['alerts']>[number] {
  return { target, failing: failing ? { since: failing.since, reason: failing.reason } : null }
}
