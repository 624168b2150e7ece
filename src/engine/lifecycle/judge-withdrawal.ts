import type { Deposit } from '../../domain/deposit.ts'
import {
  DRAWDOWN_STEPS,
  type DrawdownStep,
  isLossReached,
  shareBelow,
} from '../../domain/loss-limits.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { capitalOf, restrictionOf } from '../book/book.ts'
import type { Core } from '../state/core.ts'
import { equityAtWorst, symbolsOfUnknownWorth } from '../state/equity.ts'
import { lossPeaksOf } from '../state/losses.ts'
import { showAmount } from '../state/own-figure.ts'
import { showDrawdown } from './judge-losses.ts'

/**
 * The account must be worth something afterwards, or limits would count from nothing, and no
 * withdrawal may close everything.
 * @param named with amount and coin
 */
export function objectToWithdrawal(
  core: Core,
  { amount, coin }: Deposit,
  named: string,
): string | undefined {
  if (capitalOf(core) === undefined) return undefined
  const withdrawn = amount.slice(1)
  const symbols = symbolsOfUnknownWorth(core)
  const unknown = `what the account is worth is not known now, because our own figure of ${showSome(symbols)} is missing`
  const retry = 'enter it again when `intentd status` shows the equity'
  const equity = countedEquity(core)
  if (equity === undefined)
    return `${unknown}, so nothing says what a withdrawal of ${withdrawn} would leave: ${retry}`
  if (equity + Number(amount) > 0) return objectToLastStep(core, { amount, coin }, named)
  const worth = `${showAmount(core, equity)} ${coin}`
  return symbols.length === 0
    ? `the account is worth ${worth}, and ${withdrawn} would leave nothing: compare with the exchange`
    : `${unknown}; by what is known it is ${worth}, of which ${withdrawn} would leave nothing: ${retry}`
}

/**
 * The worse of all known figures counts, and without our own no profit that the exchange alone
 * states.
 */
function countedEquity(core: Core): number | undefined {
  const worst = equityAtWorst(core)
  const capital = capitalOf(core)
  if (worst === undefined || capital === undefined) return undefined
  return symbolsOfUnknownWorth(core).length === 0
    ? worst
    : Math.min(worst, Number(capital.toString()))
}

const SHOWN_MAX = 3

function showSome(symbols: readonly string[]): string {
  const shown = symbols.slice(0, SHOWN_MAX).join(', ')
  const left = symbols.length - SHOWN_MAX
  return left > 0 ? `${shown} and ${left} more` : shown
}

type Moved = Pick<Deposit, 'amount' | 'coin'>

function objectToLastStep(core: Core, moved: Moved, named: string): string | undefined {
  const step = listReached(core, moved).find(({ name }) => name === 'flatten')
  if (step === undefined) return undefined
  const { limit, fallen, peak } = step
  const [before, after, last] = [step.before, step.after, limit].map((share) =>
    showDrawdown(core, ACCOUNT, share),
  )
  const most = `${showAmount(core, peak - fallen / limit)} ${moved.coin}`
  return `the ${named} would bring the drawdown of the account from ${before} to ${after}, and at ${last} its last step closes everything: enter less than ${most}, or let every step count from now with \`intentd release '*' --new-peak\` and enter it again`
}

/** The earlier steps of the drawdown that a withdrawal would reach, in words. */
export function describeReached(core: Core, moved: Moved): readonly string[] {
  const reached = listReached(core, moved).filter(({ name }) => name !== 'flatten')
  const [first] = reached
  if (first === undefined) return []
  const show = (share: number): string => showDrawdown(core, ACCOUNT, share)
  const steps = reached.map(({ name, limit }) => `${name} (${show(limit)})`).join(' and ')
  const isReducing = reached.some(({ name }) => name === 'reducing')
  const effect = isReducing ? ', after which only orders that reduce leave' : ''
  return [
    `the drawdown of the account is ${show(first.after)} then instead of ${show(first.before)}, and reaches its step ${steps}${effect}`,
  ]
}

interface ReachedStep {
  readonly name: DrawdownStep
  readonly limit: number
  /** Shares of the equity at the peak. */
  readonly before: number
  readonly after: number
  /** Margin coin, before the money is moved; `peak` is an equity. */
  readonly fallen: number
  readonly peak: number
}

/** The steps that the account reaches by this alone; a deposit reaches none. */
function listReached(core: Core, { amount }: Moved): readonly ReachedStep[] {
  const drawdown = core.settings.losses?.limits.get(ACCOUNT)?.drawdown
  const equity = countedEquity(core)
  if (drawdown === undefined || equity === undefined || Number(amount) >= 0) return []
  const { peak, lastPeak } = lossPeaksOf(core, ACCOUNT)
  const capital = Number(capitalOf(core)?.toString())
  return DRAWDOWN_STEPS.flatMap((name) => {
    const limit = drawdown[name] ?? Number.POSITIVE_INFINITY
    const from = capital + (name === 'flatten' ? lastPeak : peak)
    const fallen = Math.max(0, from - equity)
    const before = shareBelow(from, fallen)
    const after = shareBelow(from + Number(amount), fallen)
    const isReached = isLossReached(after, limit) && !isLossReached(before, limit)
    if (!isReached || isHeldBy(core, name)) return []
    return [{ name, limit, before, after, fallen, peak: from }]
  })
}

const CODES = { warn: undefined, reducing: 'drawdown', flatten: 'drawdownFlatten' } as const

function isHeldBy({ book }: Core, step: DrawdownStep): boolean {
  const code = CODES[step]
  return code !== undefined && restrictionOf(book, ACCOUNT, code) !== undefined
}
