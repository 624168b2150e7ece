import { type DaemonConfig } from '../../config/load-config.ts'
import { type Credentials } from '../../config/secrets.ts'
import { keysRefused, refusesKeys } from '../../daemon/account/account-keys.ts'
import { toInstruments } from '../../daemon/account/engine-settings.ts'
import { TickerTable } from '../../domain/ticker-table.ts'
import { ClockOffset } from '../../exchange/clock/clock-offset.ts'
import { ExchangeClient } from '../../exchange/exchange-client.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemTimers } from '../../lib/timers.ts'
import { type ProductType } from '../../protocol/values.ts'
import { type Finding, finding, ok } from './finding.ts'

/** Answers from which the offset is estimated: the one with the shortest way counts. */
const SAMPLES = 4
/** Beyond this somebody should look at the machine's clock; the daemon corrects it all the same. */
const OFFSET_WARN_MS = 1000

/** What no endpoint of the document says. */
const UNSEEN: readonly Finding[] = [
  [
    'position mode',
    'no endpoint says it while nothing is held',
    'compare account.positionMode with the settings at the exchange',
  ],
  [
    'precision',
    'no endpoint says it',
    'compare tickSize, lotSize, minSize and minNotional with the contracts at the exchange',
  ],
  [
    'key rights',
    'no endpoint says them',
    'at the exchange: read and trade, never withdraw, bound to the address of this machine',
  ],
].map(([what = '', found = '', advice = '']) => finding('notChecked', what, found, advice))

/** Reads tickers and, with keys, one position. Places nothing. */
export async function examineExchange(
  config: DaemonConfig,
  credentials: Credentials | undefined,
): Promise<readonly Finding[]> {
  const baseUrl = config.exchange.baseUrl ?? config.simulator?.market.live?.baseUrl
  if (baseUrl === undefined) {
    return [
      ok('exchange', 'the simulator inside the daemon: there is nothing to reach'),
      ok('clock', "the simulator goes by this machine's clock"),
    ]
  }
  const offset = new ClockOffset()
  const { requestTimeoutMs, answerBytesMax, locale } = config.exchange
  const client = new ExchangeClient({
    ...{ baseUrl, requestTimeoutMs, answerBytesMax, locale, offset },
    ...(credentials && {
      credentials: {
        apiKey: credentials.apiKey,
        secret: credentials.apiSecret,
        passphrase: credentials.passphrase,
      },
    }),
    ...{ positionMode: config.account.positionMode, clock: systemClock, timers: systemTimers },
  })
  try {
    const reached = await reach(client, baseUrl, config.account.productType)
    if (config.exchange.baseUrl === undefined) return [reached, judgeClock(offset)]
    if (reached.state !== 'ok') return [reached, ...UNSEEN]
    return [reached, judgeClock(offset), await examineKeys(client, config, credentials), ...UNSEEN]
  } finally {
    await client.close()
  }
}

async function reach(client: ExchangeClient, baseUrl: string, productType: ProductType): Promise<Finding> {
  const table = new TickerTable()
  for (let count = 0; count < SAMPLES; count++) {
    const answer = await client.readTickers(table, productType)
    if (answer.kind === 'accepted') continue
    const found = `${baseUrl}: ${answer.code} ${answer.message}`
    return finding('fail', 'exchange', found, 'check exchange.baseUrl, the connection and the firewall')
  }
  return ok('exchange', `${baseUrl} answers`)
}

function judgeClock(offset: ClockOffset): Finding {
  const found = `the exchange's clock is ${offset.offsetMs} ms ahead of this machine's`
  if (!offset.isSynchronised) {
    return finding(
      'fail',
      'clock',
      'the answers do not agree on the time',
      'look at the time daemon of this machine',
    )
  }
  return Math.abs(offset.offsetMs) <= OFFSET_WARN_MS
    ? ok('clock', found)
    : finding(
        'warn',
        'clock',
        found,
        'let a time daemon set the clock of this machine (timedatectl set-ntp true)',
      )
}

async function examineKeys(
  client: ExchangeClient,
  config: DaemonConfig,
  credentials: Credentials | undefined,
): Promise<Finding> {
  const [instrument] = toInstruments(config).values()
  if (credentials === undefined || instrument === undefined) {
    return finding('notChecked', 'key accepted', 'there is no key to show', 'see keys')
  }
  const answer = await client.readPosition({ instrument })
  if (answer.kind === 'accepted') return ok('key accepted', 'the exchange answers a private read')
  if (refusesKeys(answer)) {
    const { message, hint = 'see .env.example' } = keysRefused(answer, config.account.keys)
    return finding('fail', 'key accepted', message.split('\n', 1).join(''), hint)
  }
  return finding('warn', 'key accepted', `${answer.code} ${answer.message}`, 'run it again in a moment')
}
