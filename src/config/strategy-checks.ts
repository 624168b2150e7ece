import { parseCapital } from '../domain/capital.ts'
import { MANUAL } from '../domain/hand-order.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import type { ReadableFile } from './cross-checks.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import { isAbove, isMultipleOf, isPositiveDecimal } from './schema/setting-values.ts'
import { stopAtExchangeShare, type StrategyFile } from './schema/strategy-schema.ts'
import { checkReadSignals } from './server-checks.ts'
import type { Problem, SettingPath } from './yaml/problem.ts'
import type { PartialSettings } from './yaml/checked-file.ts'

type Strategy = ReadableFile<StrategyFile>
type DaemonSettings = PartialSettings<DaemonFile>

export const checkStrategy = (strategy: Strategy, daemon: DaemonSettings): Problem[] => [
  ...checkSymbols(strategy, daemon),
  ...checkSizes(strategy, daemon),
  ...checkAccountLimits(strategy, daemon),
  ...(strategy.settings.exits ? checkExits(strategy, daemon) : []),
  ...checkUniverse(strategy, daemon),
  ...checkReadSignals(strategy, daemon),
]

export function checkCapitals(
  strategies: readonly Strategy[],
  { source: main, settings: { account, simulator } }: ReadableFile<DaemonFile>,
): Problem[] {
  const hasCapital = account?.capital !== undefined || simulator?.startingBalance !== undefined
  const knowsNone = account !== undefined && !hasCapital && !main.has(['account', 'capital'])
  let shares = 0
  return strategies.flatMap(({ source, settings: { capital: text, enabled } }) => {
    const capital = text === undefined || enabled === false ? undefined : parseCapital(text)
    if (capital?.kind !== 'share') return []
    shares += capital.share
    const problem = (message: string) => [source.problem(['capital'], message)]
    if (knowsNone)
      return problem('is a share of the equity, which nobody knows: set account.capital')
    if (shares <= 1 + SHARE_ROUNDING) return []
    const percent = Number((shares * 100).toFixed(4))
    return problem(
      `with the strategies listed before it this is ${percent} % of the equity: 100 % is all there is`,
    )
  })
}

const SHARE_ROUNDING = 1e-9

/** They would share orders, state and limits. */
export function checkIds(strategies: readonly Strategy[], { manual }: DaemonSettings): Problem[] {
  const firstById = new Map<string, Strategy>()
  return strategies.flatMap((strategy) => {
    const { id } = strategy.settings
    if (id === undefined) return []
    if (id === MANUAL && manual !== undefined)
      return [strategy.source.problem(['id'], 'trades by hand have this id (section `manual`)')]
    const first = firstById.get(id)
    if (first === undefined) {
      firstById.set(id, strategy)
      return []
    }
    return [strategy.source.problem(['id'], `${id} is already the id of ${first.source.shown}`)]
  })
}

function checkSymbols({ source, settings }: Strategy, { instruments }: DaemonSettings): Problem[] {
  const seen = new Set<string>()
  const listed = Object.keys(instruments ?? {})
  return (settings.instruments ?? []).flatMap((symbol, index) => {
    if (symbol === undefined) return []
    const isSecond = seen.has(symbol)
    seen.add(symbol)
    if (isSecond) return [source.problem(['instruments', index], `${symbol} is named twice`)]
    if (instruments === undefined || listed.includes(symbol)) return []
    const guess = didYouMean(symbol, listed)
    const hint =
      guess === undefined ? `those listed are ${listed.join(', ')}` : `did you mean ${guess}?`
    return [
      source.problem(
        ['instruments', index],
        `${symbol} is not listed under instruments of the main file; ${hint}`,
      ),
    ]
  })
}

function checkSizes({ source, settings }: Strategy, { instruments }: DaemonSettings): Problem[] {
  const { positionMax, orderSizeMax } = settings.risk ?? {}
  const size = toDecimalText(settings.params?.['size'])
  const problems: Problem[] = []
  if (
    positionMax !== undefined &&
    orderSizeMax !== undefined &&
    isAbove(orderSizeMax, positionMax)
  ) {
    problems.push(
      source.problem(
        ['risk', 'orderSizeMax'],
        `${orderSizeMax} is above the positionMax ${positionMax}`,
      ),
    )
  }
  if (isPositiveDecimal(size) && orderSizeMax !== undefined && isAbove(size, orderSizeMax)) {
    problems.push(
      source.problem(
        ['params', 'size'],
        `${size} is above risk.orderSizeMax ${orderSizeMax}: every order would be denied`,
      ),
    )
  }
  const sizes: [SettingPath, unknown][] = [
    [['risk', 'positionMax'], positionMax],
    [['risk', 'orderSizeMax'], orderSizeMax],
    [['params', 'size'], size],
  ]
  for (const symbol of settings.instruments ?? []) {
    const { lotSize, minSize } = (symbol !== undefined && instruments?.[symbol]) || {}
    for (const [path, value] of sizes) {
      if (!isPositiveDecimal(value)) continue
      if (lotSize !== undefined && !isMultipleOf(value, lotSize)) {
        problems.push(
          source.problem(path, `${value} is not a multiple of the lotSize ${lotSize} of ${symbol}`),
        )
      } else if (minSize !== undefined && isAbove(minSize, value)) {
        problems.push(source.problem(path, `${value} is below the minSize ${minSize} of ${symbol}`))
      }
    }
  }
  return problems
}

