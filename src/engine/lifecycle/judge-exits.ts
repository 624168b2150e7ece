import { dueExitOf, type ExitRules, type ExitState, NO_EXITS } from '../../domain/exits.ts'
import { isInverse } from '../../domain/instrument.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { OwnTrades } from '../../domain/own-trades.ts'
import { type Holding, type HoldSide, isFlat } from '../../domain/position.ts'
import { floatOnGrid, formatOnGrid } from '../../lib/grid.ts'
import { advanceExits, type ExitHolding, type ExitMoment } from '../../risk/exit-machine.ts'
import { holdingOf, pairOf } from '../book/book.ts'
import { openedAtOf } from '../book/own-trades.ts'
import type { EngineEvent } from '../event.ts'
import { announce, type Core, instrumentOf, specOf } from '../state/core.ts'
import {
  atrTicksOf,
  believedTicksOf,
  noteExitPrice,
  noteExits,
  watchedExitsOf,
} from '../state/exits.ts'
import { isProved } from '../state/instrument-state.ts'
import { exchangeNow } from '../state/market-state.ts'
import { expirePlaces } from '../strategies/take-decision.ts'

/**
 * Called at each snapshot, whether or not strategies are asked, and when fills were read. Plans
 * follow: `exitDueOn`, `boundTarget`.
 */
export function judgeExits(core: Core, event: EngineEvent): void {
  if (event.kind !== 'snapshotTaken' && event.kind !== 'fillsRead') return
  if (core.run.phase !== 'running') return
  for (const { id, symbols, exits } of core.settings.strategies.values()) {
    if (exits === undefined) continue
    for (const symbol of symbols) {
      if (event.kind === 'snapshotTaken') noteExitPrice(core, symbol)
      if (isProved(instrumentOf(core, symbol))) judge(core, exits, { id, symbol })
    }
  }
}

interface ExitPair {
  readonly id: StrategyId
  readonly symbol: string
}

function judge(core: Core, rules: ExitRules, pair: ExitPair): void {
  const { id, symbol } = pair
  const before = watchedExitsOf(core, id, symbol)
  const holding = holdingOf(core.book, id, symbol)
  if (isFlat(holding) && (before === undefined || isIdle(before))) return
  const after = advanceExits(rules, before, momentOf(core, rules, { ...pair, holding }))
  if (after === before || (before === undefined && after === NO_EXITS)) return
  noteExits(core, { id, symbol, state: after })
  announceChanges(core, pair, before ?? NO_EXITS, after)
}

/** The state cannot change while nothing is held. */
function isIdle({ long, short, lock, pause, rests }: ExitState): boolean {
  return long === null && short === null && lock === null && pause === null && !rests
}

function momentOf(
  core: Core,
  rules: ExitRules,
  { id, symbol, holding }: ExitPair & { readonly holding: Holding },
): ExitMoment {
  const trades = core.book.ownTrades.get(pairOf(id, symbol))
  const spec = specOf(core, symbol)
  const heldOn = (side: HoldSide): ExitHolding => heldBy(core, { side, holding, trades })
  return {
    at: exchangeNow(core),
    long: heldOn('long'),
    short: heldOn('short'),
    prices: believedTicksOf(core, symbol),
    atrTicks: atrTicksOf(core, symbol, rules),
    lotsMin: spec.lotsMin,
    target: core.book.targets.get(pairOf(id, symbol)),
    net: Number(trades?.profit ?? 0) - Number(trades?.fees ?? 0),
    tradeNet: Number(trades?.tradeNet ?? 0),
    worthOf(lots, ticks) {
      const size = floatOnGrid(spec.lot, lots)
      return isInverse(spec) ? size : size * floatOnGrid(spec.tick, ticks)
    },
  }
}

function heldBy(
  { book }: Core,
  {
    side,
    holding,
    trades,
  }: {
    readonly side: HoldSide
    readonly holding: Holding
    readonly trades: OwnTrades | undefined
  },
): ExitHolding {
  const lots = holding[`${side}Lots`]
  if (lots === 0 || trades === undefined) return { lots, entryTicks: null, openedAt: undefined }
  const isExplained = trades.entry[`${side}Lots`] >= lots
  return {
    lots,
    entryTicks: isExplained ? trades.entry[`${side}Ticks`] : null,
    openedAt: openedAtOf(book.positionMode, trades, { side, lots }),
  }
}

function announceChanges(
  core: Core,
  { id, symbol }: ExitPair,
  before: ExitState,
  after: ExitState,
): void {
  const strategy = id
  const [was, is] = [dueExitOf(before), dueExitOf(after)]
  if (is && (was?.kind !== is.kind || was.keptLots !== is.keptLots)) {
    const { kind, keptLots } = is
    const kept = formatOnGrid(specOf(core, symbol).lot, keptLots)
    announce(core, 'info', 'exit.due', { strategy, symbol, kind, kept })
    expirePlaces(core)
  } else if (was && !is) {
    announce(core, 'info', 'exit.done', { strategy, symbol, kind: was.kind })
  }
  if (after.pause !== null && after.pause !== before.pause) {
    const { cause, untilAt } = after.pause
    const until = `${new Date(untilAt).toISOString().slice(0, 16)}Z`
    announce(core, 'info', 'entries.paused', { strategy, symbol, cause, until })
  }
}
