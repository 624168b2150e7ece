import { unreachable } from '../../lib/unreachable.ts'
import type { HandCommand } from '../event.ts'
import type { Core } from '../state/core.ts'
import { judgeClose, startClose } from './close-part.ts'
import { enterDeposit, planDeposit } from './enter-deposit.ts'
import { cancelByHand, type HandPlan, judgeCancel, judgeOrder, takeOrder } from './trade-by-hand.ts'

/** Changes nothing. */
export function planByHand(core: Core, command: HandCommand): HandPlan {
  switch (command.kind) {
    case 'order':
      return judgeOrder(core, command)
    case 'close':
      return judgeClose(core, command)
    case 'cancel':
      return judgeCancel(core, command)
    case 'deposit':
    case 'correctDeposit':
      return planDeposit(core, command)
    default:
      return unreachable(command)
  }
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
