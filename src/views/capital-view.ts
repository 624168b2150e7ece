import type { AccountView, CapitalView, PositionView } from '../control/views.ts'
import { type StrategyId, toStrategyId } from '../domain/ids.ts'
import type { ShownAccount } from './shown-account.ts'

/** Only with a `capital` of its own. */
export function viewCapital(
  account: ShownAccount,
  id: StrategyId,
): Pick<AccountView['strategies'][number], 'capital'> {
  const capital = capitalOf(account, id)
  return capital ? { capital } : {}
}

/** Names those strategies alone that hold a position and have a capital. */
export function viewCapitals(
  account: ShownAccount,
  ids: readonly string[],
): Pick<PositionView, 'capitals'> {
  const capitals = ids.flatMap((id) => {
    const capital = capitalOf(account, toStrategyId(id))
    return capital ? [[id, capital] as const] : []
  })
  return capitals.length === 0 ? {} : { capitals: Object.fromEntries(capitals) }
}

function capitalOf({ config, engine }: ShownAccount, id: StrategyId): CapitalView | undefined {
  const set = config.strategies.find((strategy) => strategy.id === id)?.capital
  const use = set === undefined ? undefined : engine.capitalUse(id)
  if (set === undefined || use === undefined) return undefined
  return { set, max: finite(use.max), used: finite(use.used) }
}

function finite(amount: number): number | null {
  return Number.isFinite(amount) ? amount : null
}
