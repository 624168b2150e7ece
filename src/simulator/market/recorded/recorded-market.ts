/**
 * A row that was recorded at t is due at startAt + floor((t - first) / speed). A candle has as many
 * points as whole milliseconds, 4 to 16, so that high and low occur at any speed.
 */
import { sha256 } from '../../../lib/digest.ts'
import { Failure } from '../../../lib/failure.ts'
import {
  type FundingSeries,
  invalidOption,
  type Market,
  type MarketInstrument,
  type StoredMarketState,
  type MarketStep,
  ownState,
  type RecordedReferences,
  STEPS_PER_ADVANCE_MAX,
} from '../market.ts'
import type { CandlePathKind } from './candle-path.ts'
import type { CandleTapes } from './candle-tape.ts'
import { type RecordedPathState, priceStepMs, RecordedPath } from './recorded-path.ts'
import type { Recording } from '../../../prices/recording.ts'
import { SeededMarket } from '../seeded/seeded-market.ts'

export interface RecordedMarketOptions {
  readonly recordings: readonly Recording[]
  /** Recording time for each ms of the exchange's clock, up to 10,000. */
  readonly speed: number
  readonly startAt: number
  readonly instruments: readonly MarketInstrument[]
  readonly fallback: { readonly seed: number | string; readonly stepMs?: number }
  readonly repeat?: boolean
  readonly candlePath?: CandlePathKind
  readonly continued?: ReadonlySet<string>
  /** Keeps drawn candles. A market with tapes is played once, and never stored. */
  readonly tapes?: CandleTapes | undefined
}

interface RecordedMarketState extends StoredMarketState {
  readonly startAt: number
  readonly paths: Readonly<Record<string, RecordedPathState>>
  readonly fallback: StoredMarketState
}

export class RecordedMarket implements Market {
  readonly identity: string
  readonly speed: number
  readonly endsAt: number | undefined
  readonly priceStepsMs: ReadonlyMap<string, number>
  readonly endings: ReadonlyMap<string, number>
  readonly references: ReadonlyMap<string, RecordedReferences>
  readonly funding: ReadonlyMap<string, FundingSeries>
  readonly #startAt: number
  readonly #repeat: boolean
  readonly #paths: readonly RecordedPath[]
  readonly #nextMs: Float64Array
  readonly #order: number[]
  #first = 0
  readonly #fallback: SeededMarket
  readonly #originAt: number
  readonly #lapMs: number

