import {
  type Answer,
  isRefusedForGood,
  refusesInstrument,
  type RefusedAnswer,
  type UnknownAnswer,
} from '../domain/answer.ts'
import type { FillsReading } from '../domain/fill.ts'
import type { PositionReading } from '../domain/position.ts'
import type { EngineEvent } from '../engine/event.ts'
import type { ExchangePort } from './ports.ts'
import { ReadPauses } from './read-pauses.ts'

/** Positions that are read at a time: as many calls as the exchange allows in a second. */
const POSITIONS_ON_WIRE_MAX = 10

/** The name of the reads of fills among those of positions, which have their symbols. */
const FILLS = 'fills'

export interface AccountReaderOptions {
  readonly exchange: Pick<ExchangePort, 'readFills' | 'readPosition'>
  readonly dispatch: (event: EngineEvent) => void
  /** Monotonic ms. */
  readonly now: () => number
}

/**
 * Reads fills and positions for the core. Only one read of the fills, and one of each position, is on the wire at a
 * time, so that a core that asks often cannot pile up calls.
 *
 * Asked for during a read, fills are read once more afterwards, from the earliest start that was asked for. So is a
 * position whose reading is urgent; otherwise the read under way is enough. Positions wait here, not at the limiter, so
 * that an urgent one can still go before the others. Here waits as well what was refused ({@link ReadPauses}).
 */
export class AccountReader {
  readonly #options: AccountReaderOptions
  readonly #pauses: ReadPauses
  #isReadingFills = false
  /** Fills are to be read from this time on, Unix ms, exchange clock; infinite: none are. */
  #fillsSince = Number.POSITIVE_INFINITY
  readonly #onWire = new Set<string>()
  /** Positions that wait, by symbol, in the order in which they were asked for; the urgent ones go first. */
  readonly #urgent = new Set<string>()
  readonly #inTurn = new Set<string>()

  constructor(options: AccountReaderOptions) {
    this.#options = options
    this.#pauses = new ReadPauses(options.now)
  }

  /** @param sinceAt Unix ms, exchange clock. */
  readFills(sinceAt: number): void {
    this.#fillsSince = Math.min(this.#fillsSince, sinceAt)
    if (this.#pauses.areOver) this.#nextFills()
    else this.resume()
  }

  readPosition(symbol: string, isUrgent: boolean): void {
    if (isUrgent) {
      this.#inTurn.delete(symbol)
      this.#urgent.add(symbol)
    } else if (!this.#urgent.has(symbol) && !this.#onWire.has(symbol)) this.#inTurn.add(symbol)
    if (this.#pauses.areOver) this.#nextPositions()
    else this.resume()
  }

  /** The exchange has accepted another call of the account. */
  noteAccepted(): void {
    if (this.#pauses.areOver) return
    this.#pauses.noteAccepted()
    this.resume()
  }

  /** Reads what waited for the end of a pause. */
  resume(): void {
    if (this.#pauses.areOver) return
    for (const read of this.#pauses.inOrder([FILLS, ...this.#urgent, ...this.#inTurn])) {
      if (!this.#pauses.mayAsk(read)) continue
      if (read === FILLS) this.#nextFills()
      else if (this.#urgent.has(read)) this.#askForPosition(read, this.#urgent)
      else if (this.#inTurn.has(read)) this.#askForPosition(read, this.#inTurn)
    }
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
    this.#pauses.noteSent(FILLS)
    this.#options.exchange.readFills(since, this.#hearFills)
  }

  readonly #hearFills = (answer: Answer<FillsReading>): void => {
    this.#pauses.noteAnswer(FILLS, answer)
    // Still marked as reading: what the core asks for while it handles this answer is read afterwards.
    if (answer.kind === 'accepted')
      this.#options.dispatch({ kind: 'fillsRead', reading: answer.data })
    else this.#reportFailure(FILLS, answer)
    this.#isReadingFills = false
    this.#readNext()
  }

  #nextPositions(): void {
    this.#askForThese(this.#urgent)
    this.#askForThese(this.#inTurn)
  }

  #askForThese(waiting: Set<string>): void {
    if (waiting.size === 0) return
    for (const symbol of waiting) {
      if (this.#onWire.size >= POSITIONS_ON_WIRE_MAX) return
      this.#askForPosition(symbol, waiting)
    }
  }

  #askForPosition(symbol: string, waiting: Set<string>): void {
    if (this.#onWire.size >= POSITIONS_ON_WIRE_MAX || this.#onWire.has(symbol)) return
    waiting.delete(symbol)
    this.#onWire.add(symbol)
    this.#pauses.noteSent(symbol)
    this.#options.exchange.readPosition(symbol, (answer) => this.#hearPosition(symbol, answer))
  }

  #hearPosition(symbol: string, answer: Answer<PositionReading>): void {
    const { dispatch } = this.#options
    this.#pauses.noteAnswer(symbol, answer)
    if (answer.kind === 'accepted') dispatch({ kind: 'positionRead', reading: answer.data })
    else if (answer.kind === 'unknown' && answer.cause === 'unreadableRow')
      dispatch({ kind: 'positionUnreadable', symbol, problem: answer.message })
    else this.#reportFailure(`position ${symbol}`, answer, refusesInstrument(answer, symbol))
    this.#onWire.delete(symbol)
    this.#readNext()
  }

  #readNext(): void {
    if (!this.#pauses.areOver) return this.resume()
    this.#nextFills()
    this.#nextPositions()
  }

  #reportFailure(what: string, answer: RefusedAnswer | UnknownAnswer, isRemoved = false): void {
    // A page that refuses comes from in front of the exchange, which has said nothing.
    const refused = answer.kind === 'refused' && isRefusedForGood(answer) && { isRefused: true }
    const reason = reasonOf(answer)
    this.#options.dispatch({
      kind: 'readFailed',
      what,
      reason,
      status: answer.status,
      ...refused,
      ...(isRemoved && { isRemoved }),
    })
  }
}

function reasonOf({ kind, code, message }: RefusedAnswer | UnknownAnswer): string {
  return `${kind} ${code}: ${message}`
}
