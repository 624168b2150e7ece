import { DEFAULT_FIGURES, type Dispute, type FigureSettings } from '../../domain/loss-limits.ts'
import { MODE_REASONS, type Scope } from '../../domain/trading-mode.ts'
import { mutable } from '../../lib/mutable.ts'
import { pairKey } from '../book/book.ts'
import { beginMoment } from './changes.ts'
import { announce, type Core } from './core.ts'

/** A small difference must last this long, which is three readings of a position. */
const LOGGED_AFTER_MS = 3000

export function figureSettingsOf({ settings }: Core): FigureSettings {
  return settings.figures ?? DEFAULT_FIGURES
}

export function disputeOf(
  { disputes }: Core,
  figure: Dispute['figure'],
  scope: Scope,
): Dispute | undefined {
  if (disputes.open.size === 0) return undefined
  return disputes.open.get(pairKey(figure, scope))
}

export interface FigureComparison extends Pick<Dispute, 'figure' | 'scope' | 'ours' | 'theirs'> {
  readonly differs: boolean
  /** A witness may not have been heard yet, so the difference is logged only once it has lasted. */
  readonly isPatient: boolean
  /** No moment between two readings explains the difference, so it is logged at once. */
  readonly isLarge: boolean
  /** Figures that differed agree again by two such readings (Unix ms). Absent: one is enough. */
  readonly answeredAt?: number
  /** After a longer silence the difference counts as a new dispute. */
  readonly silenceMsMax: number
  /** One witness is not heard meanwhile: this neither counts as a comparison nor undoes one. */
  readonly isUnread?: boolean
}

/** @returns the dispute that is open now */
export function noteComparison(core: Core, found: FigureComparison): Dispute | undefined {
  const before = core.disputes.open.get(pairKey(found.figure, found.scope))
  if (found.differs) return noteDifference(core, found, before)
  return before && noteAgreement(core, found, before)
}

function noteAgreement(
  core: Core,
  { figure, scope, ours, theirs, answeredAt }: FigureComparison,
  before: Dispute,
): Dispute | undefined {
  const key = pairKey(figure, scope)
  const { now } = core
  // A wrong answer every second time must not begin the dispute anew.
  if (
    answeredAt !== undefined &&
    before.hasDiffered &&
    (before.agreedBy === undefined || before.agreedBy === answeredAt)
  ) {
    const agreeing: Dispute = { ...before, ours, theirs, comparedAt: now, agreedBy: answeredAt }
    mutable(core.disputes.open).set(key, agreeing)
    return agreeing
  }
  mutable(core.disputes.open).delete(key)
  if (before.isLogged) {
    const lastedMs = now - before.since
    announce(core, 'info', 'equity.agreed', { figure, scope, ours, theirs, lastedMs })
  }
  return undefined
}

function noteDifference(
  core: Core,
  {
    figure,
    scope,
    ours,
    theirs,
    isPatient,
    isLarge,
    silenceMsMax,
    isUnread = false,
  }: FigureComparison,
  before: Dispute | undefined,
): Dispute {
  const { now } = core
  const since = before?.since ?? now
  const isConfirmed = isLarge || now - since >= LOGGED_AFTER_MS
  const isSilent = before === undefined || now - before.comparedAt > silenceMsMax
  const hasLasted = now - since >= figureSettingsOf(core).disputeMsMax
  const isLogged = before?.isLogged === true || (!isPatient && isConfirmed) || hasLasted
  const shown = { figure, scope, ours, theirs, since, isLogged }
  const dispute: Dispute =
    isUnread && before !== undefined
      ? { ...before, ...shown }
      : {
          ...shown,
          comparedAt: now,
          countedFrom: isSilent ? now : before.countedFrom,
          comparisons: (before?.comparisons ?? 0) + 1,
          agreedBy: undefined,
          hasDiffered: before?.hasDiffered === true || !isPatient,
        }
  mutable(core.disputes.open).set(pairKey(figure, scope), dispute)
  if (isLogged && before?.isLogged !== true) {
    announce(core, 'warn', 'equity.disputed', { figure, scope, ours, theirs })
  }
  return dispute
}

export function isHeldForDispute({ disputes }: Core, scope: Scope): boolean {
  return disputes.reduced.has(scope)
}

/** @param reason why the scope may only reduce; undefined: it may do more again */
export function holdForDispute(core: Core, scope: Scope, reason: string | undefined): void {
  const held = core.disputes.reduced.get(scope)
  if ((held === undefined) === (reason === undefined)) return
  if (reason === undefined) mutable(core.disputes.reduced).delete(scope)
  else mutable(core.disputes.reduced).set(scope, { reason, since: core.now })
  // Earlier plans in this moment judged by the mode before.
  beginMoment(core.changes)
  const code = 'equityDisputed'
  if (reason === undefined)
    announce(core, 'warn', 'limits.ended', { scope, code, reason: held?.reason })
  else
    announce(core, 'error', 'limits.reached', {
      scope,
      code,
      reason,
      ends: MODE_REASONS[code].ends,
    })
}
