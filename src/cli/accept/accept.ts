import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { assertLossesDecided } from '../../config/live-checks.ts'
import {
  type ConfigOptions,
  type DaemonConfig,
  loadConfig,
  toConfigRequest,
} from '../../config/load-config.ts'
import { loadCredentials } from '../../config/secrets.ts'
import { accessTo } from '../../assembly/account/account-keys.ts'
import { holdAccount } from '../../assembly/account/account-lock.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { createCalls } from '../../assembly/account/exchange-calls.ts'
import { describeHolder } from '../../assembly/state/state-directory.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { ExchangeAccess } from '../../exchange/client/request-writer.ts'
import { TrustedClock } from '../../exchange/clock/exchange-clock.ts'
import { systemClock } from '../../lib/clock.ts'
import { Failure } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { formatFinding } from '../process/finding.ts'
import { print } from '../process/operator.ts'
import { listOption } from '../process/options.ts'
import { assertSupported } from '../process/platform.ts'
import { assertTrusted } from '../process/trusted-files.ts'
import { onStopSignals } from '../../lib/stop-signals.ts'
import { AccountProbe } from './account-probe.ts'
import { type Acceptance, runAcceptance } from './acceptance.ts'
import { writeOut } from '../../lib/write-out.ts'

/** After `left` a person must look at the exchange. */
const EXITS = { done: 0, failed: 1, left: 75 } as const

const LIVE_CONSENT = 'live'

const NAME_WIDTH = 'nothing left'.length

interface AcceptOptions extends Pick<ConfigOptions, 'set'> {
  readonly trade?: boolean
  readonly symbol?: string
  readonly yes?: string
  readonly json?: boolean
  readonly trustFiles?: boolean
}

export function addAcceptCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('accept')
    .description(
      'test an account with the smallest order: place, find, cancel, kill; then clean up',
    )
    .argument('<config>', 'the main file of the account, on an external exchange')
    .option('--trade', 'also open and close the smallest position')
    .option('--symbol <symbol>', 'the instrument (default: the first of the configuration)')
    .option('--yes <environment>', 'must be live if the configuration is for real money')
    .addOption(listOption('--set <path=value>', 'override a setting of the main file'))
    .option('--json', 'print the steps as JSON')
    .option('--trust-files', 'go on although other users may replace files that are read')
    .action(async (config: string, options: AcceptOptions) =>
      setExit(await accept(config, options)),
    )
}

async function accept(file: string, options: AcceptOptions): Promise<number> {
  const request = toConfigRequest({ config: file, set: options.set })
  const loaded = loadConfig(request)
  const { config } = loaded
  assertLossesDecided([loaded])
  assertSupported(config)
  const instrument = findInstrument(config, options.symbol)
  assertConsent(config, options.yes)
  if (options.trustFiles !== true) assertTrusted([config], request)
  const access = assertAccess(config, request.cwd)
  const lock = holdAccount({
    access,
    holder: describeHolder(`${config.name}, acceptance run`, systemClock.now()),
    onUnlocked: refuseUnlocked,
  })
  try {
    print(
      `places orders on ${instrument.symbol} at ${access.baseUrl}, and cancels everything that rests there`,
    )
    const acceptance = await tryAccount({ config, access, instrument, options })
    if (options.json) writeOut(`${JSON.stringify(acceptance)}\n`)
    if (!acceptance.isClean) return EXITS.left
    return acceptance.hasFailed ? EXITS.failed : EXITS.done
  } finally {
    lock.release()
  }
}

interface AcceptanceTrial {
  readonly config: DaemonConfig
  readonly access: ExchangeAccess
  readonly instrument: Instrument
  readonly options: AcceptOptions
}

async function tryAccount({
  config,
  access,
  instrument,
  options,
}: AcceptanceTrial): Promise<Acceptance> {
  const trusted = new TrustedClock(systemClock)
  const { clock } = trusted
  const logger = { log: (_level: string, event: string) => print(event) }
  const { client, limiter } = createCalls({
    config,
    access,
    isEmbedded: false,
    logger,
    trusted,
    timers: systemTimers,
  })
  let isStopped = false
  const forget = onStopSignals(() => {
    isStopped = true
    print('stopping: what was placed is taken away')
  })
  try {
    return await runAcceptance({
      probe: new AccountProbe({ client, config, instrument, clock, timers: systemTimers }),
      config,
      isTrading: options.trade === true,
      clock,
      isStopped: () => isStopped,
      onStep: (step) => {
        if (!options.json) writeOut(`${formatFinding(step, NAME_WIDTH)}\n`)
      },
    })
  } finally {
    forget()
    await limiter.stop()
    await client.close()
  }
}

function findInstrument(config: DaemonConfig, symbol: string | undefined): Instrument {
  const instruments = toInstruments(config)
  const [first] = instruments.values()
  const found = symbol === undefined ? first : instruments.get(symbol)
  if (found !== undefined) return found
  throw new Failure({
    code: 'ACCEPT_SYMBOL_UNKNOWN',
    sentence: 'the configuration has no such instrument',
    facts: { symbol: symbol ?? '', instruments: [...instruments.keys()].join(', ') },
    hint: 'name one of them, or write it under instruments',
  })
}

function assertConsent({ environment }: DaemonConfig, yes: string | undefined): void {
  if (environment !== 'live' || yes === LIVE_CONSENT) return
  throw new Failure({
    code: 'ACCEPT_LIVE',
    sentence: 'this configuration is for real money, and an acceptance run places orders',
    hint: `try it in the demo environment of the exchange first; if that is what you mean, add --yes=${LIVE_CONSENT}`,
  })
}

function assertAccess(config: DaemonConfig, cwd: string): ExchangeAccess {
  const access = accessTo(config, loadCredentials(config, { cwd }))
  if (access !== undefined) return access
  throw new Failure({
    code: 'DAEMON_EXCHANGE_MISSING',
    sentence: 'there is no exchange to try: this configuration trades inside the daemon',
    hint: 'set environment: demo, exchange.baseUrl and the keys',
  })
}

function refuseUnlocked(reason: string): never {
  throw new Failure({
    code: 'ACCEPT_UNLOCKED',
    sentence: 'the account cannot be held against other daemons',
    facts: { found: reason },
    hint: 'let the user write one of these folders, or set XDG_STATE_HOME to one of its own',
  })
}
