import { RequestWriter } from '../../src/exchange/client/request-writer.ts'
import { Signer } from '../../src/exchange/client/signer.ts'
import { HeldLease, takeLease, type TakenLease } from '../../src/journal/postgres/lease.ts'
import { schemaSql } from '../../src/journal/postgres/tables.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'
import { Secret } from '../../src/lib/secret.ts'
import { ManualTime } from '../support/manual-time.ts'
import { LeaseMachine } from './lease-machine.ts'
import { evaluateSql, type SqlValue } from './sql-condition.ts'

export interface LeaseReport {
  readonly violations: readonly string[]
  readonly takeovers: number
  readonly acted: number
}

type Row = Readonly<Record<string, unknown>>

const START_AT = Date.UTC(2025, 5, 2, 6)
const TERMS = { lastingMs: 2000, validityMs: 1300 }
const PROCESSES = 3
const LASTS_MS = 120_000
/** In the last part of a world nothing goes wrong. */
const CALM_MS = 30_000
const DISTURBED_EVERY_MS = 1500
const LOOK_MS = 250
const TRADE_MS = 60
/** What a start does before its first record. */
const START_MS_MAX = 1500
/** What one commit is for: so many requests, each signed when the limiter grants it. */
const REQUESTS_MAX = 8
const WAIT_MS_MAX = 120
/** One way, mostly; one in so many is late, and may come when the lease that it was sent under is over. */
const WAY_MS_MAX = 40
const LATE_MS_MAX = [1500, 8000]
const LATE_ONE_IN = 8
/** Where a machine cannot ask for its lease, its way to the exchange is bad too. */
const LATE_ONE_IN_WHEN_CUT = 2
const LOST_ONE_IN = 60

/** The conditions of the product's SQL, which the model of the server reads. */
const SQL = schemaSql('s')
const MAY_WRITE = partOf(SQL, /UPDATE lease SET feed_place = new_place[^;]*?WHERE ([^;]*);/)
const FREE_AT = partOf(SQL, /free_at := (CASE[^;]*END);/)
const RENEWED_IF = /WHERE ([^;]*?) RETURNING/

const KEY = new Secret('key')
const SIGNER = new Signer({ apiKey: KEY, secret: KEY, passphrase: KEY })
const ORDERS = { endpoint: 'batchPlaceOrder', query: '', body: '{}' } as const

/** The row of the lease on the server. */
interface LeaseRow extends Readonly<Record<string, SqlValue>> {
  readonly token: number
  readonly place: string
  readonly feed_place: number
}

const NOBODYS: LeaseRow = {
  ...{ token: 0, place: '', expires_at: 0, validity: 0, released: true },
  ...{ handover_at: null, feed_place: 0, moved_to: null },
}

/** The server of the journal and the exchange, in virtual time. */
class Outside {
  readonly violations: string[] = []
  acted = 0
  lease = NOBODYS
  readonly #time: ManualTime
  readonly #random: Random

  constructor(time: ManualTime, random: Random) {
    this.#time = time
    this.#random = random
  }

  get isCalm(): boolean {
    return this.#time.monotonic() > LASTS_MS - CALM_MS
  }

  /** There, and back again: either may be late, and then the question has failed, done or not. */
  async ask<T>(machine: LeaseMachine, happens: () => T): Promise<T> {
    await this.#travel(this.#time)
    const result = happens()
    await this.#travel(machine)
    return result
  }

  query(machine: LeaseMachine, sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.ask(machine, () => {
      if (machine.isCut) throw new Error('cut off')
      if (sql.includes('take_lease')) return [this.#take(values)]
      const isHeld = this.#is(partOf(sql, RENEWED_IF), { $1: Number(values[0]) })
      if (isHeld) this.lease = { ...this.lease, expires_at: this.#time.now() + Number(values[1]) }
      return isHeld ? [{ wanted: false }] : []
    })
  }

  /** @returns whether it is durable */
  write(token: number, feedPlace: number): boolean {
    const isTaken = this.#is(MAY_WRITE, { held: token, new_place: feedPlace })
    if (!isTaken) return false
    this.lease = { ...this.lease, feed_place: feedPlace }
    if (token !== this.lease.token)
      this.violations.push(`${token} wrote when ${this.lease.token} had the lease`)
    return true
  }

  /** The exchange knows no token, and takes what was signed lately. */
  async send(machine: LeaseMachine, token: number): Promise<void> {
    const signedAt = this.#time.now()
    await this.#travel(this.#time, machine.isCut).catch(() => undefined)
    if (this.#time.now() > signedAt + TERMS.validityMs) return
    this.acted += 1
    if (token < this.lease.token)
      this.violations.push(`an order of ${token} came when ${this.lease.token} had the lease`)
  }

  #is(condition: string, values: Readonly<Record<string, SqlValue>>): boolean {
    return evaluateSql(condition, { ...this.lease, ...values }) === true
  }

  #take([place, , lastingMs, validityMs]: readonly unknown[]): Row {
    const { lease } = this
    const before = Object.entries(lease).map(([name, value]) => [`before.${name}`, value] as const)
    const now = this.#time.now()
    const freeAt = evaluateSql(FREE_AT, { ...Object.fromEntries(before), who_place: String(place) })
    const taken = Number(freeAt) <= now
    if (taken)
      this.lease = {
        ...lease,
        ...{ token: lease.token + 1, place: String(place), released: false, handover_at: null },
        ...{ expires_at: now + Number(lastingMs), validity: Number(validityMs) },
      }
    const { token, feed_place } = this.lease
    return { taken, token, feed_place, abandoned: true, holder: lease.place, free_in_ms: 0 }
  }

  async #travel(timers: Pick<ManualTime, 'after'>, isBad = false): Promise<void> {
    const random = this.#random
    const lateOneIn = isBad ? LATE_ONE_IN_WHEN_CUT : LATE_ONE_IN
    const isLate = !this.isCalm && random.integer(lateOneIn) === 0
    await pause(timers, random.integer(isLate ? (LATE_MS_MAX[random.integer(2)] ?? 0) : WAY_MS_MAX))
    if (!this.isCalm && random.integer(LOST_ONE_IN) === 0) throw new Error('lost')
  }
}

