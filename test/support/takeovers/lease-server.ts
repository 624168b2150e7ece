import type { LeaseTerms } from '../../../src/journal/postgres/lease.ts'
import { schemaSql, STILL_HELD } from '../../../src/journal/postgres/server-schema.ts'
import { evaluateSql, type SqlValue } from './sql-condition.ts'

/** The product's SQL, whose conditions the server's model evaluates. */
const SQL = schemaSql('s')
const MAY_WRITE = partOf(SQL, /UPDATE lease SET feed_place = new_place[^;]*?WHERE ([^;]*);/)
const FREE_AT = partOf(SQL, /free_at := (CASE[^;]*END);/)
const ABANDONED = partOf(SQL, /abandoned := ([^;]*);/)

interface LeaseRow extends Readonly<Record<string, SqlValue>> {
  readonly token: number
  readonly place: string
  /** Unix ms. */
  readonly expires_at: number
  readonly feed_place: number
}

const NOBODYS: LeaseRow = {
  token: 0,
  place: '',
  expires_at: 0,
  validity: 0,
  released: true,
  handover_at: null,
  feed_place: 0,
  moved_to: null,
}

export interface LeaseAsked {
  readonly taken: boolean
  readonly token: number
  readonly feedPlace: number
  readonly isAbandoned: boolean
  /** Another lease's time was over, whatever the product makes of it. */
  readonly isPassedOver: boolean
}

/** The journal server's knowledge of the lease, with the product's own conditions. */
export class LeaseServer {
  lease = NOBODYS
  /** Token of the last lease that was taken because its time was over. */
  passedOver = 0
  readonly #now: () => number

  /** @param now Unix ms, the server's clock */
  constructor(now: () => number) {
    this.#now = now
  }

  take(place: string, { lastingMs, validityMs }: LeaseTerms): LeaseAsked {
    const { lease } = this
    const before = Object.fromEntries(
      Object.entries(lease).map(([name, value]) => [`before.${name}`, value]),
    )
    const asked = { ...before, who_place: place }
    const now = this.#now()
    const taken = Number(evaluateSql(FREE_AT, asked)) <= now
    const isAbandoned = evaluateSql(ABANDONED, asked) === true
    const isPassedOver = taken && lease['released'] !== true && lease.place !== place
    if (isPassedOver) this.passedOver = lease.token
    if (taken) {
      this.lease = {
        ...lease,
        token: lease.token + 1,
        place,
        released: false,
        handover_at: null,
        expires_at: now + lastingMs,
        validity: validityMs,
      }
    }
    return {
      taken,
      token: this.lease.token,
      feedPlace: lease.feed_place,
      isAbandoned,
      isPassedOver,
    }
  }

  /** @returns whether it was renewed */
  renew(token: number, lastingMs: number): boolean {
    const isHeld = this.#is(STILL_HELD, { $1: token })
    if (isHeld) this.lease = { ...this.lease, expires_at: this.#now() + lastingMs }
    return isHeld
  }

  /** @returns whether it is durable */
  write(token: number, feedPlace: number): boolean {
    const isTaken = this.#is(MAY_WRITE, { held: token, new_place: feedPlace })
    if (isTaken) this.lease = { ...this.lease, feed_place: feedPlace }
    return isTaken
  }

  release(token: number): void {
    if (token === this.lease.token)
      this.lease = { ...this.lease, released: true, expires_at: this.#now() }
  }

  #is(condition: string, values: Readonly<Record<string, SqlValue>>): boolean {
    return evaluateSql(condition, { ...this.lease, ...values }) === true
  }
}

/** @throws Error if the SQL differs: then the model must be checked */
function partOf(sql: string, pattern: RegExp): string {
  const [, part] = pattern.exec(sql) ?? []
  if (part === undefined)
    throw new Error(`the model of the server does not know this SQL: ${pattern.source}`)
  return part
}
