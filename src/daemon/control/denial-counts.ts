import type { DenialsView } from '../../control/detail-views.ts'
import type { LoggedFact } from '../../logging/logger.ts'

/** A continuing denial is logged once a minute. */
const RECENT_MS = 70_000
const SYMBOLS_MAX = 1000

/** Counted by strategy and code, with the last text by instrument. */
export class DenialCounts {
  readonly #counts = new Map<string, Map<string, number>>()
  readonly #last = new Map<string, { readonly at: number; readonly text: string }>()

  hear({ event, fields }: LoggedFact, at: number): void {
    // Denials by an ended mode explain nothing.
    if (event === 'trading.released') this.#last.clear()
    if (event !== 'intent.denied') return
    const { strategy, symbol, code, detail, orders = 1, sinceLastLogged = 0 } = fields
    const codes = this.#counts.get(String(strategy)) ?? new Map<string, number>()
    this.#counts.set(String(strategy), codes)
    const count = Number(orders) + Number(sinceLastLogged)
    codes.set(String(code), (codes.get(String(code)) ?? 0) + count)
    // Reinserting keeps the newest last. Strategies may name instruments that do not exist.
    this.#last.delete(String(symbol))
    this.#last.set(String(symbol), {
      at,
      text: `${String(strategy)}: denied, ${String(code)}: ${String(detail)}`,
    })
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= SYMBOLS_MAX) break
      this.#last.delete(oldest)
    }
  }

  view(): DenialsView {
    return Object.fromEntries(
      [...this.#counts].map(([id, codes]) => [id, Object.fromEntries(codes)]),
    )
  }

  recent(symbol: string, now: number): string | undefined {
    const last = this.#last.get(symbol)
    return last !== undefined && now - last.at < RECENT_MS ? last.text : undefined
  }
}
