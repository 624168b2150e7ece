import { watchClosedTrades } from './trade-invariants.ts'
import { watchAdoptions, watchStrategyAccounts, watchStrategyLosses } from './account-invariants.ts'
import { watchAssignments } from './adopt-invariants.ts'
import { watchBelief } from './belief-invariants.ts'
import { watchClocks } from './clock-invariants.ts'
import { watchEquity, watchPeak } from './equity-invariants.ts'
import { watchLadders, watchRiskChecks } from './risk-check-invariants.ts'
import { watchFold, watchOverlooked, watchRepeats, watchTwin } from './engine-invariants.ts'
import { watchResolutions, watchDisplacedBack } from './resolution-invariants.ts'
import { watchForeign } from './foreign-invariants.ts'
import { watchRests, watchUrgency, watchWindows } from './limit-invariants.ts'
import { watchFunding } from './funding-invariants.ts'
import { watchKeys } from './key-invariants.ts'
import { watchKill } from './kill-invariants.ts'
import {
  watchCancelsOfRunBefore,
  watchLateCancels,
  watchNumbers,
  watchPlaces,
} from './intent-invariants.ts'
import {
  watchBatches,
  watchBlindness,
  watchSettled,
  watchTakers,
  watchDurableSends,
  watchIdentity,
  watchPatience,
  watchStaleness,
  watchDisplaced,
  watchUnknown,
} from './order-invariants.ts'
import {
  watchCloses,
  watchGross,
  watchHalts,
  watchPositionValue,
  watchStop,
  watchStopConfirmed,
  watchWorstCase,
} from './risk-invariants.ts'
import { watchAnswers, watchDecisions, watchGrants, watchIdentical } from './hearing-invariants.ts'
import { watchLiquidation } from './liquidation-invariants.ts'
import { watchDebts, watchDeciding, watchStarting } from './live-invariants.ts'
import { watchLosses, watchPaces } from './reached-invariants.ts'
import { watchRefusedReads } from './reading-invariants.ts'
import { watchOrderPace } from './pace-invariants.ts'
import { watchPrefixes } from './prefix-invariants.ts'
import { watchHandCommands } from './hand-invariants.ts'
import { watchOrderedExits } from './ordered-exits-invariants.ts'
import { watchLease } from './lease-invariants.ts'
import { watchListings } from './listing-invariants.ts'
import { watchMarginModes } from './margin-mode-invariants.ts'
import { watchNeedlessCancels, watchRestricted } from './restricted-invariants.ts'
import { watchRetreat } from './retreat-invariants.ts'
import { watchClockGate, watchLooks } from './look-invariants.ts'
import { watchRows, watchShown } from './shown-invariants.ts'
import { watchGhosts, watchLost } from './standing-invariants.ts'
import { watchRefusals, watchSettings } from './refusal-invariants.ts'
import { watchStart } from './start-invariants.ts'
import { watchSurvival } from './survival-invariants.ts'
import { watchCancelScopes, watchWire, watchWishes } from './wire-invariants.ts'
import { watchOutages } from './outage-invariants.ts'
import { watchFills } from './fill-invariants.ts'
import { watchMoney, watchTruth } from './truth-invariants.ts'
import { watchStops } from './stop-invariants.ts'
import { watchUniverses } from './universe-invariants.ts'
import { watchUnowned } from './unowned-invariants.ts'
import { type Invariant } from '../world/world.ts'

/**
 * All invariants, by the numbers of ARCHITECTURE.md, and: RESOLUTION, nothing is placed before a
 * cancel-all is proved; CANCEL, none takes more than is ours; WISH, only wishes leave, at once and
 * once; CLOSE, no strategy closes more than it holds; REPEAT, a repeated event acts once; LIVE,
 * wishes come true; MONEY, the sums agree; CLOCK, signatures have the exchange's time; LEASE, a run
 * that was passed over writes and signs nothing, and nothing of it has an effect; UNIVERSE, nothing
 * is traded that is out, and what leaves leaves nothing behind; STOP, the stop at the exchange is
 * where we say, and who counts on one that does not stand is told.
 */
