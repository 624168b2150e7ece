import { type WireRequestOf } from '../../protocol/endpoints.ts'
import { type AccountRef } from '../core/account.ts'
import { accept, type Reply } from '../core/reply.ts'

/** What the gateway's example path answers. The document does not show it: this is the simulator's own. */
export interface GatewayEcho {
  /** The UID of the client that signed. */
  readonly uid: string
  /** The two query parameters and the body as they arrived under the signature. */
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
  /** Unix ms of the exchange's clock, for a client that wants to know how far its own stands off. */
  readonly serverTime: string
}

/** The signed gateway: whoever gets an answer has key, clock and signature right. */
export class GatewayService {
  gatewayTest(
    { uid }: AccountRef,
    { query, body }: WireRequestOf<'gatewayTest'>,
    now: number,
  ): Reply<GatewayEcho> {
    return accept({ uid, query, body, serverTime: String(now) })
  }
}
