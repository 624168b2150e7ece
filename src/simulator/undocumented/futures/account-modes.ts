import { type AccountRef } from '../../shared/account.ts'
import { applyChoices } from '../../futures/accounts/account-choices.ts'
import { accountOf, type Account, type CoreState } from '../../futures/core-state.ts'
import { type Instrument } from '../../futures/instruments/instruments.ts'
import { ACCOUNTS } from '../../futures/stored-entities.ts'
import { refusals } from '../../futures/refusals.ts'
import { accept, refuse } from '../../shared/reply.ts'
import { leverageFields } from './futures-account.ts'
import { namedSymbol } from './listed-symbols.ts'
import { undocumentedRefusals } from './undocumented-refusals.ts'

interface SymbolRequest {
  readonly symbol: string
  readonly productType: string
  readonly marginCoin: string
}

/** Sets the leverage of a symbol; only while nothing of it is held or open. */
export function setFuturesLeverage(
  state: CoreState,
  { uid }: AccountRef,
  request: SymbolRequest & {
    readonly leverage?: string | undefined
    readonly longLeverage?: string | undefined
    readonly shortLeverage?: string | undefined
  },
) {
  const account = accountOf(state, uid)
  const named = namedSymbol(state, request)
  if (!named.ok) return refuse(named.refusal)
  const { instrument } = named.value
  const leverage = Number(request.leverage ?? request.longLeverage ?? request.shortLeverage)
  if (!(leverage >= 1) || !Number.isInteger(leverage)) return refuse(refusals.parameter('leverage'))
  if (leverage > instrument.leverageMax) return refuse(undocumentedRefusals.leverageTooHigh())
  if (isHeld(account, instrument.symbol)) return refuse(undocumentedRefusals.leverageHeld())
  if (isOrdered(account, instrument.symbol)) return refuse(undocumentedRefusals.leverageOrdered())
  const leverageBySymbol = { ...account.choices.leverageBySymbol, [instrument.symbol]: leverage }
  applyChoices(account, { leverageBySymbol })
  state.rows.put(ACCOUNTS, account)
  return accept(toSymbolAnswer(account, instrument))
}

/** Sets the margin mode that the account's answers show for a symbol; each order names its own. */
export function setFuturesMarginMode(
  state: CoreState,
  { uid }: AccountRef,
  request: SymbolRequest & { readonly marginMode: 'isolated' | 'crossed' },
) {
  const account = accountOf(state, uid)
  const named = namedSymbol(state, request)
  if (!named.ok) return refuse(named.refusal)
  const { instrument } = named.value
  if (isHeld(account, instrument.symbol) || isOrdered(account, instrument.symbol))
    return refuse(refusals.marginModeFixed())
  const marginModeBySymbol = {
    ...account.choices.marginModeBySymbol,
    [instrument.symbol]: request.marginMode,
  }
  applyChoices(account, { marginModeBySymbol })
  state.rows.put(ACCOUNTS, account)
  return accept(toSymbolAnswer(account, instrument))
}

/** Sets the position mode of the whole account; only while it is flat and has no orders. */
export function setFuturesPositionMode(
  state: CoreState,
  { uid }: AccountRef,
  { posMode }: { readonly posMode: 'one_way_mode' | 'hedge_mode' },
) {
  const account = accountOf(state, uid)
  const hasPlans = [...account.planOrders.values()].some(({ status }) => status === 'pending')
  if (account.positions.size > 0 || account.openOrders.size > 0 || hasPlans)
    return refuse(undocumentedRefusals.positionModeFixed())
  applyChoices(account, { positionMode: posMode })
  state.rows.put(ACCOUNTS, account)
  return accept({ posMode })
}

function isHeld(account: Account, symbol: string): boolean {
  return [...account.positions.values()].some((position) => position.symbol === symbol)
}

function isOrdered(account: Account, symbol: string): boolean {
  const isOpen = [...account.openOrders.values()].some((order) => order.symbol === symbol)
  const isPlanned = [...account.planOrders.values()].some(
    (plan) => plan.symbol === symbol && plan.status === 'pending',
  )
  return isOpen || isPlanned
}

function toSymbolAnswer(account: Account, instrument: Instrument) {
  const { crossedMarginLeverage, isolatedLongLever, isolatedShortLever } = leverageFields(account, instrument)
  return {
    symbol: instrument.symbol,
    marginCoin: instrument.marginCoin,
    longLeverage: isolatedLongLever,
    shortLeverage: isolatedShortLever,
    crossMarginLeverage: crossedMarginLeverage,
    marginMode: account.choices.marginModeBySymbol?.[instrument.symbol] ?? 'crossed',
  }
}
