import { Option, type Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { loadSimulatorConfig } from '../../config/load-simulator-config.ts'
import type { SimulatorFile } from '../../config/schema/simulator-schema.ts'
import { listInstruments } from '../../assembly/instruments/listed-instruments.ts'
import {
  levelOf,
  toRateLimits,
  toSimulatorOptions,
} from '../../assembly/simulator/simulated-exchange.ts'
import { systemClock } from '../../lib/clock.ts'
import type { CoreSettings } from '../../simulator/futures/settings.ts'
import type { RunningSimulator, AccountRequest } from '../../simulator/start-simulator.ts'
import { endOutputs } from '../../logging/log-output.ts'
import type { ServerEvent } from '../../simulator/wire/server-event.ts'
import { atInstant } from '../../lib/alarm.ts'
import { openLogger } from '../process/open-logger.ts'
import {
  addConfigOptions,
  listOption,
  parseDuration,
  parsePort,
  parseSpeed,
} from '../process/options.ts'
import { type ConfigOptions, toConfigRequest } from '../../config/load-config.ts'
import { withPlayed } from '../../assembly/instruments/played-request.ts'
import { onStopSignals } from '../../lib/stop-signals.ts'
import { sha256 } from '../../lib/digest.ts'
import { Failure } from '../../lib/failure.ts'
import { credentialVariables } from '../../config/secrets.ts'

const SHIPPED_CONFIG = 'config/simulator.yaml'

interface SimulateOptions extends ConfigOptions {
  readonly port?: number
  readonly market: readonly string[]
  readonly speed?: number
  readonly for?: number
  readonly state?: string
  readonly printAccounts?: true
  readonly env?: string
  readonly demoPast: boolean
  readonly logLevel: string
}

export function addSimulateCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('simulate'), SHIPPED_CONFIG)
    .description('run the simulated exchange alone')
    .option('--port <n>', 'the port to listen on; 0 takes a free one', parsePort)
    .addOption(listOption('--market <file>', 'play recorded prices, FILE or SYMBOL=FILE'))
    .option('--speed <n>', 'play prices at n times real speed', parseSpeed)
    .option('--for <duration>', 'stop after 30s, 5m, 2h …', parseDuration)
    .option('--no-demo-past', 'start the accounts without a made-up history')
    .option('--state <file>', 'keep orders, positions and balances in this file across restarts')
    .option(
      '--print-accounts',
      'print the accounts as a JSON array, with their keys (play money) and allowed withdrawal addresses; logs go to standard error',
    )
    .option(
      '--env <account>',
      'with --print-accounts: print the keys of this account alone, as lines for .env',
    )
    .addOption(
      new Option(
        '--log-level <level>',
        'lowest level that is logged; debug logs each refused request',
      )
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .action(async (options: SimulateOptions, command: Command) => {
      if (options.env !== undefined && options.printAccounts === undefined)
        command.error('error: --env goes with --print-accounts')
      await simulate(options)
      setExit(0)
    })
}

async function simulate(options: SimulateOptions): Promise<void> {
  const request = await withPlayed(toConfigRequest(options, SHIPPED_CONFIG), options)
  const config = loadSimulatorConfig(request)
  assertAccount(config, options)
  const logger = openLogger({
    level: options.logLevel,
    name: 'simulator',
    aside: options.printAccounts === true,
  })
  const onEvent = ({ kind, ...fields }: ServerEvent) =>
    logger.log(levelOf(kind), `simulator.${kind}`, fields)
  const stopAsked = Promise.withResolvers<string>()
  const forget = [onStopSignals(stopAsked.resolve)]
  const simulator = await start(config, options, onEvent)
  if (options.for !== undefined)
    forget.push(
      atInstant(systemClock.now() + options.for, () => stopAsked.resolve('--for has passed')),
    )
  if (options.printAccounts) {
    const printed = simulator.accounts.map((account) => toPrinted(account, simulator.exchange))
    const asked = printed.find(({ label }) => label === options.env)
    const text = asked === undefined ? JSON.stringify(printed) : toVariables(asked)
    // Printed before the server listens, since readers then rely on it.
    await new Promise<void>((resolve) => process.stdout.write(`${text}\n`, () => resolve()))
  }
  logger.log('info', 'simulator.listening', {
    url: simulator.baseUrl,
    gatewayUrl: simulator.baseUrl,
    accounts: simulator.accounts.map(({ label }) => label),
    seed: config.seed,
    speed: options.speed ?? config.speed,
    ...(simulator.madeUp.length > 0 && { madeUp: simulator.madeUp }),
    ...(options.state === undefined ? {} : { state: options.state }),
  })
  process.send?.('ready')
  const why = await stopAsked.promise
  for (const cancel of forget) cancel()
  await simulator.stop()
  const { requests, refusals, tooManyRequests, faults } = simulator.counters()
  const total = Object.values(requests).reduce((sum, count) => sum + count, 0)
  logger.log('info', 'simulator.stopped', {
    why,
    requests: total,
    tooManyRequests,
    refusals,
    faults,
  })
  await endOutputs()
}

