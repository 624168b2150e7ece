import { listMissingCandles } from './state/candles.ts'
import type { Denial, StandingDenial } from '../domain/denial.ts'
import type { LiquidationDistance, NearestDistance } from '../domain/liquidation.ts'
import type { StrategyId, InstrumentSymbol } from '../domain/ids.ts'
import type { SurvivalSettings, WorstCase } from '../domain/worst-case.ts'
import type { Dispute, Equity, UsedLoss } from '../domain/loss-limits.ts'
import type { Restriction, Scope } from '../domain/trading-mode.ts'
import type { Book } from './book/book.ts'
import type { Effect, OutgoingBatch } from './effect.ts'
import type { EngineEvent, HandCommand } from './event.ts'
import { type RunEnding, listEndings } from './lifecycle/kill.ts'
import { isRetreatSettled, unprovedOf } from './lifecycle/start.ts'
import { objectToBatch } from './orders/approve-orders.ts'
import { writeCore } from './replay/core-image.ts'
import type { EngineSettings } from './settings.ts'
import type { Core, InstrumentState, SilentCalls } from './state/core.ts'
import { mayDependOnTime } from './state/changes.ts'
import { createCore } from './state/create-core.ts'
import { standingDenials } from './state/denials.ts'
import { accountEquityOf, type CapitalUse, capitalUseOf } from './state/equity.ts'
import { equityNow, unrealisedNow, usedLossNow } from './state/money-now.ts'
import { unrealisedOfWholeStrategy } from './state/own-figure.ts'
import { listStaleReadings, type StaleReading } from './state/readings.ts'
import { listRefusals, type LoggedRefusal } from './state/refusals.ts'
import { listSilent } from './state/silence.ts'
import type { KillProgress, RunPhase } from './state/run-state.ts'
import { allRestrictions, isTrading, type ReleaseCommand } from './state/trading-mode.ts'
import { type AdoptCommand, objectToAdoption } from './lifecycle/adopt.ts'
import { planByHand } from './lifecycle/hand-commands.ts'
import type { HandPlan } from './lifecycle/trade-by-hand.ts'
import { worstCaseUnder } from './state/worst-case.ts'
import { isMoveHeldBack } from './lifecycle/move-stops.ts'
import {
  type PeakRelease,
  objectToRelease,
  planPeakRelease,
  findOrderedAgain,
} from './lifecycle/release.ts'
import { isCallHeldBack } from './strategies/account-calls.ts'
import { whyNotGone } from './lifecycle/advance-leavings.ts'
import { whyNotEvaluated } from './state/roster.ts'
import { handleStep } from './step.ts'

/** Instants are Unix ms of our clock, and 0 means never. */
export interface Engine {
  /** @returns the effects, in order */
  step(event: EngineEvent, now: number): readonly Effect[]
  readonly book: Book
  /** Instruments of universes come and go with the book. */
  readonly settings: EngineSettings
  whyNotEvaluated(strategyId: StrategyId): string | undefined
  whyNotGone(strategyId: StrategyId, symbol: string): string | undefined
  readonly phase: RunPhase
  /** Instruments that this run has not proved, and so does not trade. */
  readonly unproved: readonly string[]
  /** The note that the last run left as it retreated is not needed any more. */
  readonly isRetreatSettled: boolean
  /** No stop and no kill goes on; orders may still be held back. */
  readonly isTrading: boolean
  /** The passing of time may give the core more to do than its rare work. */
  readonly isWaiting: boolean
  /** Sentences, one for each series of closed candles that strategies wait for. */
  readonly missingCandles: readonly string[]
  readonly kill: KillProgress | undefined
  /** A kill and a stop that are under way, with what they wait for. */
  readonly endings: readonly RunEnding[]
  /** With those that are not recorded, but hold now. */
  readonly restrictions: readonly Restriction[]
  readonly fillsAskedAt: number
  /** When the position was last asked for, while the fills explain it. */
  positionReadAt(symbol: string): number
  /** Readings too old to add risk on. */
  staleReadings(now: number): readonly StaleReading[]
  /** Each with its kind of call, the longest silence first. */
  silentCalls(now: number): readonly (readonly [string, SilentCalls])[]
  instrument(symbol: string): InstrumentState | undefined
  /** Why the batch must not leave, asked before its first byte. */
  objectTo(batch: Pick<OutgoingBatch, 'symbol' | 'clientOids'>, now: number): string | undefined
  /** The same question for a call on the account: trading may have been restricted since. */
  isCallHeldBack(callId: number): boolean
  /** Why the strategy cannot take over what no strategy holds. */
  objectToAdoption(command: AdoptCommand): string | undefined
  /** Says what a trade by hand would do, or which check denies it; nothing is changed. */
  planByHand(command: HandCommand): HandPlan
  /** The worst case if other moves had to be survived; undefined: unknown. */
  worstCaseUnder(survives: SurvivalSettings): WorstCase | undefined
  /** Why no release of a drawdown is taken now. */
  objectToRelease(command: ReleaseCommand): string | undefined
  /** Undefined if no drawdown would be released, or the effect is not known. */
  planPeakRelease(command: ReleaseCommand): PeakRelease | undefined
  /** Lots that strategies would order again although the account holds them. */
  findOrderedAgain(command: ReleaseCommand): Readonly<Record<string, string>> | undefined
  readonly losses: ReadonlyMap<Scope, UsedLoss>
  /** As readings were last compared, which strategies see; undefined while a part is not known. */
  readonly equity: Equity | undefined
  /** This is shown: at the last prices, with every fill; undefined while a part is not known. */
  readonly equityNow: Equity | undefined
  readonly usedLossNow: (scope: Scope) => UsedLoss | undefined
  /** As last measured. */
  readonly distances: ReadonlyMap<InstrumentSymbol, readonly LiquidationDistance[]>
  /** The nearest of this run. */
  readonly nearestDistances: ReadonlyMap<InstrumentSymbol, NearestDistance>
  /** Undefined: unknown, or no move has to be survived. */
  readonly worstCase: WorstCase | undefined
  /** Undefined without a `capital`. */
  readonly capitalUse: (id: StrategyId) => CapitalUse | undefined
  /** The account's, by our own figure at the last prices, margin coin; NaN while unknown. */
  unrealisedOn(symbol: string): number
  /** A strategy's, at the last prices, margin coin; undefined while unknown. */
  unrealisedOf(strategyId: string): number | undefined
  readonly disputes: ReadonlyMap<string, Dispute>
  readonly denied: ReadonlyMap<Denial['code'], number>
  /** As of the last plan of each instrument, and the last decision of each strategy. */
  standingDenials(): readonly StandingDenial[]
  /** Refusals that go on. */
  readonly refusals: readonly LoggedRefusal[]
  /** The core as text, taken between two steps. */
  write(): string
}

