import type { Secret } from '../lib/secret.ts'
import type { DaemonConfig } from './load-config.ts'
import { loadSecrets, type SecretsRequest, variableProblem } from './secrets.ts'
import { ConfigError } from './yaml/problem.ts'

/** A secret of this length is not guessed at 600 attempts a minute. */
const SECRET_LENGTH_MIN = 16
const SECRET_LENGTH_MAX = 200

/** Lists the signals whose secret has changed; a new signal is a change of settings instead. */
export function listChangedSecrets(
  was: ReadonlyMap<string, Secret> | undefined,
  config: Pick<DaemonConfig, 'signals'>,
  request: SecretsRequest,
): readonly string[] {
  try {
    return [...loadSignalSecrets(config, request)].flatMap(([name, secret]) => {
      const before = was?.get(name)?.reveal()
      return before === undefined || before === secret.reveal() ? [] : [name]
    })
  } catch (error) {
    // A missing secret is a problem of its own.
    if (error instanceof ConfigError) return []
    throw error
  }
}

/** @throws ConfigError with everything missing, unsafe, short or used twice */
export function loadSignalSecrets(
  { signals }: Pick<DaemonConfig, 'signals'>,
  request: SecretsRequest,
): ReadonlyMap<string, Secret> {
  const named = Object.entries(signals?.accept ?? {})
  if (named.length === 0) return new Map()
  const secrets = loadSecrets(
    named.map(([, { secretVariable }]) => secretVariable),
    request,
  )
  const owners = new Map<string, string>()
  const problems = [...secrets].flatMap(([variable, secret]) => {
    const text = secret.reveal()
    const other = owners.get(text)
    owners.set(text, variable)
    if (other !== undefined)
      return [
        variableProblem(variable, `${other} is the same: each signal has a secret of its own`),
      ]
    if (text.length >= SECRET_LENGTH_MIN && text.length <= SECRET_LENGTH_MAX) return []
    const message = `expected ${SECRET_LENGTH_MIN} to ${SECRET_LENGTH_MAX} characters: openssl rand -hex 24 makes some`
    return [variableProblem(variable, message)]
  })
  if (problems.length > 0) throw new ConfigError(problems)
  return new Map(
    named.flatMap(([name, { secretVariable }]) => {
      const secret = secrets.get(secretVariable)
      return secret === undefined ? [] : [[name, secret] as const]
    }),
  )
}
