import { isProxyUrl } from '../lib/net/proxy.ts'
import { isLoopback } from './loopback.ts'
import { explainPattern, isAbove, isMultipleOf, isTimeZone } from './schema/setting-values.ts'
import {
  CONFIG_VERSION,
  type DaemonFile,
  FROM_ENVIRONMENT,
  PROXY_LOGIN,
} from './schema/daemon-schema.ts'
import { checkSurvival } from './survival-checks.ts'
import type { Problem, SettingPath } from './yaml/problem.ts'
import type { PartialSettings } from './yaml/checked-file.ts'
import type { SimulatorMarket } from './schema/simulator-schema.ts'
import type { YamlSource } from './yaml/yaml-source.ts'

export interface ReadableFile<T> {
  readonly source: YamlSource
  readonly settings: PartialSettings<T>
}

type DaemonSource = ReadableFile<DaemonFile>
type Instruments = DaemonSource['settings']['instruments']

/** @param pricing see {@link checkMarket} */
export const checkDaemon = (daemon: DaemonSource, pricing: Pricing = {}): Problem[] => [
  ...checkVersion(daemon),
  ...checkEnvironment(daemon),
  ...checkAddress(daemon),
  ...(daemon.settings.exchange?.proxy === undefined ? [] : checkProxy(daemon)),
  ...checkSimulatorSection(daemon, pricing),
  ...checkAccount(daemon.source, ['account'], daemon.settings.account ?? {}),
  ...(pricing.isChosen === true
    ? checkMinSizes(daemon.source, daemon.settings.instruments)
    : checkInstruments(daemon.source, daemon.settings.instruments, {
        isInside: daemon.settings.simulator !== undefined,
      })),
  ...checkCalendar(daemon),
  ...checkRisk(daemon),
  ...checkLosses(daemon),
  ...(daemon.settings.risk?.survives === undefined ? [] : checkSurvival(daemon)),
  ...checkExecution(daemon),
  ...(typeof daemon.settings.record === 'object' ? checkRecord(daemon) : []),
  ...(daemon.settings.dryRun === true ? checkDryRun(daemon) : []),
]

function checkVersion({ source, settings: { version } }: DaemonSource): Problem[] {
  if (version === undefined || version <= CONFIG_VERSION) return []
  const message = `this file is written for a newer intentd: this one reads version ${CONFIG_VERSION}; install the newer one`
  return [source.problem(['version'], message)]
}

function checkEnvironment({ source, settings }: DaemonSource): Problem[] {
  const { environment, confirmLive, account } = settings
  const isDemoProduct = account?.productType?.startsWith('S') === true
  const problems: Problem[] = []
  if (environment === 'live' && confirmLive === false) {
    problems.push(
      source.problem(['environment'], 'live trades real money: say so with confirmLive: true'),
    )
  }
  if (settings.exchange?.demo === true) problems.push(...objectToDemo(source, settings))
  if (environment === 'live' && isDemoProduct) {
    problems.push(
      source.problem(
        ['account', 'productType'],
        `${account?.productType} is a demo product; the environment is live`,
      ),
    )
  }
  return problems
}

function objectToDemo(
  source: YamlSource,
  { environment, exchange }: DaemonSource['settings'],
): Problem[] {
  const path = ['exchange', 'demo']
  if (environment === 'live')
    return [source.problem(path, 'is play money; the environment is live: say environment: demo')]
  if (exchange?.baseUrl !== undefined || source.has(['exchange', 'baseUrl'])) return []
  return [source.problem(path, 'is for an exchange outside: set exchange.baseUrl')]
}

/** A dry run sends nothing, so a cancel-all is never answered. */
function checkDryRun({ source, settings: { onRestart, onStop } }: DaemonSource): Problem[] {
  return [
    ...(onRestart === 'cancel'
      ? [source.problem(['onRestart'], 'a dry run cancels nothing: say onRestart: adopt')]
      : []),
    ...(onStop === 'cancel' || onStop === 'flatten'
      ? [source.problem(['onStop'], 'a dry run cancels nothing: say onStop: leave')]
      : []),
  ]
}

function checkAddress({ source, settings: { environment, exchange } }: DaemonSource): Problem[] {
  const path = ['exchange', 'baseUrl']
  if (exchange?.baseUrl === undefined) {
    if (environment === undefined || environment === 'simulator' || source.has(path)) return []
    return [
      source.problem(
        ['environment'],
        `${environment} needs the address of the exchange: set exchange.baseUrl`,
      ),
    ]
  }
  const { baseUrl, gatewayUrl } = exchange
  return [
    ...checkOrigin(source, environment, { path, address: baseUrl }),
    ...(gatewayUrl === undefined
      ? []
      : checkOrigin(source, environment, {
          path: ['exchange', 'gatewayUrl'],
          address: gatewayUrl,
        })),
  ]
}

