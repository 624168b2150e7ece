import { hash } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  type JournalRecord,
  keysUsedBy,
  type StrategyKey,
  type UsedKey,
} from '../../domain/record.ts'
import { addDigest, NO_ROWS, type RowsSum, sumToText, takeDigest } from './rows-sum.ts'
import type { BookRow, RowChange } from '../journal.ts'

/** With a million keys a look-up reads a bucket of some fifteen rows. */
const BUCKETS = 65_536

export interface BucketSums {
  readonly buckets: ReadonlyMap<number, RowsSum>
  readonly sum: RowsSum
}

export const NO_KEYS: BucketSums = { buckets: new Map(), sum: NO_ROWS }

export function readBuckets(database: DatabaseSync): BucketSums {
  const buckets = new Map<number, RowsSum>()
  let [rows, sum] = [0, 0n]
  for (const row of database.prepare('SELECT bucket, keys, sum FROM key_buckets').iterate()) {
    const bucket = { rows: Number(row['keys']), sum: BigInt(`0x${String(row['sum'])}`) }
    buckets.set(Number(row['bucket']), bucket)
    rows += bucket.rows
    sum += bucket.sum
  }
  return { buckets, sum: { rows, sum: BigInt.asUintN(128, sum) } }
}

/** Yields all undamaged keys, because a used key stays used. */
export function* salvageKeys(database: DatabaseSync, firstLink: string): Generator<UsedKey> {
  for (const { stored } of readProved(database, firstLink)) yield toUsedKey(stored)
}

export function areKeysWhole(database: DatabaseSync, firstLink: string): boolean {
  const { buckets } = readBuckets(database)
  const found = new Map<number, RowsSum>()
  for (const { stored, digest } of readProved(database, firstLink)) {
    found.set(stored.bucket, addDigest(found.get(stored.bucket) ?? NO_ROWS, digest))
  }
  const numbers = new Set([...buckets.keys(), ...found.keys()])
  return [...numbers].every((bucket) => isSame(buckets.get(bucket), found.get(bucket)))
}

function* readProved(
  database: DatabaseSync,
  firstLink: string,
): Generator<{ readonly stored: StoredKey; readonly digest: string }> {
  for (const row of database.prepare('SELECT bucket, name, at, digest FROM used_keys').iterate()) {
    const stored = {
      bucket: Number(row['bucket']),
      name: String(row['name']),
      at: Number(row['at']),
    }
    const digest = digestOf(firstLink, stored)
    if (digest === row['digest']) yield { stored, digest }
  }
}

interface StoredKey {
  readonly bucket: number
  readonly name: string
  /** Unix ms, our clock. */
  readonly at: number
}

/**
 * Keeps used keys for longer than the book keeps their orders. A checkpoint stores those of the
 * records before it; later ones are in memory.
 *
 * A lost key could place an order twice, so it must also be proved that a key is *not* there. Keys
 * lie in buckets by digest, each with a sum, and a look-up checks a whole bucket.
 */
export class KeyTable {
  readonly #firstLink: string
  readonly #buckets: Map<number, RowsSum>
  readonly #recent = new MemoryKeys()
  readonly #statements: Readonly<
    Record<'read' | 'one' | 'old' | 'insert' | 'delete' | 'put', StatementSync>
  >
  #sum: RowsSum

