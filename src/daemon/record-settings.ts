import { recordSectionSchema } from '../config/daemon-schema.ts'
import { type DaemonConfig } from '../config/load-config.ts'

/** How much of the flight recorder's work is kept. */
export interface RecordSettings {
  readonly segmentBytesMax: number
  readonly totalBytesMax: number
}

/** What `record: true` means: the section with nothing in it. */
const DEFAULTS = recordSectionSchema.parse({})

/** Undefined where nothing is recorded. */
export function toRecordSettings({ record }: Pick<DaemonConfig, 'record'>): RecordSettings | undefined {
  const { enabled, ...settings } = typeof record === 'boolean' ? { ...DEFAULTS, enabled: record } : record
  return enabled ? settings : undefined
}