export const INVARIANTS: readonly Invariant[] = [
  { id: 'LEASE', watch: watchLease },
  { id: 'CLOCK', watch: watchClocks },
  { id: 'MON1', watch: watchBelief },
  { id: 'MON1', watch: watchLiquidation },
  { id: 'RSK1', watch: watchSurvival },
  { id: 'ORD1', watch: watchDurableSends },
  { id: 'ORD2', watch: watchIdentity },
  { id: 'ORD2', watch: watchKeys },
  { id: 'ORD2', watch: watchListings },
  { id: 'ORD3', watch: watchUnknown },
  { id: 'ORD3', watch: watchAnswers },
  { id: 'ORD4', watch: watchPatience },
  { id: 'ORD4', watch: watchOutages },
  { id: 'ORD5', watch: watchTruth },
  { id: 'ORD5', watch: watchForeign },
  { id: 'ORD5', watch: watchTakers },
  { id: 'ORD3', watch: watchSettled },
  { id: 'ORD6', watch: watchBatches },
  { id: 'ORD6', watch: watchMarginModes },
  { id: 'ORD7', watch: watchStaleness },
  { id: 'ORD8', watch: watchDisplaced },
  { id: 'ORD8', watch: watchDisplacedBack },
  { id: 'RESOLUTION', watch: watchResolutions },
  { id: 'LIM1', watch: watchWindows },
  { id: 'LIM1', watch: watchGrants },
  { id: 'LIM2', watch: watchUrgency },
  { id: 'LIM3', watch: watchRests },
  { id: 'ORD8', watch: watchLateCancels },
  { id: 'ORD8', watch: watchCancelsOfRunBefore },
  { id: 'WISH', watch: watchPlaces },
  { id: 'STR1', watch: watchNumbers },
  { id: 'ORD8', watch: watchGhosts },
  { id: 'ORD5', watch: watchLost },
  { id: 'ORD1', watch: watchWire },
  { id: 'CANCEL', watch: watchCancelScopes },
  { id: 'MKT2', watch: watchShown },
  { id: 'MKT3', watch: watchBlindness },
  { id: 'MKT3', watch: watchRefusedReads },
  { id: 'MKT4', watch: watchRows },
  { id: 'WISH', watch: watchWishes },
  { id: 'WISH', watch: watchDecisions },
  { id: 'WISH', watch: watchLooks },
  { id: 'ORD4', watch: watchClockGate },
  { id: 'ORD5', watch: watchStart },
  { id: 'LIVE', watch: watchDebts },
  { id: 'LIVE', watch: watchDeciding },
  { id: 'LIVE', watch: watchStarting },
  { id: 'RSK1', watch: watchWorstCase },
  { id: 'RSK1', watch: watchPositionValue },
  { id: 'RSK1', watch: watchGross },
  { id: 'RSK1', watch: watchRiskChecks },
  { id: 'RSK1', watch: watchOrderPace },
  { id: 'RSK1', watch: watchLadders },
  { id: 'RSK2', watch: watchHalts },
  { id: 'RSK2', watch: watchRestricted },
  { id: 'RSK2', watch: watchSettings },
  { id: 'WISH', watch: watchRefusals },
  { id: 'WISH', watch: watchNeedlessCancels },
  { id: 'RSK2', watch: watchKill },
  { id: 'RSK3', watch: watchStop },
  { id: 'RSK3', watch: watchStopConfirmed },
  { id: 'RSK3', watch: watchRetreat },
  { id: 'RSK4', watch: watchUnowned },
  { id: 'RSK4', watch: watchAssignments },
  { id: 'CLOSE', watch: watchCloses },
  { id: 'REPEAT', watch: watchRepeats },
  { id: 'DET1', watch: watchTwin },
  { id: 'DET2', watch: watchFold },
  { id: 'BND2', watch: watchOverlooked },
  { id: 'DET2', watch: watchPrefixes },
  { id: 'MONEY', watch: watchMoney },
  { id: 'MON2', watch: watchFills },
  { id: 'MONEY', watch: watchFunding },
  { id: 'MONEY', watch: watchEquity },
  { id: 'RSK2', watch: watchAdoptions },
  { id: 'MONEY', watch: watchStrategyAccounts },
  { id: 'MONEY', watch: watchClosedTrades },
  { id: 'MONEY', watch: watchStrategyLosses },
  { id: 'RSK2', watch: watchPeak },
  { id: 'RSK2', watch: watchLosses },
  { id: 'RSK2', watch: watchPaces },
  { id: 'RSK1', watch: watchIdentical },
  { id: 'UNIVERSE', watch: watchUniverses },
  { id: 'STOP', watch: watchStops },
  { id: 'STOP', watch: watchOrderedExits },
  { id: 'RSK2', watch: watchHandCommands },
]
