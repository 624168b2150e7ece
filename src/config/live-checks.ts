import type { DaemonConfig, LoadedConfig } from './load-config.ts'
import { ConfigError, type Problem } from './yaml/problem.ts'

type Losses = DaemonConfig['risk']['losses']

/** Commands that read or reduce risk need no decision. */
export function findUndecidedLosses({
  config,
  documents: { main: source },
}: LoadedConfig): Problem[] {
  const { environment, risk } = config
  if (environment !== 'live' || risk.losses === 'none' || isLossLimited(risk.losses)) return []
  const path = ['risk', 'losses']
  const lack = source.has(path) ? 'this limits nothing' : 'the key "losses" is missing'
  const message = `${lack}: with real money, say what the account may lose at most: daily in ${config.account.marginCoin}, or drawdown with reducing or flatten as a share of the equity, such as losses: { daily: "100" }; or losses: none, if it may lose everything that it holds`
  return [source.problemOfKey(path.slice(0, source.has(path) ? 2 : 1), message)]
}

/** @throws ConfigError if the operator has not decided about losses */
export function assertLossesDecided(accounts: readonly LoadedConfig[]): void {
  const problems = accounts.flatMap(findUndecidedLosses)
  if (problems.length > 0) throw new ConfigError(problems)
}

export function isLossLimited(losses: Losses): boolean {
  if (losses === 'none') return false
  const { daily, drawdown } = losses
  return daily !== undefined || drawdown?.reducing !== undefined || drawdown?.flatten !== undefined
}

/**
 * Alerts and the port belong to the daemon.
 * @param accounts the main file's first
 */
export function listMissingProtection(accounts: readonly LoadedConfig[]): Problem[] {
  return accounts.flatMap((account, index) => {
    if (account.config.environment !== 'live') return []
    return [...listOfAccount(account), ...(index === 0 ? listOfDaemon(account) : [])]
  })
}

function listOfAccount({ config, documents }: LoadedConfig): Problem[] {
  const { main: source } = documents
  const { account, risk, strategies } = config
  const withoutMaintenance =
    risk.liquidation === 'none'
      ? []
      : Object.entries(config.instruments).flatMap(([symbol, { maintenance }]) =>
          maintenance === undefined ? [symbol] : [],
        )
  const unlimited = strategies.filter(
    (strategy) => strategy.enabled && strategy.risk.positionNotionalMax === undefined,
  )
  return [
    ...(risk.losses === 'none'
      ? [
          source.problem(
            ['risk', 'losses'],
            'the account may lose everything that it holds: set a limit',
          ),
        ]
      : []),
    ...(account.capital === undefined
      ? [
          source.problemOfKey(
            ['account'],
            `capital is not set, so what the account is worth is unknown: neither a drawdown nor risk.leverageMax can be limited, and risk.liquidation only warns: set what it holds in ${account.marginCoin}`,
          ),
        ]
      : []),
    ...withoutMaintenance.map((symbol) =>
      source.problemOfKey(
        ['instruments', symbol],
        'maintenance is not set, so how far its liquidation is, is known by the exchange alone, and risk.liquidation only warns: list the tiers of its contract page, such as maintenance: [{ upTo: "1000000", rate: 0.004 }, { rate: 0.01 }]',
      ),
    ),
    ...(risk.leverageMax === undefined
      ? [
          source.problemOfKey(
            ['risk'],
            'leverageMax is not set: set the largest sum of positions and open orders as a multiple of the equity, such as 2',
          ),
        ]
      : []),
    ...(risk.survives === undefined
      ? [
          source.problemOfKey(
            ['risk'],
            'survives is not set: say which move of the market the account must survive with everything filled that rests, such as survives: { move: 0.12 }',
          ),
        ]
      : []),
    ...unlimited.flatMap(
      ({ id }) =>
        documents.strategies
          .get(id)
          ?.problemOfKey(
            ['risk'],
            'positionNotionalMax is not set: nothing limits its position by value, and positionMax is a size in the base coin',
          ) ?? [],
    ),
  ]
}

function listOfDaemon({ config, documents: { main: source } }: LoadedConfig): Problem[] {
  const hasTarget = (config.alerts?.targets ?? []).length > 0
  return [
    ...(hasTarget
      ? []
      : [
          source.problemOfKey(
            ['alerts'],
            'no target is set, so nobody is told when something goes wrong: list one under alerts.targets (docs/alerts.md)',
          ),
        ]),
    ...(config.control.port === undefined
      ? [
          source.problemOfKey(
            ['control'],
            'port is not set, so there is no dashboard: set control.port, such as 8787 (docs/dashboard.md)',
          ),
        ]
      : []),
  ]
}
