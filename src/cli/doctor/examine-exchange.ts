import { listContractRemarks } from '../../config/contract-remarks.ts'
import type { ContractsAnswer } from '../../config/known-contracts.ts'
import type { DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import { formatProblem } from '../../config/yaml/problem.ts'
import { describeWay, loadProxies } from '../../config/proxy.ts'
import { PROXY_LOGIN } from '../../config/schema/daemon-schema.ts'
import type { ApiCredentials } from '../../config/secrets.ts'
import { accessTo, toRefusal } from '../../assembly/account/account-keys.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import {
  isForbidden,
  type RefusedAnswer,
  refusesKeys,
  type UnknownAnswer,
} from '../../domain/answer.ts'
import type { PositionReading } from '../../domain/position.ts'
import { TickerTable } from '../../domain/ticker-table.ts'
import { ExchangeClock } from '../../exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../exchange/exchange-client.ts'
import { systemClock } from '../../lib/clock.ts'
import { headlineOf } from '../../lib/failure.ts'
import type { ForwardProxy } from '../../lib/net/proxy.ts'
import { stepAbove, stepBelow } from '../../lib/grid.ts'
import { systemTimers } from '../../lib/timers.ts'
import { type CheckFinding, finding, ok } from '../process/finding.ts'

const SAMPLES = 4
const POSITIONS_MAX = 5
const OFFSET_WARN_MS = 1000

/** The API has no call for this. */
const changeAtExchange = (what: string): string =>
  `change the ${what} on the exchange's page or in its app (docs/exchange.md)`

const BY_ORDERS = 'or let `intentd accept` try it in the demo environment'

const MODE_UNSEEN = finding(
  'notChecked',
  'position mode',
  'no endpoint says it while nothing is held, nor margin mode and leverage',
  `compare account.positionMode, account.marginMode and the leverage with the settings at the exchange, ${BY_ORDERS}`,
)

const PRECISION_UNSEEN = finding(
  'notChecked',
  'precision',
  'no endpoint says it; no price contradicts tickSize',
  `compare tickSize, lotSize, minSize and minNotional with the contracts at the exchange, ${BY_ORDERS}`,
)

const KEY_RIGHTS = finding(
  'notChecked',
  'key rights',
  'no endpoint says them',
  'at the exchange: read and trade, never withdraw, bound to the address of this machine',
)

const TOO_MANY = 429
const LIMITS_USED_UP =
  'the calls that are allowed from this address are used up, by a daemon here or by another program: look again; where it stays so, lower exchange.limitsUse or poll less often'

const DEMO = ok(
  'environment',
  'demo: each signed call carries paptrading: 1, which only keys of the demo environment may',
)

export async function examineExchange(
  account: LoadedConfig,
  credentials: ApiCredentials | undefined,
  contracts: ContractsAnswer | undefined,
): Promise<readonly CheckFinding[]> {
  const { config } = account
  const baseUrl = config.exchange.baseUrl ?? config.simulator?.market.live?.baseUrl
  if (baseUrl === undefined) {
    return [
      ok('exchange', 'the simulator inside the daemon: there is nothing to reach'),
      ok('clock', "the simulator goes by this machine's clock"),
    ]
  }
  const proxyFor = loadProxies(config)
  const offset = new ExchangeClock()
  const { requestTimeoutMs, answerBytesMax, locale, demo } = config.exchange
  const client = new ExchangeClient({
    baseUrl,
    requestTimeoutMs,
    answerBytesMax,
    locale,
    isDemo: demo,
    offset,
    ...accessTo(config, credentials),
    proxyFor,
    positionMode: config.account.positionMode,
    clock: systemClock,
    timers: systemTimers,
  })
  const table = new TickerTable()
  try {
    const reached = await reach(client, table, { config, baseUrl, proxy: proxyFor(baseUrl) })
    const listed = judgeContracts(account, contracts)
    if (config.exchange.baseUrl === undefined) return [reached, judgeClock(offset), ...listed]
    if (reached.state !== 'ok') return [reached]
    return [
      reached,
      ...(demo ? [DEMO] : []),
      judgeClock(offset),
      ...(await examineAccount(client, config, credentials)),
      ...(listed.some(({ state }) => state === 'ok')
        ? listed
        : [...listed, judgePrecision(table, config)]),
      KEY_RIGHTS,
    ]
  } finally {
    await client.close()
  }
}

interface ReachAttempt {
  readonly config: DaemonConfig
  readonly baseUrl: string
  readonly proxy: ForwardProxy | undefined
}

async function reach(
  client: ExchangeClient,
  table: TickerTable,
  { config, baseUrl, proxy }: ReachAttempt,
): Promise<CheckFinding> {
  const way = describeWay(config, baseUrl)
  for (let count = 0; count < SAMPLES; count++) {
    const answer = await client.readTickers(table, config.account.productType)
    if (answer.kind === 'accepted') continue
    const found = `${baseUrl}${way}: ${answer.code} ${answer.message}`
    if (answer.kind === 'refused' && answer.status === TOO_MANY)
      return finding('warn', 'exchange', found, LIMITS_USED_UP)
    const advice =
      proxy === undefined
        ? 'check exchange.baseUrl, the connection and the firewall'
        : `check exchange.baseUrl, and the proxy that ${proxy.from} names: its address, its login (${proxy.from === 'exchange.proxy' ? PROXY_LOGIN : proxy.from}), and whether it lets this address pass`
    return finding('fail', 'exchange', found, advice)
  }
  return ok('exchange', `${baseUrl} answers${way}`)
}

