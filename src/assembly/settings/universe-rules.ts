import type { DaemonConfig } from '../../config/load-config.ts'
import { durationMs, type UniverseSection } from '../../config/schema/strategy-schema.ts'
import type { UniverseRule } from '../../domain/universe.ts'
import type { RosterSettings } from '../../engine/settings.ts'
import { readableMax, type AddressUse } from './read-pace.ts'

export function toUniverseRule(section: UniverseSection): UniverseRule {
  const { every, quote, volume, spread, age, volatility, price, top, sticky, ...rest } = section
  const { by, order = by === 'spread' ? 'lowest' : 'highest' } = top
  return {
    ...rest,
    everyMs: durationMs(every),
    stickyMs: durationMs(sticky),
    top: { count: top.count, by, order },
    ...(quote !== undefined && { quote }),
    ...(volume && { volumeMin: volume.min }),
    ...(spread && { spreadMax: spread.max }),
    ...(age && { ageMinMs: durationMs(age.min) }),
    ...(volatility && { volatility }),
    ...(price && { price }),
  }
}

export function toRosterSettings(config: DaemonConfig, use: AddressUse): RosterSettings {
  const { productType, marginCoin, leverage } = config.account
  return {
    frame: { productType, marginCoin, ...(leverage !== undefined && { leverage }) },
    fixed: new Set(Object.keys(config.instruments)),
    readMax: readableMax(config, use),
  }
}
