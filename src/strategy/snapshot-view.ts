import type { FeedReading } from '../domain/feed.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { SignalValue } from '../domain/signal.ts'
import type { InstrumentMoment, Snapshot } from '../domain/snapshot.ts'
import type { MarketAggregates } from '../domain/ticker-table.ts'
import { type AccountView, buildAccount } from './views/account-view.ts'
import type { NoIndicators } from './indicators/specs.ts'
import { InstrumentView, type PlotSheet } from './instrument-view.ts'
import { NO_NEEDS, type ResolvedNeeds } from './needs.ts'
import { strategyFailure } from './strategy-failure.ts'
import { refuseUnknownMembers } from './views/unknown-names.ts'

export interface FeedView {
  readonly data: unknown
  readonly ageMs: number
}

export interface SignalView {
  readonly value: SignalValue
  readonly id: string
  /** When it arrived; Unix ms, our clock. */
  readonly at: number
  readonly ageMs: number
}

const NO_READING: FeedReading = { data: undefined, readAt: 0 }

/** A view is reused for each snapshot, so it is valid only inside `decide`. */
export class SnapshotView<Indicators = NoIndicators> {
  /** In the order of the strategy file; members of a universe follow in the order in which they joined. */
  instruments: readonly InstrumentView<Indicators>[]
  readonly #fixed: readonly InstrumentView<Indicators>[]
  readonly #needs: ResolvedNeeds
  readonly #plots: PlotSheet | undefined
  #bySymbol: ReadonlyMap<string, InstrumentView<Indicators>>
  #members: ReadonlyMap<string, Instrument> = new Map()
  #snapshot: Snapshot | undefined
  #account: AccountView | undefined

  constructor(instruments: readonly Instrument[], needs = NO_NEEDS, plots?: PlotSheet) {
    this.#needs = needs
    this.#plots = plots
    this.#fixed = instruments.map(
      (instrument) => new InstrumentView<Indicators>(instrument, needs, plots),
    )
    this.instruments = Object.freeze(Array.from(this.#fixed))
    this.#bySymbol = new Map(this.#fixed.map((view) => [view.symbol, view]))
  }

  /** An instrument that the snapshot lacks shows no prices and no holding, never older ones. */
  pointAt(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    this.#account = undefined
    if (snapshot.instruments.length > this.#fixed.length || this.#members.size > 0)
      this.#followMembers(snapshot)
    for (let index = 0; index < this.instruments.length; index++) {
      const view = this.instruments[index]
      const guess = snapshot.instruments[index]
      if (view) view.pointAt(snapshot, isOf(view, guess) ? guess : findMoment(snapshot, view))
    }
  }

  #followMembers({ instruments }: Snapshot): void {
    const isFixed = (symbol: string): boolean => this.#fixed.some((view) => view.symbol === symbol)
    const members = instruments.flatMap(({ instrument }) =>
      isFixed(instrument.symbol) ? [] : [instrument],
    )
    const known = [...this.#members.values()]
    if (known.length === members.length && members.every((one, index) => one === known[index]))
      return
    const views = members.map((instrument) => {
      const view = this.#bySymbol.get(instrument.symbol)
      const isKnown = this.#members.get(instrument.symbol) === instrument
      return view && isKnown
        ? view
        : new InstrumentView<Indicators>(instrument, this.#needs, this.#plots)
    })
    this.#members = new Map(members.map((one) => [one.symbol, one]))
    this.instruments = Object.freeze([...this.#fixed, ...views])
    this.#bySymbol = new Map(this.instruments.map((view) => [view.symbol, view]))
  }

  instrument(symbol: string): InstrumentView<Indicators> {
    const view = this.#bySymbol.get(symbol)
    if (view !== undefined) return view
    throw strategyFailure('INSTRUMENT_NOT_BOUND', {
      facts: { instrument: symbol, listed: [...this.#bySymbol.keys()].join(' ') },
      hint: 'add it to instruments in the strategy file, or look for it in snapshot.instruments',
    })
  }

  /**
   * The last reading; undefined before the first. `data` is frozen, with the field names of
   * docs/exchange-api.md.
   */
  feed(name: string): FeedView | undefined {
    const reading = this.#snapshot?.feeds.get(name)
    if (reading?.id !== undefined) return undefined
    return reading && { data: reading.data, ageMs: this.takenAt - reading.readAt }
  }

  /**
   * The last value of a signal that `signals:` of the strategy file names; undefined before the
   * first, and once it has expired. Its texts are data from outside.
   */
  signal(name: string): SignalView | undefined {
    const {
      data,
      readAt,
      id,
      untilAt = Number.POSITIVE_INFINITY,
    } = this.#snapshot?.feeds.get(name) ?? NO_READING
    if (id === undefined || this.takenAt >= untilAt) return undefined
    return { value: data as SignalValue, id, at: readAt, ageMs: this.takenAt - readAt }
  }

  get account(): AccountView {
    return (this.#account ??= buildAccount(this.#snapshot?.account))
  }

  /**
   * The capital that the strategy may use by its `capital:`, in margin coin; without one, the
   * account's equity. Undefined while that is not known.
   */
  get capital(): number | undefined {
    const { ownCapital, equity } = this.#snapshot?.account ?? {}
    const capital = ownCapital ?? equity
    return Number.isNaN(capital) ? undefined : capital
  }

  /**
   * Figures over all instruments of the product type, by the first answer of each minute; undefined
   * in a backtest without kept tickers.
   */
  get market(): MarketAggregates | undefined {
    return this.#snapshot?.market
  }

  get sequence(): number {
    return this.#snapshot?.sequence ?? 0
  }
  /** Unix ms, our clock. */
  get takenAt(): number {
    return this.#snapshot?.takenAt ?? 0
  }
  /** Unix ms, estimated exchange clock. */
  get exchangeTime(): number {
    return this.#snapshot?.exchangeTime ?? 0
  }
  /**
   * Fills, and so the strategy's holdings, are known up to here; Unix ms, our clock; 0: never read.
   */
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
