/**
 * No other file reads the process environment. A secret comes from a variable (INTENTD_API_KEY), a
 * file that a variable names (INTENTD_API_KEY_FILE), or `.env` in the working directory, which the
 * environment overrides; never from YAML or the command line.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse as parseEnvFile } from 'dotenv'
import { didYouMean } from '../lib/did-you-mean.ts'
import { Secret } from '../lib/secret.ts'
import type { DaemonConfig } from './load-config.ts'
import { ConfigError, type Problem } from './yaml/problem.ts'
import { explainFailure } from './yaml/checked-file.ts'

export interface ApiCredentials {
  readonly apiKey: Secret
  readonly apiSecret: Secret
  readonly passphrase: Secret
}

export type Variables = Readonly<Record<string, string | undefined>>

export interface SecretsRequest {
  /** The directory of `.env`; paths in `_FILE` variables are relative to it. */
  readonly cwd: string
  readonly variables?: Variables
  readonly keysOfAll?: readonly (string | undefined)[]
}

const CREDENTIAL_VARIABLES = {
  apiKey: 'INTENTD_API_KEY',
  apiSecret: 'INTENTD_API_SECRET',
  passphrase: 'INTENTD_API_PASSPHRASE',
} as const

export function credentialVariables(
  keys: string | undefined,
): Readonly<Record<keyof ApiCredentials, string>> {
  if (keys === undefined) return CREDENTIAL_VARIABLES
  const of = (name: keyof ApiCredentials) =>
    CREDENTIAL_VARIABLES[name].replace('INTENTD_', `INTENTD_${keys}_`)
  return { apiKey: of('apiKey'), apiSecret: of('apiSecret'), passphrase: of('passphrase') }
}

const ENV_FILE = '.env'

const SECRET_BYTES_MAX = 65_536

const MODE_OTHERS = 0o077
/** A systemd credential's group bits show an access list's mask, which grants nothing. */
const MODE_OTHERS_CREDENTIAL = 0o007

export const processVariables = (): Variables => process.env

export const needsCredentials = ({
  environment,
  exchange,
}: Pick<DaemonConfig, 'environment' | 'exchange'>): boolean =>
  environment !== 'simulator' || exchange.baseUrl !== undefined

/**
 * Undefined for the embedded simulator.
 * @throws ConfigError with everything missing or unsafe
 */
export function loadCredentials(
  config: Pick<DaemonConfig, 'environment' | 'exchange'> & {
    readonly account?: { readonly keys?: string | undefined }
  },
  request: SecretsRequest,
): ApiCredentials | undefined {
  if (!needsCredentials(config)) return undefined
  const variables = credentialVariables(config.account?.keys)
  const secrets = loadSecrets(Object.values(variables), request)
  const of = (name: keyof ApiCredentials) => secrets.get(variables[name]) ?? new Secret('')
  return { apiKey: of('apiKey'), apiSecret: of('apiSecret'), passphrase: of('passphrase') }
}

export function listOverriddenKeys(
  { account }: Pick<DaemonConfig, 'account'>,
  { cwd, variables = processVariables() }: SecretsRequest,
): readonly string[] {
  const inFile = readEnvFile(cwd, [])
  const given = dropEmpty(variables)
  return Object.values(credentialVariables(account.keys))
    .filter((name) => [name, `${name}_FILE`].some((each) => inFile[each] !== undefined))
    .flatMap((name) => [name, `${name}_FILE`])
    .filter((name) => given[name] !== undefined && given[name] !== inFile[name])
}

const JOURNAL_PASSWORD = 'INTENTD_JOURNAL_PASSWORD'

/**
 * Undefined for a journal in a file, and without a password.
 * @throws ConfigError if it is unsafe
 */
export function loadJournalPassword(
  { journal }: Pick<DaemonConfig, 'journal'>,
  request: SecretsRequest,
): Secret | undefined {
  return journal === undefined ? undefined : loadIfGiven(JOURNAL_PASSWORD, request)
}

export function readVariables({ cwd, variables = processVariables() }: SecretsRequest): Variables {
  return { ...readEnvFile(cwd, []), ...dropEmpty(variables) }
}

/** @throws ConfigError if it is unsafe */
export function loadIfGiven(name: string, request: SecretsRequest): Secret | undefined {
  const all = readVariables(request)
  const isGiven = [name, `${name}_FILE`].some((variable) => all[variable] !== undefined)
  return isGiven ? loadSecrets([name], request).get(name) : undefined
}

const LIMITS_PASSWORD = 'INTENTD_LIMITS_PASSWORD'

/**
 * Undefined if no limits are shared, or no password is given.
 * @throws ConfigError if it is unsafe, or the address names a user without a password, which the
 * client would ignore
 */
export function loadLimitsPassword(
  { exchange }: Pick<DaemonConfig, 'exchange'>,
  request: SecretsRequest,
): Secret | undefined {
  if (exchange.shared === undefined) return undefined
  const password = loadIfGiven(LIMITS_PASSWORD, request)
  const { username } = new URL(exchange.shared.redis)
  if (password !== undefined || username === '') return password
  const message = `exchange.shared.redis names the user ${username}: set the password of that user`
  throw new ConfigError([variableProblem(LIMITS_PASSWORD, message)])
}

