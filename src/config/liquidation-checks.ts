import type { LoadedConfig } from './load-config.ts'
import type { Problem } from './yaml/problem.ts'

export function warnOfLeverage({
  config,
  documents: { main: source },
}: LoadedConfig): readonly Problem[] {
  const { account, instruments, risk, simulator } = config
  const { liquidation } = risk
  if (liquidation === 'none' || account.marginMode !== 'isolated') return []
  return Object.entries(instruments).flatMap(([symbol, { leverage: own, maintenance }]) => {
    const leverage = own ?? account.leverage ?? simulator?.leverage
    if (leverage === undefined) return []
    const distance = 1 / leverage - (maintenance?.[0]?.rate ?? 0) - Number(liquidation.takerFeeRate)
    if (distance >= liquidation.reduce) return []
    const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
    const message = `at a leverage of ${leverage} an isolated position begins ${percent(distance)} from its liquidation at most, and risk.liquidation.reduce is ${percent(liquidation.reduce)}: nothing will be opened; lower the leverage, or the steps`
    return [source.problemOfKey(['instruments', symbol], message)]
  })
}

/** The simulator inside has one leverage for all. */
export function warnOfSimulatedLeverage({
  config: { account, instruments, simulator },
  documents: { main: source },
}: LoadedConfig): readonly Problem[] {
  if (simulator === undefined) return []
  const written = [
    [['account', 'leverage'], account.leverage] as const,
    ...Object.entries(instruments).map(
      ([symbol, { leverage }]) => [['instruments', symbol, 'leverage'], leverage] as const,
    ),
  ]
  return written.flatMap(([path, leverage]) => {
    if (leverage === undefined || leverage === simulator.leverage) return []
    const message = `${leverage} here, and every position of the simulator inside the daemon has the ${simulator.leverage} of simulator.leverage: after the first fill nothing is added to it; write the same in both`
    return [source.problem([...path], message)]
  })
}
