import type { Network, VirtualCall } from '../../../src/backtest/virtual-wire.ts'
import type { VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { type CallableName, endpointNamed } from '../../../src/protocol/endpoints.ts'
import type { VirtualLease } from './virtual-lease.ts'

const WITHHELD_MS = 1

export interface SignedNetworkOptions {
  readonly time: VirtualTime
  readonly network: Network
  readonly lease: VirtualLease
  readonly onSigned: (site: CallableName) => void
}

/** Signing requires the lease. */
export class SignedNetwork implements Network {
  readonly isFaithful: boolean
  readonly #options: SignedNetworkOptions

  constructor(options: SignedNetworkOptions) {
    this.#options = options
    this.isFaithful = options.network.isFaithful
  }

  connectMs(): number {
    return this.#options.network.connectMs()
  }

  send<Data>(call: VirtualCall<Data>): void {
    const { time, network, lease, onSigned } = this.#options
    if (endpointNamed(call.site).auth === 'public') return network.send(call)
    const objection = lease.objectTo(call.site)
    if (objection === undefined) {
      onSigned(call.site)
      return network.send(call)
    }
    const reason = { code: 'LEASE_OVER', topic: 'system', message: objection } as const
    time.after(WITHHELD_MS, () => {
      const receivedAt = call.trusted.clock.now()
      call.hear({ kind: 'refused', class: 'notSent', ...reason, status: undefined, receivedAt })
    })
  }
}
