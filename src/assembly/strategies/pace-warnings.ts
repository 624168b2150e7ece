/** Warns of a pace beyond the exchange's limits, with which data come late. */
import type { LoadedConfig } from '../../config/load-config.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import type { YamlSource } from '../../config/yaml/yaml-source.ts'
import type { EndpointName } from '../../protocol/endpoints.ts'
import {
  type AddressUse,
  ageOfRounds,
  allowedPerSecond,
  instrumentsMax,
  positionsPerSecond,
  readableMax,
  readRoundMs,
} from '../settings/read-pace.ts'
import { feedsOf, type LoadedStrategy, overloadedEndpoints } from './strategies.ts'

export interface CheckedAccount {
  readonly loaded: LoadedConfig
  readonly strategies: readonly LoadedStrategy[]
}

interface Reads {
  readonly endpoint: EndpointName
  readonly perSecond: number
  readonly setting: string
}

/** @param accounts the accounts that share an address; that of the main file comes first */
export function listPaceWarnings(given: readonly CheckedAccount[]): readonly Problem[] {
  const accounts = given.map(withListed)
  const [main] = accounts
  if (main === undefined) return []
  const { config, documents } = main.loaded
  const products = new Set(accounts.map(({ loaded }) => loaded.config.account.productType))
  const feeds =
    accounts.length > 1
      ? feedsOf(
          accounts.flatMap(({ strategies }) => strategies),
          'public',
        )
      : []
  return [
    ...listTooFast(main, {
      endpoint: 'tickers',
      perSecond: (products.size * 1000) / config.polling.tickersMs,
      setting: 'tickersMs',
    }),
    ...overloadedEndpoints(feeds).map((message) => documents.main.problem(['accounts'], message)),
    ...accounts.flatMap((account) => [
      ...listSlowPolls(account, { accounts: accounts.length }),
      ...listSlowLadders(account),
    ]),
  ]
}

/** With the embedded simulator, universes choose among the instruments of the main file. */
function withListed(account: CheckedAccount): CheckedAccount {
  const { loaded } = account
  const { config } = loaded
  if (config.exchange.baseUrl !== undefined || config.simulator === undefined) return account
  const strategies = config.strategies.map(({ universe: _chosen, ...strategy }) => strategy)
  return { ...account, loaded: { ...loaded, config: { ...config, strategies } } }
}

function listSlowPolls(account: CheckedAccount, use: AddressUse): readonly Problem[] {
  const { polling } = account.loaded.config
  return [
    ...listTooFast(account, {
      endpoint: 'orderFills',
      perSecond: 1000 / polling.fillsMs,
      setting: 'fillsMs',
    }),
    ...listSlowPositions(account, use),
    ...listOddAges(account, use),
    ...listWideUniverses(account, use),
  ]
}

function listSlowPositions(
  { loaded: { config, documents } }: CheckedAccount,
  use: AddressUse,
): readonly Problem[] {
  const instruments = instrumentsMax(config, use)
  const perSecond = positionsPerSecond(config, use)
  const roundMs = (instruments * 1000) / perSecond
  if (roundMs <= config.polling.positionsMs) return []
  const message =
    `the positions of ${instruments} instruments, ${shown(perSecond)} reads of singlePosition a second, take ${shown(roundMs / 1000)} s: ` +
    'so old they grow, and so long after a start the last one is traded'
  return [documents.main.problem(['polling', 'positionsMs'], message)]
}

function listWideUniverses(
  { loaded: { config, documents } }: CheckedAccount,
  use: AddressUse,
): readonly Problem[] {
  const most = readableMax(config, use)
  const chosen = config.strategies.filter(({ enabled, universe }) => enabled && universe)
  const counts = chosen.reduce((sum, { universe }) => sum + (universe?.top.count ?? 0), 0)
  const all = Object.keys(config.instruments).length + counts
  if (all <= most) return []
  return chosen.flatMap(({ id, universe }) => {
    const message = `${universe?.top.count}: with all other instruments these are ${all}, and only ${most} can be read in time (polling, exchange.limitsUse, risk.accountAgeMaxMs): those beyond stay out`
    return documents.strategies.get(id)?.problem(['universe', 'top', 'count'], message) ?? []
  })
}

/** Warns if the age is often exceeded, or is above three rounds, where it has no effect. */
function listOddAges(
  { loaded: { config, documents } }: CheckedAccount,
  use: AddressUse,
): readonly Problem[] {
  const { accountAgeMaxMs } = config.risk
  if (accountAgeMaxMs === undefined) return []
  const roundMs = readRoundMs(config, use)
  const threeMs = ageOfRounds(roundMs)
  const round = `a round of readings takes ${shown(roundMs / 1000)} s`
  if (accountAgeMaxMs > threeMs) {
    const message = `${accountAgeMaxMs} has no effect: ${round}, and after three missed ones, ${shown(threeMs / 1000)} s, nothing that adds risk leaves; leave it out`
    return [documents.main.problem(['risk', 'accountAgeMaxMs'], message)]
  }
  if (accountAgeMaxMs >= roundMs) return []
  const message = `${accountAgeMaxMs} is less than one round: ${round}, so orders that add risk are denied most of the time; leave it out, or trade fewer instruments with this account`
  return [documents.main.problem(['risk', 'accountAgeMaxMs'], message)]
}

