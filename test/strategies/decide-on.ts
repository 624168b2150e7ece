import {
  appendCandle,
  candleKey,
  type CandleSeries,
  createCandleSeries,
} from '../../src/domain/candles.ts'
import { type Intent } from '../../src/domain/intent.ts'
import { type Snapshot } from '../../src/domain/snapshot.ts'
import { type Strategy } from '../../src/strategy/define-strategy.ts'
import { StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import { ManualTime } from '../support/manual-time.ts'
import { madeInstrument, MOMENT_AT } from '../support/market-moment.ts'

/** A runner of a strategy with the params of its file; BTCUSDT unless other instruments are given. */
export function createExample(
  strategy: Strategy,
  params: object,
  {
    instruments = [madeInstrument()],
    stateText,
  }: { instruments?: ReturnType<typeof madeInstrument>[]; stateText?: string } = {},
): StrategyRunner {
  return new StrategyRunner({
    strategyId: strategy.name,
    strategy,
    params: strategy.params.parse(params),
    instruments,
    stateText,
    clock: new ManualTime(MOMENT_AT),
  })
}

/** What it wants. @throws Error when the decision fails or one of its intents makes no sense. */
export function decide(runner: StrategyRunner, snapshot: Snapshot): readonly Intent[] {
  const result = runner.decide(snapshot)
  if (result.kind === 'failed') throw new Error(result.message)
  if (result.denials.length > 0) throw new Error(JSON.stringify(result.denials))
  return result.intents
}

/** Closed candles of these closes, the last of which ends at `endAt` (Unix ms). */
export function madeCandles(
  symbol: string,
  closes: readonly number[],
  { intervalMs = 60_000, endAt = MOMENT_AT }: { intervalMs?: number; endAt?: number } = {},
): [string, CandleSeries] {
  const series = createCandleSeries(intervalMs, Math.max(1, closes.length))
  for (const [index, close] of closes.entries()) {
    const openAt = endAt - (closes.length - index) * intervalMs
    appendCandle(series, [openAt, close, close, close, close, 4])
  }
  return [candleKey(symbol, intervalMs), series]
}
