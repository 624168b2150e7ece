import { type SimulatorConfig } from '../../config/load-simulator-config.ts'
import { type MarketOverride, toSimulatorOptions } from '../../daemon/embedded/simulated-exchange.ts'
import type { SimulatorOptions } from '../../simulator/start-simulator.ts'
import { defaultRateLimitSettings } from '../../simulator/wire/rate-limits.ts'

/** The settings of the simulator as a server: those of the one inside the daemon, and its own. */
export function toServerOptions(
  config: SimulatorConfig,
  override: MarketOverride,
): Pick<SimulatorOptions, 'market' | 'seed' | 'core' | 'wire' | 'faults' | 'answerDelayMs' | 'desks'> {
  const { limits, desks } = config
  const { unknownParameters, ...readings } = config.readings
  const shared = toSimulatorOptions(config, override)
  return {
    ...shared,
    core: { ...shared.core, ...readings },
    desks,
    wire: {
      ...shared.wire,
      unknownParameters,
      rateLimits: {
        ...defaultRateLimitSettings,
        counting: limits.counting,
        refusedCallsCount: limits.refusedCallsCount,
      },
      gatewayLimit: { calls: limits.gatewayCalls, perMs: 1000 },
    },
  }
}
