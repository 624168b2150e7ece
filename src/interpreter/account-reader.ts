import { type Answer } from '../domain/answer.ts'
import { type EngineEvent } from '../engine/event.ts'
import { type ExchangePort } from './ports.ts'

export interface AccountReaderOptions {
  readonly exchange: Pick<ExchangePort, 'readFills' | 'readPosition'>
  readonly dispatch: (event: EngineEvent) => void
}

/**
 * Reads fills and positions for the core. Of each kind one read is on the wire at a time; asked for again
 * meanwhile, it is read once more afterwards, from the earlier of the two starts: a core that asks often
 * cannot pile up calls.
 */
export class AccountReader {
  readonly #options: AccountReaderOptions
  readonly #reading = new Set<string>()
  readonly #wanted = new Map<string, () => void>()
  #fillsSince = Number.POSITIVE_INFINITY

  constructor(options: AccountReaderOptions) {
    this.#options = options
  }

  /** @param sinceAt Unix ms, exchange clock. */
  readFills(sinceAt: number): void {
    this.#fillsSince = Math.min(this.#fillsSince, sinceAt)
    this.#once('fills', () => {
      const since = this.#fillsSince
      this.#fillsSince = Number.POSITIVE_INFINITY
      this.#options.exchange.readFills(since, (answer) =>
        this.#end('fills', answer, (reading) => ({ kind: 'fillsRead', reading })),
      )
    })
  }

  readPosition(symbol: string): void {
    const what = `position ${symbol}`
    this.#once(what, () =>
      this.#options.exchange.readPosition(symbol, (answer) =>
        this.#end(what, answer, (reading) => ({ kind: 'positionRead', reading }), symbol),
      ),
    )
  }

  #once(what: string, read: () => void): void {
    if (this.#reading.has(what)) {
      this.#wanted.set(what, read)
      return
    }
    this.#reading.add(what)
    read()
  }

  #end<Data>(what: string, answer: Answer<Data>, toEvent: (reading: Data) => EngineEvent, symbol = ''): void {
    // What the core asks for on hearing it is read afterwards.
    if (answer.kind === 'accepted') this.#options.dispatch(toEvent(answer.data))
    else if (answer.kind === 'unknown' && answer.cause === 'unreadableRow') {
      this.#options.dispatch({ kind: 'positionUnreadable', symbol, problem: answer.message })
    } else
      this.#options.dispatch({ kind: 'readFailed', what, reason: reasonOf(answer), status: answer.status })
    this.#reading.delete(what)
    const next = this.#wanted.get(what)
    this.#wanted.delete(what)
    if (next) this.#once(what, next)
  }
}

function reasonOf({ kind, code, message }: Exclude<Answer<unknown>, { kind: 'accepted' }>): string {
  return `${kind} ${code}: ${message}`
}
