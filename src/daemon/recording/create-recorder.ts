import { hostname } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { keptUniverseOf, sourceOf } from '../../assembly/state/state-place.ts'
import { recordSectionSchema } from '../../config/schema/daemon-schema.ts'
import type { DaemonConfig, GivenChanges } from '../../config/load-config.ts'
import type { Engine } from '../../engine/engine.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { ExchangeAccess } from '../../exchange/client/request-writer.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { FlightRecorder, type RecordSettings } from './flight-recorder.ts'
import { UniverseKeeper } from './universe-keeper.ts'

const DEFAULTS = recordSectionSchema.parse({})

export interface RecorderSources {
  readonly config: DaemonConfig
  readonly given?: GivenChanges | undefined
  readonly settings: EngineSettings
  readonly access: ExchangeAccess
  readonly directory: string
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: DaemonLogger
}

export function createRecorder(
  { config, given, settings, access, directory, clock, timers, logger }: RecorderSources,
  engine: Engine,
): FlightRecorder | undefined {
  const wanted = toRecordSettings(config)
  if (!wanted) return undefined
  const { apiKey, secret, passphrase } = access.credentials
  return new FlightRecorder({
    directory: join(directory, 'recordings'),
    settings: wanted,
    engine,
    symbols: () => settings.instruments.keys(),
    version: settings.version,
    configFile: config.file,
    given,
    secrets: [apiKey, secret, passphrase],
    clock,
    timers,
    logger,
  })
}

function toRecordSettings({ record }: Pick<DaemonConfig, 'record'>): RecordSettings | undefined {
  const { enabled, ...settings } =
    typeof record === 'boolean' ? { ...DEFAULTS, enabled: record } : record
  return enabled ? settings : undefined
}

export function createUniverseKeeper({
  config,
  directory,
  clock,
  logger,
}: RecorderSources): UniverseKeeper | undefined {
  const { enabled, totalBytesMax } = config.recordUniverse
  if (!enabled) return undefined
  return new UniverseKeeper({
    directory: keptUniverseOf(directory),
    source: sourceOf(config),
    productType: config.account.productType,
    totalBytesMax,
    holder: {
      pid: process.pid,
      since: clock.now(),
      host: hostname(),
      name: config.name,
      command: 'run',
    },
    clock,
    logger,
  })
}
