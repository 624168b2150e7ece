import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DaemonConfig } from '../../config/load-config.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { writeDurably } from '../../lib/durable-file.ts'

/** In the environment's directory: the configuration of the run that began last, as it was understood. No secret is in it. */
const CONFIG_FILE = 'running-config.json'

/** A configuration, and a digest of the code of each strategy: what differs between two is what a reload does. */
export interface RunningConfig extends DaemonConfig {
  readonly code: Readonly<Record<string, string>>
}

export function withCode(config: DaemonConfig): RunningConfig {
  const code = config.strategies.map(({ id, moduleFile }) => [id, digestOf(moduleFile)])
  return { ...config, code: Object.fromEntries(code) as Record<string, string> }
}

function digestOf(file: string): string {
  try {
    return sha256Hex([readFileSync(file, 'utf8')]).slice(0, 16)
  } catch {
    return 'unreadable'
  }
}

/** On a full disk `intentd plan` knows of an earlier one. */
export function keepRunningConfig(config: DaemonConfig): void {
  try {
    writeDurably(join(config.state.directory, CONFIG_FILE), JSON.stringify(withCode(config)))
  } catch {}
}

/** Undefined where nothing ever ran. */
export function readRunningConfig({ state: { directory } }: DaemonConfig): RunningConfig | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, CONFIG_FILE), 'utf8')) as RunningConfig
  } catch {
    return undefined
  }
}
