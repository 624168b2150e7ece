import type { DaemonConfig } from '../../config/load-config.ts'
import type { ContractRules } from '../../domain/contract-rules.ts'

/** The contracts of an exchange that lists only what is configured, as the simulator inside a daemon and in backtests. */
export function configuredContracts({
  instruments,
}: Pick<DaemonConfig, 'instruments'>): ReadonlyMap<string, ContractRules> {
  return new Map(
    Object.entries(instruments).map(
      ([symbol, { tickSize, lotSize, minSize, minNotional, fundingHours }]) => [
        symbol,
        {
          tickSize,
          lotSize,
          minSize,
          minNotional,
          ...(fundingHours !== undefined && { fundingHours }),
        },
      ],
    ),
  )
}