async function start(
  config: SimulatorFile,
  options: SimulateOptions,
  onEvent: (event: ServerEvent) => void,
): Promise<RunningSimulator> {
  const { startSimulator } = await import('../../simulator/start-simulator.ts')
  return startSimulator({
    ...toServerOptions(config, options),
    instruments: listInstruments(
      {
        productTypes: config.accounts.map(({ productType }) => productType),
        instruments: config.instruments,
      },
      systemClock.now(),
    ),
    accounts: buildAccounts(config),
    host: config.host,
    port: options.port ?? config.port,
    ...(options.state === undefined ? {} : { storeFile: options.state }),
    onEvent,
  })
}

function toServerOptions(config: SimulatorFile, { market, speed, demoPast }: SimulateOptions) {
  const { limits, services } = config
  const { unknownParameters, limitAboveMaximum, ...readings } = config.readings
  readings satisfies Readonly<Record<Exclude<keyof typeof readings, keyof CoreSettings>, never>>
  const shared = toSimulatorOptions(config, { files: market, speed })
  return {
    ...shared,
    demoPast: demoPast && config.demoPast,
    core: { ...shared.core, ...readings },
    services,
    wire: {
      ...shared.wire,
      unknownParameters,
      limitAboveMaximum,
      rateLimits: {
        ...toRateLimits(config),
        refusedCallsCount: limits.refusedCallsCount,
      },
      gatewayLimit: { calls: limits.gatewayCalls, perMs: 1000 },
    },
  }
}

function toPrinted(
  account: RunningSimulator['accounts'][number],
  exchange: RunningSimulator['exchange'],
) {
  const { label, key, secret, passphrase, positionMode, role, uid, gateway } = account
  const printed = { label, key, secret, passphrase, positionMode, role, ...exchange.contact(uid) }
  return gateway === undefined
    ? printed
    : { ...printed, gateway: { key: gateway.key, secret: gateway.secret } }
}

/** @throws Failure SIMULATE_ACCOUNT_UNKNOWN */
function assertAccount({ accounts }: SimulatorFile, { env: asked }: SimulateOptions): void {
  const names = accounts.map(({ name }) => name)
  if (asked === undefined || names.includes(asked)) return
  throw new Failure({
    code: 'SIMULATE_ACCOUNT_UNKNOWN',
    sentence: 'the simulator has no such account',
    facts: { asked, accounts: names.join(', ') },
    hint: 'name one of these, or add one to `accounts` of its configuration',
  })
}

function toVariables({ key, secret, passphrase }: ReturnType<typeof toPrinted>): string {
  const { apiKey, apiSecret, passphrase: word } = credentialVariables(undefined)
  return [`${apiKey}=${key}`, `${apiSecret}=${secret}`, `${word}=${passphrase}`].join('\n')
}

const FIRST_UID = 1_000_001

/** Keys follow from seed and name: it is play money. */
export function buildAccounts({ seed, accounts }: SimulatorFile): readonly AccountRequest[] {
  return accounts.map(
    (
      {
        name,
        positionMode,
        marginCoin,
        startingBalance,
        leverage,
        role,
        boundToIps,
        boundAt,
        demo,
        gateway,
      },
      index,
    ) => ({
      uid: String(FIRST_UID + index),
      label: name,
      key: `sim_${derive('key', { seed, name }).slice(0, 32)}`,
      secret: derive('secret', { seed, name }),
      passphrase: derive('passphrase', { seed, name }).slice(0, 16),
      positionMode,
      balances: { [marginCoin]: startingBalance },
      leverage,
      role,
      ...(boundToIps && { boundToIps }),
      ...(demo !== undefined && { isDemo: demo }),
      ...(boundAt && { boundAt: Date.parse(boundAt) }),
      ...(gateway && {
        gateway: {
          key: `gateway_${derive('gateway key', { seed, name }).slice(0, 32)}`,
          secret: derive('gateway secret', { seed, name }),
          isWhitelisted: gateway.isWhitelisted,
        },
      }),
    }),
  )
}

function derive(
  what: string,
  { seed, name }: { readonly seed: number; readonly name: string },
): string {
  return sha256(['simulated account', what, String(seed), name]).toString('hex')
}
