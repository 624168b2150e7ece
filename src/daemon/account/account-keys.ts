import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { type Credentials, credentialVariables } from '../../config/secrets.ts'
import type { ConfigError } from '../../config/yaml/problem.ts'
import type { RefusedAnswer, UnknownAnswer } from '../../domain/answer.ts'
import type { ExchangeAccess } from '../../exchange/client/exchange-access.ts'
import { sha256 } from '../../lib/digest.ts'
import { writeDurably } from '../../lib/durable-file.ts'
import { Failure } from '../../lib/failure.ts'

/** Enough of a digest to tell keys apart; the key cannot be found from it (SEC1). */
const DIGEST_LENGTH = 32

/** In the state directory: whose state it is. */
const FINGERPRINT_FILE = 'account.fingerprint'

/** What a refusal says of the three; an answer that names none says that the rights or the address are wrong. */
const WRONG: Readonly<Record<string, keyof Credentials>> = {
  40001: 'apiKey',
  40002: 'apiSecret',
  40006: 'apiKey',
  40009: 'apiSecret',
  40011: 'passphrase',
  40012: 'passphrase',
  40036: 'passphrase',
  40037: 'apiKey',
}

/** The account outside; undefined for the simulator inside the daemon, and where there is no key. */
export function accessTo(
  { exchange: { baseUrl } }: Pick<DaemonConfig, 'exchange'>,
  credentials: Credentials | undefined,
): ExchangeAccess | undefined {
  if (baseUrl === undefined || credentials === undefined) return undefined
  const { apiKey, apiSecret, passphrase } = credentials
  return { baseUrl, credentials: { apiKey, secret: apiSecret, passphrase } }
}

/** Names an exchange and a key without saying which. */
export function fingerprintOf({ baseUrl, credentials }: ExchangeAccess): string {
  const account = sha256(['account', new URL(baseUrl).origin, credentials.apiKey.reveal()])
  return account.toString('hex').slice(0, DIGEST_LENGTH)
}

/**
 * The refusal as an error that names the variable to put right.
 * @param keys Their name, of an account that has one (`account.keys`).
 */
export function keysRefused({ code, message }: RefusedAnswer, keys: string | undefined): Failure {
  const variables = credentialVariables(keys)
  const wrong = WRONG[code]
  const variable = wrong && variables[wrong]
  return new Failure({
    code: 'CREDENTIALS_REFUSED',
    sentence:
      variable === undefined
        ? 'the exchange refuses the key: its rights, or the address of this machine'
        : `the exchange refuses ${variable}`,
    facts: { answer: `${code} ${message}`, ...(variable !== undefined && { variable }) },
    hint:
      variable === undefined
        ? `let the key of ${variables.apiKey} read and trade, from this machine's address`
        : `correct ${variable} where it is set: in the environment, in .env or in the file of ${variable}_FILE`,
  })
}

/** What refuses private calls, the exchange or something in front of it, as an error that says what to do. */
export function toRefusal(
  answer: RefusedAnswer | UnknownAnswer,
  { account, exchange: { baseUrl } }: Pick<DaemonConfig, 'account' | 'exchange'>,
): Failure {
  if (answer.kind === 'refused') return keysRefused(answer, account.keys)
  return new Failure({
    code: 'CALLS_FORBIDDEN',
    sentence: `private calls are answered with HTTP ${answer.status}, and not by the exchange itself`,
    facts: { answer: answer.message, ...(baseUrl !== undefined && { exchange: baseUrl }) },
    hint:
      "a proxy, a firewall or the exchange's gateway refuses them: " +
      "let this machine's address reach the exchange, and look whether the key is bound to another address",
  })
}

/** What is wrong with where the keys of an account should be. */
export function keysMissing({ problems }: ConfigError): Failure {
  return new Failure({
    code: 'CREDENTIALS_MISSING',
    sentence: `keys of this account cannot be read: ${problems.map(({ source }) => source).join(', ')}`,
    facts: Object.fromEntries(problems.map(({ source, message }) => [source, message])),
    hint: 'put them where the other keys are, in .env or in files, and reload',
  })
}

/**
 * A state belongs to one account: its orders and positions are nobody else's. Once the exchange has taken the keys
 * they are noted; other keys are refused then.
 * @throws Failure STATE_OF_OTHER_KEYS
 */
export function assertOwnState(
  directory: string,
  access: ExchangeAccess,
  { keys, isAccepted }: { readonly keys: string | undefined; readonly isAccepted: boolean },
): void {
  const file = join(directory, FINGERPRINT_FILE)
  const fingerprint = fingerprintOf(access)
  const noted = readFingerprint(file)
  if (noted === undefined && isAccepted) return writeDurably(file, `${fingerprint}\n`)
  if (noted === undefined || noted === fingerprint) return
  throw new Failure({
    code: 'STATE_OF_OTHER_KEYS',
    sentence: `the state directory was made with a key other than that of ${credentialVariables(keys).apiKey}, or at another exchange`,
    facts: { directory, exchange: access.baseUrl },
    hint:
      'for another account name a state.directory of its own; ' +
      `for a new key of the same account remove ${file} and start again`,
  })
}

function readFingerprint(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
