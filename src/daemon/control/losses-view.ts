import { type AccountView } from '../../control/views.ts'
import { DRAWDOWN_STEPS } from '../../domain/loss-limits.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { decimal } from '../../lib/decimal.ts'
import { type ShownAccount } from '../account/shown-account.ts'

/** Capital and everything that was made, as strategies are shown it; null while a part is not known. */
export function viewEquity({ settings }: ShownAccount, { total }: AccountView['profit']): string | null {
  if (settings.capital === undefined || total.unrealised === null) return null
  return settings.capital.plus(decimal(total.net)).toString()
}

/** Every limit on losses with how much of it is used; null while that is not known. */
export function viewLosses({ settings, engine, book }: ShownAccount): AccountView['losses'] {
  return [...(settings.losses?.limits ?? [])].flatMap(([scope, { daily, drawdown, streak }]) => {
    const used = engine.losses.get(scope)
    const fallen = (scope === ACCOUNT ? used?.drawdownShare : used?.drawdown) ?? null
    const steps = DRAWDOWN_STEPS.flatMap((step) => {
      const max = drawdown?.[step]
      return max === undefined ? [] : [{ scope, limit: `drawdown.${step}`, used: fallen, max }]
    })
    const own = [...book.ownTrades].filter(
      ([pair]) => scope === `strategy:${pair.slice(0, pair.indexOf('|'))}`,
    )
    const inRow = Math.max(0, ...own.map(([, { lostInRow = 0 }]) => lostInRow))
    return [
      ...(daily === undefined ? [] : [{ scope, limit: 'daily', used: used?.dayLoss ?? null, max: daily }]),
      ...steps,
      ...(streak === undefined ? [] : [{ scope, limit: 'streak', used: inRow, max: streak }]),
    ]
  })
}
