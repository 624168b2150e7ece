import { type CancelPlan } from '../../execution/cancel-plan.ts'
import { announce, type Core } from '../state/core.ts'
import { type InstrumentState } from '../state/instrument-state.ts'

/** Says what became of a granted cancel-all, and what each other way would have cost. */
export function logCancelPlan(core: Core, plan: CancelPlan): void {
  const isChoice = Number.isFinite(plan.costs.keep) || plan.kind === 'cancelProduct'
  announce(core, isChoice ? 'info' : 'debug', 'cancel.planned', {
    plan: plan.kind,
    ...(plan.kind === 'cancelSymbol' ? { order: plan.order } : {}),
    ...toCoinSeconds(plan),
  })
}

/** Says once that what nobody wants is kept on an instrument for now, and why. */
export function logKept(core: Core, instrument: InstrumentState, plan: CancelPlan): void {
  if (instrument.isKeptLogged) return
  instrument.isKeptLogged = true
  announce(core, 'debug', 'cancel.planned', {
    symbol: instrument.symbol,
    plan: plan.kind,
    ...toCoinSeconds(plan),
  })
}

/** The costs as a person reads them: quote coin times seconds. What is not allowed is left out. */
function toCoinSeconds({ costs }: CancelPlan): Record<string, number> {
  return Object.fromEntries(
    Object.entries(costs)
      .filter(([, cost]) => Number.isFinite(cost))
      .map(([way, cost]) => [`${way}CoinSeconds`, Math.round(cost / 10) / 100]),
  )
}
