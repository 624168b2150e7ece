/**
 * A market that replays recordings of real prices: candles as a path through their four prices
 * (candle-path.ts) with quotes around it (candle-quotes.ts), quotes as they stand. Instruments without a recording follow a seeded market.
 *
 * The exchange's clock stays the wall clock, and the recordings run `speed` times as fast from `startAt`,
 * where the earliest of them begins: a row recorded at t is due at startAt + floor((t - first) / speed).
 * At 600 a one-minute candle takes 100 ms. A candle has as many points as whole milliseconds, 4 to 16, so
 * that its four prices, and with them every high and low, come at any speed.
 */
import { sha256 } from '../../../lib/digest.ts'
import { Failure } from '../../../lib/failure.ts'
import { type Market, type MarketInstrument, type MarketStep, STEPS_PER_ADVANCE_MAX } from '../market.ts'
import type { CandlePathKind } from './candle-path.ts'
import { assertStateBelongs, type RecordedMarketState } from '../market-state.ts'
import { RecordedPath } from './recorded-path.ts'
import type { Recording } from '../../../prices/recording.ts'
import {
  createSeededMarket,
  invalidOption,
  restoreSeededMarket,
  type SeededMarket,
} from '../seeded/seeded-market.ts'

export interface RecordedMarketOptions {
  /** One a symbol; every symbol among the instruments. */
  readonly recordings: readonly Recording[]
  /** Milliseconds of recording in one of the exchange's clock; above 0, up to 10,000. */
  readonly speed: number
  /** Unix ms on the exchange's clock: when the recordings begin. */
  readonly startAt: number
  readonly instruments: readonly MarketInstrument[]
  /** The seeded market of instruments without a recording; its seed also draws the displayed sizes. */
  readonly fallback: { readonly seed: number | string; readonly stepMs?: number }
  /** Starts again when the last recording has ended, with a jump of the price; otherwise it stands still. */
  readonly repeat?: boolean
  /** How the points of candles are found; default random. */
  readonly candlePath?: CandlePathKind
}

export interface RecordedMarket extends Market {
  state(): RecordedMarketState
}

/** @throws Failure MARKET_OPTION_INVALID, RECORDING_SYMBOL_UNKNOWN, RECORDING_SYMBOL_TWICE */
export function createRecordedMarket(options: RecordedMarketOptions): RecordedMarket {
  assertOptions(options)
  return new RecordedReplay(options, { fallback: createSeededMarket(fallbackOptions(options)) })
}

/**
 * Goes on from a stored state; `startAt` is the stored one.
 *
 * @param resumeAt Unix ms: the market has stood still since the state was taken and its next step is due
 *   then. Without it the steps of the pause are due at once, all of them.
 * @throws Failure MARKET_STATE_FOREIGN, and those of {@link createRecordedMarket}
 */
export function restoreRecordedMarket(
  options: RecordedMarketOptions,
  { state, resumeAt }: { readonly state: RecordedMarketState; readonly resumeAt?: number },
): RecordedMarket {
  assertOptions(options)
  assertStateBelongs(state, recordedIdentity(options))
  const fallbackState = state.fallback
  const seeded = fallbackOptions(options)
  const fallback = restoreSeededMarket(seeded, { state: fallbackState })
  const market = new RecordedReplay(options, { fallback, state })
  if (resumeAt === undefined) return market
  const nextAt = Math.min(market.nextAt(), fallback.nextAt)
  const pausedMs = Number.isFinite(nextAt) ? Math.max(0, resumeAt - nextAt) : 0
  const shifted = { ...fallbackState, startAt: fallbackState.startAt + pausedMs }
  return new RecordedReplay(options, {
    fallback: restoreSeededMarket(seeded, { state: shifted }),
    state: { ...state, startAt: state.startAt + pausedMs },
  })
}

class RecordedReplay implements RecordedMarket {
  readonly identity: string
  readonly speed: number
  readonly endsAt: number | undefined
  readonly #startAt: number
  readonly #repeat: boolean
  readonly #paths: readonly RecordedPath[]
  readonly #fallback: SeededMarket
  /** Recording time at which all begins, and how long it lasts. */
  readonly #originAt: number
  readonly #lapMs: number

