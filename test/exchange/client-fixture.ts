import { afterEach } from 'vitest'
import { ExchangeClock } from '../../src/exchange/clock/exchange-clock.ts'
import { ExchangeClient, type ExchangeClientOptions } from '../../src/exchange/exchange-client.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { Secret } from '../../src/lib/secret.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { type BatchPlaceRequest } from '../../src/protocol/futures/batch-place-order.ts'
import { WireServer } from '../support/wire-server.ts'

export const SECRETS = {
  apiKey: 'canary-api-key',
  secret: 'canary-secret',
  passphrase: 'canary-passphrase',
}

export const CREDENTIALS = {
  apiKey: new Secret(SECRETS.apiKey),
  secret: new Secret(SECRETS.secret),
  passphrase: new Secret(SECRETS.passphrase),
}

/** What the configuration says of calls. */
export const CALLING = { requestTimeoutMs: 2000, answerBytesMax: 8_388_608, locale: 'en-US' }

const opened: Array<() => Promise<void>> = []

/** A server and a client of it; both are gone after the test. */
export async function openClient(
  options: Partial<ExchangeClientOptions> = {},
): Promise<{ server: WireServer; client: ExchangeClient; offset: ExchangeClock }> {
  const server = new WireServer()
  const baseUrl = await server.start()
  opened.push(() => server.stop())
  const offset = new ExchangeClock()
  const client = new ExchangeClient({
    baseUrl,
    credentials: CREDENTIALS,
    positionMode: 'one_way_mode',
    clock: systemClock,
    timers: systemTimers,
    offset,
    ...CALLING,
    ...options,
  })
  opened.push(() => client.close())
  return { server, client, offset }
}

/** The exchange's time, as everything that is signed with it says. */
const SIGNED_AT = 1_700_000_000_000
export const STOPPED_CLOCK: Clock = { now: () => SIGNED_AT, monotonic: () => 0 }

export function closeClientsAfterEach(): void {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((close) => close()))
  })
}

export const BATCH: BatchPlaceRequest = {
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'crossed',
  orderList: [
    {
      size: '0.01',
      price: '42000',
      side: 'buy',
      orderType: 'limit',
      force: 'gtc',
      clientOid: 't1-0',
    },
  ],
}
