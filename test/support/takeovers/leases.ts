import type { SimulatedExchange } from '../../../src/backtest/direct-exchange.ts'
import type { Network } from '../../../src/backtest/virtual-wire.ts'
import type { VirtualTime } from '../../../src/backtest/virtual-time.ts'
import type { LeaseTerms } from '../../../src/journal/postgres/lease.ts'
import type { CallableName } from '../../../src/protocol/endpoints.ts'
import type { VirtualFaults } from '../faults/virtual-faults.ts'
import type { VirtualDisk } from '../virtual/virtual-disk.ts'
import type { VirtualExchange } from '../virtual/virtual-exchange.ts'
import type { ProcessWatcher } from '../world/process-watcher.ts'
import { type LeaseAsked, LeaseServer } from './lease-server.ts'
import { LeasedJournal } from './leased-journal.ts'
import { SignedNetwork } from './signed-network.ts'
import { VirtualLease, type VirtualLeaseOptions } from './virtual-lease.ts'
import { watchArrivals } from './watch-arrivals.ts'

/** Short, so that a world has several takeovers. */
const LEASE_MS = 2000
/**
 * When a standing run wakes after it was passed over: mostly before the next one has written
 * anything.
 */
const [WAKES_SOON_MS, WAKES_MS] = [600, 4000]

export interface LeasesOptions {
  readonly time: VirtualTime
  readonly faults: VirtualFaults
  readonly exchange: VirtualExchange
  readonly network: Network
  /** How long the exchange may execute a signed request. */
  readonly validityMs: number
  readonly watchers: readonly ProcessWatcher[]
}

export class Leases {
  readonly #options: LeasesOptions
  readonly #server: LeaseServer
  readonly #terms: LeaseTerms

  constructor(options: LeasesOptions) {
    this.#options = options
    this.#server = new LeaseServer(() => options.time.now)
    this.#terms = { lastingMs: LEASE_MS, validityMs: options.validityMs }
  }

  take(place: string): LeaseAsked | undefined {
    const asked = this.#server.take(place, this.#terms)
    return asked.taken ? asked : undefined
  }

  hold(run: Pick<VirtualLeaseOptions, 'taken' | 'clock' | 'enter' | 'onLost'>): VirtualLease {
    const { time, faults } = this.#options
    return new VirtualLease({
      ...run,
      time,
      faults,
      server: this.#server,
      terms: this.#terms,
    })
  }

  around(
    lease: VirtualLease,
    { disk, isPassedOver }: { readonly disk: VirtualDisk; readonly isPassedOver: () => boolean },
  ): {
    readonly journal: LeasedJournal
    readonly network: Network
    readonly exchange: SimulatedExchange
  } {
    const { time, exchange, network } = this.#options
    const onStray = () => this.sayStray('a record was written by one that was passed over')
    return {
      journal: new LeasedJournal({ lease, disk, isPassedOver, onStray }),
      network: new SignedNetwork({
        time,
        network,
        lease,
        onSigned: (site) => this.#noteSigned(site, lease),
      }),
      exchange: watchArrivals(exchange, (what) => this.#noteArrival(what, lease)),
    }
  }

  /** Maximum further standstill of a run that was passed over. */
  drawWaking(): number {
    const { faults } = this.#options
    const isSoon = faults.delayMs('lease/wakesSoon', 0, 4) > 0
    return faults.delayMs('lease/wakes', 0, isSoon ? WAKES_SOON_MS : WAKES_MS)
  }

  sayStray(what: string): void {
    for (const watcher of this.#options.watchers) watcher.onStray?.(what)
  }

  /**
   * A request signed by a dead process may arrive while the next one of its place trades: its start
   * waits for that.
   */
  #noteArrival(what: string, { token }: VirtualLease): void {
    if (token > this.#server.passedOver) return
    this.sayStray(`${what} came to the exchange from ${token}, which was passed over`)
  }

  #noteSigned(site: CallableName, lease: VirtualLease): void {
    const { token, expires_at } = this.#server.lease
    const lateMs = this.#options.time.now - expires_at
    if (token !== lease.token)
      this.sayStray(`${site} is signed by ${lease.token} when ${token} has the lease`)
    else if (lateMs > 0) this.sayStray(`${site} is signed ${lateMs} ms after the end of its lease`)
  }
}