const SWEEP_PASSWORD = 'INTENTD_SWEEP_PASSWORD'

export function loadSweepPassword(request: SecretsRequest): Secret | undefined {
  return loadIfGiven(SWEEP_PASSWORD, request)
}

/** @throws ConfigError with everything missing or unsafe */
export function loadSecrets(
  names: readonly string[],
  { cwd, variables = processVariables(), keysOfAll = [] }: SecretsRequest,
): ReadonlyMap<string, Secret> {
  const problems: Problem[] = []
  if (variables['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    const message =
      'remove it: whoever is called could be anybody when certificates are not checked'
    problems.push(variableProblem('NODE_TLS_REJECT_UNAUTHORIZED', message))
  }
  const all = { ...readEnvFile(cwd, problems), ...dropEmpty(variables) }
  // An unreadable file may contain the missing secrets.
  if (problems.some(({ source, line }) => source === ENV_FILE && line === undefined))
    throw new ConfigError(problems)
  const secrets = new Map<string, Secret>()
  for (const name of names) {
    const secret = readSecret(name, { variables: all, cwd, keysOfAll, problems })
    if (secret) secrets.set(name, secret)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return secrets
}

interface SecretsReading extends Required<SecretsRequest> {
  readonly problems: Problem[]
}

function readSecret(name: string, reading: SecretsReading): Secret | undefined {
  const { variables, cwd, problems } = reading
  const fileName = `${name}_FILE`
  const direct = variables[name]
  const file = variables[fileName]
  if (direct !== undefined && file !== undefined) {
    problems.push(variableProblem(name, `set either this or ${fileName}, not both`))
    return undefined
  }
  if (direct === undefined && file === undefined) {
    const missing = `missing: set it in the environment or in ${ENV_FILE}, or set ${fileName}`
    problems.push(variableProblem(name, `${missing}${explainMisspelt(name, reading)}`))
    return undefined
  }
  const read =
    file === undefined ? { text: direct ?? '' } : readKeyFile(resolve(cwd, file), variables)
  if ('failure' in read) {
    problems.push(variableProblem(fileName, read.failure))
    return undefined
  }
  const text = read.text.trim()
  if (/^[\x21-\x7e]+$/.test(text)) return new Secret(text)
  problems.push(
    variableProblem(
      file === undefined ? name : fileName,
      'expected printable characters without spaces',
    ),
  )
  return undefined
}

function explainMisspelt(name: string, { variables, keysOfAll }: SecretsReading): string {
  const read = [undefined, ...keysOfAll]
    .flatMap((keys) => Object.values(credentialVariables(keys)))
    .flatMap((each) => [each, `${each}_FILE`])
  const unread = Object.keys(variables).filter((each) => !read.includes(each))
  const near = didYouMean(name, unread)
  return near === undefined ? '' : `; ${near} is set: was that meant?`
}

function readEnvFile(cwd: string, problems: Problem[]): Variables {
  const read = readPrivateFile(resolve(cwd, ENV_FILE))
  if ('failure' in read) {
    if (read.failure !== 'no such file')
      problems.push({ source: ENV_FILE, path: '', message: read.failure })
    return {}
  }
  for (const [index, line] of read.text.split('\n').entries()) {
    // dotenv takes an unquoted # as a comment, which would truncate the secret.
    if (
      !/^\s*(?:export\s+)?INTENTD_(?:[A-Z0-9]+_)?(?:API|ALERT|CHAT|SIGNAL|JOURNAL|LIMITS|PROXY|SWEEP)_\w+\s*=\s*[^\s'"`#][^\s#]*#/.test(
        line,
      )
    )
      continue
    const message = 'a value with # in it needs quotes, or everything from the # on is lost'
    problems.push({ source: ENV_FILE, line: index + 1, column: 1, path: '', message })
  }
  return dropEmpty(parseEnvFile(read.text))
}

function readKeyFile(file: string, variables: Variables): ReturnType<typeof readPrivateFile> {
  const handedOver = variables['CREDENTIALS_DIRECTORY']
  const isHandedOver = handedOver !== undefined && dirname(file) === resolve(handedOver)
  return readPrivateFile(file, isHandedOver ? MODE_OTHERS_CREDENTIAL : MODE_OTHERS)
}

/** Only the owner may read the file. Checks apply to the opened file. */
function readPrivateFile(
  file: string,
  modeOthers = MODE_OTHERS,
): { text: string } | { failure: string } {
  let handle: number | undefined
  try {
    // Without O_NONBLOCK a named pipe would block for ever.
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = fstatSync(handle)
    if (!stats.isFile()) return { failure: 'not a file' }
    if (stats.size > SECRET_BYTES_MAX) return { failure: `larger than ${SECRET_BYTES_MAX} bytes` }
    // On Windows every file would look readable by all.
    if (process.platform !== 'win32' && (stats.mode & modeOthers) !== 0) {
      return { failure: 'others may read this file: run chmod 600 on it' }
    }
    return { text: readFileSync(handle, 'utf8') }
  } catch (error) {
    return { failure: explainFailure(error) }
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}

const dropEmpty = (variables: Variables): Variables =>
  Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  )

export const variableProblem = (name: string, message: string): Problem => ({
  source: name,
  path: '',
  message,
})
