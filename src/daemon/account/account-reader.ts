import { type Answer } from '../../domain/answer.ts'
import { type Instrument, type PositionMode, type ProductType } from '../../domain/instrument.ts'
import { type PositionReading } from '../../domain/position.ts'
import { type EngineEvent } from '../../engine/event.ts'
import { type ExchangeClient } from '../../exchange/exchange-client.ts'

export interface AccountReaderOptions {
  readonly client: ExchangeClient
  readonly productType: ProductType
  readonly positionMode: PositionMode
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly dispatch: (event: EngineEvent) => void
  /** A read has succeeded; `what` names it as the failed ones are named. */
  readonly onRead: (what: string) => void
  readonly onBroken: (error: unknown) => void
}

/**
 * Reads fills and positions for the core. Of each kind one read is on the wire at a time; asked for again
 * meanwhile, it is read once more afterwards, from the earlier of the two starts: a core that asks often
 * cannot pile up calls.
 */
export class AccountReader {
  readonly #options: AccountReaderOptions
  readonly #reading = new Map<string, Promise<void>>()
  readonly #wanted = new Map<string, () => Promise<void>>()
  #fillsSince = Number.POSITIVE_INFINITY
  /** The last reading of each symbol, for the closing summary. */
  readonly positions = new Map<string, PositionReading>()

  constructor(options: AccountReaderOptions) {
    this.#options = options
  }

  /** @param sinceAt Unix ms, exchange clock. */
  readFills(sinceAt: number): void {
    this.#fillsSince = Math.min(this.#fillsSince, sinceAt)
    this.#once('fills', async () => {
      const { client, productType, positionMode, instruments, dispatch, onRead } = this.#options
      const since = this.#fillsSince
      this.#fillsSince = Number.POSITIVE_INFINITY
      const answer = await client.readFills({ productType, positionMode, instruments, sinceAt: since })
      if (answer.kind !== 'accepted') return this.#fail('fills', answer)
      onRead('fills')
      dispatch({ kind: 'fillsRead', reading: answer.data })
    })
  }

  readPosition(symbol: string): void {
    const instrument = this.#options.instruments.get(symbol)
    if (!instrument) return
    this.#once(`position ${symbol}`, async () => {
      const answer = await this.#options.client.readPosition({ instrument })
      if (answer.kind !== 'accepted') return this.#fail(`position ${symbol}`, answer)
      this.positions.set(symbol, answer.data)
      this.#options.onRead(`position ${symbol}`)
      this.#options.dispatch({ kind: 'positionRead', reading: answer.data })
    })
  }

  /** Resolves when no read is on the wire any more. */
  async idle(): Promise<void> {
    while (this.#reading.size > 0) await Promise.all(this.#reading.values())
  }

  #once(name: string, read: () => Promise<void>): void {
    if (this.#reading.has(name)) {
      this.#wanted.set(name, read)
      return
    }
    const done = read()
      .catch(this.#options.onBroken)
      .finally(() => {
        this.#reading.delete(name)
        const next = this.#wanted.get(name)
        this.#wanted.delete(name)
        if (next) this.#once(name, next)
      })
    this.#reading.set(name, done)
  }

  #fail(what: string, answer: Exclude<Answer<unknown>, { kind: 'accepted' }>): void {
    this.#options.dispatch({
      kind: 'readFailed',
      what,
      reason: `${answer.kind} ${answer.code}: ${answer.message}`,
    })
  }
}
