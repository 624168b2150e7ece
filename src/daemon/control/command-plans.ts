import { showUtc } from '../../lib/text/show-utc.ts'
import type { CommandPlan } from '../../control/controlled.ts'
import type { ReloadView } from '../../control/detail-views.ts'
import type { RiskierCommand } from '../../control/powers.ts'
import { ACCOUNT, type Restriction } from '../../domain/trading-mode.ts'
import { killOf } from '../../engine/book/book.ts'
import type { HandCommand } from '../../engine/event.ts'
import { describeBeyondLimit } from '../../engine/lifecycle/adopt.ts'
import { describeDropped, describeUnclaimed } from '../../engine/lifecycle/flatten.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { describeWorst } from '../../views/worst-loss-text.ts'
import type { ShownAccount } from '../../views/shown-account.ts'
import {
  adviseUnclaimed,
  describePeak,
  describeRefusedRelease,
  describeStillHeld,
  refuseCommand,
} from '../account/command-inbox.ts'
import { judgeScope } from '../account/listen-to-operator.ts'

type PlannedCommand = Exclude<
  RiskierCommand,
  { readonly kind: 'reload' | 'order' | 'deposit' | 'correctDeposit' }
>

const UNTOUCHED = 'as it is now, before anything is ordered again'
const MOVED = 'before as after, since the account holds the same'

type CommandOf<Kind extends PlannedCommand['kind']> = Extract<
  PlannedCommand,
  { readonly kind: Kind }
>

/** Says what an order that may add risk would do to an account. Changes nothing. */
export function planAccountCommand(
  shown: ShownAccount,
  order: PlannedCommand,
  configOption: string,
): CommandPlan {
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

/** The order is judged again when it is confirmed, at the prices of that moment. */
export function planHandOrder(shown: ShownAccount, command: HandCommand): CommandPlan {
  const { refusal, detail, change, hints = [], worst } = shown.engine.planByHand(command)
  if (refusal !== undefined) return refuse(refusal)
  const isOrder = command.kind === 'order'
  const other = worst === undefined ? 'as it is now' : 'with this entry'
  const shownWorst = isOrder ? worst : (worst ?? shown.engine.worstCase)
  return {
    changes: change === undefined ? [] : [change],
    notes: [
      ...(detail ? [detail] : []),
      ...hints,
      ...describeWorst(shown, isOrder ? 'this order too' : other, shownWorst),
    ],
  }
}

export async function planReload(trying: Promise<ReloadView> | undefined): Promise<CommandPlan> {
  const tried = await trying
  if (tried === undefined) return refuse('no reload is possible now')
  if (tried.problems.length > 0) return refuse(tried.problems.join('; '))
  const notes = ['`intentd plan` shows what becomes of open orders', ...tried.worst]
  return { changes: tried.changes, notes }
}

function planRelease(
  shown: ShownAccount,
  order: CommandOf<'release'>,
  configOption: string,
): CommandPlan {
  const { book, settings, engine, trusted } = shown
  const { scope, unclaimed = false } = order
  const command = { ...order, reason: '', by: '' }
  const lifted = [...book.restrictions.values()].filter((one) => isEnded(one, scope))
  const peak = engine.planPeakRelease(command)
  const takesPeak = peak?.peak === 'new'
  const refusal = engine.objectToRelease(command)
  const orderedAgain = engine.findOrderedAgain(command)
  const judged = judgeScope(command, { book, settings, now: trusted.clock.now() })
  const answer = {
    ...refuseCommand({}),
    ...judged,
    stillHeld: describeDropped(shown, lifted),
    ...(refusal !== undefined && { refusal }),
    ...(peak && { peak }),
    ...(orderedAgain && { orderedAgain }),
  }
  const isRefused =
    (lifted.length === 0 && !takesPeak) ||
    judged.coolsDownUntil !== undefined ||
    refusal !== undefined ||
    peak?.closesBelow !== undefined ||
    orderedAgain !== undefined
  if (isRefused)
    return refuse(describeRefusedRelease(scope, [answer], configOption).replace(/^not done: /, ''))
  return {
    changes: [
      ...lifted.map((one) => `ends: ${describeRestriction(one)}`),
      ...(takesPeak ? [`every step of the drawdown of ${scope} counts from then on`] : []),
      ...(unclaimed ? ['what no strategy holds may be ordered again'] : []),
    ],
    notes: [
      ...describePeak(answer),
      ...describeStillHeld(answer),
      ...adviseUnclaimed(answer, configOption),
      ...describeRest(shown, lifted),
      ...describeWorst(shown, UNTOUCHED, shown.engine.worstCase),
    ],
  }
}

/** A measured restriction comes and goes by itself, so a plan must not depend on it. */
function isEnded({ code, scope, isVolatile }: Restriction, released: string): boolean {
  return scope === released && code !== 'kill' && isVolatile !== true
}

function planKillRelease(shown: ShownAccount): CommandPlan {
  const kill = killOf(shown.book)
  if (kill === undefined) return refuse('no kill stands; name the scope that is to be released')
  return {
    changes: [`ends: ${describeRestriction(kill)}`],
    notes: [
      ...describeRest(shown, [kill]),
      ...describeWorst(shown, UNTOUCHED, shown.engine.worstCase),
    ],
  }
}

function planAdoption(shown: ShownAccount, order: CommandOf<'adopt'>): CommandPlan {
  const { symbol, strategyId } = order
  const objection = shown.engine.objectToAdoption({ ...order, reason: '', by: '' })
  if (objection !== undefined) return refuse(objection)
  const size = describeUnclaimed(shown, symbol)[symbol] ?? ''
  const beyond = describeBeyondLimit(shown, { symbol, strategyId })
  return {
    changes: [`hands ${symbol} ${size} to ${strategyId}`],
    notes: [
      ...(beyond === undefined ? [] : [beyond]),
      ...describeWorst(shown, MOVED, shown.engine.worstCase),
    ],
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

function refuse(refusal: string): CommandPlan {
  return { changes: [], notes: [], refusal }
}
