import process from 'node:process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConfigRequest } from './load-config.ts'
import { ConfigError } from './yaml/problem.ts'

export interface ConfigOptions {
  readonly config?: string | undefined
  readonly set: readonly string[]
  readonly state?: string | undefined
  /** `STRATEGY.param=value` texts. */
  readonly param?: readonly string[] | undefined
}

export const PAPER_CONFIG = 'config/paper.yaml'

export function toConfigRequest(
  { config, set, param = [] }: ConfigOptions,
  shipped = PAPER_CONFIG,
): ConfigRequest {
  return { file: config ?? shippedFile(shipped), overrides: set, params: param, cwd: process.cwd() }
}

/**
 * The working directory's before the checkout's. A package's files are only templates, or the state
 * would be in the installation.
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