  constructor(
    options: RecordedMarketOptions,
    { fallback, state }: { fallback: SeededMarket; state?: RecordedMarketState },
  ) {
    const { recordings, speed, startAt, instruments, repeat = false, candlePath = 'random' } = options
    this.identity = recordedIdentity(options)
    this.speed = speed
    this.#startAt = state?.startAt ?? startAt
    this.#repeat = repeat
    this.#fallback = fallback
    this.#paths = instruments.flatMap((instrument) => {
      const recording = recordings.find(({ symbol }) => symbol === instrument.symbol)
      if (!recording) return []
      const stored = state?.cursors[instrument.symbol]
      const common = { recording, instrument, speed, candlePath, seed: options.fallback.seed }
      return [new RecordedPath({ ...common, ...(stored && { state: stored }) })]
    })
    this.#originAt = Math.min(...this.#paths.map((path) => path.startAt))
    this.#lapMs = Math.max(...this.#paths.map((path) => path.endAt)) - this.#originAt
    this.endsAt = repeat ? undefined : this.#startAt + Math.ceil(this.#lapMs / speed)
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
      const path = this.#nextPath()
      const at = path ? this.#dueAt(path) : Number.POSITIVE_INFINITY
      const until = Math.min(at, now)
      if (budget <= 0 || (this.#fallback.nextAt <= until && !this.#fallback.advance(until, count)))
        return false
      if (!path || at > now) return true
      if (budget <= 0) return false
      path.advance(this.#repeat)
      path.step.at = at
      count(path.step)
    }
  }

  /** Exchange time of the next recorded step; Infinity when there is none. */
  nextAt(): number {
    const path = this.#nextPath()
    return path ? this.#dueAt(path) : Number.POSITIVE_INFINITY
  }

  quote(symbol: string) {
    const path = this.#pathOf(symbol)
    if (!path) return this.#fallback.quote(symbol)
    return path.isOpened && path.quote.lastTicks > 0 ? path.quote : undefined
  }

  pastDay(symbol: string) {
    return this.#pathOf(symbol) ? [] : this.#fallback.pastDay(symbol)
  }

  isRecorded(symbol: string) {
    return this.#pathOf(symbol) !== undefined
  }

  state(): RecordedMarketState {
    return {
      kind: 'recorded',
      identity: this.identity,
      startAt: this.#startAt,
      cursors: Object.fromEntries(this.#paths.map((path) => [path.symbol, path.state()])),
      fallback: this.#fallback.state(),
    }
  }

  #pathOf(symbol: string): RecordedPath | undefined {
    return this.#paths.find((path) => path.symbol === symbol)
  }

  /** The path whose next point is the earliest in recording time; of equals the first instrument. */
  #nextPath(): RecordedPath | undefined {
    let next: RecordedPath | undefined
    let nextMs = Number.POSITIVE_INFINITY
    for (const path of this.#paths) {
      const ms = path.lap * this.#lapMs + path.nextAt
      if (ms >= nextMs) continue
      next = path
      nextMs = ms
    }
    return next
  }

  #dueAt(path: RecordedPath): number {
    const elapsedMs = path.lap * this.#lapMs + path.nextAt - this.#originAt
    return this.#startAt + Math.floor(elapsedMs / this.speed)
  }
}

function recordedIdentity({
  recordings,
  speed,
  repeat = false,
  candlePath = 'random',
}: RecordedMarketOptions): string {
  const contents = recordings.map((recording) => `${recording.symbol}=${recording.sha256}`).toSorted()
  const hash = sha256([...contents, repeat ? 'repeat' : 'once', candlePath]).toString('hex')
  return `recorded:${hash.slice(0, 12)}:x${speed}`
}

/** The instruments without a recording; time runs at the same speed for them. */
function fallbackOptions({ recordings, instruments, startAt, speed, fallback }: RecordedMarketOptions) {
  const isRecorded = (symbol: string) => recordings.some((recording) => recording.symbol === symbol)
  const others = instruments.filter(({ symbol }) => !isRecorded(symbol))
  return { ...fallback, speed, startAt, instruments: others }
}

function assertOptions({ recordings, speed, startAt, instruments }: RecordedMarketOptions): void {
  if (!(speed > 0 && speed <= 10_000)) throw invalidOption('speed', speed, 'a number above 0, up to 10000')
  if (!Number.isSafeInteger(startAt)) throw invalidOption('startAt', startAt, 'a whole number of Unix ms')
  if (recordings.length === 0) throw invalidOption('recordings', 'none', 'at least one; or a seeded market')
  for (const [index, { symbol, source }] of recordings.entries()) {
    if (!instruments.some((instrument) => instrument.symbol === symbol)) {
      throw new Failure({
        code: 'RECORDING_SYMBOL_UNKNOWN',
        sentence: 'the recording is of an instrument that is not configured',
        facts: { file: source, symbol, instruments: instruments.map((one) => one.symbol).join(', ') },
        hint: `add the instrument, or name another one: SYMBOL=${source}`,
      })
    }
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
