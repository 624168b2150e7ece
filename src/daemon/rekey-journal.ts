import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Fill } from '../domain/fill.ts'
import { canRest, type Order } from '../domain/order.ts'
import { applyToHolding, FLAT, type Holding } from '../domain/position.ts'
import { accountHoldingOf, knowsFill, openOrdersOf } from '../engine/book/book.ts'
import type { BookedFill } from '../journal/booking.ts'
import type { OpenedJournal } from '../journal/journal.ts'
import { describeKeys } from '../journal/journal-writer.ts'
import { Failure } from '../lib/failure.ts'
import { FINGERPRINT_FILE, readFingerprint } from '../assembly/account/account-keys.ts'
import {
  accepted,
  cancelResting,
  isSame,
  type OfflineAccount,
  type OfflineOptions,
  readHoldings,
  withOfflineAccount,
} from './offline-account.ts'
import { retreatNote } from '../assembly/state/retreat-note.ts'

/** The exchange keeps fills for three months. One fill of recent weeks is enough. */
const FILLS_LOOKED_AT_MS = 30 * 86_400_000
/** A fill may be dated slightly before the end of the last reading. */
const FILLS_BEFORE_MS = 10_000

export interface RekeyOptions extends OfflineOptions {
  readonly isVouched: boolean
}

export interface RekeyReport {
  /** `unproved`: accepted on the operator's word. */
  readonly kind: 'same' | 'taken' | 'unproved'
  readonly compared: readonly string[]
}

/**
 * Accepts a rotated key if it opens the journal's account. Positions and later fills are compared
 * first, then a fill of the journal, and last the names of resting orders, which only a cancel
 * shows; after a difference nothing is cancelled. A flat account without fills and orders is like
 * any other, so the operator must vouch for it.
 * @throws Failure STATE_OF_OTHER_ACCOUNT, REKEY_UNPROVED
 */
export function rekeyJournal(options: RekeyOptions): Promise<RekeyReport> {
  return withOfflineAccount(options, async (account) => {
    const { journal, own, directory } = account
    const noted = journal.writer?.keys ?? readFingerprint(directory)
    if (noted === own.keys) return { kind: 'same', compared: [] }
    const { keys } = options.config.account
    const { held, agrees } = await comparePositions(account, keys)
    const proofs = [
      ...(await compareFill(account, options)),
      ...(await compareNames(account, keys)),
    ]
    const isProved = held > 0 || proofs.length > 0
    if (!isProved && !options.isVouched) throw unproved(account, options.configOption)
    await journal.noteWriter(own)
    rmSync(join(directory, FINGERPRINT_FILE), { force: true })
    return { kind: isProved ? 'taken' : 'unproved', compared: [agrees, ...proofs] }
  })
}

async function comparePositions(
  account: OfflineAccount,
  keys: string | undefined,
): Promise<{ readonly held: number; readonly agrees: string }> {
  const { book, settings } = account
  const { holdings } = await readHoldings(account, keys)
  const since = await readFills(account, book.fillsThroughAt - FILLS_BEFORE_MS, keys)
  for (const [symbol, held] of holdings) {
    const expected = since
      .filter((fill) => fill.symbol === symbol && !knowsFill(book, fill))
      .reduce<Holding>(
        (holding, fill) => applyToHolding(settings.positionMode, holding, fill),
        accountHoldingOf(book, symbol),
      )
    if (!isSame(expected, held))
      throw otherAccount({
        instrument: symbol,
        journal: describe(expected),
        exchange: describe(held),
      })
  }
  const held = [...holdings.values()].filter((holding) => !isSame(holding, FLAT)).length
  const agrees = `positions of ${holdings.size} instruments${held === 0 ? ', all flat' : ''}`
  return { held, agrees }
}

async function compareFill(
  account: OfflineAccount,
  { config }: OfflineOptions,
): Promise<readonly string[]> {
  const { journal, clock, settings } = account
  const last = lastFillOf(journal, clock.now() - FILLS_LOOKED_AT_MS)
  if (last === undefined || !settings.instruments.has(last.symbol)) return []
  const { tradeId, orderId, symbol, at } = last
  const fills = await readFills(account, at - FILLS_BEFORE_MS, config.account.keys)
  const isThere = fills.some((fill) => fill.tradeId === tradeId && fill.orderId === orderId)
  if (!isThere)
    throw otherAccount({ instrument: symbol, journal: `fill ${tradeId}`, exchange: 'no such fill' })
  return [`fill ${tradeId} of ${symbol}`]
}

function lastFillOf(
  journal: Pick<OpenedJournal, 'bookings'>,
  since: number,
): BookedFill | undefined {
  let last: BookedFill | undefined
  for (const row of journal.bookings('fill', { since })) if (row.kind === 'fill') last = row
  return last
}

async function compareNames(
  account: OfflineAccount,
  keys: string | undefined,
): Promise<readonly string[]> {
  const { book, settings, directory } = account
  const compared: string[] = []
  for (const symbol of settings.instruments.keys()) {
    const resting = [...openOrdersOf(book, symbol)].filter(isResting)
    if (resting.length === 0) continue
    // Durable before the first cancel, because the next run must not assume that the orders rest.
    retreatNote(directory, { log: () => undefined }).leave()
    const names = await cancelResting(account, symbol, keys)
    const known = new Set<string>(resting.map(({ terms }) => terms.clientOid))
    const found = names.filter((name) => known.has(name))
    const hasUnknown = names.some((name) => !known.has(name))
    if (hasUnknown || found.length === 0)
      throw otherAccount({
        instrument: symbol,
        journal: `${resting.length} orders rest`,
        exchange: `${names.length} rested, ${found.length} of them of the journal; they are cancelled`,
      })
    compared.push(
      `${found.length} of ${resting.length} names of open orders of ${symbol}, which are cancelled`,
    )
  }
  return compared
}

function isResting({ state, terms }: Order): boolean {
  return state === 'live' && canRest(terms)
}

async function readFills(
  { client, settings }: OfflineAccount,
  sinceAt: number,
  keys: string | undefined,
): Promise<readonly Fill[]> {
  const { productType, positionMode, instruments } = settings
  const { fills } = accepted(
    await client.readFills({ productType, positionMode, instruments, sinceAt }),
    keys,
  )
  return fills
}

function describe({ longLots, shortLots }: Holding): string {
  return `long ${longLots}, short ${shortLots} lots`
}

function unproved({ journal, own }: OfflineAccount, configOption: string): Failure {
  return new Failure({
    code: 'REKEY_UNPROVED',
    sentence: 'nothing shows that this key opens the account of the journal',
    facts: {
      ...(journal.writer && { journal: describeKeys(journal.writer) }),
      configuration: describeKeys(own),
      compared: 'both are flat; the journal has no open order, and no fill of the last 30 days',
    },
    hint:
      'look at the exchange whether the key belongs to the same account; if it does, ' +
      `\`intentd journal rekey${configOption} --unproved\` takes it over on your word`,
  })
}

function otherAccount(facts: Readonly<Record<string, string>>): Failure {
  return new Failure({
    code: 'STATE_OF_OTHER_ACCOUNT',
    sentence: 'the account that this key opens is not the one of the journal, or was traded since',
    facts,
    hint: 'for another account name a state.directory of its own, and on a server a journal.schema; where the journal is an older copy, see `intentd repair --from-exchange`',
  })
}