/** The same events at the same times give the same effects to the byte (DET1). */
export function createEngine(settings: EngineSettings, book: Book): Engine {
  return resumeEngine(createCore(settings, book))
}

/** The core must be as it was between two steps. */
export function resumeEngine(core: Core): Engine {
  return {
    step: (event, now) => handleStep(core, event, now),
    book: core.book,
    settings: core.settings,
    whyNotEvaluated: (strategyId) => whyNotEvaluated(core, strategyId),
    whyNotGone: (strategyId, symbol) => whyNotGone(core, { strategyId, symbol }),
    get phase() {
      return core.run.phase
    },
    get unproved() {
      return unprovedOf(core)
    },
    get isRetreatSettled() {
      return isRetreatSettled(core)
    },
    get isTrading() {
      return isTrading(core)
    },
    get isWaiting() {
      return !isTrading(core) || mayDependOnTime(core.changes)
    },
    get missingCandles() {
      return listMissingCandles(core)
    },
    get kill() {
      return core.run.kill
    },
    get endings() {
      return listEndings(core)
    },
    get restrictions() {
      return allRestrictions(core)
    },
    get fillsAskedAt() {
      return core.readings.fillsAskedAt
    },
    positionReadAt: (symbol) => core.instruments.get(symbol)?.position.readAt ?? 0,
    staleReadings: (now) => listStaleReadings(core, now),
    silentCalls: (now) => listSilent(core, now),
    instrument: (symbol) => core.instruments.get(symbol),
    objectTo: (batch, now) => objectToBatch(core, batch, now),
    isCallHeldBack: (callId) => isCallHeldBack(core, callId) || isMoveHeldBack(core, callId),
    ...foreseeCommands(core),
    losses: core.losses.used,
    distances: core.liquidation.distances,
    nearestDistances: core.liquidation.nearest,
    capitalUse: (id) => capitalUseOf(core, id),
    get worstCase() {
      return core.worstCase.last
    },
    get equity() {
      return accountEquityOf(core)
    },
    get equityNow() {
      return equityNow(core)
    },
    usedLossNow: (scope) => usedLossNow(core, scope),
    unrealisedOn: (symbol) => unrealisedNow(core, symbol),
    unrealisedOf: (strategyId) => unrealisedOfWholeStrategy(core, strategyId),
    disputes: core.disputes.open,
    denied: core.denials.counts,
    standingDenials: () => standingDenials(core),
    get refusals() {
      return listRefusals(core)
    },
    write: () => writeCore(core),
  }
}

/** The effects of a command, for its dry run and its refusal. */
function foreseeCommands(core: Core) {
  return {
    objectToAdoption: (command) => objectToAdoption(core, command),
    planByHand: (command) => planByHand(core, command),
    worstCaseUnder: (survives) => worstCaseUnder(core, survives),
    objectToRelease: (command) => objectToRelease(core, command),
    planPeakRelease: (command) => planPeakRelease(core, command),
    findOrderedAgain: (command) => findOrderedAgain(core, command),
  } satisfies Partial<Engine>
}
