import {
  type CancelTiming,
  costOfInstrument,
  type InstrumentCost,
  type InstrumentStakes,
} from './cancel-cost.ts'

export interface CancelPlanInput {
  readonly instruments: readonly InstrumentStakes[]
  readonly timing: CancelTiming
  /** Whether orders of the product type that are not in `instruments` may be taken away too. */
  readonly mayCancelProduct: boolean
}

/** What each way costs as a whole, coinMs; infinite where it is not allowed. */
export interface CancelCosts {
  readonly keep: number
  readonly symbols: number
  readonly product: number
}

/**
 * What to do with the next cancel-all, of which there is one a second.
 *
 * - `keep`: nothing is worth it, and nothing is missing · `placeMissing`: the same, and what is missing is
 *   placed beside what rests.
 * - `cancelSymbol`: the first of `order` now, the others with the calls after it.
 * - `cancelProduct`: one call for all of them, and for every wanted order of every instrument.
 */
export type CancelPlan =
  | { readonly kind: 'keep' | 'placeMissing' | 'cancelProduct'; readonly costs: CancelCosts }
  | { readonly kind: 'cancelSymbol'; readonly order: readonly string[]; readonly costs: CancelCosts }

/**
 * The most instruments that one plan weighs. The others wait for the calls after it, which are a second apart
 * each: what is planned for a minute ahead will have changed by then.
 */
const INSTRUMENTS_MAX = 60

interface CostedInstrument {
  readonly instrument: InstrumentStakes
  readonly cost: InstrumentCost
}

/** The cheapest way for all instruments together. What has a rank is cancelled whatever it costs. */
export function planCancel({ instruments, timing, mayCancelProduct }: CancelPlanInput): CancelPlan {
  const costed = instruments.map((instrument) => ({ instrument, cost: costOfInstrument(instrument, timing) }))
  const concerned = costed.filter(isConcerned).sort(byUrgency)
  const later = concerned.slice(INSTRUMENTS_MAX).reduce((sum, { cost }) => sum + costOfLater(cost, timing), 0)
  const choice = chooseSymbols(concerned.slice(0, INSTRUMENTS_MAX), timing)
  const costs: CancelCosts = {
    keep: concerned.reduce((sum, { cost }) => sum + cost.keep, 0),
    symbols: choice.cost + later,
    product: mayCancelProduct ? costOfSweep(costed, timing) : Number.POSITIVE_INFINITY,
  }
  const best = Math.min(costs.keep, costs.symbols, costs.product)
  if (concerned.length === 0 || costs.keep === best) {
    return { kind: instruments.some(({ missing }) => missing.length > 0) ? 'placeMissing' : 'keep', costs }
  }
  if (costs.symbols === best) return { kind: 'cancelSymbol', order: choice.order, costs }
  return { kind: 'cancelProduct', costs }
}

/** What has to be cancelled and is not weighed waits for all that is. */
function costOfLater({ keep, cancel, cancelPerMs }: InstrumentCost, { slotMs }: CancelTiming): number {
  return Number.isFinite(keep) ? keep : cancel + cancelPerMs * INSTRUMENTS_MAX * slotMs
}

/** A instrument on which a batch is on the wire cannot be proved by a cancel-all of its own yet. */
function isConcerned({ instrument }: CostedInstrument): boolean {
  return !instrument.isPlacing && (instrument.rank !== undefined || instrument.unwanted.length > 0)
}

/** All calls take equally long, so among equals who loses most by waiting goes first. */
function byUrgency(left: CostedInstrument, right: CostedInstrument): number {
  return rankOf(left) - rankOf(right) || right.cost.cancelPerMs - left.cost.cancelPerMs
}

function rankOf({ instrument }: CostedInstrument): number {
  return instrument.rank ?? Number.MAX_SAFE_INTEGER
}

interface Choice {
  readonly cost: number
  readonly order: readonly string[]
}

/**
 * Which of the instruments, in their order, are worth a call: the cheapest choice by the number of calls spent so
 * far. At most `INSTRUMENTS_MAX` squared steps.
 */
function chooseSymbols(instruments: readonly CostedInstrument[], { waitMs, slotMs }: CancelTiming): Choice {
  let byCalls: (Choice | undefined)[] = [{ cost: 0, order: [] }]
  for (const { instrument, cost } of instruments) {
    const next: (Choice | undefined)[] = []
    for (const [calls, choice] of byCalls.entries()) {
      if (!choice) continue
      const delayMs = waitMs + calls * slotMs
      const spent = choice.cost + cost.call + cost.cancel + cost.cancelPerMs * delayMs
      keepCheaper(next, calls + 1, { cost: spent, order: [...choice.order, instrument.symbol] })
      if (instrument.rank === undefined) {
        keepCheaper(next, calls, { cost: choice.cost + cost.keep, order: choice.order })
      }
    }
    byCalls = next
  }
  return byCalls.reduce<Choice>((best, choice) => (choice && choice.cost < best.cost ? choice : best), {
    cost: Number.POSITIVE_INFINITY,
    order: [],
  })
}

function keepCheaper(choices: (Choice | undefined)[], calls: number, choice: Choice): void {
  const known = choices[calls]
  if (!known || choice.cost < known.cost) choices[calls] = choice
}

/** One call for all: everything wanted is lost once, and nobody waits for a second call. */
function costOfSweep(instruments: readonly CostedInstrument[], { waitMs }: CancelTiming): number {
  const call = Math.max(0, ...instruments.map(({ cost }) => cost.call))
  return instruments.reduce((sum, costed) => {
    // Until the call leaves, only an instrument that is to be cancelled is held back for it.
    const waiting = isConcerned(costed) ? costed.cost.cancelPerMs * waitMs : 0
    return sum + costed.cost.sweep + waiting
  }, call)
}
