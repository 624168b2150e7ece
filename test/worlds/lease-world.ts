import { HeldLease, takeLease } from '../../src/journal/postgres/lease.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'
import { ManualTime } from '../support/manual-time.ts'
import { LeaseMachine } from './lease-machine.ts'

/** Errors that could be made, each of which a world must notice. */
export type PlantedError = 'token not checked' | 'deadline not enforced' | 'taken without a wait'

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
/** A limiter, a queue: from the commit of an order to its signature. */
const WAIT_MS_MAX = 120
/** One way, mostly; one in so many is late, and may come when the lease that it was sent under is over. */
const WAY_MS_MAX = 40
const LATE_MS_MAX = [1500, 8000]
const LATE_ONE_IN = 8
const LOST_ONE_IN = 15

/** The server of the journal and the exchange, in virtual time: its rules are those of `tables.ts`. */
class Outside {
  readonly violations: string[] = []
  acted = 0
  lease = { token: 0, place: '', expiresAt: 0, released: true }
  readonly #time: ManualTime
  readonly #random: Random
  readonly #error: PlantedError | undefined

  constructor(time: ManualTime, random: Random, error: PlantedError | undefined) {
    this.#time = time
    this.#random = random
    this.#error = error
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
      if (sql.includes('take_lease')) return [this.#take(String(values[0]))]
      const isHeld = values[0] === this.lease.token && !this.lease.released
      if (isHeld) this.lease.expiresAt = this.#time.now() + TERMS.lastingMs
      return isHeld ? [{ wanted: false }] : []
    })
  }

  /** @returns whether it is durable */
  write(token: number): boolean {
    const isHolder = token === this.lease.token
    if (!isHolder && this.#error !== 'token not checked') return false
    if (!isHolder) this.violations.push(`${token} wrote when ${this.lease.token} had the lease`)
    return true
  }

  /** The exchange knows no token, and takes what was signed lately. */
  async send(token: number): Promise<void> {
    const signedAt = this.#time.now()
    await this.#travel(this.#time).catch(() => undefined)
    if (this.#time.now() > signedAt + TERMS.validityMs) return
    this.acted += 1
    if (token < this.lease.token)
      this.violations.push(`an order of ${token} came when ${this.lease.token} had the lease`)
  }

  #take(place: string): Row {
    const { lease } = this
    const validityMs = this.#error === 'taken without a wait' ? 0 : TERMS.validityMs
    const now = this.#time.now()
    // Each process is at a place of its own: one that has died is started again at another.
    const taken = lease.released || now >= lease.expiresAt + validityMs
    if (taken)
      this.lease = { token: lease.token + 1, place, expiresAt: now + TERMS.lastingMs, released: false }
    return {
      taken,
      token: this.lease.token,
      feed_place: 0,
      abandoned: true,
      holder: lease.place,
      free_in_ms: 0,
    }
  }

  async #travel(timers: Pick<ManualTime, 'after'>): Promise<void> {
    const random = this.#random
    const isLate = !this.isCalm && random.integer(LATE_ONE_IN) === 0
    await pause(timers, random.integer(isLate ? (LATE_MS_MAX[random.integer(2)] ?? 0) : WAY_MS_MAX))
    if (!this.isCalm && random.integer(LOST_ONE_IN) === 0) throw new Error('lost')
  }
}

/** Processes that want one lease, on machines that stand still and whose clocks are set: with the lease of the daemon. */
export async function runLeaseWorld(seed: number, error?: PlantedError): Promise<LeaseReport> {
  const time = new ManualTime(START_AT)
  const random = createRandom(`leases ${seed}`)
  const outside = new Outside(time, random, error)
  const machines = Array.from({ length: PROCESSES }, () => new LeaseMachine(time, random))
  const disturb = (): void => {
    if (outside.isCalm) return
    machines[random.integer(PROCESSES)]?.disturb(random)
    time.after(DISTURBED_EVERY_MS, disturb)
  }
  time.after(DISTURBED_EVERY_MS, disturb)
  for (const [index, machine] of machines.entries())
    void live({
      machine,
      name: String(index),
      outside,
      random,
      isDeadlineKept: error !== 'deadline not enforced',
    })
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
  readonly isDeadlineKept: boolean
}

/** A standby, then a writer until it has lost its lease, then a standby again. */
async function live(life: Life): Promise<never> {
  const { machine, name, outside } = life
  const connection = {
    query: (sql: string, values: readonly unknown[] = []) => outside.query(machine, sql, values),
    close: () => Promise.resolve(),
  }
  const frame = { connection, schema: 's', clock: machine }
  for (;;) {
    await pause(machine, LOOK_MS)
    const attempt = await takeLease(frame, { place: name, name }, TERMS).catch(() => undefined)
    if (attempt?.kind !== 'taken') continue
    const lease = new HeldLease({
      ...frame,
      holder: name,
      timers: machine,
      lastingMs: TERMS.lastingMs,
      taken: attempt,
    })
    await trade(lease, life)
    await lease.close()
  }
}

/** Orders, each durable before it is signed, until the lease is over. */
async function trade(lease: HeldLease, { machine, outside, random, isDeadlineKept }: Life): Promise<void> {
  const mayAct = (): boolean => !isDeadlineKept || lease.objection() === undefined
  while (mayAct()) {
    const isDurable = await outside.ask(machine, () => outside.write(lease.token)).catch(() => false)
    if (!isDurable) return
    await pause(machine, random.integer(WAIT_MS_MAX))
    if (!mayAct()) return
    void outside.send(lease.token)
    await pause(machine, TRADE_MS)
  }
}

function pause(timers: Pick<ManualTime, 'after'>, ms: number): Promise<void> {
  return new Promise((resolve) => timers.after(ms, resolve))
}
