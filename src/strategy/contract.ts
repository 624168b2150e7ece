/**
 * All that a strategy file may import, as `intentd/strategy`.
 *
 * A strategy is a pure function of one snapshot, its params from the YAML file, and the state it
 * returned last time. It returns intents and the next state ({@link Decision}).
 */
export { z } from 'zod'
/** A decimal string above zero, digits kept. Takes a description. */
export { positiveDecimal } from '../config/schema/setting-values.ts'
export { defineStrategy } from './define-strategy.ts'
export type { Decision, Strategy, StrategyDefinition } from './define-strategy.ts'
export {
  adx,
  atr,
  bollinger,
  donchian,
  ema,
  macd,
  roc,
  rsi,
  sma,
  standardDeviation,
  stochastic,
  wma,
  zScore,
} from './indicators/specs.ts'
export type { Bands, IndicatorSpec, Macd, Stochastic } from './indicators/specs.ts'
export type { Candle, CandleView } from './views/candle-view.ts'
export type { DecideOn, Needs } from './needs.ts'
export type { InstrumentRules } from './instrument-rules.ts'
export type { InstrumentView, OwnFillView, RiskedSize } from './instrument-view.ts'
export type { LiquidationView } from './views/liquidation-view.ts'
export type { OpenOrder } from './views/open-order.ts'
export type { AccountView } from './views/account-view.ts'
export type { FeedView, SignalView, SnapshotView } from './snapshot-view.ts'
export type {
  CancelAllIntent,
  CancelMarginIntent,
  CopySettingsIntent,
  Force,
  Intent,
  ModifyTriggerIntent,
  PlaceIntent,
  QuoteIntent,
  QuoteLevel,
  TargetIntent,
} from '../domain/intent.ts'
export type { OrderAction } from '../domain/order-action.ts'
export type { OrderState } from '../domain/order.ts'
export type { DeliveryState, MarketAggregates } from '../domain/ticker-table.ts'
