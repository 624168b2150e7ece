import { type Answer } from '../domain/answer.ts'
import { type EngineEvent } from '../engine/event.ts'
import { type ExchangePort } from './ports.ts'

/** Positions asked for at a time: as many as the exchange lets leave in a second, so that none waits long for its turn. */
const POSITIONS_ON_WIRE_MAX = 10

export interface AccountReaderOptions {
  readonly exchange: Pick<ExchangePort, 'readFills' | 'readPosition'>
  readonly dispatch: (event: EngineEvent) => void
}

/**
 * Reads fills and positions for the core. Of the fills, and of each position, one read is on the wire at a time: a core
 * that asks often cannot pile up calls. Asked for again meanwhile, fills are read once more afterwards, from the earlier
 * of the two starts, and so is a position that is urgent; one in its turn is being read. Positions beyond those on the
 * wire stand in line here and not at the limiter, where they would come too late: what is urgent first, then in the
 * order in which they were asked for.
 */
export class AccountReader {
  readonly #options: AccountReaderOptions
  #isReadingFills = false
  /** Unix ms, exchange clock: fills are wanted from here on; infinite: they are not. */
  #fillsSince = Number.POSITIVE_INFINITY
  readonly #onWire = new Set<string>()
  readonly #urgent = new Set<string>()
  readonly #line = new Set<string>()

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
      this.#line.delete(symbol)
      this.#urgent.add(symbol)
    } else if (!this.#urgent.has(symbol) && !this.#onWire.has(symbol)) this.#line.add(symbol)
    this.#nextPositions()
  }

  /** What stands in line is not read any more. */
  stop(): void {
    this.#fillsSince = Number.POSITIVE_INFINITY
    this.#urgent.clear()
    this.#line.clear()
  }

  #nextFills(): void {
    const since = this.#fillsSince
    if (this.#isReadingFills || since === Number.POSITIVE_INFINITY) return
    this.#isReadingFills = true
    this.#fillsSince = Number.POSITIVE_INFINITY
    this.#options.exchange.readFills(since, (answer) => {
      // What the core asks for on hearing it is read afterwards.
      this.#hear('fills', answer, (reading) => ({ kind: 'fillsRead', reading }))
      this.#isReadingFills = false
      this.#nextFills()
    })
  }

  #nextPositions(): void {
    for (const line of [this.#urgent, this.#line]) {
      for (const symbol of line) {
        if (this.#onWire.size >= POSITIONS_ON_WIRE_MAX) return
        if (this.#onWire.has(symbol)) continue
        line.delete(symbol)
        this.#onWire.add(symbol)
        this.#askFor(symbol)
      }
    }
  }

  #askFor(symbol: string): void {
    this.#options.exchange.readPosition(symbol, (answer) => {
      this.#hear(`position ${symbol}`, answer, (reading) => ({ kind: 'positionRead', reading }), symbol)
      this.#onWire.delete(symbol)
      this.#nextPositions()
    })
  }

  #hear<Data>(
    what: string,
    answer: Answer<Data>,
    toEvent: (reading: Data) => EngineEvent,
    symbol = '',
  ): void {
    const { dispatch } = this.#options
    if (answer.kind === 'accepted') dispatch(toEvent(answer.data))
    else if (answer.kind === 'unknown' && answer.cause === 'unreadableRow')
      dispatch({ kind: 'positionUnreadable', symbol, problem: answer.message })
    else dispatch({ kind: 'readFailed', what, reason: reasonOf(answer), status: answer.status })
  }
}

function reasonOf({ kind, code, message }: Exclude<Answer<unknown>, { kind: 'accepted' }>): string {
  return `${kind} ${code}: ${message}`
}