function listTooFast(
  { loaded: { config, documents } }: CheckedAccount,
  { endpoint, perSecond, setting }: Reads,
): readonly Problem[] {
  const allowed = allowedPerSecond(endpoint, config)
  if (perSecond <= allowed) return []
  const message = `${shown(perSecond)} reads of ${endpoint} a second are asked for, and ${shown(allowed)} are allowed: they come late, so read less often`
  return [documents.main.problem(['polling', setting], message)]
}

interface Ladder {
  /** On both sides of one instrument. */
  readonly orders: number
  readonly instruments: number
  readonly openOrdersMax: number
  readonly source: YamlSource
}

function listSlowLadders(account: CheckedAccount): readonly Problem[] {
  const { config, documents } = account.loaded
  const { risk, execution } = config
  const ladders = laddersOf(account)
  const orders = ladders.reduce((sum, ladder) => sum + ladder.orders * ladder.instruments, 0)
  const calls = ladders.reduce(
    (sum, ladder) => sum + Math.ceil(ladder.orders / execution.batchOrdersMax) * ladder.instruments,
    0,
  )
  const seconds = calls / allowedPerSecond('batchPlaceOrder', config)
  return [
    ...ladders.flatMap(listCutLadder),
    ...(orders > risk.openOrdersMax
      ? [
          documents.main.problem(
            ['risk', 'openOrdersMax'],
            `${risk.openOrdersMax} is below the ${orders} orders of all ladders: the rest is denied`,
          ),
        ]
      : []),
    ...(seconds * 1000 > risk.dataAgeMaxMs
      ? [
          documents.main.problem(
            ['strategies'],
            `all ladders at once need ${calls} calls, ${shown(seconds)} s by the limit of batchPlaceOrder: longer than risk.dataAgeMaxMs ${risk.dataAgeMaxMs}, so the last ones wait for newer prices`,
          ),
        ]
      : []),
  ]
}

function laddersOf({
  loaded: { config, documents },
  strategies,
}: CheckedAccount): readonly Ladder[] {
  return strategies.flatMap(({ id, params, instruments }) => {
    const { levels } = params as { readonly levels?: unknown }
    const source = documents.strategies.get(id)
    const own = config.strategies.find((strategy) => strategy.id === id)
    if (typeof levels !== 'number' || source === undefined || own === undefined) return []
    const { openOrdersMax } = own.risk
    return [{ orders: 2 * levels, instruments: instruments.length, openOrdersMax, source }]
  })
}

function listCutLadder({ orders, openOrdersMax, source }: Ladder): readonly Problem[] {
  if (orders <= openOrdersMax) return []
  const message = `${openOrdersMax} is below the ${orders} orders of params.levels on both sides: the rest is denied`
  return [source.problem(['risk', 'openOrdersMax'], message)]
}

const shown = (value: number): string => String(Number(value.toFixed(2)))

interface ShortWindow {
  readonly id: string
  readonly param: string
  readonly value: number
}

const UNITS_MS = { Seconds: 1000, Minutes: 60_000, Ms: 1 } as const
/** An average over fewer looks is hardly more than the last price. */
export const LOOKS_MIN = 4

export function findShortWindows(
  strategies: readonly Pick<LoadedStrategy, 'id' | 'params'>[],
  lookMs: number,
): readonly ShortWindow[] {
  return strategies.flatMap(({ id, params }) =>
    Object.entries(params ?? {}).flatMap(([param, value]: [string, unknown]) => {
      const unit = Object.entries(UNITS_MS).find(([name]) => param.endsWith(name))
      const isShort =
        unit !== undefined && typeof value === 'number' && value * unit[1] < LOOKS_MIN * lookMs
      // 0 usually disables something.
      return isShort && value > 0 ? [{ id, param, value }] : []
    }),
  )
}

export function listShortWindows(accounts: readonly CheckedAccount[]): readonly Problem[] {
  return accounts.flatMap(({ loaded: { config, documents }, strategies }) => {
    const { tickersMs } = config.polling
    const { pollMs = tickersMs } = config.backtest
    const [lookMs, setting] =
      pollMs > tickersMs ? [pollMs, 'backtest.pollMs'] : [tickersMs, 'polling.tickersMs']
    return findShortWindows(strategies, lookMs).flatMap(
      ({ id, param, value }) =>
        documents.strategies
          .get(id)
          ?.problem(
            ['params', param],
            `${value} is shorter than ${LOOKS_MIN} looks at the prices, one each ${lookMs} ms (${setting}): it means little there; make it longer, or look more often`,
          ) ?? [],
    )
  })
}
