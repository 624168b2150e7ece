import type { OrderIntent } from '../../domain/intent.ts'
import type { ControlAnswer } from '../../control/commands.ts'
import { allOpenOrders, pairKey } from '../../engine/book/book.ts'
import type { ShownAccount } from '../../views/shown-account.ts'

export const UNWRITTEN =
  'it acts in this process; if that ends first, or another machine takes over, it may be lost: look at status, and send it again with the same requestId'

export const ORDER_UNWRITTEN =
  'it is not sent before the journal has it, and dropped if that takes too long: send it again with the same requestId to learn which'

export const REFUSAL_UNWRITTEN =
  'if this process ends first, that may be lost: look at status, and send it again with the same requestId; until then'

interface WrittenOutcome {
  readonly name: string
  readonly isWritten: boolean
}

/** Other accounts go on. */
export function describeBroken(
  outcomes: readonly WrittenOutcome[],
  killed: KilledHere | undefined,
): string {
  const written = outcomes.filter(({ isWritten }) => isWritten)
  return [
    `not confirmed: ${nameBroken(outcomes)} ended before the journal had confirmed it, so the journal may have it or not`,
    killed?.isWritten
      ? killed.text
      : 'nothing acts on it there until the next start: look at status then, and send it again with the same requestId',
    ...(written.length === 0 ? [] : [`written and obeyed in ${namesOf(written)}`]),
  ].join('; ')
}

/** A refused command changed nothing, but what it was refused for may be lost. */
export function describeLostBasis(outcomes: readonly WrittenOutcome[]): string {
  return `not confirmed: ${nameBroken(outcomes)} ended before the journal had confirmed what the refusal rests on, so look at status after the next start, and send it again with the same requestId; until then`
}

function nameBroken(outcomes: readonly WrittenOutcome[]): string {
  const broken = outcomes.filter(({ isWritten }) => !isWritten)
  return broken.length === outcomes.length ? 'the run' : `the run of ${namesOf(broken)}`
}

function namesOf(some: readonly WrittenOutcome[]): string {
  return some.map(({ name }) => name).join(' and ')
}

/** An order whose time is over is not sent any more, even where the core has yet to drop it. */
export function whyDropped(
  { book, trusted }: Pick<ShownAccount, 'book' | 'trusted'>,
  { strategyId, key, deadlineAt, symbol }: OrderIntent,
): string | undefined {
  const pair = pairKey(strategyId, key)
  if (trusted.clock.now() > deadlineAt)
    return 'it was dropped, because the journal had it only after the time within which an order by hand is sent; give it anew under another requestId'
  if (book.places.has(pair) || book.keys.has(pair)) return undefined
  return `it was dropped before it was sent, and intentd explain ${symbol} says why; give it anew under another requestId`
}

/** A kill promises this by its files alone. */
export interface KilledHere {
  readonly text: string
  /** In one file at least. */
  readonly isWritten: boolean
  readonly isCertain: boolean
}

const NOT_KILLED =
  'not killed: its kill file could not be written (kill.notWrittenDown says why), and the run has not begun, or is over, so nothing knows of it; free disk space, or make the state directory writable, and send it again with another requestId'

/** No account took the kill: the next one that starts here finds its file, if there is one. */
export function asKept(
  answer: ControlAnswer,
  { text, isWritten, isCertain }: KilledHere,
  unobeyed: string,
): ControlAnswer {
  if (!isWritten) return { ...answer, isObeyed: false, text: NOT_KILLED }
  return {
    ...answer,
    isObeyed: isCertain,
    ...(!isCertain && { isUncertain: true }),
    text: `${isCertain ? '' : 'not in the journal: '}${text}; ${unobeyed}`,
  }
}

type UnobeyingAccount = Pick<ShownAccount, 'state' | 'retreat' | 'book'>

/** Says when a kill is obeyed that came before the run, or after its end. */
export function describeUnobeyed(
  accounts: readonly UnobeyingAccount[],
  configOption: string,
): string {
  const over = accounts.filter(({ state }) => state === 'atRest')
  const open = over.flatMap(({ retreat, book }) =>
    retreat === 'cancelled' ? [] : allOpenOrders(book),
  ).length
  const orders = open === 1 ? '1 order was' : `${open} orders were`
  return [
    `the run ${over.length > 0 ? 'is over' : 'has not begun'}: a daemon that starts here obeys before its first order`,
    ...(open === 0
      ? []
      : [
          `${orders} open when it ended, and this process cancels none: \`intentd kill${configOption}\` does`,
        ]),
  ].join('; ')
}
