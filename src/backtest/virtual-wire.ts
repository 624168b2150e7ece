import type { Answer } from '../domain/answer.ts'
import type { TrustedClock } from '../exchange/clock/trusted-clock.ts'
import type { Grant, GrantSource } from '../exchange/limiter/grant.ts'
import type { EndpointName } from '../protocol/endpoints.ts'
import type { Reply } from '../simulator/shared/reply.ts'
import type { Network } from './network.ts'
import type { VirtualTime } from './virtual-time.ts'

/** How something reaches a process: at once in a backtest. In a fault world it stands still, and dies. */
export interface Gate {
  /** While it is true nothing falls due in the process. */
  readonly isStill: boolean
  /** Something reaches the core. */
  enter(happens: () => void): void
  /** A grant is there, or a call has ended: a process hears of that even when its core is closed. */
  settle(happens: () => void): void
}

/** What all calls of one process go through. */
export interface VirtualWire {
  readonly time: VirtualTime
  readonly trusted: TrustedClock
  readonly limiter: GrantSource
  readonly network: Network
  readonly gate: Gate
}

export interface WireCall<Data> {
  readonly site: EndpointName
  readonly grant: Grant
  readonly perform: (isCopy: boolean) => Reply<Data>
  /** How its end reaches the process. */
  readonly gate: (happens: () => void) => void
  readonly hear: (answer: Answer<Data>) => void
}

/** Sends a call now; its grant ends with it. */
export function carry<Data>({ time, trusted, network }: VirtualWire, call: WireCall<Data>): void {
  const { site, grant, perform, gate, hear } = call
  const sentAt = time.now
  network.send({
    site,
    trusted,
    perform,
    hear: (answer) =>
      gate(() => {
        endGrant(grant, answer, time.now - sentAt)
        hear(answer)
      }),
  })
}

function endGrant(grant: Grant, answer: Answer<unknown>, roundTripMs: number): void {
  // What never left us pays for nothing.
  if (answer.kind === 'refused' && answer.class === 'notSent') return grant.unused()
  const isRateLimited = answer.kind === 'refused' && answer.topic === 'rate'
  grant.release({ requestTime: answer.requestTime, roundTripMs, isRateLimited })
}