  /**
   * Continues from a stored state, whose `startAt` then applies.
   * @throws Failure MARKET_OPTION_INVALID, RECORDING_SYMBOL_UNKNOWN, RECORDING_SYMBOL_TWICE,
   * RECORDING_BELOW_TICK
   */
  constructor(options: RecordedMarketOptions, stored?: StoredMarketState) {
    assertRecordings(options)
    const { recordings, speed, startAt, instruments, fallback } = options
    const { repeat = false, candlePath = 'random' } = options
    this.identity = identityOf({ ...options, repeat, candlePath })
    const state = ownState<RecordedMarketState>(this.identity, stored)
    this.speed = speed
    this.#startAt = state?.startAt ?? startAt
    this.#repeat = repeat
    const recordingOf = ({ symbol }: MarketInstrument) =>
      recordings.find((one) => one.symbol === symbol)
    const others = instruments.filter((instrument) => recordingOf(instrument) === undefined)
    this.#fallback = new SeededMarket(
      { ...fallback, speed, startAt, instruments: others },
      state?.fallback,
    )
    this.#paths = instruments.flatMap((instrument) => {
      const recording = recordingOf(instrument)
      if (!recording) return []
      const common = { recording, instrument, speed, candlePath, seed: fallback.seed }
      const tapes = repeat || state !== undefined ? undefined : options.tapes
      return [new RecordedPath({ ...common, tapes, state: state?.paths[instrument.symbol] })]
    })
    this.priceStepsMs = new Map(
      recordings.map((recording) => [recording.symbol, priceStepMs(recording, speed, candlePath)]),
    )
    this.#originAt = Math.min(...this.#paths.map((path) => path.startAt))
    this.#lapMs = Math.max(...this.#paths.map((path) => path.endAt)) - this.#originAt
    this.#nextMs = Float64Array.from(this.#paths, (path) => this.#nextMsOf(path))
    this.#order = [...this.#paths.keys()].sort((a, b) => (this.#isLater(a, b) ? 1 : -1))
    this.endsAt = repeat ? undefined : this.#startAt + Math.ceil(this.#lapMs / speed)
    this.endings = repeat ? new Map() : this.#findEndings(options.continued)
    this.references = new Map(this.#paths.flatMap((path) => this.#placeReferences(path)))
    this.funding = new Map(recordings.flatMap((recording) => this.#placeFunding(recording)))
  }

  advance(now: number, visit: (step: MarketStep) => void): boolean {
    if (now < this.#startAt) return true
    let budget = STEPS_PER_ADVANCE_MAX
    const count = (step: MarketStep) => {
      budget--
      visit(step)
    }
    for (const path of this.#paths) {
      if (!path.isOpened && path.open(path.startAt > this.#originAt)) {
        path.step.at = this.#startAt
        count(path.step)
      }
    }
    for (;;) {
      const next = this.#order[this.#first] as number
      const elapsedMs = (this.#nextMs[next] as number) - this.#originAt
      const at = this.#startAt + Math.floor(elapsedMs / this.speed)
      const until = Math.min(at, now)
      if (budget <= 0 || (this.#fallback.nextAt <= until && !this.#fallback.advance(until, count)))
        return false
      if (at > now) return true
      if (budget <= 0) return false
      const path = this.#paths[next] as RecordedPath
      path.advance(this.#repeat)
      this.#nextMs[next] = this.#nextMsOf(path)
      this.#requeue(next)
      path.step.at = at
      count(path.step)
    }
  }

  pastDay(symbol: string) {
    return this.#fallback.pastDay(symbol)
  }

  past(symbol: string) {
    return this.#fallback.past(symbol)
  }

  state(): RecordedMarketState {
    return {
      identity: this.identity,
      startAt: this.#startAt,
      paths: Object.fromEntries(this.#paths.map((path) => [path.symbol, path.state()])),
      fallback: this.#fallback.state(),
    }
  }

  #findEndings(continued: ReadonlySet<string> = new Set()): ReadonlyMap<string, number> {
    const marketEndAt = this.#originAt + this.#lapMs
    const ended = this.#paths.filter(
      ({ symbol, endAt }) => endAt < marketEndAt && !continued.has(symbol),
    )
    return new Map(
      ended.map(({ symbol, endAt }) => [
        symbol,
        this.#startAt + Math.ceil((endAt - this.#originAt) / this.speed),
      ]),
    )
  }

  #placeFunding({ symbol, funding }: Recording): readonly (readonly [string, FundingSeries])[] {
    if (funding === undefined || this.#repeat) return []
    const at = funding.at.map(
      (paidAt) => this.#startAt + Math.floor((paidAt - this.#originAt) / this.speed),
    )
    return [[symbol, { at, rate: funding.rate }]]
  }

  #placeReferences(path: RecordedPath): readonly (readonly [string, RecordedReferences])[] {
    const { symbol, references } = path
    if (references === undefined || this.#repeat) return []
    const { at: knownAt, markTicks, fundingRate } = references
    const at = knownAt.map((one) => this.#startAt + Math.ceil((one - this.#originAt) / this.speed))
    return [[symbol, { at, markTicks, fundingRate }]]
  }

  /** The search starts at the end, because all paths take turns. */
  #requeue(path: number): void {
    const order = this.#order
    let slot = this.#first
    this.#first = slot + 1 === order.length ? 0 : slot + 1
    while (slot !== this.#first) {
      const before = slot === 0 ? order.length - 1 : slot - 1
      const other = order[before] as number
      if (!this.#isLater(other, path)) break
      order[slot] = other
      slot = before
    }
    order[slot] = path
  }

  #isLater(path: number, other: number): boolean {
    const apartMs = (this.#nextMs[path] as number) - (this.#nextMs[other] as number)
    return apartMs > 0 || (apartMs === 0 && path > other)
  }

  #nextMsOf(path: RecordedPath): number {
    return path.lap * this.#lapMs + path.nextAt
  }
}

function identityOf({
  recordings,
  speed,
  repeat,
  candlePath,
}: Required<
  Pick<RecordedMarketOptions, 'recordings' | 'speed' | 'repeat' | 'candlePath'>
>): string {
  const contents = recordings
    .flatMap(({ symbol, sha256: prices, funding }) => [
      `${symbol}=${prices}`,
      ...(funding === undefined ? [] : [`${symbol} funding=${funding.sha256}`]),
    ])
    .toSorted()
  const hash = sha256([...contents, repeat ? 'repeat' : 'once', candlePath]).toString('hex')
  return `recorded:${hash.slice(0, 12)}:x${speed}`
}

function assertRecordings({ recordings, instruments }: RecordedMarketOptions): void {
  if (recordings.length === 0)
    throw invalidOption('recordings', 'none', 'at least one; or a seeded market')
  for (const [index, recording] of recordings.entries()) {
    const { symbol, source } = recording
    const instrument = instruments.find((one) => one.symbol === symbol)
    if (instrument === undefined) {
      throw new Failure({
        code: 'RECORDING_SYMBOL_UNKNOWN',
        sentence: 'the recording is of an instrument that is not configured',
        facts: {
          file: source,
          symbol,
          instruments: instruments.map((one) => one.symbol).join(', '),
        },
        hint: source.endsWith('.prices')
          ? `add ${symbol} to instruments; a price file says itself of which instrument it is, so \`intentd import --symbol\` makes one of another name`
          : `add ${symbol} to instruments, or name another one: SYMBOL=${source}`,
      })
    }
    assertAboveTick(recording, instrument)
    const other = recordings.findIndex((candidate) => candidate.symbol === symbol)
    if (other === index) continue
    throw new Failure({
      code: 'RECORDING_SYMBOL_TWICE',
      sentence: 'two recordings are of the same instrument',
      facts: { symbol, files: `${recordings[other]?.source}, ${source}` },
      hint: 'join them into one file, in order of time',
    })
  }
}

/** Prices that round to zero ticks would be shown as one tick. */
function assertAboveTick(
  { rows, symbol, source }: Recording,
  { tickSize }: MarketInstrument,
): void {
  const lowest = (rows.kind === 'candles' ? rows.low : rows.bid).reduce((a, b) => Math.min(a, b))
  if (lowest >= Number(tickSize) / 2) return
  throw new Failure({
    code: 'RECORDING_BELOW_TICK',
    sentence: 'the recording has prices below half a tick of its instrument',
    facts: { file: source, symbol, lowest, tickSize },
    hint: 'give the instrument a smaller tick size, or name the instrument that the recording is of',
  })
}
