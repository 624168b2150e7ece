import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'

/** Readings since a cancel-all was answered or proved; Unix ms, our clock. */
export class ReadingsSince {
  readonly #fillVisibilityMs: number
  #since = 0
  #fills = 0
  readonly #positions = new Map<string, number>()

  constructor(fillVisibilityMs: number) {
    this.#fillVisibilityMs = fillVisibilityMs
  }

  begin(at: number): void {
    this.#since = at
    this.#fills = 0
    this.#positions.clear()
  }

  note(event: EngineEvent, effects: readonly Effect[], now: number): void {
    if (
      event.kind === 'fillsRead' &&
      event.reading.requestedAt >= this.#since + this.#fillVisibilityMs
    ) {
      this.#fills += 1
    }
    if (event.kind === 'positionRead' && event.reading.requestedAt >= this.#since) {
      const { symbol } = event.reading
      this.#positions.set(symbol, (this.#positions.get(symbol) ?? 0) + 1)
    }
    const isProved = effects.some(
      (effect) => effect.kind === 'announce' && effect.event === 'instrument.resolved',
    )
    if (isProved || event.kind === 'cancelAnswered') this.begin(now)
  }

  /** How often everything was read. */
  rounds(symbols: readonly string[]): number {
    return Math.min(this.#fills, ...symbols.map((symbol) => this.#positions.get(symbol) ?? 0))
  }
}
