/** From a peak of the equity until it is reached again. */
export interface Drawdown {
  readonly peakAt: number
  readonly troughAt: number
  /** Undefined: not reached before the end. */
  readonly recoveredAt: number | undefined
  /** A share of the peak: 0.1 is 10 %. */
  readonly depth: number
  /** Margin coin. */
  readonly amount: number
}

const WORST_KEPT = 5

/** At every value, so no extreme is lost. */
export class DrawdownTracker {
  readonly #worst: Drawdown[] = []
  #peak: number
  #peakAt: number
  #trough: number
  #troughAt: number
  #lastAt: number
  #underMs = 0
  #longestMs = 0

  constructor(at: number, equity: number) {
    this.#peak = equity
    this.#trough = equity
    this.#peakAt = at
    this.#troughAt = at
    this.#lastAt = at
  }

  /** @returns how far the equity is below the last peak, as a share */
  take(at: number, equity: number): number {
    if (this.#trough < this.#peak) this.#underMs += at - this.#lastAt
    this.#lastAt = at
    if (equity >= this.#peak) {
      this.#end(at)
      this.#peak = equity
      this.#peakAt = at
      this.#trough = equity
      return 0
    }
    if (equity < this.#trough) {
      this.#trough = equity
      this.#troughAt = at
    }
    return shareBelow(this.#peak, equity)
  }

  /** Includes one that is not over. */
  worst(): readonly Drawdown[] {
    return ranked([
      ...this.#worst,
      ...(this.#trough < this.#peak ? [this.#current(undefined)] : []),
    ])
  }

  /** Below the last peak. */
  underWater(): { readonly totalMs: number; readonly longestMs: number } {
    const currentMs = this.#trough < this.#peak ? this.#lastAt - this.#peakAt : 0
    return { totalMs: this.#underMs, longestMs: Math.max(this.#longestMs, currentMs) }
  }

  #end(at: number): void {
    if (this.#trough >= this.#peak) return
    this.#longestMs = Math.max(this.#longestMs, at - this.#peakAt)
    const depth = shareBelow(this.#peak, this.#trough)
    if (this.#worst.length === WORST_KEPT && depth <= (this.#worst.at(-1)?.depth ?? 0)) return
    this.#worst.splice(0, WORST_KEPT, ...ranked([...this.#worst, this.#current(at)]))
  }

  #current(recoveredAt: number | undefined): Drawdown {
    return {
      peakAt: this.#peakAt,
      troughAt: this.#troughAt,
      recoveredAt,
      depth: shareBelow(this.#peak, this.#trough),
      amount: this.#peak - this.#trough,
    }
  }
}

function ranked(drawdowns: readonly Drawdown[]): Drawdown[] {
  return drawdowns.toSorted((one, other) => other.depth - one.depth).slice(0, WORST_KEPT)
}

function shareBelow(peak: number, equity: number): number {
  return peak > 0 ? (peak - equity) / peak : 0
}
