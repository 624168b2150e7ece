import { listKeys } from '../../config/load-accounts.ts'
import type { LoadedConfig } from '../../config/load-config.ts'
import {
  loadCredentials,
  loadJournalPassword,
  loadLimitsPassword,
  type SecretsRequest,
} from '../../config/secrets.ts'
import { loadSignalSecrets } from '../../config/signal-secrets.ts'
import { ConfigError } from '../../config/yaml/problem.ts'
import { keysMissing } from '../../assembly/account/account-keys.ts'
import type { AccountSetup } from '../../assembly/account/account-setup.ts'

/** @throws ConfigError if no account has keys */
export function giveKeys(
  accounts: readonly LoadedConfig[],
  request: SecretsRequest,
): readonly AccountSetup[] {
  const errors: ConfigError[] = []
  const ofAll = { ...request, keysOfAll: listKeys(accounts) }
  const given = accounts.map((loaded) => readKeys(loaded, ofAll, (error) => errors.push(error)))
  if (errors.length === accounts.length)
    throw new ConfigError(errors.flatMap(({ problems }) => problems))
  return given
}

export function readKeys(
  loaded: LoadedConfig,
  request: SecretsRequest,
  onMissing: (error: ConfigError) => void = () => undefined,
): AccountSetup {
  try {
    return {
      loaded,
      credentials: loadCredentials(loaded.config, request),
      journalPassword: loadJournalPassword(loaded.config, request),
      limitsPassword: loadLimitsPassword(loaded.config, request),
      signalSecrets: loadSignalSecrets(loaded.config, request),
      keysMissing: undefined,
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    onMissing(error)
    return { loaded, credentials: undefined, keysMissing: keysMissing(error) }
  }
}
