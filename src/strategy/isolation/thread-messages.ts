// What crosses between the daemon and the thread of a strategy. Prices stand in memory that these two share, and which
// the daemon only writes; whatever else a snapshot shows crosses as a message when it has changed, and so is a copy.

import type { MessagePort } from 'node:worker_threads'
import type { CandleRow } from '../../domain/candles.ts'
import type { Denial } from '../../domain/denial.ts'
import type { FeedReading } from '../../domain/feed.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Money } from '../../domain/fill-money.ts'
import type { AccountMoment, InstrumentMoment } from '../../domain/snapshot.ts'
import { TICKER_COLUMNS } from '../../domain/ticker-table.ts'
import type { SaidLine } from '../strategy-log.ts'
import type { StrategyFailureCode } from '../strategy-failure.ts'

/** Places in the numbers by which the two threads wait for each other. */
export const ASKED = 0
export const ANSWERED = 1
/** Whether the answer says what the last one said: then no message comes. */
export const REPEATS = 2
/** For how long the thread has computed for the last answer, µs; −1: not known. */
export const CPU_US = 3
export const CONTROL_LENGTH = 4

/** Places in the numbers of a moment; the rows of the tickers follow. */
export const SEQUENCE = 0
export const TAKEN_AT = 1
export const EXCHANGE_TIME = 2
export const FILLS_READ_AT = 3
export const READ_AT = 4
export const REQUEST_TIME = 5
export const HEADER_LENGTH = 6
/** Of an instrument: whether it has a row, and its columns. */
export const ROW_LENGTH = 1 + TICKER_COLUMNS.length

/** An instrument without the decimal, whose class does not cross. */
export type CrossingInstrument = Omit<Instrument, 'notionalMin'> & { readonly notionalMin: string }

/** Money as text. */
export type CrossingMoney = Omit<Money, 'profit' | 'fees'> & {
  readonly profit: string
  readonly fees: string
}

/** An instrument is known by its place. */
export type CrossingMoment = Omit<InstrumentMoment, 'instrument' | 'money'> & {
  readonly money: CrossingMoney | undefined
}

export type CrossingAccount = Omit<AccountMoment, 'capital' | 'money' | 'funding'> & {
  readonly capital: string | undefined
  readonly money: ReadonlyMap<string, CrossingMoney>
  readonly funding: ReadonlyMap<string, string>
}

/** Candles that closed since the last question. */
export interface CrossingCandles {
  readonly key: string
  readonly intervalMs: number
  /** How many the series keeps; 0: there is none any more. */
  readonly capacity: number
  /** How many of the series nobody saw, these included. */
  readonly filled: number
  /** These are all candles of the series: what was known of it before is dropped. */
  readonly isAnew: boolean
  readonly rows: readonly CandleRow[]
}

/** What is new since the last question; absent: as before. */
export interface Question {
  /** By their place among the instruments of the strategy. */
  readonly moments?: readonly (readonly [place: number, moment: CrossingMoment | undefined])[]
  readonly account?: CrossingAccount
  readonly feeds?: ReadonlyMap<string, FeedReading>
  readonly candles?: readonly CrossingCandles[]
}

/** With what the strategy has said; absent: nothing. */
export type Answer = { readonly said?: readonly SaidLine[] } & (
  | {
      readonly kind: 'decided'
      readonly intents: readonly Intent[]
      readonly denials: readonly (Denial & { readonly index: number })[]
      readonly state: unknown
    }
  | { readonly kind: 'failed'; readonly code: StrategyFailureCode; readonly message: string }
)

/** What a thread is made with. */
export interface ThreadData {
  /** By which questions and answers cross. */
  readonly port: MessagePort
  readonly control: SharedArrayBuffer
  readonly numbers: SharedArrayBuffer
  /** Most that buffers outside the heap may take, too. */
  readonly heapMb: number
  readonly moduleFile: string
  readonly strategyId: string
  readonly params: unknown
  readonly instruments: readonly CrossingInstrument[]
  readonly stateText: string | undefined
}

export function toCrossingMoney({ profit, fees, ...rest }: Money): CrossingMoney {
  return { profit: profit.toString(), fees: fees.toString(), ...rest }
}
