import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'

export class KnownPrices {
  #tickers: TickerTable | undefined
  /** Exchange clock less ours, ms. */
  #offsetMs = 0

  get tickers(): TickerTable | undefined {
    return this.#tickers
  }

  forget(): void {
    this.#tickers = undefined
  }

  note(event: EngineEvent, now: number): void {
    if (event.kind === 'clockSynchronised') this.#offsetMs = event.offsetMs
    if (event.kind !== 'snapshotTaken') return
    // A later answer came first, and its time was not absurd.
    const latestAt = this.#tickers?.requestTime ?? 0
    const isOvertaken =
      event.tickers.requestTime < latestAt && latestAt <= now + this.#offsetMs + 1000
    if (!isOvertaken) this.#tickers = event.tickers
  }

  /** The larger one by our clock and the exchange's. */
  ageOf(symbol: string, now: number): number {
    if (!this.#tickers) return Number.POSITIVE_INFINITY
    return Math.max(
      now - this.#tickers.readAt,
      now + this.#offsetMs - this.#tickers.read(symbol, 'ts'),
    )
  }
}
