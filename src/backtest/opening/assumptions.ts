import type { BacktestReport } from '../../report/run-report.ts'
import { fundingMinutesOf, usualFundingMinutes } from '../../config/funding-minutes.ts'
import { showMinutes } from '../../prices/funding.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import { CHOSEN, isKept } from './kept-universe.ts'
import type { PreparedBacktest } from './prepare-backtest.ts'

const MODELS: Readonly<Record<string, string>> = {
  pessimistic:
    'Fill model pessimistic: orders get at most 5 % of what is traded in a candle, and a resting order is filled only by a trade through its price.',
  default:
    'Fill model default: orders get at most 10 % of what is traded in a candle; a trade at the price of a resting order fills it once the displayed queue before it has traded.',
  optimistic:
    'Fill model optimistic: orders get all of what is traded, and a resting order is filled at once by a trade at its price.',
}

export function listAssumptions(
  prepared: PreparedBacktest,
  models: readonly string[],
): BacktestReport['assumptions'] {
  const { simulator, polling, coverage, config, seed, universe } = prepared
  const recorded = coverage.filter(({ kind }) => kind !== 'seeded')
  const without = (has: 'hasMark' | 'hasFunding'): string =>
    recorded
      .filter((one) => !one[has])
      .map(({ symbol }) => symbol)
      .join(', ')
  const kept = recorded
    .filter(isKept)
    .map(({ symbol }) => (symbol === CHOSEN ? 'what rules choose' : symbol))
    .join(', ')
  return [
    ...models.map((model) => MODELS[model] ?? model),
    'Orders of the account never move the market. docs/simulator.md has the details of matching and of liquidation.',
    `Fees: ${percent(simulator.makerFeeRate)} for orders that rested, ${percent(simulator.takerFeeRate)} for orders that took. Leverage ${simulator.leverage}.`,
    `Latency: ${config.backtest.latencyMs} ms each way, and from the exchange to the market ${simulator.entryLatencyMs} ms (median, drawn from seed ${seed}).`,
    `Prices are read every ${showDuration(polling.tickersMs)}, fills every ${showDuration(polling.fillsMs)}, positions every ${showDuration(polling.positionsMs)} of virtual time. ` +
      (config.backtest.pollMs === undefined
        ? 'So does a live run.'
        : `A live run reads prices every ${showDuration(config.polling.tickersMs)} (backtest.pollMs).`),
    'Rate limits are those of the document; no call fails, no answer is lost, and the daemon never restarts.',
    ...(recorded.some(({ kind }) => kind === 'candles')
      ? [
          `Between the four prices of a candle a path is drawn (${simulator.market.candlePath}, seed ${seed}), and spreads and displayed sizes follow from earlier candles.`,
        ]
      : []),
    ...(kept === ''
      ? []
      : [
          `${kept} ${recorded.filter(isKept).length === 1 ? 'trades' : 'trade'} on kept tickers: quotes of ${showDuration(universe?.stepMs ?? 0)}, no candles. Between two of them nothing happens, and what was traded is the share of the volume of 24 hours that falls on the time between.`,
        ]),
    ...(recorded.length === 0
      ? [
          `The market is made from seed ${seed}: it says how a strategy works, nothing of what it would have earned.`,
        ]
      : []),
    ...(without('hasFunding') === ''
      ? []
      : [
          `Funding is not recorded for ${without('hasFunding')}: 1 bp every 8 hours is assumed, or the part of it between two payments, paid by longs to shorts.`,
        ]),
    `Funding is paid ${describeFunding(prepared)}.`,
    ...(without('hasMark') === ''
      ? []
      : [
          `Mark prices are not recorded for ${without('hasMark')}: the smoothed middle is taken, within 0.3 %.`,
        ]),
    'A profit of a position that the exchange closed (liquidation) is shared among the strategies that held it.',
    'Positions of strategies are counted at average cost from their own fills; funding is shared by what each held.',
  ]
}

function describeFunding({ config, coverage }: PreparedBacktest): string {
  const usual = showMinutes(usualFundingMinutes(config.calendar))
  const own = coverage.flatMap(({ symbol, hasPayments }) => {
    const minutes = showMinutes(fundingMinutesOf(config, symbol))
    if (hasPayments === true) return [`${symbol} when it was recorded`]
    return minutes === usual ? [] : [`${symbol} at ${minutes}`]
  })
  return [`at ${usual} UTC`, ...own].join('; ')
}

function percent(rate: string): string {
  return `${Number((Number(rate) * 100).toFixed(6))} %`
}
