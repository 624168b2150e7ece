import { ACCOUNT } from '../../domain/trading-mode.ts'
import { WORST_CASE_WARN, type WorstCase } from '../../domain/worst-case.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import { planReduction } from '../../risk/reduction.ts'
import { describeScenario, showUsed } from '../../risk/worst-case.ts'
import { restrictionOf } from '../book/book.ts'
import { announce, type Core, specOf } from '../state/core.ts'
import { askForPositionAgain } from '../state/losses.ts'
import { showAmount } from '../state/own-figure.ts'
import { endHalt, endReductions, reduceTo } from '../state/trading-mode.ts'
import {
  type BelievedWorstCase,
  believedWorstCase,
  confirmBeyond,
  forgetBeyond,
  measureWorstCase,
  noteNearBudget,
} from '../state/worst-case.ts'
import { expirePlaces } from '../strategies/take-decision.ts'
import { holdOnce } from './judge-losses.ts'

/** The warning comes again after the use fell to this share of it. */
const REARMED = 0.9

/**
 * Judges `risk.survives` whenever profit was compared (docs/risk.md has the steps). Beyond 100 % by
 * the worse figures `risk/checks.ts` denies orders.
 */
export function judgeWorstCase(core: Core, symbols: readonly string[]): void {
  const [symbol] = symbols
  if (core.settings.survives === undefined || symbol === undefined) return
  const worse = measureWorstCase(core)
  warn(core, worse)
  const held = restrictionOf(core.book, ACCOUNT, 'worstCase')
  const believed = believedWorstCase(core)
  if (believed === undefined) {
    if (held === undefined) endReductions(core, { code: 'worstCase' })
    return
  }
  if (held !== undefined) return reduce(core, believed)
  endReductions(core, { code: 'worstCase' })
  const isBeyond = believed.worst.used > 1
  const mayBeBeyond = worse !== undefined && worse.used > 1
  const isSaidAgain = confirmBeyond(core, symbol, { isBeyond, mayBeBeyond })
  if (!isSaidAgain || !(believed.confirmedUsed > 1)) {
    if (isBeyond) askForPositionAgain(core, symbol)
    return
  }
  holdOnce(core, ACCOUNT, 'worstCase', reasonOf(core, believed.worst))
  reduce(core, believed)
}

function warn(core: Core, worst: WorstCase | undefined): void {
  // While the equity is unknown, nothing says that the budget is far away again.
  if (core.worstCase.equity === undefined) return
  const used = worst?.used ?? 0
  if (!noteNearBudget(core, used >= WORST_CASE_WARN, used < WORST_CASE_WARN * REARMED) || !worst)
    return
  announce(core, 'warn', 'worstCase.near', { reason: reasonOf(core, worst, WORST_CASE_WARN) })
}

/**
 * While the account is held for its worst case, says what is closed, and ends the hold at the share
 * of the warning.
 */
function reduce(core: Core, { worst, usedAtMost, equity, held }: BelievedWorstCase): void {
  if (worst.used <= WORST_CASE_WARN) {
    if (!(usedAtMost <= WORST_CASE_WARN)) return
    endReductions(core, { code: 'worstCase' })
    forgetBeyond(core)
    return endHalt(core, ACCOUNT, 'worstCase', reasonOf(core, worst, WORST_CASE_WARN))
  }
  const planned = planReduction(held, equity)
  const kept = new Set(planned.map(({ symbol }) => symbol))
  const over = [...core.reductions.keys()].filter((symbol) => !kept.has(symbol))
  endReductions(core, { code: 'worstCase', symbols: over })
  for (const { symbol, holdSide, lots } of planned) {
    const reason = reasonOf(core, worst)
    if (!reduceTo(core, { symbol, holdSide, lots, code: 'worstCase', reason })) continue
    const size = formatOnGrid(specOf(core, symbol).lot, lots)
    announce(core, 'error', 'position.reducing', { symbol, holdSide, size, reason })
  }
  if (planned.length > 0) expirePlaces(core)
}

function reasonOf(core: Core, { scenario, used, need, equity }: WorstCase, limit = 1): string {
  return `${describeScenario(scenario)} would take ${showAmount(core, need)} of ${showAmount(core, equity)}: ${showUsed(used)}, limit ${limit * 100} %`
}
