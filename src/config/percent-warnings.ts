/** They are allowed, and look as if per cents were meant. */
import type { LoadedConfig, StrategyConfig } from './load-config.ts'
import type { Problem, SettingPath } from './yaml/problem.ts'

interface Share {
  readonly path: SettingPath
  readonly value: number | string | undefined
  readonly from: number
}

/** Half of the price, or all of it, is no usual distance. */
const DISTANCE = 0.5
const PROFIT = 1
const FEE = 0.01
const SPREAD = 0.05
const COLLAR = 0.5
const TAKER_COLLAR = 0.1

export function listPercentWarnings({
  config: { risk, execution, simulator, strategies },
  documents,
}: LoadedConfig): readonly Problem[] {
  const { liquidation } = risk
  const ofMain: readonly Share[] = [
    { path: ['risk', 'priceCollarRatio'], value: risk.priceCollarRatio, from: COLLAR },
    {
      path: ['risk', 'liquidation', 'takerFeeRate'],
      value: liquidation === 'none' ? undefined : liquidation.takerFeeRate,
      from: FEE,
    },
    {
      path: ['execution', 'takerCollarRatio'],
      value: execution.takerCollarRatio,
      from: TAKER_COLLAR,
    },
    { path: ['simulator', 'makerFeeRate'], value: simulator?.makerFeeRate, from: FEE },
    { path: ['simulator', 'takerFeeRate'], value: simulator?.takerFeeRate, from: FEE },
  ]
  return [
    ...ofMain.flatMap((share) => warnOf(share, documents.main)),
    ...strategies.flatMap((strategy) => {
      const source = documents.strategies.get(strategy.id)
      return source === undefined
        ? []
        : sharesOf(strategy).flatMap((share) => warnOf(share, source))
    }),
  ]
}

function sharesOf({ exits, universe }: StrategyConfig): readonly Share[] {
  const { stop, trailing, breakEven, profit = {}, takeProfit = [] } = exits ?? {}
  return [
    { path: ['exits', 'stop', 'distance'], value: stop?.distance, from: DISTANCE },
    { path: ['exits', 'trailing', 'after'], value: trailing?.after, from: PROFIT },
    { path: ['exits', 'trailing', 'distance'], value: trailing?.distance, from: DISTANCE },
    { path: ['exits', 'breakEven', 'after'], value: breakEven?.after, from: DISTANCE },
    { path: ['exits', 'breakEven', 'offset'], value: breakEven?.offset, from: DISTANCE },
    ...Object.entries(profit).map(([row, value]) => ({
      path: ['exits', 'profit', row],
      value,
      from: PROFIT,
    })),
    ...takeProfit.map(({ at }, index) => ({
      path: ['exits', 'takeProfit', index, 'at'],
      value: at,
      from: DISTANCE,
    })),
    { path: ['universe', 'spread', 'max'], value: universe?.spread?.max, from: SPREAD },
    { path: ['universe', 'volatility', 'min'], value: universe?.volatility?.min, from: PROFIT },
  ]
}

function warnOf({ path, value, from }: Share, source: LoadedConfig['documents']['main']) {
  const share = Number(value)
  if (value === undefined || !(share >= from) || !source.has([...path])) return []
  const message = `${value} is ${shown(share * 100)} %: shares are written as such; if ${value} % is meant, write ${shown(share / 100)}`
  return [source.problem([...path], message)]
}

const shown = (value: number): string => String(Number(value.toPrecision(6)))
