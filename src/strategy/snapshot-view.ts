import type { Instrument } from '../domain/instrument.ts'
import type { InstrumentMoment, Snapshot } from '../domain/snapshot.ts'
import { type AccountView, buildAccount } from './views/account-view.ts'
import type { NoIndicators } from './indicators/specs.ts'
import { InstrumentView } from './instrument-view.ts'
import { NO_NEEDS } from './needs.ts'
import { strategyFailure } from './strategy-failure.ts'
import { refuseUnknownMembers } from './views/unknown-names.ts'

export interface FeedView {
  readonly data: unknown
  readonly ageMs: number
}

/** Made once and reused for each snapshot, so it is valid only inside `decide`. */
export class SnapshotView<Indicators = NoIndicators> {
  /** In the order of the strategy file. */
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

  /** An instrument that the snapshot lacks shows no prices and no holding, never older ones. */
  pointAt(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    this.#account = undefined
    for (let index = 0; index < this.instruments.length; index++) {
      const view = this.instruments[index]
      const guess = snapshot.instruments[index]
      if (view) view.pointAt(snapshot, isOf(view, guess) ? guess : findMoment(snapshot, view))
    }
  }

  /** @throws Failure if the strategy file does not list the symbol */
  instrument(symbol: string): InstrumentView<Indicators> {
    const view = this.#bySymbol.get(symbol)
    if (view !== undefined) return view
    throw strategyFailure('INSTRUMENT_NOT_BOUND', {
      facts: { instrument: symbol, listed: [...this.#bySymbol.keys()].join(' ') },
      hint: 'add it to instruments in the strategy file',
    })
  }

  /**
   * The last reading; undefined before the first. `data` is frozen, with the field names of
   * docs/exchange-api.md.
   */
  feed(name: string): FeedView | undefined {
    const reading = this.#snapshot?.feeds.get(name)
    return reading && { data: reading.data, ageMs: this.takenAt - reading.readAt }
  }

  /** As far as known; computed on first use. */
  get account(): AccountView {
    return (this.#account ??= buildAccount(this.#snapshot?.account))
  }

  /**
   * Margin coin: what this strategy may use by its `capital:`, without one the account's equity.
   * Undefined while that is not known.
   */
  get capital(): number | undefined {
    const { ownCapital, equity } = this.#snapshot?.account ?? {}
    const capital = ownCapital ?? equity
    return Number.isNaN(capital) ? undefined : capital
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
  /** Unix ms, our clock: fills, and so the strategy's holdings, are known up to here; 0: never. */
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
