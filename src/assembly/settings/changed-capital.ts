import { isLossReached } from '../../domain/loss-limits.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { type Book, capitalOf } from '../../engine/book/book.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import {
  ACCOUNT_SERIES,
  type AccountMark,
  CURVE_STEPS_MS,
  MARK_SERIES,
  toAccountMark,
  toAccountPoint,
} from '../../journal/curves.ts'
import type { CurveStore } from '../../journal/journal.ts'
import { type Decimal, decimal, sumDecimals, ZERO } from '../../lib/decimal.ts'

const { hour: HOUR_MS, minute: MINUTE_MS } = CURVE_STEPS_MS
/** Marks are kept for years, one an hour, so the last one is looked for in longer and longer spans. */
const SPANS_MS = [2 * HOUR_MS, 40 * 24 * HOUR_MS, Number.POSITIVE_INFINITY]
/** A deposit and a mark are dated by different clocks, so the mark may count it or not. */
const AROUND_MS = 120_000

export interface CapitalAccount {
  readonly book: Pick<Book, 'deposits' | 'deposited' | 'watermarks'>
  readonly settings: Pick<EngineSettings, 'capital' | 'losses' | 'survives'>
}

export interface CapitalChange {
  /** `account.capital` without deposits; the second is configured now. */
  readonly was: Decimal
  readonly is: Decimal
  readonly equityWas: Decimal
  readonly equityIs: Decimal
  /** Shares of the equity at the peak of the last step; absent without a peak. */
  readonly drawdown?: { readonly was: number; readonly is: number }
}

export interface JudgedCapital {
  readonly change: CapitalChange
  readonly found: string
  /** Why a start is refused, and what to do. */
  readonly refusal: string | undefined
}

/** Undefined where the capital is that of the last run, or one of the two is not known. */
export function judgeOtherCapital(
  account: CapitalAccount,
  journal: Pick<CurveStore, 'curve'>,
  now: number,
): JudgedCapital | undefined {
  const noted = lastNotedOf(journal, now)
  const change = noted && findCapitalChange(account, noted)
  if (change === undefined) return undefined
  const { settings } = account
  const found = describeCapitalChange(change, settings.losses)
  const refusal = closesAll(change, settings) ? adviseCapital(change, found) : undefined
  return { change, found, refusal }
}

export interface LastNoted {
  readonly mark: AccountMark
  /** Net profit with what is unrealised, newer than the mark: see `AccountCurve`. */
  readonly net: Decimal
}

export function lastNotedOf(
  journal: Pick<CurveStore, 'curve'>,
  now: number,
): LastNoted | undefined {
  for (const span of SPANS_MS) {
    const since = Math.max(0, now - span)
    const last = [...journal.curve({ series: MARK_SERIES, since })].at(-1)
    if (last === undefined) continue
    const mark = toAccountMark(last)
    return { mark, net: lastNetOf(journal, mark) }
  }
  return undefined
}

function lastNetOf(journal: Pick<CurveStore, 'curve'>, mark: AccountMark): Decimal {
  // A point is dated by the beginning of its minute.
  const since = Math.max(0, mark.at - (mark.at % MINUTE_MS))
  const known = [...journal.curve({ series: ACCOUNT_SERIES, since })]
    .map((point) => toAccountPoint(point).netWithUnrealised)
    .findLast((net) => net !== null)
  return known === undefined ? decimal(mark.made).plus(decimal(mark.unrealised)) : decimal(known)
}

/** Undefined where the capital is the same, or was or is not set. */
export function findCapitalChange(
  account: CapitalAccount,
  { mark, net }: LastNoted,
): CapitalChange | undefined {
  const { book, settings } = account
  const other = findOtherCapital(account, mark)
  if (other === undefined || settings.capital === undefined) return undefined
  const { strict, capital } = other
  const { peak = null, lastPeak = peak } = book.watermarks.get(ACCOUNT) ?? {}
  return {
    was: settings.capital.minus(capital.minus(strict)),
    is: settings.capital,
    equityWas: strict.plus(net),
    equityIs: capital.plus(net),
    ...(lastPeak !== null && {
      drawdown: {
        was: fallOf(strict, lastPeak, net),
        is: fallOf(capital, lastPeak, net),
      },
    }),
  }
}

