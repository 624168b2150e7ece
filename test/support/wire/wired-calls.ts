import type { VirtualCallsOptions } from '../../../src/backtest/virtual-calls.ts'
import { HttpExchangePort } from '../../../src/daemon/account/http-exchange-port.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { ExchangeClient } from '../../../src/exchange/exchange-client.ts'
import type { ExchangePort } from '../../../src/interpreter/ports.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { Timers } from '../../../src/lib/timers.ts'
import type { VirtualFaults } from '../faults/virtual-faults.ts'
import { WireCarrier } from './wire-carrier.ts'

export interface WiredCallsOptions extends Omit<VirtualCallsOptions, 'settings'> {
  readonly settings: EngineSettings
  readonly faults: VirtualFaults
  readonly onBroken: (error: unknown) => void
}

/**
 * A call without a grant gives up after this, as in other worlds; the network ends the wait for
 * answers.
 */
const GRANT_MS = 6000
const ANSWER_BYTES_MAX = 10_000_000

/** The daemon's own exchange, client and readers over a world's network. */
export function createWiredCalls(options: WiredCallsOptions): ExchangePort {
  const { wire, settings, pageFills, onHeldBack, onBroken } = options
  const { clock, offset } = wire.trusted
  const client = new ExchangeClient({
    baseUrl: 'https://exchange.test',
    credentials: credentials(),
    positionMode: settings.positionMode,
    clock,
    offset,
    timers: createTimers(options),
    limiter: {
      request: (endpoint, priority, onGranted) =>
        wire.limiter.request(endpoint, priority, (grant) =>
          wire.gate.settle(() => onGranted(grant)),
        ),
    },
    requestTimeoutMs: GRANT_MS,
    answerBytesMax: ANSWER_BYTES_MAX,
    locale: 'en-US',
    openCarrier: () => new WireCarrier(options),
  })
  const exchange = new HttpExchangePort({
    client: {
      send: (prepared, call) => client.send(prepared, call),
      readPosition: (query) => client.readPosition(query),
      listExits: (query) => client.listExits(query),
      readFills: (query) => client.readFills({ ...query, pageMax: pageFills }),
    },
    settings,
    clock,
    onRefused: () => undefined,
    onBroken,
  })
  const placeBatch = exchange.placeBatch.bind(exchange)
  // A kill switch unknown to the core may have withheld it.
  exchange.placeBatch = (body, call, onAnswer) =>
    placeBatch(body, call, (answer) => {
      onAnswer(answer)
      if (answer.kind === 'refused' && answer.code === 'ABORTED') onHeldBack()
    })
  return exchange
}

function credentials() {
  return {
    apiKey: new Secret('key'),
    secret: new Secret('secret'),
    passphrase: new Secret('passphrase'),
  }
}

function createTimers({ wire: { time, gate } }: WiredCallsOptions): Timers {
  return { after: (delayMs, callback) => time.timers.after(delayMs, () => gate.settle(callback)) }
}