function checkProxy({ source, settings: { exchange } }: DaemonSource): Problem[] {
  const { proxy } = exchange ?? {}
  if (proxy === undefined || proxy === FROM_ENVIRONMENT) return []
  const path = ['exchange', 'proxy']
  const url = new URL(proxy)
  if (url.username !== '' || url.password !== '') {
    const message = `a login does not belong in YAML: remove it here, and set ${PROXY_LOGIN}=user:password in the environment or in .env`
    return [source.problem(path, message)]
  }
  if (isProxyUrl(url)) return []
  return [source.problem(path, 'expected an address with nothing but a host and a port')]
}

function checkOrigin(
  source: YamlSource,
  environment: DaemonSource['settings']['environment'],
  { path, address }: { readonly path: SettingPath; readonly address: string },
): Problem[] {
  const url = new URL(address)
  const problems: Problem[] = []
  if (
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== '' ||
    url.pathname !== '/'
  ) {
    problems.push(source.problem(path, 'expected an address with nothing but a host and a port'))
  }
  if (environment === 'simulator' && !isLoopback(url.hostname)) {
    problems.push(
      source.problem(
        path,
        'environment simulator may only speak to this machine (127.0.0.1, ::1, localhost)',
      ),
    )
  }
  if ((environment === 'live' || environment === 'demo') && url.protocol !== 'https:') {
    problems.push(source.problem(path, `environment ${environment} needs an https address`))
  }
  return problems
}

function checkSimulatorSection({ source, settings }: DaemonSource, pricing: Pricing): Problem[] {
  const { environment, exchange, simulator, instruments } = settings
  const isWritten = simulator !== undefined || source.has(['simulator'])
  const hasUrl = exchange?.baseUrl !== undefined || source.has(['exchange', 'baseUrl'])
  const isEmbedded = environment === 'simulator' && !hasUrl
  if (environment === undefined) return []
  if (isEmbedded && !isWritten) {
    return [
      source.problem(
        ['environment'],
        'the simulator inside the daemon needs the section simulator (or set exchange.baseUrl)',
      ),
    ]
  }
  if (isWritten && environment !== 'simulator') {
    return [
      source.problemOfKey(
        ['simulator'],
        `environment ${environment} has no use for a simulator: remove this section`,
      ),
    ]
  }
  if (isWritten && exchange?.baseUrl !== undefined) {
    return [
      source.problemOfKey(
        ['simulator'],
        'exchange.baseUrl names another exchange: remove this section or that address',
      ),
    ]
  }
  return [
    ...checkMarket(source, ['simulator', 'market'], {
      market: simulator?.market,
      instruments,
      ...pricing,
    }),
    ...(simulator?.market?.live !== undefined && (simulator.speed ?? 1) !== 1
      ? [source.problem(['simulator', 'speed'], 'live prices come as they come: set speed to 1')]
      : []),
  ]
}

export interface Pricing {
  /** Absent: no recordings are played. */
  readonly recorded?: readonly string[] | undefined
  /** Absent: any. */
  readonly traded?: ReadonlySet<string>
  /** A rule chooses among listed contracts, so none is needed here. */
  readonly isChosen?: boolean
}

/** Only instruments may have a start price or a recording. */
export function checkMarket(
  source: YamlSource,
  path: SettingPath,
  {
    market,
    instruments,
    recorded,
    traded,
  }: Pricing & {
    readonly market: PartialSettings<SimulatorMarket> | undefined
    readonly instruments: Instruments
  },
): Problem[] {
  const { startPrices, recordings, live } = market ?? {}
  if (startPrices === undefined || recordings === undefined || instruments === undefined) return []
  if (live !== undefined)
    return checkLive(source, path, { startPrices, recordings, baseUrl: live.baseUrl })
  const priced = new Set([...Object.keys(startPrices), ...Object.keys(recordings)])
  const missing =
    recorded === undefined
      ? []
      : Object.keys(instruments).filter(
          (symbol) =>
            !priced.has(symbol) &&
            !recorded.includes(symbol) &&
            (traded === undefined || traded.has(symbol)),
        )
  const surplus = [...priced].filter((symbol) => !Object.hasOwn(instruments, symbol))
  return [
    ...missing.map((symbol) =>
      source.problemOfKey(
        path,
        `${symbol} has neither a start price nor a recording: write ${path.join('.')}.startPrices.${symbol}, give its prices with --market, or take it out of instruments`,
      ),
    ),
    ...surplus.map((symbol) => {
      const key = Object.hasOwn(startPrices, symbol) ? 'startPrices' : 'recordings'
      return source.problemOfKey(
        [...path, key, symbol],
        `${symbol} is not listed under instruments`,
      )
    }),
  ]
}

