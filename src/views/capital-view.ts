import type { AccountView } from '../control/views.ts'
import type { StrategyId } from '../domain/ids.ts'
import type { ShownAccount } from './shown-account.ts'

/** Only with a `capital` of its own. */
export function viewCapital(
  { config, engine }: ShownAccount,
  id: StrategyId,
): Pick<AccountView['strategies'][number], 'capital'> {
  const set = config.strategies.find((strategy) => strategy.id === id)?.capital
  const use = set === undefined ? undefined : engine.capitalUse(id)
  if (set === undefined || use === undefined) return {}
  return { capital: { set, max: finite(use.max), used: finite(use.used) } }
}

function finite(amount: number): number | null {
  return Number.isFinite(amount) ? amount : null
}
