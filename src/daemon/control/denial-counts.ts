import type { DenialsView } from '../../control/detail-views.ts'
import type { LoggedFact } from '../../logging/logger.ts'

/** A denial is logged once a minute while it goes on. */
const RECENT_MS = 70_000
const SYMBOLS_MAX = 1000

/** What was denied in this run, from the log: by strategy and code, and the last words on each instrument. */
export class DenialCounts {
  readonly #counts = new Map<string, Map<string, number>>()
  readonly #last = new Map<string, { readonly at: number; readonly text: string }>()

  /** @param at Unix ms. */
  hear({ event, fields }: LoggedFact, at: number): void {
    // What a mode has denied is no reason any more: each strategy looks anew.
    if (event === 'trading.released') this.#last.clear()
    if (event !== 'intent.denied') return
    const { strategy, symbol, code, detail, orders = 1, sinceLastLogged = 0 } = fields
    const codes = this.#counts.get(String(strategy)) ?? new Map<string, number>()
    this.#counts.set(String(strategy), codes)
    const count = Number(orders) + Number(sinceLastLogged)
    codes.set(String(code), (codes.get(String(code)) ?? 0) + count)
    // The newest at the end; a strategy may name instruments that there are not.
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

  /** What was denied on an instrument within the last minute, in words. */
  recent(symbol: string, now: number): string | undefined {
    const last = this.#last.get(symbol)
    return last !== undefined && now - last.at < RECENT_MS ? last.text : undefined
  }
}