function judgeClock(offset: ExchangeClock): CheckFinding {
  const found = `the exchange's clock is ${offset.offsetMs} ms ahead of this machine's`
  if (!offset.isMeasured) {
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

async function examineAccount(
  client: ExchangeClient,
  config: DaemonConfig,
  credentials: ApiCredentials | undefined,
): Promise<readonly CheckFinding[]> {
  if (credentials === undefined) {
    return [
      finding('notChecked', 'key accepted', 'there is no key to show', 'see keys'),
      MODE_UNSEEN,
    ]
  }
  let mode: CheckFinding | undefined
  const margin: CheckFinding[] = []
  for (const instrument of [...toInstruments(config).values()].slice(0, POSITIONS_MAX)) {
    const answer = await client.readPosition({ instrument })
    if (answer.kind !== 'accepted')
      return [judgeRefusal(answer, config), mode ?? MODE_UNSEEN, ...margin]
    mode ??= judgeMode(answer.data, config)
    margin.push(...judgeMargin(answer.data, config))
  }
  const accepted = ok('key accepted', 'the exchange answers a private read')
  return [accepted, mode ?? MODE_UNSEEN, ...margin, await examineTier(client, config)]
}

/** Only copy traders have this summary. Their limits are lower. */
async function examineTier(
  client: ExchangeClient,
  { account: { tier } }: DaemonConfig,
): Promise<CheckFinding> {
  const answer = await client.call('copyOrderTotalDetail', {})
  const isKnown =
    answer.kind === 'accepted' || (answer.kind === 'refused' && answer.class === 'definite')
  if (!isKnown)
    return finding(
      'notChecked',
      'tier',
      `${answer.code} ${answer.message}`,
      'run it again in a moment',
    )
  const found = answer.kind === 'accepted' ? 'copyTrader' : 'ordinary'
  return found === tier
    ? ok('tier', `${tier}, says the exchange`)
    : finding(
        'warn',
        'tier',
        found === 'copyTrader'
          ? 'others copy the trades of this account, says the exchange: it may send fewer batches a second'
          : 'the exchange does not know this account as one whose trades are copied',
        `set account.tier: ${found}; with the other limits ${found === 'copyTrader' ? 'batches are refused (429) and wait' : 'batches leave later than they might'}`,
      )
}

function judgeRefusal(answer: RefusedAnswer | UnknownAnswer, config: DaemonConfig): CheckFinding {
  const { code, message } = answer
  if (refusesKeys(answer) || isForbidden(answer)) {
    const refusal = toRefusal(answer, config)
    return finding('fail', 'key accepted', headlineOf(refusal), refusal.hint ?? 'see .env.example')
  }
  return finding('warn', 'key accepted', `${code} ${message}`, 'run it again in a moment')
}

function judgeMode(
  { rows, symbol }: PositionReading,
  { account }: DaemonConfig,
): CheckFinding | undefined {
  const is = rows.find(({ positionMode }) => positionMode !== undefined)?.positionMode
  if (is === undefined) return undefined
  return is === account.positionMode
    ? ok('position mode', `${is}, says the position in ${symbol}`)
    : finding(
        'fail',
        'position mode',
        `the account is in ${is}, says the position in ${symbol}`,
        `set account.positionMode: ${is}, or ${changeAtExchange('position mode')}`,
      )
}

/** The exchange refuses to add to a position in another margin mode or at another leverage. */
function judgeMargin({ rows, symbol }: PositionReading, config: DaemonConfig): CheckFinding[] {
  const { marginMode: wanted } = config.account
  const { leverage } = toInstruments(config).get(symbol) ?? {}
  const mode = rows.find(
    ({ marginMode }) => marginMode !== undefined && marginMode !== wanted,
  )?.marginMode
  const other = rows.find(
    (row) => row.leverage !== undefined && row.leverage !== leverage,
  )?.leverage
  return [
    ...(mode === undefined
      ? []
      : [
          finding(
            'fail',
            'margin mode',
            `the position in ${symbol} is ${mode}, the configuration says ${wanted}`,
            `set account.marginMode: ${mode}, or close the position and ${changeAtExchange('margin mode')}`,
          ),
        ]),
    ...(leverage === undefined || other === undefined
      ? []
      : [
          finding(
            'fail',
            'leverage',
            `the position in ${symbol} has leverage ${other}, the configuration says ${leverage}`,
            `set instruments.${symbol}.leverage: ${other}, or ${changeAtExchange('leverage')}`,
          ),
        ]),
  ]
}

function judgeContracts(
  account: LoadedConfig,
  answer: ContractsAnswer | undefined,
): readonly CheckFinding[] {
  if (answer === undefined) return []
  const remarks = listContractRemarks(account, answer)
  if (remarks.length === 0 && answer.now === undefined) return []
  if (remarks.length === 0) return [ok('contracts', 'the rules are those that the exchange lists')]
  return remarks.map(({ problem }) =>
    finding('warn', 'contracts', formatProblem(problem), 'intentd instruments shows all of them'),
  )
}

/** A price that fits the tick proves nothing: only one that does not is a finding. */
function judgePrecision(table: TickerTable, config: DaemonConfig): CheckFinding {
  for (const { symbol, tick } of toInstruments(config).values()) {
    const price = PRICE_COLUMNS.map((column) => table.read(symbol, column)).find(
      (one) => one > 0 && stepBelow(tick, one) !== stepAbove(tick, one),
    )
    if (price === undefined) continue
    return finding(
      'fail',
      'precision',
      `${symbol} trades at ${price}, which is no multiple of tickSize ${tick.step}`,
      'write tickSize as the exchange gives it: it rejects orders off its grid',
    )
  }
  return PRECISION_UNSEEN
}

const PRICE_COLUMNS = ['bidPr', 'askPr', 'lastPr'] as const