  constructor(database: DatabaseSync, firstLink: string, found: BucketSums) {
    this.#firstLink = firstLink
    this.#buckets = new Map(found.buckets)
    this.#sum = found.sum
    this.#statements = {
      read: database.prepare('SELECT bucket, name, at, digest FROM used_keys WHERE bucket = ?'),
      one: database.prepare('SELECT at FROM used_keys WHERE bucket = ? AND name = ?'),
      old: database.prepare('SELECT name, at FROM used_keys WHERE bucket = ? AND at < ?'),
      insert: database.prepare(
        'INSERT INTO used_keys (bucket, name, at, digest) VALUES (?, ?, ?, ?)',
      ),
      delete: database.prepare('DELETE FROM used_keys WHERE bucket = ? AND name = ?'),
      put: database.prepare('REPLACE INTO key_buckets (bucket, keys, sum) VALUES (?, ?, ?)'),
    }
  }

  get sum(): RowsSum {
    return this.#sum
  }

  add(record: JournalRecord): void {
    this.#recent.add(record)
  }

  put(keys: Iterable<UsedKey>): void {
    for (const key of keys) this.#recent.put(key)
  }

  /** @throws RangeError for a damaged bucket */
  find(key: StrategyKey): UsedKey | undefined {
    const recent = this.#recent.find(key)
    if (recent) return recent
    const name = nameOf(key)
    const bucket = bucketOf(this.#firstLink, name)
    if (this.#bucket(bucket).rows === 0) {
      this.#assertEmpty(bucket)
      return undefined
    }
    const stored = this.#read(bucket).find((row) => row.name === name)
    return stored && toUsedKey(stored)
  }

  get waiting(): number {
    return this.#recent.size
  }

  /**
   * Stores the keys that have waited longest. A bucket that gets one drops keys used before
   * `before` (Unix ms). Needs the transaction that writes the sum.
   */
  save(before: number, keysMax = Number.POSITIVE_INFINITY): void {
    let count = 0
    for (const used of this.#recent.values()) {
      if (count++ >= keysMax) break
      this.#save(used, before)
      this.#recent.delete(used)
    }
  }

  /** The bucket is not checked here: a look-up will find damage in it. */
  #save(used: UsedKey, before: number): void {
    const name = nameOf(used)
    const bucket = bucketOf(this.#firstLink, name)
    for (const old of this.#statements.old.all(bucket, before)) {
      this.#remove({ bucket, name: String(old['name']), at: Number(old['at']) })
    }
    if (this.#statements.one.get(bucket, name) === undefined)
      this.#insert({ bucket, name, at: Math.round(used.at) })
  }

  #insert(stored: StoredKey): void {
    const { bucket, name, at } = stored
    const digest = digestOf(this.#firstLink, stored)
    this.#statements.insert.run(bucket, name, at, digest)
    this.#sum = addDigest(this.#sum, digest)
    this.#putBucket(bucket, addDigest(this.#bucket(bucket), digest))
  }

  #remove(stored: StoredKey): void {
    const { bucket, name } = stored
    const digest = digestOf(this.#firstLink, stored)
    this.#statements.delete.run(bucket, name)
    this.#sum = takeDigest(this.#sum, digest)
    this.#putBucket(bucket, takeDigest(this.#bucket(bucket), digest))
  }

  #bucket(bucket: number): RowsSum {
    return this.#buckets.get(bucket) ?? NO_ROWS
  }

  #putBucket(bucket: number, sum: RowsSum): void {
    this.#buckets.set(bucket, sum)
    this.#statements.put.run(bucket, sum.rows, sumToText(sum))
  }

  /**
   * Reads a bucket that counts as empty, because the seal covers only the total of all buckets: a
   * valid row in it shows that its number was changed.
   */
  #assertEmpty(bucket: number): void {
    const isProved = this.#statements.read
      .all(bucket)
      .some(
        ({ name, at, digest }) => digestOf(this.#firstLink, toStored(bucket, name, at)) === digest,
      )
    if (isProved) throw new RangeError(`bucket ${bucket} of the used keys is not as it was written`)
  }

  #read(bucket: number): readonly StoredKey[] {
    const rows = this.#statements.read.all(bucket)
    const keys = rows.map(({ name, at }) => toStored(bucket, name, at))
    const sum = keys.reduce(
      (total, stored) => addDigest(total, digestOf(this.#firstLink, stored)),
      NO_ROWS,
    )
    if (isSame(sum, this.#buckets.get(bucket))) return keys
    throw new RangeError(`bucket ${bucket} of the used keys is not as it was written`)
  }
}

function toStored(bucket: number, name: unknown, at: unknown): StoredKey {
  return { bucket, name: String(name), at: Number(at) }
}

function bucketOf(firstLink: string, name: string): number {
  return Number.parseInt(hash('sha256', `${firstLink} ${name}`, 'hex').slice(0, 8), 16) % BUCKETS
}

function digestOf(firstLink: string, { bucket, name, at }: StoredKey): string {
  return hash('sha256', `${firstLink} ${bucket} ${at} ${name}`, 'hex').slice(0, 32)
}

function isSame(one: RowsSum = NO_ROWS, other: RowsSum = NO_ROWS): boolean {
  return one.rows === other.rows && one.sum === other.sum
}

const PURPOSES = ['place', 'call', 'command'] as const satisfies StrategyKey['purpose'][]

function toUsedKey({ name, at }: StoredKey): UsedKey {
  const [purpose = '', strategyId = '', key = ''] = name.split('|')
  return { purpose: PURPOSES.find((one) => one === purpose) ?? 'place', strategyId, key, at }
}

export class MemoryRows {
  readonly #values = new Map<string, Map<string, string>>()

  constructor(rows: Iterable<RowChange> = []) {
    this.apply(rows)
  }

  apply(changes: Iterable<RowChange>): void {
    for (const { name, key, value } of changes) {
      const values = this.#values.get(name) ?? new Map<string, string>()
      this.#values.set(name, values)
      if (value === undefined) values.delete(key)
      else values.set(key, value)
    }
  }

  list(): readonly BookRow[] {
    return [...this.#values].flatMap(([name, values]) =>
      Array.from(values, ([key, value]) => ({ name, key, value })),
    )
  }
}

export class MemoryKeys {
  readonly #keys = new Map<string, UsedKey>()

  add(record: JournalRecord): void {
    for (const used of keysUsedBy(record)) this.put(used)
  }

  put(used: UsedKey): void {
    const name = nameOf(used)
    if (!this.#keys.has(name)) this.#keys.set(name, used)
  }

  find(key: StrategyKey): UsedKey | undefined {
    return this.#keys.get(nameOf(key))
  }

  get size(): number {
    return this.#keys.size
  }

  /** The key that is known longest comes first. The visited one may be deleted. */
  values(): Iterable<UsedKey> {
    return this.#keys.values()
  }

  delete(key: StrategyKey): void {
    this.#keys.delete(nameOf(key))
  }
}

/** Neither a purpose nor an id contains a bar. */
function nameOf({ purpose, strategyId, key }: StrategyKey): string {
  return `${purpose}|${strategyId}|${key}`
}
