/**
 * The exchange credentials, other secrets by the names of their variables, and the only reader of
 * the process environment. They come from a variable (INTENTD_API_KEY), from a file that a variable
 * names (INTENTD_API_KEY_FILE), or from `.env` in the working directory, which the process
 * environment overrides. Never from YAML, never from the command line.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse as parseEnvFile } from 'dotenv'
import { didYouMean } from '../lib/did-you-mean.ts'
import { Secret } from '../lib/secret.ts'
import type { DaemonConfig } from './load-config.ts'
import { ConfigError, type Problem } from './yaml/problem.ts'
import { explainFailure } from './yaml/read-file.ts'

export interface Credentials {
  readonly apiKey: Secret
  readonly apiSecret: Secret
  readonly passphrase: Secret
}

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>

export interface SecretsRequest {
  /** Directory that holds `.env`, and that `_FILE` variables are relative to. */
  readonly cwd: string
  /** The process environment unless a test says otherwise. */
  readonly variables?: Variables
  /** The names of the keys of all accounts of the daemon; undefined for those without a name. */
  readonly keysOfAll?: readonly (string | undefined)[]
}

/** The variables of the credentials; with `_FILE` behind it, the file that holds it. */
const CREDENTIAL_VARIABLES = {
  apiKey: 'INTENTD_API_KEY',
  apiSecret: 'INTENTD_API_SECRET',
  passphrase: 'INTENTD_API_PASSPHRASE',
} as const

/** The variables of an account whose keys have a name: INTENTD_BOB_API_KEY. */
export function credentialVariables(
  keys: string | undefined,
): Readonly<Record<keyof Credentials, string>> {
  if (keys === undefined) return CREDENTIAL_VARIABLES
  const of = (name: keyof Credentials) =>
    CREDENTIAL_VARIABLES[name].replace('INTENTD_', `INTENTD_${keys}_`)
  return { apiKey: of('apiKey'), apiSecret: of('apiSecret'), passphrase: of('passphrase') }
}

const ENV_FILE = '.env'

/** Far above any key, and small enough to read at once. */
const SECRET_BYTES_MAX = 65_536

/** Group and others: only the owner may read a secret. */
const MODE_OTHERS = 0o077
/**
 * For a credential of systemd the group bits show the mask of an access list, which grants the
 * group nothing.
 */
const MODE_OTHERS_CREDENTIAL = 0o007

/** The process environment, for modules that need a variable which is no secret (NOTIFY_SOCKET, NO_COLOR). */
export const processVariables = (): Variables => process.env

export const needsCredentials = ({
  environment,
  exchange,
}: Pick<DaemonConfig, 'environment' | 'exchange'>): boolean =>
  environment !== 'simulator' || exchange.baseUrl !== undefined

/**
 * Reads the credentials; undefined for the simulator inside the daemon, which makes its own.
 * @throws ConfigError with everything that is missing or unsafe.
 */
export function loadCredentials(
  config: Pick<DaemonConfig, 'environment' | 'exchange'> & {
    readonly account?: { readonly keys?: string | undefined }
  },
  request: SecretsRequest,
): Credentials | undefined {
  if (!needsCredentials(config)) return undefined
  const variables = credentialVariables(config.account?.keys)
  const secrets = loadSecrets(Object.values(variables), request)
  const of = (name: keyof Credentials) => secrets.get(variables[name]) ?? new Secret('')
  return { apiKey: of('apiKey'), apiSecret: of('apiSecret'), passphrase: of('passphrase') }
}

/**
 * Variables of the account's keys in which the process environment differs from `.env`, which it
 * overrides.
 */
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

/** The password of the journal on PostgreSQL; with `_FILE` behind it, the file that holds it. */
const JOURNAL_PASSWORD = 'INTENTD_JOURNAL_PASSWORD'

/**
 * The password of the journal's server; undefined if the journal is a file, or none is given: a
 * server may authenticate its users in another way.
 * @throws ConfigError if it is unsafe
 */
export function loadJournalPassword(
  { journal }: Pick<DaemonConfig, 'journal'>,
  request: SecretsRequest,
): Secret | undefined {
  return journal === undefined ? undefined : loadIfGiven(JOURNAL_PASSWORD, request)
}

/** The environment, together with `.env`. */
export function readVariables({ cwd, variables = processVariables() }: SecretsRequest): Variables {
  return { ...readEnvFile(cwd, []), ...dropEmpty(variables) }
}

/**
 * Undefined if it is not set.
 * @throws ConfigError if it is unsafe
 */
export function loadIfGiven(name: string, request: SecretsRequest): Secret | undefined {
  const all = readVariables(request)
  const isGiven = [name, `${name}_FILE`].some((variable) => all[variable] !== undefined)
  return isGiven ? loadSecrets([name], request).get(name) : undefined
}

/** The password of the server through which daemons share the limits of their address. */
const LIMITS_PASSWORD = 'INTENTD_LIMITS_PASSWORD'

/**
 * Undefined if no limits are shared, or none is given.
 * @throws ConfigError if it is unsafe, or the address names a user: without a password it would be
 * ignored
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

/** The password of the server that holds the trials of sweeps for their workers. */
const SWEEP_PASSWORD = 'INTENTD_SWEEP_PASSWORD'

/**
 * Undefined if none is given.
 * @throws ConfigError if it is unsafe
 */
export function loadSweepPassword(request: SecretsRequest): Secret | undefined {
  return loadIfGiven(SWEEP_PASSWORD, request)
}

/**
 * Reads secrets by the names of their variables: one for each name.
 * @throws ConfigError with everything that is missing or unsafe.
 */
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
  // The contents of an unreadable file are not known, so nothing is missing yet.
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

/** A variable with a similar name that no account reads. */
function explainMisspelt(name: string, { variables, keysOfAll }: SecretsReading): string {
  const read = [undefined, ...keysOfAll]
    .flatMap((keys) => Object.values(credentialVariables(keys)))
    .flatMap((each) => [each, `${each}_FILE`])
  const unread = Object.keys(variables).filter((each) => !read.includes(each))
  const near = didYouMean(name, unread)
  return near === undefined ? '' : `; ${near} is set: was that meant?`
}

/** The variables of `.env`; none without that file. */
function readEnvFile(cwd: string, problems: Problem[]): Variables {
  const read = readPrivateFile(resolve(cwd, ENV_FILE))
  if ('failure' in read) {
    if (read.failure !== 'no such file')
      problems.push({ source: ENV_FILE, path: '', message: read.failure })
    return {}
  }
  for (const [index, line] of read.text.split('\n').entries()) {
    // dotenv reads an unquoted # as a comment, and the secret would silently lose its end.
    if (
      !/^\s*(?:export\s+)?INTENTD_(?:[A-Z0-9]+_)?(?:API|ALERT|JOURNAL|LIMITS|PROXY|SWEEP)_\w+\s*=\s*[^\s'"`#][^\s#]*#/.test(
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

/** Reads a small file that only its owner may read. The checks are made on the opened file. */
function readPrivateFile(
  file: string,
  modeOthers = MODE_OTHERS,
): { text: string } | { failure: string } {
  let handle: number | undefined
  try {
    // Without O_NONBLOCK a named pipe in place of the file would block the start for ever.
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = fstatSync(handle)
    if (!stats.isFile()) return { failure: 'not a file' }
    if (stats.size > SECRET_BYTES_MAX) return { failure: `larger than ${SECRET_BYTES_MAX} bytes` }
    // Windows has no such modes: every file would look readable by all.
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
