import type { DaemonConfig } from '../../config/load-config.ts'
import { credentialVariables } from '../../config/secrets.ts'
import type { ExchangeAccess } from '../../exchange/client/request-writer.ts'
import type { JournalWriter } from '../../journal/journal-writer.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { fingerprintOf } from './account-keys.ts'
import { nameProcess } from '../state/open-journal.ts'
import { withCode } from '../state/running-config.ts'
import { describeHolder } from '../state/state-directory.ts'

const DIGEST_CHARACTERS = 16

/** @param access undefined for the embedded simulator, which has its own keys */
export function ownWriter(
  config: DaemonConfig,
  {
    directory,
    access,
    now,
  }: {
    readonly directory: string
    readonly access: ExchangeAccess | undefined
    readonly now: number
  },
): JournalWriter {
  const process = nameProcess(describeHolder(config.name, now))
  return {
    keys: access && fingerprintOf(access),
    by: `${process}, ${directory} (${credentialVariables(config.account.keys).apiKey})`,
    setup: setupOf(config),
  }
}

/**
 * Covers only settings that decide trading, because folders, servers, alerts and logs differ
 * between machines.
 */
function setupOf(config: DaemonConfig): JournalWriter['setup'] {
  const { environment, exchange, instruments, risk, execution, polling, calendar } = config
  const { onStop, onRestart, dryRun } = config
  const { keys: _keys, ...account } = config.account
  const parts: Record<string, unknown> = {
    environment,
    account,
    instruments,
    risk,
    execution,
    polling,
    calendar,
    onStop,
    onRestart,
    dryRun,
    'exchange.baseUrl': exchange.baseUrl ?? '',
  }
  const { code } = withCode(config)
  for (const one of config.strategies) {
    const {
      file: _file,
      module: _module,
      moduleFile: _moduleFile,
      history: _history,
      ...strategy
    } = one
    parts[`strategy ${strategy.id}`] = strategy
    parts[`code of ${strategy.id}`] = code[strategy.id]
  }
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, digestOf(part)]))
}

function digestOf(part: unknown): string {
  return sha256Hex([JSON.stringify(part, sorted)]).slice(0, DIGEST_CHARACTERS)
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}
