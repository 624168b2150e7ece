import process from 'node:process'
import { accessTo } from '../../assembly/account/account-keys.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import { loadProxies } from '../../config/proxy.ts'
import { loadCredentials } from '../../config/secrets.ts'
import { ExchangeClock } from '../../exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../exchange/exchange-client.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemTimers } from '../../lib/timers.ts'
import { compareStatement, listUnchecked } from '../../views/statement/compare-statement.ts'
import type { Statement } from '../../views/statement/statement.ts'
import { type JournalSpanOptions, withRows } from './journal-rows.ts'

interface CheckRequest {
  readonly config: DaemonConfig
  readonly options: JournalSpanOptions & { readonly check?: boolean }
}

/** @throws ConfigError for missing keys */
export async function checkStatement(
  statement: Statement,
  { config, options }: CheckRequest,
): Promise<Statement> {
  if (options.check !== true)
    return { ...statement, checks: listUnchecked('--check reads what the exchange still shows') }
  const credentials =
    config.exchange.baseUrl === undefined
      ? undefined
      : loadCredentials(config, { cwd: process.cwd() })
  const access = accessTo(config, credentials)
  if (access === undefined)
    return { ...statement, checks: listUnchecked('the simulator inside the daemon shows nothing') }
  const { requestTimeoutMs, answerBytesMax, locale, demo, platformCoin } = config.exchange
  const { positionMode, productType } = config.account
  const client = new ExchangeClient({
    ...access,
    requestTimeoutMs,
    answerBytesMax,
    locale,
    platformCoin,
    isDemo: demo,
    offset: new ExchangeClock(),
    proxyFor: loadProxies(config),
    positionMode,
    clock: systemClock,
    timers: systemTimers,
  })
  const instruments = toInstruments(config)
  try {
    return await compareStatement(statement, {
      exchange: {
        call: (endpoint, request) => client.call(endpoint, request),
        readFills: (sinceAt) =>
          client.readFills({ productType, positionMode, instruments, sinceAt }),
        readPosition: (instrument) => client.readPosition({ instrument }),
      },
      instruments,
      readBook: () => withRows(options, ({ book }) => book()),
      now: statement.madeAt,
    })
  } finally {
    await client.close()
  }
}
