import type { DaemonConfig } from '../config/load-config.ts'
import type { ApiCredentials } from '../config/secrets.ts'
import { type Answer, refusesKeys } from '../domain/answer.ts'
import { FLAT, type Holding, type PositionReading } from '../domain/position.ts'
import { rebuildBook } from '../engine/book/book-rows.ts'
import { TrustedClock } from '../exchange/clock/exchange-clock.ts'
import type { ExchangeClient } from '../exchange/exchange-client.ts'
import { PRIORITY } from '../exchange/limiter/grant.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Clock } from '../lib/clock.ts'
import { Failure } from '../lib/failure.ts'
import type { Secret } from '../lib/secret.ts'
import type { Timers } from '../lib/timers.ts'
import type { BatchResult } from '../protocol/values.ts'
import type { OpenAccount } from '../assembly/account/account-setup.ts'
import { accessTo, keysRefused } from '../assembly/account/account-keys.ts'
import { holdAccount } from '../assembly/account/account-lock.ts'
import { toEngineSettings } from '../assembly/settings/engine-settings.ts'
import { createCalls } from '../assembly/account/exchange-calls.ts'
import { ownWriter } from '../assembly/account/own-writer.ts'
import { openJournal } from '../assembly/state/open-journal.ts'
import { describeHolder, holdDirectory } from '../assembly/state/state-directory.ts'

export interface OfflineOptions {
  readonly config: DaemonConfig
  readonly directory: string
  readonly credentials: ApiCredentials | undefined
  readonly password: Secret | undefined
  readonly version: string
  readonly clock: Clock
  readonly timers: Timers
  readonly configOption: string
}

export interface OfflineAccount extends Pick<
  OpenAccount,
  'directory' | 'journal' | 'book' | 'settings'
> {
  readonly own: JournalWriter
  readonly client: ExchangeClient
  readonly clock: Clock
}

const CANCELS_MAX = 10

/**
 * Locks out other daemons. The caller must judge the keys that are noted in the journal.
 * @throws Failure STATE_HELD, ACCOUNT_HELD, DAEMON_EXCHANGE_MISSING, and those of opening a journal
 */
export async function withOfflineAccount<Result>(
  options: OfflineOptions,
  work: (account: OfflineAccount) => Promise<Result>,
): Promise<Result> {
  const { config, directory, credentials, timers } = options
  const access = accessTo(config, credentials)
  if (access === undefined) throw exchangeMissing(config.file)
  const holder = describeHolder(config.name, options.clock.now())
  const lock = holdDirectory(directory, holder)
  try {
    const held = holdAccount({ access, holder, onUnlocked: () => undefined })
    try {
      const logger = { log: () => undefined }
      const journal = await openJournal({ ...options, logger, keepSince: () => 0 })
      const trusted = new TrustedClock(options.clock)
      const calls = createCalls({ config, access, isEmbedded: false, logger, trusted, timers })
      try {
        const run = {
          salt: journal.salt,
          version: options.version,
          embedded: false,
          shown: new Map(),
        }
        const settings = toEngineSettings(config, run)
        const book = rebuildBook(journal.load(), settings.positionMode)
        const own = ownWriter(config, { directory, access, now: options.clock.now() })
        return await work({
          directory,
          journal,
          book,
          settings,
          own,
          client: calls.client,
          clock: trusted.clock,
        })
      } finally {
        await calls.limiter.stop()
        await calls.client.close()
        await journal.close()
      }
    } finally {
      held.release()
    }
  } finally {
    lock.release()
  }
}

export async function readHoldings(
  { client, settings }: Pick<OfflineAccount, 'client' | 'settings'>,
  keys: string | undefined,
): Promise<{ readonly holdings: ReadonlyMap<string, Holding>; readonly exchangeAt: number }> {
  const rounds: ReadonlyMap<string, Holding>[] = []
  let exchangeAt = 0
  while (rounds.length < 2) {
    const holdings = new Map<string, Holding>()
    for (const instrument of settings.instruments.values()) {
      const reading = accepted<PositionReading>(await client.readPosition({ instrument }), keys)
      holdings.set(instrument.symbol, toHolding(reading))
      if (rounds.length === 0 && exchangeAt === 0) exchangeAt = reading.exchangeTime
    }
    rounds.push(holdings)
  }
  const [first = new Map<string, Holding>(), second = new Map<string, Holding>()] = rounds
  const moved = [...first].find(([symbol, holding]) => !isSame(holding, second.get(symbol)))
  if (moved === undefined) return { holdings: first, exchangeAt }
  throw new Failure({
    code: 'ACCOUNT_MOVES',
    sentence: 'two readings of a position differ, so somebody trades the account',
    facts: { instrument: moved[0] },
    hint: 'stop whatever trades it, and repeat the command',
  })
}

/** Cancels until nothing is found. @returns our clientOids that were found */
export async function cancelResting(
  { client, settings }: Pick<OfflineAccount, 'client' | 'settings'>,
  symbol: string,
  keys: string | undefined,
): Promise<readonly string[]> {
  const instrument = settings.instruments.get(symbol)
  if (instrument === undefined) return []
  const { productType, marginCoin } = instrument
  const names: string[] = []
  for (let count = 0; count < CANCELS_MAX; count++) {
    const body = { symbol, productType, marginCoin }
    const answer = await client.call('cancelAllOrders', body, { priority: PRIORITY.reducesRisk })
    if (answer.kind === 'refused' && answer.topic === 'orderGone') return names
    const { successList, failureList } = accepted<BatchResult>(answer, keys)
    names.push(...successList.flatMap(({ clientOid }) => clientOid ?? []))
    if (successList.length + failureList.length === 0) return names
  }
  throw new Failure({
    code: 'ACCOUNT_MOVES',
    sentence: 'each cancel-all finds orders on an instrument, so somebody trades the account',
    facts: { instrument: symbol },
    hint: 'stop whatever trades it, and repeat the command',
  })
}

/** @throws Failure CREDENTIALS_REFUSED, EXCHANGE_UNCLEAR */
export function accepted<Data>(answer: Answer<Data>, keys: string | undefined): Data {
  if (answer.kind === 'accepted') return answer.data
  if (refusesKeys(answer)) throw keysRefused(answer, keys)
  throw new Failure({
    code: 'EXCHANGE_UNCLEAR',
    sentence: 'the exchange did not answer clearly',
    facts: { answer: `${answer.code} ${answer.message}`.trim() },
    hint: 'nothing was changed here; repeat the command',
  })
}

export function isSame(one: Holding | undefined, other: Holding | undefined): boolean {
  return (
    (one ?? FLAT).longLots === (other ?? FLAT).longLots &&
    (one ?? FLAT).shortLots === (other ?? FLAT).shortLots
  )
}

function toHolding({ rows }: PositionReading): Holding {
  const lotsOf = (side: 'long' | 'short'): number =>
    rows.filter(({ holdSide }) => holdSide === side).reduce((sum, { lots }) => sum + lots, 0)
  return { longLots: lotsOf('long'), shortLots: lotsOf('short') }
}

function exchangeMissing(file: string): Failure {
  return new Failure({
    code: 'DAEMON_EXCHANGE_MISSING',
    sentence:
      'this configuration trades inside the daemon, so there is no exchange to compare with',
    facts: { file },
    hint: 'name the configuration of the account with --config',
  })
}
