import { showUtc } from '../../lib/text/show-utc.ts'
import type { OrderPlan } from '../../control/controlled.ts'
import type { ReloadView } from '../../control/detail-views.ts'
import type { RiskierOrder } from '../../control/powers.ts'
import { ACCOUNT, type Restriction } from '../../domain/trading-mode.ts'
import { killOf } from '../../engine/book/book.ts'
import type { HandCommand } from '../../engine/event.ts'
import { describeBeyondLimit } from '../../engine/lifecycle/adopt.ts'
import { describeDropped, describeUnclaimed } from '../../engine/lifecycle/flatten.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { viewWorstCase } from '../../views/losses-view.ts'
import type { ShownAccount } from '../../views/shown-account.ts'
import {
  adviseUnclaimed,
  describePeak,
  describeRefusedRelease,
  describeStillHeld,
  refuseCommand,
} from '../account/command-inbox.ts'
import { judgeScope } from '../account/operator.ts'

type AccountOrder = Exclude<
  RiskierOrder,
  { readonly kind: 'reload' | 'order' | 'deposit' | 'correctDeposit' }
>
type OrderOf<Kind extends AccountOrder['kind']> = Extract<AccountOrder, { readonly kind: Kind }>

/** Says what an order that may add risk would do to an account. Changes nothing. */
export function planAccountOrder(
  shown: ShownAccount,
  order: AccountOrder,
  configOption: string,
): OrderPlan {
  switch (order.kind) {
    case 'release':
      return planRelease(shown, order, configOption)
    case 'releaseKill':
      return planKillRelease(shown)
    case 'adopt':
      return planAdoption(shown, order)
    default:
      return unreachable(order)
  }
}

/** Judged again when confirmed, at the prices of then. */
export function planHandOrder({ engine }: ShownAccount, command: HandCommand): OrderPlan {
  const { refusal, detail, change } = engine.planByHand(command)
  if (refusal !== undefined) return refuse(refusal)
  return { changes: change === undefined ? [] : [change], notes: detail ? [detail] : [] }
}

export async function planReload(trying: Promise<ReloadView> | undefined): Promise<OrderPlan> {
  const tried = await trying
  if (tried === undefined) return refuse('no reload is possible now')
  if (tried.problems.length > 0) return refuse(tried.problems.join('; '))
  return { changes: tried.changes, notes: ['`intentd plan` shows what becomes of open orders'] }
}

function planRelease(
  shown: ShownAccount,
  order: OrderOf<'release'>,
  configOption: string,
): OrderPlan {
  const { book, settings, engine, trusted } = shown
  const { scope, newPeak = false, unclaimed = false } = order
  const command = { ...order, reason: '', by: '' }
  const lifted = [...book.restrictions.values()].filter((one) => isEnded(one, scope))
  const peak = engine.planPeakRelease(command)
  const orderedAgain = engine.findOrderedAgain(command)
  const judged = judgeScope(command, { book, settings, now: trusted.clock.now() })
  const answer = {
    ...refuseCommand({}),
    ...judged,
    stillHeld: describeDropped(shown, lifted),
    ...(peak && { peak }),
    ...(orderedAgain && { orderedAgain }),
  }
  const isRefused =
    (lifted.length === 0 && !newPeak) ||
    judged.coolsDownUntil !== undefined ||
    peak?.closesBelow !== undefined ||
    orderedAgain !== undefined
  if (isRefused)
    return refuse(describeRefusedRelease(scope, [answer], configOption).replace(/^not done: /, ''))
  return {
    changes: [
      ...lifted.map((one) => `ends: ${describeRestriction(one)}`),
      ...(newPeak ? [`every step of the drawdown of ${scope} counts from then on`] : []),
      ...(unclaimed ? ['what no strategy holds may be ordered again'] : []),
    ],
    notes: [
      ...describePeak(answer),
      ...describeStillHeld(answer),
      ...adviseUnclaimed(answer, configOption),
      ...describeRest(shown, lifted),
      ...describeWorst(shown),
    ],
  }
}

/** A measured restriction comes and goes by itself, so no plan may depend on it. */
function isEnded({ code, scope, isVolatile }: Restriction, released: string): boolean {
  return scope === released && code !== 'kill' && isVolatile !== true
}

function planKillRelease(shown: ShownAccount): OrderPlan {
  const kill = killOf(shown.book)
  if (kill === undefined) return refuse('no kill stands; name the scope that is to be released')
  return {
    changes: [`ends: ${describeRestriction(kill)}`],
    notes: [...describeRest(shown, [kill]), ...describeWorst(shown)],
  }
}

function planAdoption(shown: ShownAccount, order: OrderOf<'adopt'>): OrderPlan {
  const { symbol, strategyId } = order
  const objection = shown.engine.objectToAdoption({ ...order, reason: '', by: '' })
  if (objection !== undefined) return refuse(objection)
  const size = describeUnclaimed(shown, symbol)[symbol] ?? ''
  const beyond = describeBeyondLimit(shown, { symbol, strategyId })
  return {
    changes: [`hands ${symbol} ${size} to ${strategyId}`],
    notes: [...(beyond === undefined ? [] : [beyond]), ...describeWorst(shown)],
  }
}

function describeRest({ book }: ShownAccount, lifted: readonly Restriction[]): readonly string[] {
  const rest = [...book.restrictions.values()].filter((one) => !lifted.includes(one))
  return rest.map((one) => `stays: ${describeRestriction(one)}`)
}

function describeRestriction({ scope, mode, code, reason, by, at }: Restriction): string {
  const named = scope === ACCOUNT ? 'the whole account' : scope
  return `${named} ${mode} since ${showUtc(at)} (${code}): ${reason}, by ${by}`
}

function describeWorst(shown: ShownAccount): readonly string[] {
  if (shown.settings.survives === undefined)
    return ['the worst loss is not counted: risk.survives is not set']
  const worst = viewWorstCase(shown)
  if (worst === null) return ['the worst loss is not known yet, or nothing is at risk']
  return [
    `worst loss with all that rests: ${worst.scenario} needs ${worst.need} and leaves ${worst.left}; what would leave less than nothing is denied`,
  ]
}

function refuse(refusal: string): OrderPlan {
  return { changes: [], notes: [], refusal }
}
