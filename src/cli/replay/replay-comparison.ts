import process from 'node:process'
import {
  type ChangedDecision,
  ChangedStrategy,
  type Wishes,
} from '../../assembly/strategies/changed-strategy.ts'
import { loadChangedStrategy } from '../../assembly/strategies/load-changed-strategy.ts'
import type { ReplayWatcher } from '../../assembly/recordings/replay.ts'
import type { Instrument } from '../../domain/instrument.ts'
import { parseCore } from '../../engine/replay/core-image.ts'
import { loadStrategyFile } from '../../config/load-config.ts'
import { guardPlay } from '../../backtest/opening/guard-play.ts'
import { systemClock } from '../../lib/clock.ts'
import type { SegmentFile } from '../../recording/recordings.ts'
import { openSegment } from '../../recording/segment-reader.ts'
import { toWords } from '../../views/explain/intent-words.ts'

/** Wishes of one side that are shown of a decision: a ladder may have hundreds. */
const WISHES_SHOWN = 6

/** A changed strategy that is asked while a recording is made again, and what it said otherwise. */
export interface Comparison {
  readonly watcher: ReplayWatcher
  describe(): readonly string[]
}

/** @throws ConfigError or Failure for a strategy that cannot be asked. */
export async function openComparison(
  file: string,
  segments: readonly SegmentFile[],
  shown: number,
): Promise<Comparison> {
  const { settings } = parseCore(openSegment(segments[0]?.file ?? '').image)
  const place = { file, cwd: process.cwd() }
  guardPlay({ strategies: [loadStrategyFile(place).strategy] })
  const strategy = await loadChangedStrategy(place, settings)
  const lines: string[] = []
  const counts = new Map<string, number>()
  const watcher = new ChangedStrategy({
    strategy,
    clock: systemClock,
    onChange: (change) => {
      const before = [...counts.values()].reduce((sum, count) => sum + count, 0)
      counts.set(change.symbol, (counts.get(change.symbol) ?? 0) + 1)
      if (before < shown)
        lines.push(...describeChange(change, settings.instruments.get(change.symbol)))
    },
  })
  const describe = () => [
    '',
    `${strategy.id} as in ${file}: what it would have wished for, shown what the recorded one was shown`,
    'an open loop: positions, orders and fills are those of the recording',
    ...lines,
    ...describeCounts(watcher, counts),
  ]
  return { watcher, describe }
}

function describeCounts(
  { decisions, changed }: ChangedStrategy,
  counts: ReadonlyMap<string, number>,
): readonly string[] {
  const bySymbol = [...counts].map(([symbol, count]) => `${symbol} ${count}`).join(', ')
  const same = `${decisions} decisions, ${decisions - changed} the same`
  return [changed === 0 ? `${same}: no intent differs` : `${same}, ${changed} differ: ${bySymbol}`]
}

function describeChange(
  { at, symbol, was, now }: ChangedDecision,
  instrument: Instrument | undefined,
): readonly string[] {
  const [before, after] = [wordsOf(was, instrument), wordsOf(now, instrument)]
  const [gone, come] = [without(before, after), without(after, before)]
  const kept = before.length - gone.length
  return [
    `${new Date(at).toISOString()}  ${symbol}${kept > 0 ? `, ${kept} the same` : ''}`,
    ...limit(gone).map((wish) => `  - ${wish}`),
    ...limit(come).map((wish) => `  + ${wish}`),
    ...(gone.length + come.length === 0 ? ['  the same wishes in another order'] : []),
  ]
}

function wordsOf(wishes: Wishes, instrument: Instrument | undefined): readonly string[] {
  if (typeof wishes === 'string') return [`failed: ${wishes.split('\n', 1)[0]}`]
  return instrument ? toWords(wishes, instrument) : wishes.map((intent) => JSON.stringify(intent))
}

function without(words: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others)
  return words.filter((word) => !known.has(word))
}

function limit(wishes: readonly string[]): readonly string[] {
  if (wishes.length <= WISHES_SHOWN) return wishes
  return [...wishes.slice(0, WISHES_SHOWN), `and ${wishes.length - WISHES_SHOWN} more`]
}
