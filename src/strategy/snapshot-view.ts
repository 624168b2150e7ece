import type { Instrument } from '../domain/instrument.ts'
import type { InstrumentMoment, Snapshot } from '../domain/snapshot.ts'
import { type AccountView, buildAccount } from './views/account-view.ts'
import type { NoIndicators } from './indicators/specs.ts'
import { InstrumentView } from './instrument-view.ts'
import { NO_NEEDS } from './needs.ts'
import { strategyFailure } from './strategy-failure.ts'
import { refuseUnknownMembers } from './views/unknown-names.ts'

/** A feed as a strategy sees it. */
export interface FeedView {
  readonly data: unknown
  readonly ageMs: number
}

/**
 * One moment, as a strategy sees it. Made once a strategy and pointed at each snapshot in turn, so it is
 * valid inside `decide` only.
 */
export class SnapshotView<Indicators = NoIndicators> {
  /** The instruments that the strategy file lists, in its order. */
  readonly instruments: readonly InstrumentView<Indicators>[]
  readonly #bySymbol: ReadonlyMap<string, InstrumentView<Indicators>>
  #snapshot: Snapshot | undefined
  #account: AccountView | undefined

  constructor(instruments: readonly Instrument[], needs = NO_NEEDS) {
    this.instruments = Object.freeze(
      instruments.map((instrument) => new InstrumentView<Indicators>(instrument, needs)),
    )
    this.#bySymbol = new Map(this.instruments.map((view) => [view.symbol, view]))
  }

  /**
   * For the runner: looks at another moment from now on. What is not bound is passed over; what the snapshot
   * lacks shows no prices and no holding, never those of an earlier moment.
   */
  pointAt(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    this.#account = undefined
    for (let index = 0; index < this.instruments.length; index++) {
      const view = this.instruments[index]
      const guess = snapshot.instruments[index]
      if (view) view.pointAt(snapshot, isOf(view, guess) ? guess : findMoment(snapshot, view))
    }
  }

  /** @throws Failure when the strategy file does not list the symbol. */
  instrument(symbol: string): InstrumentView<Indicators> {
    const view = this.#bySymbol.get(symbol)
    if (view !== undefined) return view
    throw strategyFailure('INSTRUMENT_NOT_BOUND', {
      facts: { instrument: symbol, listed: [...this.#bySymbol.keys()].join(' ') },
      hint: 'add it to instruments in the strategy file',
    })
  }

  /**
   * The last reading of a feed of the strategy file, with its age in ms; undefined before the first.
   * `data` is the answer under the names of docs/exchange-api.md; it cannot be changed.
   */
  feed(name: string): FeedView | undefined {
    const reading = this.#snapshot?.feeds.get(name)
    return reading && { data: reading.data, ageMs: this.takenAt - reading.readAt }
  }

  /** The whole account, as far as the daemon knows it; worked out when it is asked for. */
  get account(): AccountView {
    return (this.#account ??= buildAccount(this.#snapshot?.account))
  }

  /** Counts the daemon's snapshots from 1. */
  get sequence(): number {
    return this.#snapshot?.sequence ?? 0
  }
  /** Unix ms, our clock. */
  get takenAt(): number {
    return this.#snapshot?.takenAt ?? 0
  }
  /** Unix ms, exchange clock, as we know it. */
  get exchangeTime(): number {
    return this.#snapshot?.exchangeTime ?? 0
  }
  /** Unix ms, our clock: up to here the fills, and with them what the strategy holds, are known; 0 never. */
  get fillsReadAt(): number {
    return this.#snapshot?.fillsReadAt ?? 0
  }
}

Object.setPrototypeOf(SnapshotView.prototype, refuseUnknownMembers('the snapshot'))

function findMoment(
  { instruments }: Snapshot,
  view: Pick<InstrumentView, 'symbol'>,
): InstrumentMoment | undefined {
  return instruments.find((moment) => isOf(view, moment))
}

function isOf(
  { symbol }: Pick<InstrumentView, 'symbol'>,
  moment: InstrumentMoment | undefined,
): boolean {
  return moment?.instrument.symbol === symbol
}
