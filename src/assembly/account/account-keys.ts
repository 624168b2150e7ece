import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { type ApiCredentials, credentialVariables } from '../../config/secrets.ts'
import type { ConfigError } from '../../config/yaml/problem.ts'
import type { RefusedAnswer, UnknownAnswer } from '../../domain/answer.ts'
import type { ExchangeAccess } from '../../exchange/client/request-writer.ts'
import type { OpenedJournal } from '../../journal/journal.ts'
import { assertKeys, type JournalWriter } from '../../journal/journal-writer.ts'
import { sha256 } from '../../lib/digest.ts'
import { Failure } from '../../lib/failure.ts'

/** Tells keys apart without revealing them (SEC1). */
const DIGEST_LENGTH = 32

export const FINGERPRINT_FILE = 'account.fingerprint'

/** These codes mean wrong keys; others mean missing rights or a wrong address. */
const WRONG: Readonly<Record<string, keyof ApiCredentials>> = {
  40001: 'apiKey',
  40002: 'apiSecret',
  40006: 'apiKey',
  40009: 'apiSecret',
  40011: 'passphrase',
  40012: 'passphrase',
  40036: 'passphrase',
  40037: 'apiKey',
}

export function accessTo(
  { exchange: { baseUrl } }: Pick<DaemonConfig, 'exchange'>,
  credentials: ApiCredentials | undefined,
): ExchangeAccess | undefined {
  if (baseUrl === undefined || credentials === undefined) return undefined
  const { apiKey, apiSecret, passphrase } = credentials
  return { baseUrl, credentials: { apiKey, secret: apiSecret, passphrase } }
}

export function fingerprintOf({ baseUrl, credentials }: ExchangeAccess): string {
  const account = sha256(['account', new URL(baseUrl).origin, credentials.apiKey.reveal()])
  return account.toString('hex').slice(0, DIGEST_LENGTH)
}

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

/** For private calls that the exchange, or something in front of it, refuses. */
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

export function keysMissing({ problems }: ConfigError): Failure {
  return new Failure({
    code: 'CREDENTIALS_MISSING',
    sentence: `keys of this account cannot be read: ${problems.map(({ source }) => source).join(', ')}`,
    facts: Object.fromEntries(problems.map(({ source, message }) => [source, message])),
    hint: 'put them where the other keys are, in .env or in files, and reload',
  })
}

/** Called once the exchange has accepted the keys. @throws Failure STATE_OF_OTHER_KEYS */
export async function noteOwnState(
  journal: Pick<OpenedJournal, 'writer' | 'noteWriter'>,
  own: JournalWriter,
  { directory, isAccepted }: { readonly directory: string; readonly isAccepted: boolean },
): Promise<void> {
  const noted = journal.writer?.keys ?? readFingerprint(directory)
  assertKeys(directory, { keys: noted, by: journal.writer?.by ?? 'an earlier version' }, own)
  await journal.noteWriter(isAccepted ? own : { ...own, keys: noted })
  if (isAccepted) rmSync(join(directory, FINGERPRINT_FILE), { force: true })
}

export function readFingerprint(directory: string): string | undefined {
  try {
    return readFileSync(join(directory, FINGERPRINT_FILE), 'utf8').trim() || undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
