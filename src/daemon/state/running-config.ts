import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DaemonConfig } from '../../config/load-config.ts'
import { writeDurably } from '../../lib/durable-file.ts'

/** In the environment's directory: the configuration of the run that began last, as it was understood. No secret is in it. */
const CONFIG_FILE = 'running-config.json'

/** On a full disk `intentd plan` knows of an earlier one. */
export function keepRunningConfig(config: DaemonConfig): void {
  try {
    writeDurably(join(config.state.directory, CONFIG_FILE), JSON.stringify(config))
  } catch {}
}

/** Undefined where nothing ever ran. */
export function readRunningConfig({ state: { directory } }: DaemonConfig): DaemonConfig | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, CONFIG_FILE), 'utf8')) as DaemonConfig
  } catch {
    return undefined
  }
}
