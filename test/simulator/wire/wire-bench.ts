import { type ExchangeAccountSetup } from '../../../src/simulator/shared/account.ts'
import { Wire } from '../../../src/simulator/wire/handle.ts'
import { defaultWireSettings, type WireSettings } from '../../../src/simulator/wire/settings.ts'
import { type WireEvent } from '../../../src/simulator/wire/server-event.ts'
import { bytesOf, type ReceivedRequest } from '../../../src/simulator/wire/wire-request.ts'
import { FakeCore } from './fake-core.ts'
import { START_AT } from './signed-request.ts'

/** A wire over a fake core, under a clock that is moved by hand. */
export class WireBench {
  readonly core: FakeCore
  readonly wire: Wire
  readonly events: WireEvent[] = []
  now = START_AT

  constructor(settings: Partial<WireSettings> = {}, accounts?: readonly ExchangeAccountSetup[]) {
    this.core = new FakeCore(accounts)
    this.wire = new Wire({
      exchange: this.core,
      clock: { now: () => this.now, monotonic: () => this.now },
      settings: { ...defaultWireSettings, ...settings },
      onEvent: (event) => this.events.push(event),
    })
  }

  /** The envelope of the answer, with its HTTP status and headers beside it. */
  ask(request: ReceivedRequest) {
    const response = this.wire.handle(request)
    const { status, headers } = response
    const envelope = JSON.parse(bytesOf(response).toString()) as {
      code: string
      msg: string
      requestTime: number
      data: unknown
    }
    return { status, headers, ...envelope }
  }
}