function toDecimalText(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value
}

function checkAccountLimits({ source, settings }: Strategy, { risk }: DaemonSettings): Problem[] {
  const openOrders = settings.risk?.openOrdersMax
  if (
    openOrders === undefined ||
    risk?.openOrdersMax === undefined ||
    openOrders <= risk.openOrdersMax
  )
    return []
  const message = `${openOrders} is above risk.openOrdersMax ${risk.openOrdersMax} of the account`
  return [source.problem(['risk', 'openOrdersMax'], message)]
}

function checkExits(
  { source, settings }: ReadableFile<StrategyFile>,
  daemon: PartialSettings<DaemonFile>,
): Problem[] {
  const { distance, atExchange } = settings.exits?.stop ?? {}
  if (distance === undefined) return []
  const problems = (settings.instruments ?? []).flatMap((symbol) => {
    const message = symbol && objectToWidth(symbol, distance, daemon)
    return message ? [source.problem(['exits', 'stop', 'distance'], message)] : []
  })
  const collar = daemon.risk?.priceCollarRatio
  const beyond = stopAtExchangeShare(distance)
  if (atExchange === true && collar !== undefined && beyond > collar) {
    const message = `the stop at the exchange would be ${beyond} from the price, and risk.priceCollarRatio ${collar} of the main file denies an order with a price so far away: nothing would be opened`
    problems.push(source.problem(['exits', 'stop', 'atExchange'], message))
  }
  return problems
}

function objectToWidth(
  symbol: string,
  distance: number,
  { account, instruments, simulator }: PartialSettings<DaemonFile>,
): string | undefined {
  if (account?.marginMode !== 'isolated') return undefined
  const { leverage: own, maintenance } = instruments?.[symbol] ?? {}
  const leverage = own ?? account.leverage ?? simulator?.leverage
  if (leverage === undefined) return undefined
  const left = 1 / leverage - (maintenance?.[0]?.rate ?? 0)
  if (distance < left) return undefined
  return `at a leverage of ${leverage} an isolated position of ${symbol} is liquidated after ${(left * 100).toFixed(2)} %, before this stop: lower the leverage, or the distance`
}

const SIZES = ['positionMax', 'orderSizeMax'] as const

const SIZE = 'a decimal above zero such as "0.001"'

function checkUniverse(strategy: Strategy, daemon: PartialSettings<DaemonFile>): Problem[] {
  const { source } = strategy
  if (!source.has(['universe'])) return checkNamed(strategy)
  return [...checkLimits(strategy), ...checkAccount(strategy, daemon)]
}

function checkNamed({ source, settings }: Strategy): Problem[] {
  const missing = SIZES.filter((name) => source.has(['risk']) && !source.has(['risk', name]))
  const hasNone = settings.instruments?.length === 0
  const problems = missing.map((name) =>
    source.problemOfKey(['risk'], `the key "${name}" is missing: expected ${SIZE}`),
  )
  if (!source.has(['instruments']))
    problems.push(
      source.problemOfKey(
        [],
        'the key "instruments" is missing: expected a list, or universe with a rule that chooses them',
      ),
    )
  else if (hasNone)
    problems.push(
      source.problem(
        ['instruments'],
        'expected at least one symbol, or universe with a rule that chooses them',
      ),
    )
  return problems
}

function checkLimits({ source }: Strategy): Problem[] {
  const written = SIZES.filter((name) => source.has(['risk', name]))
  const problems = written.map((name) =>
    source.problemOfKey(
      ['risk', name],
      'a size in the base coin means another amount on each instrument of a universe: remove it, positionNotionalMax limits them all',
    ),
  )
  if (!source.has(['risk', 'positionNotionalMax']) && source.has(['risk']))
    problems.push(
      source.problemOfKey(
        ['risk'],
        'a universe needs positionNotionalMax: the largest position on each of its instruments, in the quote coin',
      ),
    )
  return problems
}

function checkAccount(
  { source, settings }: Strategy,
  { exchange, simulator, environment, risk }: PartialSettings<DaemonFile>,
): Problem[] {
  const problems: Problem[] = []
  const isEmbedded = simulator !== undefined && exchange?.baseUrl === undefined
  if (!isEmbedded && environment !== undefined && exchange?.beyondDocument === false)
    problems.push(
      source.problemOfKey(
        ['universe'],
        'needs the contracts of the exchange, which the document has no call for: set exchange.beyondDocument: true in the main file',
      ),
    )
  if (!isEmbedded && risk?.survives !== undefined)
    problems.push(
      source.problemOfKey(
        ['universe'],
        'risk.survives of the main file needs the maintenance of every instrument, and the exchange does not state it for those that a rule chooses: remove one of the two',
      ),
    )
  const both = settings.universe?.exclude?.filter(
    (name) => name !== undefined && settings.universe?.include?.includes(name),
  )
  return [
    ...problems,
    ...(both ?? []).map((name) =>
      source.problem(['universe', 'include'], `${name} is excluded as well: it is never chosen`),
    ),
  ]
}