/** Processes that want one lease, on machines that stand still and whose clocks are set: with the lease of the daemon. */
export async function runLeaseWorld(seed: number): Promise<LeaseReport> {
  const time = new ManualTime(START_AT)
  const random = createRandom(`leases ${seed}`)
  const outside = new Outside(time, random)
  const machines = Array.from({ length: PROCESSES }, () => new LeaseMachine(time, random))
  const disturb = (): void => {
    if (outside.isCalm) return
    machines[random.integer(PROCESSES)]?.disturb(random)
    time.after(DISTURBED_EVERY_MS, disturb)
  }
  time.after(DISTURBED_EVERY_MS, disturb)
  for (const [index, machine] of machines.entries())
    void live({ machine, name: String(index), outside, random })
  await time.pass(LASTS_MS - CALM_MS)
  const before = outside.acted
  await time.pass(CALM_MS)
  if (outside.acted === before) outside.violations.push('nobody trades in the calm')
  return { violations: outside.violations, takeovers: outside.lease.token - 1, acted: outside.acted }
}

interface Life {
  readonly machine: LeaseMachine
  readonly name: string
  readonly outside: Outside
  readonly random: Random
}

/** A standby, then a writer until it has lost its lease, then a standby again: at another place, as on another machine. */
async function live(life: Life): Promise<never> {
  const { machine, name, outside } = life
  const connection = {
    query: (sql: string, values: readonly unknown[] = []) => outside.query(machine, sql, values),
    close: () => Promise.resolve(),
  }
  const frame = { connection, schema: 's', clock: machine }
  for (let lives = 0; ;) {
    await pause(machine, LOOK_MS)
    const place = `${name}/${lives}`
    const attempt = await takeLease(frame, { place, name }, TERMS).catch(() => undefined)
    if (attempt?.kind !== 'taken') continue
    lives += 1
    const { lastingMs } = TERMS
    const lease = new HeldLease({ ...frame, holder: name, timers: machine, lastingMs, taken: attempt })
    await trade(lease, attempt, life)
    await lease.close()
  }
}

/** Orders, each durable before it is signed, until the lease is lost or a write has failed. */
async function trade(
  lease: HeldLease,
  { feedPlace }: TakenLease,
  { machine, outside, random }: Life,
): Promise<void> {
  let isLost = false
  lease.onLost(() => (isLost = true))
  const objection = (): string | undefined => lease.objection()
  const writer = new RequestWriter({ signer: SIGNER, locale: 'en-US', platformCoin: undefined, objection })
  await pause(machine, random.integer(START_MS_MAX))
  for (let place = feedPlace + 1; !isLost; place++) {
    const isDurable = await outside.ask(machine, () => outside.write(lease.token, place)).catch(() => false)
    if (!isDurable) return
    for (let left = random.integer(REQUESTS_MAX); left >= 0 && !isLost; left--) {
      await pause(machine, random.integer(WAIT_MS_MAX))
      if (writer.write(ORDERS, () => machine.now()).kind !== 'written') return
      void outside.send(machine, lease.token)
    }
    await pause(machine, TRADE_MS)
  }
}

function pause(timers: Pick<ManualTime, 'after'>, ms: number): Promise<void> {
  return new Promise((resolve) => timers.after(ms, resolve))
}

/** @throws Error when the SQL is another: then the model of the server has to be looked at */
function partOf(sql: string, pattern: RegExp): string {
  const [, part] = pattern.exec(sql) ?? []
  if (part === undefined) throw new Error(`the model of the server does not know this SQL: ${pattern.source}`)
  return part
}
