import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { RequestWriter, Signer } from '../../../src/exchange/client/request-writer.ts'
import { type LeaseTerms, instantOf, LeaseTerm } from '../../../src/journal/postgres/lease.ts'
import { type Clock } from '../../../src/lib/clock.ts'
import { type CallableName } from '../../../src/protocol/endpoints.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'
import { type LeaseAsked, type LeaseServer } from './lease-server.ts'

const WAY_MS = [1, 40] as const
/** How long the lease cannot be renewed while writes and calls pass. */
const CUT_MS = [500, 4000] as const

const KEY = new Secret('key')
const SIGNER = new Signer({ apiKey: KEY, secret: KEY, passphrase: KEY })

export interface VirtualLeaseOptions {
  readonly time: VirtualTime
  readonly server: LeaseServer
  readonly clock: Clock
  readonly faults: VirtualFaults
  readonly terms: LeaseTerms
  readonly taken: LeaseAsked
  /** Delivers to the process, which may stand still. */
  readonly enter: (happens: () => void) => void
  readonly onLost: () => void
}

/**
 * The lease of one run without promises: the product's rule of its duration, asked before signing.
 */
export class VirtualLease {
  readonly token: number
  readonly #options: VirtualLeaseOptions
  readonly #term: LeaseTerm
  readonly #writer: RequestWriter
  #feedPlace: number
  #cutUntil = 0
  #isOver = false

  constructor(options: VirtualLeaseOptions) {
    const { clock, terms, taken } = options
    this.#options = options
    this.token = taken.token
    this.#feedPlace = taken.feedPlace
    this.#term = new LeaseTerm(clock, terms.lastingMs, instantOf(clock))
    this.#writer = new RequestWriter({
      signer: SIGNER,
      locale: 'en-US',
      platformCoin: undefined,
      objection: () => this.objection(),
    })
    this.#waitToRenew()
  }

  get isOver(): boolean {
    return this.#isOver || this.#term.isOver
  }

  /** The lease is lost if this returns a reason. */
  objection(): string | undefined {
    if (!this.isOver) return undefined
    this.#lose()
    return 'the lease is over'
  }

  /** Why a request cannot be written, from the daemon's own signing code. */
  objectTo(endpoint: CallableName): string | undefined {
    const signedAt = this.#options.clock.now()
    const written = this.#writer.write({ endpoint, query: '', body: '' }, signedAt)
    return written.kind === 'unwritable' ? written.message : undefined
  }

  /** One transaction of the journal. @returns whether it is durable */
  write(): boolean {
    const isTaken = this.#options.server.write(this.token, this.#feedPlace + 1)
    if (isTaken) this.#feedPlace += 1
    else this.#lose()
    return isTaken
  }

  giveBack(): void {
    this.end()
    this.#options.server.release(this.token)
  }

  /** It is no longer renewed, and expires. */
  end(): void {
    this.#isOver = true
  }

  #lose(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.onLost()
  }

  #waitToRenew(hasFailed = false): void {
    const { time, enter } = this.#options
    // No timer is shorter.
    time.after(Math.max(1, this.#term.renewInMs(hasFailed)), () => enter(() => this.#renew()))
  }

  #renew(): void {
    const { time, server, clock, faults, terms, enter } = this.#options
    if (this.objection() !== undefined) return
    if (faults.strikes('leaseCut', 'lease')) this.#cutUntil = time.now + faults.severity(...CUT_MS)
    if (time.now < this.#cutUntil) return this.#waitToRenew(true)
    const asked = instantOf(clock)
    time.after(faults.delayMs('lease/there', ...WAY_MS), () => {
      const isHeld = server.renew(this.token, terms.lastingMs)
      time.after(faults.delayMs('lease/back', ...WAY_MS), () =>
        enter(() => {
          if (this.#isOver) return
          if (!isHeld) return this.#lose()
          this.#term.extend(asked)
          this.#waitToRenew()
        }),
      )
    })
  }
}
