import { type Answer, isRefusedForGood, type RefusedAnswer, type UnknownAnswer } from '../domain/answer.ts'
import type { FillsReading } from '../domain/fill.ts'
import type { PositionReading } from '../domain/position.ts'
import type { EngineEvent } from '../engine/event.ts'
import type { ExchangePort } from './ports.ts'

/** Positions that are read at a time: as many calls as the exchange allows in a second. */
const POSITIONS_ON_WIRE_MAX = 10

export interface AccountReaderOptions {
  readonly exchange: Pick<ExchangePort, 'readFills' | 'readPosition'>
  readonly dispatch: (event: EngineEvent) => void
}

/**
 * Reads fills and positions for the core. Only one read of the fills, and one of each position, is on the wire at a
 * time, so that a core that asks often cannot pile up calls.
 *
 * Asked for during a read, fills are read once more afterwards, from the earliest start that was asked for. So is a
 * position whose reading is urgent; otherwise the read under way is enough. Positions wait here, not at the limiter, so
 * that an urgent one can still go before the others.
 */
export class AccountReader {
  readonly #options: AccountReaderOptions
  #isReadingFills = false
  /** Fills are to be read from this time on, Unix ms, exchange clock; infinite: none are. */
  #fillsSince = Number.POSITIVE_INFINITY
  readonly #onWire = new Set<string>()
  /** Positions that wait, by symbol, in the order in which they were asked for; the urgent ones go first. */
  readonly #urgent = new Set<string>()
  readonly #inTurn = new Set<string>()

  constructor(options: AccountReaderOptions) {
    this.#options = options
  }

  /** @param sinceAt Unix ms, exchange clock. */
  readFills(sinceAt: number): void {
    this.#fillsSince = Math.min(this.#fillsSince, sinceAt)
    this.#nextFills()
  }

  readPosition(symbol: string, isUrgent: boolean): void {
    if (isUrgent) {
      this.#inTurn.delete(symbol)
      this.#urgent.add(symbol)
    } else if (!this.#urgent.has(symbol) && !this.#onWire.has(symbol)) this.#inTurn.add(symbol)
    this.#nextPositions()
  }

  /** What still waits is not read any more. */
  stop(): void {
    this.#fillsSince = Number.POSITIVE_INFINITY
    this.#urgent.clear()
    this.#inTurn.clear()
  }

  #nextFills(): void {
    const since = this.#fillsSince
    if (this.#isReadingFills || since === Number.POSITIVE_INFINITY) return
    this.#isReadingFills = true
    this.#fillsSince = Number.POSITIVE_INFINITY
    this.#options.exchange.readFills(since, this.#hearFills)
  }

  readonly #hearFills = (answer: Answer<FillsReading>): void => {
    // Still marked as reading: what the core asks for while it handles this answer is read afterwards.
    if (answer.kind === 'accepted') this.#options.dispatch({ kind: 'fillsRead', reading: answer.data })
    else this.#reportFailure('fills', answer)
    this.#isReadingFills = false
    this.#nextFills()
  }

  #nextPositions(): void {
    this.#askForThese(this.#urgent)
    this.#askForThese(this.#inTurn)
  }

  #askForThese(waiting: Set<string>): void {
    if (waiting.size === 0) return
    for (const symbol of waiting) {
      if (this.#onWire.size >= POSITIONS_ON_WIRE_MAX) return
      if (this.#onWire.has(symbol)) continue
      waiting.delete(symbol)
      this.#onWire.add(symbol)
      this.#options.exchange.readPosition(symbol, (answer) => this.#hearPosition(symbol, answer))
    }
  }

  #hearPosition(symbol: string, answer: Answer<PositionReading>): void {
    const { dispatch } = this.#options
    if (answer.kind === 'accepted') dispatch({ kind: 'positionRead', reading: answer.data })
    else if (answer.kind === 'unknown' && answer.cause === 'unreadableRow')
      dispatch({ kind: 'positionUnreadable', symbol, problem: answer.message })
    else this.#reportFailure(`position ${symbol}`, answer)
    this.#onWire.delete(symbol)
    this.#nextPositions()
  }

  #reportFailure(what: string, answer: RefusedAnswer | UnknownAnswer): void {
    const refused = isRefusedForGood(answer) && { isRefused: true }
    const reason = reasonOf(answer)
    this.#options.dispatch({ kind: 'readFailed', what, reason, status: answer.status, ...refused })
  }
}

function reasonOf({ kind, code, message }: RefusedAnswer | UnknownAnswer): string {
  return `${kind} ${code}: ${message}`
}
