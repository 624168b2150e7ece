import type { ControlAnswer, ControlRequest } from '../../control/commands.ts'
import type { Restriction } from '../../domain/trading-mode.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { type RestrictionContext, viewRestriction } from '../../views/restriction-view.ts'
import {
  adviseUnclaimed,
  adviseUnclosable,
  type CommandAnswer,
  describeRefusedRelease,
  describeStillHeld,
  hasReleased,
} from '../account/command-inbox.ts'

export type HandRequest = Extract<
  ControlRequest['order'],
  { readonly kind: 'order' | 'close' | 'cancel' | 'deposit' | 'withdrawal' | 'correctDeposit' }
>

export type AccountCommand = Exclude<
  ControlRequest['order'],
  HandRequest | { readonly kind: 'logLevel' | 'reload' }
>

interface OrderFrame extends RestrictionContext {
  readonly isKilled: boolean
}

export function judgeAnswers(
  order: AccountCommand,
  answers: readonly CommandAnswer[],
  around: OrderFrame,
): Pick<ControlAnswer, 'isObeyed' | 'text' | 'held' | 'lifted' | 'stillHeld'> {
  const held = answers.flatMap((answer) => answer.held)
  const lifted = answers.flatMap((answer) => answer.lifted)
  return {
    ...verdictOf(order, answers, around),
    held: held.map((one) => viewRestriction(one, around)),
    lifted: lifted.map((one) => viewRestriction(one, around)),
    stillHeld: Object.assign({}, ...answers.map(({ stillHeld }) => stillHeld)) as Record<
      string,
      string
    >,
  }
}

function verdictOf(
  order: AccountCommand,
  answers: readonly CommandAnswer[],
  { isKilled, configOption }: Pick<OrderFrame, 'isKilled' | 'configOption'>,
): Pick<ControlAnswer, 'isObeyed' | 'text'> {
  const [held, lifted] = [
    answers.flatMap((answer) => answer.held),
    answers.flatMap((answer) => answer.lifted),
  ]
  const holds = (scope: string, code: Restriction['code']) =>
    held.find((one) => one.scope === scope && one.code === code)
  switch (order.kind) {
    case 'restrict': {
      const own = holds(order.scope, 'operator')
      if (own?.mode === order.mode)
        return { isObeyed: true, text: `${order.scope} is held ${order.mode}` }
      return {
        isObeyed: false,
        text: `not done: a restriction never loosens; release ${order.scope} first`,
      }
    }
    case 'flatten':
      return holds(order.scope, 'flatten')
        ? {
            isObeyed: true,
            text: [
              isKilled
                ? `${order.scope} is noted to be closed; under a kill nothing is: release the kill, and it is closed then`
                : `${order.scope} is being closed; its reason here and in status, and flatten.done in the log, say when nothing is left`,
              ...answers.flatMap(({ unclosable }) => adviseUnclosable(unclosable)),
            ].join('; '),
          }
        : { isObeyed: false, text: 'not done: the log says why' }
    case 'adopt': {
      const refusals = answers.flatMap(({ refusal }) => refusal ?? [])
      return refusals.length < answers.length
        ? {
            isObeyed: true,
            text: `${order.strategyId} holds now what no strategy held of ${order.symbol}`,
          }
        : { isObeyed: false, text: `not done: ${refusals.join('; ')}` }
    }
    case 'release':
      return answers.some(hasReleased)
        ? {
            isObeyed: true,
            text: [
              lifted.length > 0
                ? `${order.scope} is released`
                : `nothing was restricted in ${order.scope}, and its drawdown has a new peak`,
              ...answers.flatMap(describeStillHeld),
              ...answers.flatMap((answer) => adviseUnclaimed(answer, configOption)),
            ].join('; '),
          }
        : { isObeyed: false, text: describeRefusedRelease(order.scope, answers, configOption) }
    case 'kill':
      return holds('*', 'kill')
        ? {
            isObeyed: true,
            text: 'killed: nothing that creates an order leaves; kill.clean says when nothing rests',
          }
        : { isObeyed: false, text: 'not done: the log says why' }
    case 'releaseKill':
      if (lifted.some(({ code }) => code === 'kill'))
        return { isObeyed: true, text: 'the kill switch is released' }
      return answers.some(({ killFiles }) => killFiles.length > 0)
        ? {
            isObeyed: true,
            text: 'the kill switch is released once it is proved that nothing rests',
          }
        : {
            isObeyed: false,
            text: 'not done: no kill stands; name the scope that is to be released',
          }
    default:
      return unreachable(order)
  }
}
