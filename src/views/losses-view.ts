import type { AccountStatusView } from '../control/views.ts'
import { DRAWDOWN_STEPS, type DrawdownStep, type UsedLoss } from '../domain/loss-limits.ts'
import type { WorstCase } from '../domain/worst-case.ts'
import { ACCOUNT } from '../domain/trading-mode.ts'
import { capitalOf } from '../engine/book/book.ts'
import { levelOfStep } from '../engine/lifecycle/release.ts'
import { decimal } from '../lib/decimal.ts'
import { describeScenario } from '../risk/worst-case.ts'
import type { ShownAccount } from './shown-account.ts'
import { roundAmount, toAmount } from './money-figures.ts'

/** Null while a part is unknown. A journal at rest knows the equity only without positions. */
export function viewEquity(
  account: Pick<ShownAccount, 'settings' | 'engine' | 'state' | 'book'>,
  { total }: Pick<AccountStatusView['profit'], 'total'>,
): Pick<AccountStatusView, 'equity' | 'peak' | 'drawdown'> {
  const { engine, state } = account
  const capital = capitalOf(account)
  const known = engine.equityNow
  if (known) {
    const { equity, peak, drawdown } = known
    const show = (amount: number): string => toAmount(amount).toString()
    return { equity: show(equity), peak: show(peak), drawdown: show(drawdown) }
  }
  const made = state === 'atRest' ? total.netWithUnrealised : null
  const isKnown = capital !== undefined && made !== null
  return {
    equity: isKnown ? capital.plus(decimal(made)).toString() : null,
    peak: null,
    drawdown: null,
  }
}

export function viewLosses({
  settings,
  engine,
  book,
}: Pick<ShownAccount, 'settings' | 'engine' | 'book'>): AccountStatusView['losses'] {
  return [...(settings.losses?.limits ?? [])].flatMap(([scope, { daily, drawdown, streak }]) => {
    const used = engine.usedLossNow(scope)
    const steps = DRAWDOWN_STEPS.flatMap((step) => {
      const max = drawdown?.[step]
      return max === undefined
        ? []
        : [{ scope, max, ...viewStep({ settings, book }, used, { step, max }) }]
    })
    const own = [...book.ownTrades].filter(
      ([pair]) => scope === `strategy:${pair.slice(0, pair.indexOf('|'))}`,
    )
    const inRow = Math.max(0, ...own.map(([, { lostInRow = 0 }]) => lostInRow))
    return [
      ...(daily === undefined
        ? []
        : [{ scope, limit: 'daily', used: roundKnown(used?.dayLoss), max: daily, ...NO_PEAK }]),
      ...steps,
      ...(streak === undefined
        ? []
        : [{ scope, limit: 'streak', used: inRow, max: streak, ...NO_PEAK }]),
    ]
  })
}

export function viewWorstCase({
  engine,
}: Pick<ShownAccount, 'engine'>): AccountStatusView['worstCase'] {
  return engine.worstCase === undefined ? null : viewWorst(engine.worstCase)
}

export function viewWorst({
  scenario,
  need,
  equity,
  used,
}: WorstCase): NonNullable<AccountStatusView['worstCase']> {
  return {
    scenario: describeScenario(scenario),
    need: toAmount(need).toString(),
    left: toAmount(equity - need).toString(),
    used: Math.min(used, Number.MAX_SAFE_INTEGER),
  }
}

const NO_PEAK = { peak: null, level: null }

function viewStep(
  account: Pick<ShownAccount, 'settings' | 'book'>,
  known: UsedLoss | undefined,
  { step, max }: { readonly step: DrawdownStep; readonly max: number },
): Omit<AccountStatusView['losses'][number], 'scope' | 'max'> {
  const limit = `drawdown.${step}`
  if (known === undefined) return { limit, used: null, ...NO_PEAK }
  const { peak, level } = levelOfStep(account, known, { step, limit: max })
  const earlier = known.scope === ACCOUNT ? known.drawdownShare : known.drawdown
  const used = roundKnown(step === 'flatten' ? known.lastDrawdown : earlier)
  return { limit, used, peak: roundAmount(peak), level: roundAmount(level) }
}

function roundKnown(amount: number | undefined): number | null {
  return amount === undefined ? null : roundAmount(amount)
}

export function viewDisputes({ engine, state }: ShownAccount): AccountStatusView['disputes'] {
  if (state === 'atRest') return []
  const isReducing = engine.restrictions.some(({ code }) => code === 'equityDisputed')
  return [...engine.disputes.values()].map(({ figure, scope, ours, theirs, since }) => ({
    figure,
    scope,
    ours,
    theirs,
    since: Math.round(since),
    isReducing: figure === 'unrealised' && isReducing,
  }))
}
