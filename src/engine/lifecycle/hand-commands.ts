import { unreachable } from '../../lib/unreachable.ts'
import type { DepositCommand, HandCommand } from '../event.ts'
import { type Core, announce, record } from '../state/core.ts'
import { measureWorstCase, worstCaseWith, worstCaseWithMoney } from '../state/worst-case.ts'
import { judgeClose, startClose } from './close-part.ts'
import { describeReached, objectToWithdrawal } from './judge-withdrawal.ts'
import {
  cancelByHand,
  describeMoment,
  type HandPlan,
  judgeCancel,
  judgeOrder,
  type OrderCommand,
  takeOrder,
} from './trade-by-hand.ts'
import type { Deposit } from '../../domain/deposit.ts'
import { showUtc } from '../../lib/text/show-utc.ts'
import { decimal, ZERO } from '../../lib/decimal.ts'
import { capitalOf } from '../book/book.ts'
import { marginCoinOf } from '../state/own-figure.ts'

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
  if (plan.intent === undefined) return plan
  const worst = worstCaseWith(core, plan.intent)
  const hints = describeMoment(core, plan.intent)
  return { ...plan, hints, ...(worst !== undefined && { worst }) }
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

export interface DepositPlan extends HandPlan {
  /** Absent where nothing is entered. */
  readonly deposit?: Deposit
}

function planDeposit(core: Core, command: DepositCommand): DepositPlan {
  const { book } = core
  const known = [...book.deposits.values()].find(({ key }) => key === command.key)
  if (known !== undefined)
    return { detail: `not entered again: it is ${describe(known)}, entered before` }
  const deposit =
    command.kind === 'deposit' ? toDeposit(core, command) : toCorrection(core, command)
  if (typeof deposit === 'string') return { refusal: deposit }
  const refusal = objectToAmount(core, deposit)
  if (refusal !== undefined) return { refusal }
  const capital = describeCapital(core, deposit)
  return {
    deposit,
    detail: [`${describe(deposit)}; ${capital}`, ...describeReached(core, deposit)].join('; '),
    change: `${describeAmount(deposit)}: ${capital}`,
  }
}

function enterDeposit(core: Core, command: DepositCommand): void {
  const { deposit, refusal, detail } = planDeposit(core, command)
  const { by, reason } = command
  if (deposit === undefined) {
    const why = refusal ?? detail
    return announce(core, 'warn', 'deposit.refused', { why, by })
  }
  record(core, { kind: 'deposit', at: core.now, deposit }, true)
  // Orders are approved by the worst case as it was measured last.
  if (core.settings.survives !== undefined) measureWorstCase(core)
  const { id, amount, coin, movedAt } = deposit
  const happened = new Date(movedAt).toISOString()
  announce(core, 'info', 'deposit.entered', { id, amount, coin, movedAt: happened, reason, by })
}

function toDeposit(
  core: Core,
  command: Extract<DepositCommand, { kind: 'deposit' }>,
): Deposit | string {
  const {
    amount,
    coin = marginCoinOf(core.settings),
    movedAt = core.now,
    reason,
    by,
    key,
  } = command
  if (movedAt > core.now)
    return `${showUtc(movedAt)} is in the future: enter what was moved already`
  const isCapital = coin === marginCoinOf(core.settings)
  if (isCapital && movedAt < core.book.beganAt)
    return `${showUtc(movedAt)} is before this journal began, at ${showUtc(core.book.beganAt)}: account.capital is the capital of that moment, so it has that money already; if it was moved later on that day, give the time with --at`
  return {
    id: nextId(core),
    movedAt: Math.round(movedAt),
    enteredAt: Math.round(core.now),
    amount: decimal(amount).toString(),
    coin,
    isCapital,
    note: reason,
    by,
    key,
  }
}

/**
 * The correction counts for the moment of the wrong entry, so that the statement of that time is
 * right too.
 */
function toCorrection(
  core: Core,
  { id, reason, by, key }: Extract<DepositCommand, { kind: 'correctDeposit' }>,
): Deposit | string {
  const { deposits } = core.book
  const wrong = deposits.get(id)
  if (wrong === undefined)
    return `there is no entry ${id}; \`intentd deposit --list\` shows those that there are`
  const before = [...deposits.values()].find(({ corrects }) => corrects === id)
  if (before !== undefined) return `entry ${id} is taken back already, by entry ${before.id}`
  if (wrong.corrects !== undefined)
    return `entry ${id} takes back entry ${wrong.corrects}: enter that amount again instead`
  return {
    id: nextId(core),
    movedAt: wrong.movedAt,
    enteredAt: Math.round(core.now),
    amount: ZERO.minus(decimal(wrong.amount)).toString(),
    coin: wrong.coin,
    isCapital: wrong.isCapital,
    note: reason,
    by,
    key,
    corrects: id,
  }
}

/** Equity is a double, which counts to a ten-thousandth up to here. */
const AMOUNT_MAX = decimal('1000000000000')

/** As many digits as a command can have; no coin has so many units. */
const OTHER_COIN_MAX = decimal('100000000000000000000')

function objectToAmount(core: Core, entry: Deposit): string | undefined {
  const amount = decimal(entry.amount)
  if (amount.eq(ZERO)) return 'an amount of zero moves nothing'
  const uncountable = objectToCount(core, entry)
  if (uncountable !== undefined) return uncountable
  return entry.isCapital && amount.lt(ZERO)
    ? objectToWithdrawal(core, entry, describeAmount(entry))
    : undefined
}

/** An entry that an earlier version took can be taken back. */
function objectToCount({ book }: Core, entry: Deposit): string | undefined {
  const { coin, isCapital, corrects } = entry
  const amount = decimal(entry.amount)
  const before = decimal(isCapital ? book.deposited : '0')
  const sum = before.plus(amount)
  const most = isCapital ? AMOUNT_MAX : OTHER_COIN_MAX
  const isEntry = corrects === undefined
  const isCountable = isEntry
    ? [amount, sum].every((one) => one.abs().lte(most))
    : !isCapital || sum.abs().lte(most) || sum.abs().lte(before.abs())
  if (isCountable) return undefined
  const which = isCapital ? 'an entry, and all of them together, are' : 'an entry is'
  const todo = isEntry ? 'look at the amount, and enter it again' : 'take back a deposit first'
  return `${describeAmount(entry)} is more than can be counted: ${which} at most ${most.toString()} ${coin}; ${todo}`
}

function describe(deposit: Deposit): string {
  const at = showUtc(deposit.movedAt)
  return `entry ${deposit.id}: ${describeAmount(deposit)} at ${at}`
}

function describeAmount({ amount, coin, corrects }: Deposit): string {
  const isWithdrawn = amount.startsWith('-')
  const what = isWithdrawn ? `withdrawal of ${amount.slice(1)}` : `deposit of ${amount}`
  return `${what} ${coin}${corrects === undefined ? '' : `, which takes back entry ${corrects},`}`
}

function describeCapital(core: Core, { amount, coin, isCapital }: Deposit): string {
  if (!isCapital)
    return `equity counts ${marginCoinOf(core.settings)} alone, so ${coin} is in statements and nowhere else`
  const capital = capitalOf(core)
  if (capital === undefined)
    return 'account.capital is not set, so the equity stays unknown, and no limit changes'
  return `equity is counted from ${capital.plus(decimal(amount)).toString()} ${coin} instead of ${capital.toString()}, and limits that are a share of it change with it`
}

function nextId({ book }: Core): string {
  const newest = [...book.deposits.keys()].at(-1) ?? '0'
  return String(Number(newest) + 1)
}
