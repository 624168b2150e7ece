// Prices are in shared memory. All else crosses as a copy, when it changes.

import type { MessagePort } from 'node:worker_threads'
import type { CandleRow } from '../../domain/candles.ts'
import type { Denial } from '../../domain/denial.ts'
import type { FeedReading } from '../../domain/feed.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Money } from '../../domain/fill-money.ts'
import type { AccountMoment, InstrumentMoment } from '../../domain/snapshot.ts'
import { type MarketAggregates, TICKER_COLUMNS } from '../../domain/ticker-table.ts'
import type { DecisionNotes } from '../../domain/strategy-wait.ts'
import type { SaidLine } from '../strategy-runner.ts'
import type { StrategyFailureCode } from '../strategy-failure.ts'

/** The places in `control`. */
export const ASKED = 0
export const ANSWERED = 1
/** 1: the answer equals the last one, and no message is sent. */
export const REPEATS = 2
/** Processor time of the last answer; −1: unknown. */
export const CPU_US = 3
export const CONTROL_LENGTH = 4

/** The places in `numbers`, whose header precedes a row for each instrument. */
export const SEQUENCE = 0
export const TAKEN_AT = 1
export const EXCHANGE_TIME = 2
export const FILLS_READ_AT = 3
export const READ_AT = 4
export const REQUEST_TIME = 5
export const HEADER_LENGTH = 6
export const ROW_LENGTH = 1 + TICKER_COLUMNS.length

/** An instance of the decimal class cannot cross to a thread. */
export type CrossingInstrument = Omit<Instrument, 'notionalMin'> & { readonly notionalMin: string }

export type CrossingMoney = Omit<Money, 'profit' | 'fees'> & {
  readonly profit: string
  readonly fees: string
}

/** A moment is known by its place in the list of instruments. */
export type CrossingMoment = Omit<InstrumentMoment, 'instrument' | 'money'> & {
  readonly money: CrossingMoney | undefined
}

export type CrossingAccount = Omit<AccountMoment, 'capital' | 'money' | 'funding'> & {
  readonly capital: string | undefined
  readonly money: ReadonlyMap<string, CrossingMoney>
  readonly funding: ReadonlyMap<string, string>
}

export interface CrossingCandles {
  readonly key: string
  readonly intervalMs: number
  /** 0: the series no longer exists. */
  readonly capacity: number
  readonly filled: number
  readonly isAnew: boolean
  readonly rows: readonly CandleRow[]
}

/** An absent part is unchanged. */
export interface Question {
  readonly instruments?: readonly (readonly [
    place: number,
    instrument: CrossingInstrument | undefined,
  ])[]
  readonly order?: readonly number[]
  readonly moments?: readonly (readonly [place: number, moment: CrossingMoment | undefined])[]
  readonly account?: CrossingAccount
  readonly feeds?: ReadonlyMap<string, FeedReading>
  readonly candles?: readonly CrossingCandles[]
  /** Null: not known any more. */
  readonly market?: MarketAggregates | null
}

export type ThreadAnswer = { readonly said?: readonly SaidLine[] } & (
  | ({
      readonly kind: 'decided'
      readonly intents: readonly Intent[]
      readonly denials: readonly (Denial & { readonly index: number })[]
      readonly state: unknown
    } & DecisionNotes)
  | { readonly kind: 'failed'; readonly code: StrategyFailureCode; readonly message: string }
)

export interface StrategyThreadData {
  readonly port: MessagePort
  readonly control: SharedArrayBuffer
  readonly numbers: SharedArrayBuffer
  /** Limits the heap, and separately buffers outside of it. */
  readonly heapMb: number
  readonly moduleFile: string
  readonly strategyId: string
  readonly params: unknown
  readonly instruments: readonly CrossingInstrument[]
  /** So many more instruments than the configured ones may be shown together. */
  readonly membersMax: number
  readonly stateText: string | undefined
}

export function toCrossingInstrument({ notionalMin, ...rest }: Instrument): CrossingInstrument {
  return { ...rest, notionalMin: notionalMin.toString() }
}

export function toCrossingMoney({ profit, fees, ...rest }: Money): CrossingMoney {
  return { profit: profit.toString(), fees: fees.toString(), ...rest }
}