function checkLive(
  source: YamlSource,
  path: SettingPath,
  {
    startPrices,
    recordings,
    baseUrl,
  }: {
    readonly startPrices: object
    readonly recordings: object
    readonly baseUrl: string | undefined
  },
): Problem[] {
  const others = { startPrices, recordings }
  const surplus = Object.entries(others).filter(([, prices]) => Object.keys(prices).length > 0)
  const problems = surplus.map(([key]) =>
    source.problemOfKey([...path, key], `prices come from live: remove ${key}, or live`),
  )
  if (baseUrl === undefined) return problems
  const url = new URL(baseUrl)
  const isSafe = url.protocol === 'https:' || isLoopback(url.hostname)
  const isOrigin = url.origin === baseUrl.replace(/\/$/, '')
  const livePath = [...path, 'live', 'baseUrl']
  if (!isOrigin)
    problems.push(
      source.problem(livePath, 'expected an address with nothing but a host and a port'),
    )
  if (!isSafe)
    problems.push(source.problem(livePath, 'prices from another machine need an https address'))
  return problems
}

const MARGIN_COINS: Readonly<Record<string, string>> = {
  'USDT-FUTURES': 'USDT',
  'USDC-FUTURES': 'USDC',
  'SUSDT-FUTURES': 'SUSDT',
  'SUSDC-FUTURES': 'SUSDC',
}

export function checkAccount(
  source: YamlSource,
  path: SettingPath,
  {
    productType = '',
    marginCoin,
  }: { readonly productType?: string | undefined; readonly marginCoin?: string | undefined },
): Problem[] {
  const coin = MARGIN_COINS[productType]
  if (coin === undefined || marginCoin === undefined || coin === marginCoin) return []
  return [
    source.problem(
      [...path, 'marginCoin'],
      `${productType} takes ${coin} as margin, not ${marginCoin}`,
    ),
  ]
}

export function checkInstruments(
  source: YamlSource,
  instruments: DaemonSource['settings']['instruments'],
  { isInside = false }: { readonly isInside?: boolean } = {},
): Problem[] {
  if (instruments === undefined) return []
  if (Object.keys(instruments).length > 0) return checkMinSizes(source, instruments)
  if (source.has(['instruments']))
    return [source.problem(['instruments'], 'expected at least one instrument')]
  const why = isInside
    ? '; the simulator inside the daemon trades only what is listed here, also for a universe (also at live prices)'
    : ''
  const message = `the key "instruments" is missing: expected a list of symbols, or a mapping of symbols${why}`
  return [source.problemOfKey([], message)]
}

function checkMinSizes(
  source: YamlSource,
  instruments: DaemonSource['settings']['instruments'] = {},
): Problem[] {
  return Object.entries(instruments).flatMap(([symbol, instrument]) => {
    const { lotSize, minSize } = instrument ?? {}
    if (lotSize === undefined || minSize === undefined || isMultipleOf(minSize, lotSize)) return []
    return [
      source.problem(
        ['instruments', symbol, 'minSize'],
        `${minSize} is not a multiple of the lotSize ${lotSize}`,
      ),
    ]
  })
}

function checkCalendar({ source, settings: { calendar } }: DaemonSource): Problem[] {
  const problems = (['funding', 'dayRoll'] as const).flatMap((key) => {
    const pattern = calendar?.[key]
    const message = pattern === undefined ? undefined : explainPattern(pattern)
    return message === undefined ? [] : [source.problem(['calendar', key], message)]
  })
  if (calendar?.timezone !== undefined && !isTimeZone(calendar.timezone)) {
    problems.push(
      source.problem(['calendar', 'timezone'], 'expected a time zone such as UTC or Europe/Berlin'),
    )
  }
  return problems
}

