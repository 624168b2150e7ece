/** A user that can replace a file could trade with the keys. */
import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DaemonConfig } from '../../config/load-config.ts'
import { readVariables, type SecretsRequest } from '../../config/secrets.ts'
import { ConfigError, type Problem } from '../../config/yaml/problem.ts'
import { listTokenFiles } from '../../control/access/token-file.ts'
import { tokenFilesOf } from '../../daemon/control/open-control.ts'
import { listCodeFiles } from '../../assembly/state/running-config.ts'
import { type FileFault, findFileFault, type FileTrust, trustIn } from '../../lib/file-trust.ts'

export interface FilesRead {
  readonly what: string
  readonly files: readonly string[]
}

export function listFilesRead(config: DaemonConfig, request: SecretsRequest): readonly FilesRead[] {
  const { strategies, state, control } = config
  const tokens = control.port === undefined ? [] : listTokenFiles(tokenFilesOf(config))
  const code = strategies.flatMap(({ moduleFile }) => [moduleFile, ...listCodeFiles(moduleFile)])
  return [
    { what: 'configuration files', files: [config.file, ...strategies.map(({ file }) => file)] },
    { what: 'strategy files', files: [...new Set(code)] },
    { what: '.env', files: [resolve(request.cwd, '.env'), ...listKeyFiles(request)] },
    { what: 'state directory', files: [state.directory] },
    { what: 'control tokens', files: tokens },
    { what: 'program', files: [process.execPath, fileURLToPath(import.meta.url)] },
  ]
}

export function findFaults(read: readonly FilesRead[], trust: FileTrust): readonly FileFault[] {
  const faults = read.flatMap(({ files }) =>
    files.flatMap((file) => findFileFault(file, trust) ?? []),
  )
  return [...new Map(faults.map((fault) => [fault.place, fault])).values()]
}

/** Checks files for root too, for whom modes do not count. @throws ConfigError with all files */
export function assertTrusted(configs: readonly DaemonConfig[], request: SecretsRequest): void {
  const problems = findUntrusted(configs, request)
  if (problems.length > 0)
    throw new ConfigError(problems, 'Or add --trust-files, if nobody else uses this machine.')
}

export function findUntrusted(
  configs: readonly DaemonConfig[],
  request: SecretsRequest,
): readonly Problem[] {
  const user = process.geteuid?.()
  if (user === undefined) return []
  const read = configs.flatMap((config) => listFilesRead(config, request))
  return findFaults(read, trustIn(user)).map(({ place, fault, remedy }) => ({
    source: place,
    path: '',
    message: `${fault}: whoever changes it decides what this daemon does; ${remedy}`,
  }))
}

export function ownerOf({ state: { directory } }: DaemonConfig): number {
  const user = process.geteuid?.() ?? 0
  return user === 0 ? statSync(nearestFolder(directory)).uid : user
}

export function nearestFolder(directory: string): string {
  return existsSync(directory) || dirname(directory) === directory
    ? directory
    : nearestFolder(dirname(directory))
}

function listKeyFiles(request: SecretsRequest): readonly string[] {
  return Object.entries(readVariables(request)).flatMap(([name, value]) =>
    /^INTENTD_\w+_FILE$/.test(name) && value !== undefined && name !== 'INTENTD_HEARTBEAT_FILE'
      ? [resolve(request.cwd, value)]
      : [],
  )
}
