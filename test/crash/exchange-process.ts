import { SqliteStore } from '../../src/simulator/store/sqlite-store.ts'
import { ExchangeTruth } from '../support/virtual/exchange-truth.ts'

/** The first account of `intentd simulate`. */
export const FIRST_UID = '1000001'

/** @param line what `--print-accounts` says */
export function credentialsFrom(line: string): Readonly<Record<string, string>> {
  const [account] = JSON.parse(line) as { key: string; secret: string; passphrase: string }[]
  if (!account) throw new Error('the exchange has no account')
  const { key, secret, passphrase } = account
  return { INTENTD_API_KEY: key, INTENTD_API_SECRET: secret, INTENTD_API_PASSPHRASE: passphrase }
}

/** The exchange's own books, from its file. */
export function readTruth(file: string): ExchangeTruth {
  const store = new SqliteStore(file)
  const truth = new ExchangeTruth()
  truth.save(store.load() ?? [])
  store.close()
  return truth
}
