import process from 'node:process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConfigRequest } from './load-config.ts'
import { ConfigError } from './yaml/problem.ts'

/** `--config` and `--set`, which every command that reads a configuration has. */
export interface ConfigOptions {
  readonly config?: string | undefined
  readonly set: readonly string[]
  /** `--state`, for commands that address a daemon. */
  readonly state?: string | undefined
  /** `STRATEGY.param=value` texts. */
  readonly param?: readonly string[] | undefined
}

/** The daemon commands' default configuration. */
export const PAPER_CONFIG = 'config/paper.yaml'

export function toConfigRequest(
  { config, set, param = [] }: ConfigOptions,
  shipped = PAPER_CONFIG,
): ConfigRequest {
  return { file: config ?? shippedFile(shipped), overrides: set, params: param, cwd: process.cwd() }
}

/**
 * The file in the working directory, else in the checkout. A package's files are only for copying
 * (`intentd init`): a state beside them would lie in the installation, and the strategies below
 * node_modules.
 */
function shippedFile(shipped: string): string {
  if (existsSync(resolve(shipped))) return shipped
  if (import.meta.url.endsWith('.js')) {
    const message =
      'no such file here: `intentd init DIR` makes a working directory, -c names another file'
    throw new ConfigError([{ source: shipped, path: '', message }])
  }
  return fileURLToPath(new URL(`../../${shipped}`, import.meta.url))
}
