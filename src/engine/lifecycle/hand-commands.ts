import { unreachable } from '../../lib/unreachable.ts'
import type { DepositCommand, HandCommand } from '../event.ts'
import type { Core } from '../state/core.ts'
import { worstCaseWith, worstCaseWithMoney } from '../state/worst-case.ts'
import { judgeClose, startClose } from './close-part.ts'
import { enterDeposit, planDeposit } from './enter-deposit.ts'
import {
  cancelByHand,
  type HandPlan,
  judgeCancel,
  judgeOrder,
  type OrderCommand,
  takeOrder,
} from './trade-by-hand.ts'

/** Changes nothing. */
export function planByHand(core: Core, command: HandCommand): HandPlan {
  switch (command.kind) {
    case 'order':
      return planOrder(core, command)
    case 'close':
      return judgeClose(core, command)
    case 'cancel':
      return judgeCancel(core, command)
    case 'deposit':
    case 'correctDeposit':
      return planEntry(core, command)
    default:
      return unreachable(command)
  }
}

function planOrder(core: Core, command: OrderCommand): HandPlan {
  const plan = judgeOrder(core, command)
  const worst = plan.intent && worstCaseWith(core, plan.intent)
  return worst === undefined ? plan : { ...plan, worst }
}

function planEntry(core: Core, command: DepositCommand): HandPlan {
  const plan = planDeposit(core, command)
  const { isCapital = false, amount = '0' } = plan.deposit ?? {}
  const worst = isCapital ? worstCaseWithMoney(core, Number(amount)) : undefined
  return worst === undefined ? plan : { ...plan, worst }
}

export function obeyByHand(core: Core, command: HandCommand): void {
  switch (command.kind) {
    case 'order':
      return takeOrder(core, command)
    case 'close':
      return startClose(core, command)
    case 'cancel':
      return cancelByHand(core, command)
    case 'deposit':
    case 'correctDeposit':
      return enterDeposit(core, command)
    default:
      return unreachable(command)
  }
}