function checkRisk({
  source,
  settings: { risk, polling, instruments, simulator },
}: DaemonSource): Problem[] {
  const { orderNotionalMax, grossNotionalMax, dataAgeMaxMs, accountAgeMaxMs } = risk ?? {}
  const problems: Problem[] = []
  if (
    orderNotionalMax !== undefined &&
    grossNotionalMax !== undefined &&
    isAbove(orderNotionalMax, grossNotionalMax)
  ) {
    const message = `${orderNotionalMax} for one order is above the grossNotionalMax ${grossNotionalMax} of the account`
    problems.push(source.problem(['risk', 'orderNotionalMax'], message))
  }
  if (
    dataAgeMaxMs !== undefined &&
    polling?.tickersMs !== undefined &&
    dataAgeMaxMs < polling.tickersMs
  ) {
    const message = `${dataAgeMaxMs} ms is less than polling.tickersMs ${polling.tickersMs}: all data would be too old`
    problems.push(source.problem(['risk', 'dataAgeMaxMs'], message))
  }
  const { live, startPrices = {} } = simulator?.market ?? {}
  const stepMs =
    live === undefined && Object.keys(startPrices).length > 0 ? simulator?.stepMs : live?.pollMs
  const setting = live === undefined ? 'simulator.stepMs' : 'simulator.market.live.pollMs'
  if (dataAgeMaxMs !== undefined && stepMs !== undefined && dataAgeMaxMs < stepMs) {
    const message = `${dataAgeMaxMs} ms is less than ${setting} ${stepMs}: prices would often be too old`
    problems.push(source.problem(['risk', 'dataAgeMaxMs'], message))
  }
  for (const name of ['fillsMs', 'positionsMs'] as const) {
    const everyMs = polling?.[name]
    if (accountAgeMaxMs === undefined || everyMs === undefined || accountAgeMaxMs >= 2 * everyMs)
      continue
    const message = `${accountAgeMaxMs} ms is less than two of polling.${name} ${everyMs}: readings would often be too old`
    problems.push(source.problem(['risk', 'accountAgeMaxMs'], message))
  }
  for (const [symbol, instrument] of Object.entries(instruments ?? {})) {
    const least = instrument?.minNotional
    if (orderNotionalMax === undefined || least === undefined || !isAbove(least, orderNotionalMax))
      continue
    const message = `${orderNotionalMax} is below the minNotional ${least} of ${symbol}: no order could be sent`
    problems.push(source.problem(['risk', 'orderNotionalMax'], message))
  }
  return problems
}

function checkLosses({
  source,
  settings: { risk, account, simulator, instruments },
}: DaemonSource): Problem[] {
  const { losses } = risk ?? {}
  const hasDrawdown = typeof losses === 'object' && Object.keys(losses.drawdown ?? {}).length > 0
  const hasCapital = account?.capital !== undefined || simulator?.startingBalance !== undefined
  const unknown = Object.keys(risk?.instruments ?? {}).filter(
    (symbol) => !(instruments && symbol in instruments),
  )
  const knowsNone = account !== undefined && !hasCapital && !source.has(['account', 'capital'])
  return [
    ...(risk?.leverageMax !== undefined && knowsNone
      ? [
          source.problem(
            ['risk', 'leverageMax'],
            'is a multiple of the equity, which nobody knows: set account.capital',
          ),
        ]
      : []),
    ...(hasDrawdown && knowsNone
      ? [
          source.problemOfKey(
            ['risk', 'losses', 'drawdown'],
            'is a share of the equity, which nobody knows: set account.capital',
          ),
        ]
      : []),
    ...(instruments === undefined ? [] : unknown).map((symbol) =>
      source.problemOfKey(
        ['risk', 'instruments', symbol],
        `${symbol} is not listed under instruments`,
      ),
    ),
  ]
}

function checkExecution({ source, settings: { execution, risk } }: DaemonSource): Problem[] {
  const reach = execution?.takerCollarRatio
  const collar = risk?.priceCollarRatio
  const problems = execution ? checkCancels(source, execution) : []
  if (reach === undefined || collar === undefined || reach <= collar) return problems
  const message = `${reach} is above risk.priceCollarRatio ${collar}: such orders would all be denied`
  return [...problems, source.problem(['execution', 'takerCollarRatio'], message)]
}

type Execution = NonNullable<DaemonSource['settings']['execution']>

function checkCancels(source: YamlSource, execution: Execution): Problem[] {
  const { fillVisibilityMs, displacedWithinMs } = execution
  const problems: Problem[] = []
  if (
    fillVisibilityMs !== undefined &&
    displacedWithinMs !== undefined &&
    displacedWithinMs <= fillVisibilityMs
  ) {
    const message = `${displacedWithinMs} is not above fillVisibilityMs ${fillVisibilityMs}: nothing is placed before then`
    problems.push(source.problem(['execution', 'displacedWithinMs'], message))
  }
  return problems
}

/** The current file and the one before it both need room. */
function checkRecord({ source, settings: { record } }: DaemonSource): Problem[] {
  if (typeof record !== 'object') return []
  const { segmentBytesMax, totalBytesMax } = record
  if (segmentBytesMax === undefined || totalBytesMax === undefined) return []
  if (totalBytesMax >= 2 * segmentBytesMax) return []
  const message = `${totalBytesMax} has no room for two files of record.segmentBytesMax ${segmentBytesMax}`
  return [source.problem(['record', 'totalBytesMax'], message)]
}