export function isOtherCapital(account: CapitalAccount, mark: AccountMark): boolean {
  return findOtherCapital(account, mark) !== undefined
}

function findOtherCapital(
  account: CapitalAccount,
  mark: AccountMark,
): { readonly strict: Decimal; readonly capital: Decimal } | undefined {
  const capital = capitalOf(account)
  if (capital === undefined || mark.capital === null) return undefined
  const before = listCapitals(account.book, mark)
  const [strict] = before
  if (strict === undefined || before.some((one) => one.eq(capital))) return undefined
  return { strict, capital }
}

/** The capitals that need no change; the first counts deposits by the times written down. */
function listCapitals({ deposits }: Pick<Book, 'deposits'>, mark: AccountMark): readonly Decimal[] {
  const entered = [...deposits.values()].filter(
    ({ isCapital, enteredAt }) => isCapital && enteredAt > mark.at - AROUND_MS,
  )
  const sumAfter = (counted: number): Decimal =>
    decimal(mark.capital ?? '0').plus(
      sumDecimals(entered.slice(counted).map(({ amount }) => decimal(amount))),
    )
  const byTime = entered.filter(({ enteredAt }) => enteredAt <= mark.at).length
  const unclear = entered.filter(({ enteredAt }) => enteredAt <= mark.at + AROUND_MS).length
  return [byTime, ...Array.from({ length: unclear + 1 }, (_, counted) => counted)].map(sumAfter)
}

/** As limits count it (`engine/state/losses.ts`). */
function fallOf(capital: Decimal, peak: number, net: Decimal): number {
  const made = Number(net.toString())
  return Math.max(0, peak - made) / Math.max(Number(capital.toString()) + peak, 1e-9)
}

/** True if the other capital, and nothing else, would have positions closed at once. */
export function closesAll(
  { equityWas, equityIs, drawdown }: CapitalChange,
  { losses, survives }: CapitalAccount['settings'],
): boolean {
  const limit = losses?.limits.get(ACCOUNT)?.drawdown?.flatten
  const isBust = !equityIs.gt(ZERO) && equityWas.gt(ZERO)
  if (isBust) return limit !== undefined || survives !== undefined
  if (limit === undefined || drawdown === undefined) return false
  return isLossReached(drawdown.is, limit) && !isLossReached(drawdown.was, limit)
}

export function describeCapitalChange(
  { was, is, equityWas, equityIs, drawdown }: CapitalChange,
  losses: EngineSettings['losses'],
): string {
  const closing = losses?.limits.get(ACCOUNT)?.drawdown?.flatten
  return [
    `the last run counted from a capital of ${was.toString()}, this one from ${is.toString()}: with it an equity of ${equityWas.toString()} is ${equityIs.toString()}`,
    ...(drawdown === undefined
      ? []
      : [
          `its fall from the peak is ${showShare(drawdown.is)} instead of ${showShare(drawdown.was)}`,
        ]),
    ...(closing === undefined ? [] : [`everything is closed at ${showShare(closing)}`]),
  ].join(', ')
}

export function adviseCapital({ was }: CapitalChange, found: string): string {
  const before = was.toString()
  return `${found}, so this start would close everything at once, although no money was lost. Write ${before} again, and enter what was moved with \`intentd withdrawal\` or \`intentd deposit\`; if ${before} was wrong from the beginning, first start with it and give \`intentd release '*' --new-peak\``
}

/** If the equity is nothing at its peak, each loss is all of it. */
function showShare(fall: number): string {
  return fall > 1 ? 'more than all of it' : `${(fall * 100).toFixed(2)} %`
}
