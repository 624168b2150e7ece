import type { BacktestRunOptions } from '../../backtest/backtest-run.ts'

/**
 * A stopping daemon reads prices until everything in flight is settled, but asks no strategy.
 * @param from exchange clock: the first prices without decisions; undefined for a run that never
 * stopped
 */
export function stopDecisions(
  opened: BacktestRunOptions,
  from: number | undefined,
): BacktestRunOptions {
  if (from === undefined) return opened
  const { backtest } = opened
  const quiet = [...backtest.strategies].map(([id, { strategy, params }]) => {
    const decide: typeof strategy.decide = (snapshot, context) =>
      snapshot.exchangeTime >= from
        ? { intents: [], state: context.state }
        : strategy.decide(snapshot, context)
    return [id, { strategy: { ...strategy, decide }, params }] as const
  })
  return { ...opened, backtest: { ...backtest, strategies: new Map(quiet) } }
}
