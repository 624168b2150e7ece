import { type Command, Option } from 'commander'
import { type Alerts } from '../alerts/alerts.ts'
import { type DaemonConfig, loadConfig } from '../config/load-config.ts'
import { loadCredentials, processVariables } from '../config/secrets.ts'
import { type Daemon, type DaemonEnd } from '../daemon/daemon.ts'
import { alertedLogger } from '../daemon/reporting/alerted-logger.ts'
import { type DaemonLogger } from '../daemon/reporting/logger.ts'
import { openDaemon, type OpenDaemonOptions, type OpenedDaemon } from '../daemon/open-daemon.ts'
import { formatSummary } from '../daemon/reporting/summary-text.ts'
import { type RunSummary } from '../daemon/reporting/summary.ts'
import { systemClock } from '../lib/clock.ts'
import { systemTimers } from '../lib/timers.ts'
import { atInstant } from './process/alarm.ts'
import { exitOf } from './process/exit-codes.ts'
import { openAlerts } from './process/open-alerts.ts'
import { openLogger } from './process/open-logger.ts'
import {
  addConfigOptions,
  collect,
  type ConfigOptions,
  parseDuration,
  parseSpeed,
  toConfigRequest,
} from './process/options.ts'
import { assertSupported } from './process/platform.ts'
import { onBreakdown, onStopSignals } from './process/signals.ts'
import { createSupervisor } from './process/supervisor.ts'

/** Something was still in flight when the stop had to end; recovery will find out. */
const EXIT_UNCLEAN = 75

interface RunOptions extends ConfigOptions {
  readonly market: readonly string[]
  readonly speed?: number
  readonly for?: number
  readonly summary?: 'json' | 'text'
}

export interface RunFrame {
  readonly version: string
  readonly setExit: (code: number) => void
}

export function addRunCommand(program: Command, { version, setExit }: RunFrame): void {
  addConfigOptions(program.command('run'))
    .description('trade: by default on paper, against the simulator inside the daemon')
    .option('--market <file>', 'play recorded prices, FILE or SYMBOL=FILE; may be given again', collect, [])
    .option('--speed <n>', 'play the market n times as fast as it was', parseSpeed)
    .option('--for <duration>', 'end the run in good order after 30s, 5m, 2h …', parseDuration)
    .addOption(
      new Option(
        '--summary <form>',
        'print a closing summary on standard output; logs go to standard error',
      ).choices(['json', 'text']),
    )
    .action(async (options: RunOptions) => setExit(await run(options, version)))
}

async function run(options: RunOptions, version: string): Promise<number> {
  const request = toConfigRequest(options)
  const loaded = loadConfig(request)
  assertSupported(loaded.config)
  const credentials = loadCredentials(loaded.config, request)
  const { level } = loaded.config.log
  const plain = openLogger({ level, name: loaded.config.name, aside: options.summary !== undefined })
  const alerts = openAlerts(loaded.config, request, plain)
  const logger = alerts ? alertedLogger(plain, alerts) : plain
  alerts?.start()
  try {
    return await trade(options, { version, loaded, credentials, logger, alerts })
  } finally {
    await alerts?.stop()
  }
}

interface TradeFrame extends Pick<OpenDaemonOptions, 'version' | 'loaded' | 'credentials' | 'logger'> {
  readonly alerts: Alerts | undefined
}

async function trade(options: RunOptions, frame: TradeFrame): Promise<number> {
  const { loaded, logger } = frame
  const stops = listenForStops()
  const breakdowns = listenForBreakdowns()
  const opened = await openDaemon({
    ...frame,
    market: { files: options.market, speed: options.speed },
    clock: systemClock,
    timers: systemTimers,
  })
  frame.alerts?.watch(opened.daemon)
  const end = await live(opened, { config: loaded.config, logger, forMs: options.for, stops, breakdowns })
  for (const summary of end.summaries) report(summary, options.summary, logger)
  if (end.fatal !== undefined) return exitOf(end.fatal)
  return end.summaries.every(({ clean }) => clean) ? 0 : EXIT_UNCLEAN
}

/** Signals are heard from the very start: one that comes while the daemon is being opened stops it right after. */
interface Stops {
  /** Calls `stop` at every signal from now on; at once, where one came before. */
  listen(stop: (why: string) => void): void
  readonly forget: () => void
}

function listenForStops(): Stops {
  let asked: string | undefined
  let listener: ((why: string) => void) | undefined
  const forget = onStopSignals((why) => {
    asked = why
    listener?.(why)
  })
  return {
    listen(stop) {
      listener = stop
      if (asked !== undefined) stop(asked)
    },
    forget,
  }
}

/** What nobody caught, from the very start: what came before the daemon was open is heard when it is. */
interface Breakdowns {
  listen(daemon: Pick<Daemon, 'failBy'>): void
  readonly forget: () => void
}

function listenForBreakdowns(): Breakdowns {
  const early: [strategy: string | undefined, error: unknown][] = []
  let daemon: Pick<Daemon, 'failBy'> | undefined
  const forget = onBreakdown((error, strategy) => {
    if (daemon === undefined) early.push([strategy, error])
    else daemon.failBy(strategy, error)
  })
  return {
    listen(opened) {
      daemon = opened
      for (const [strategy, error] of early.splice(0)) opened.failBy(strategy, error)
    },
    forget,
  }
}

interface LiveFrame {
  readonly config: DaemonConfig
  readonly logger: DaemonLogger
  readonly forMs: number | undefined
  readonly stops: Stops
  readonly breakdowns: Breakdowns
}

/** From the start to the end of a run, whatever ends it: a signal, `--for`, the recording, a breakdown. */
async function live(
  { daemon, endsAt }: OpenedDaemon,
  { config, logger, forMs, stops, breakdowns }: LiveFrame,
): Promise<DaemonEnd> {
  const supervisor = createSupervisor({
    variables: processVariables(),
    timers: systemTimers,
    heartbeat: () => daemon.heartbeat,
    onTrouble: (reason) => logger.log('warn', 'supervisor.notNotified', { reason }),
  })
  const stop = (why: string): void => {
    logger.log('info', 'daemon.stopRequested', { why, policy: config.onStop })
    supervisor.stopping()
    daemon.stop(config.onStop)
  }
  const forget = [stops.forget, breakdowns.forget, () => supervisor.close()]
  breakdowns.listen(daemon)
  stops.listen(stop)
  if (forMs !== undefined) forget.push(atInstant(systemClock.now() + forMs, () => stop('--for has passed')))
  try {
    if (await daemon.start()) supervisor.ready()
    const endAt = endsAt()
    if (endAt !== undefined) forget.push(atInstant(endAt, () => stop('the recording has ended')))
    return await daemon.ended()
  } finally {
    for (const cancel of forget) cancel()
  }
}

function report(summary: RunSummary, form: RunOptions['summary'], logger: DaemonLogger): void {
  const { clean, cycles, batches, ordersSent, orders, rateLimited, unknowns, account } = summary
  const { exchange, restrictions } = summary
  if (form === 'json') process.stdout.write(`${JSON.stringify(summary)}\n`)
  else if (form === 'text' || logger.isTerminal) process.stdout.write(`\n${formatSummary(summary)}\n`)
  if (form === undefined && logger.isTerminal) return
  logger.log('info', 'run.summary', {
    ...{ clean, cycles, batches, ordersSent, orders, rateLimited, unknowns, ...account },
    ...(restrictions.length > 0 ? { restrictions } : {}),
    ...(exchange ? { exchangeAgrees: exchange.agrees, differences: exchange.differences } : {}),
  })
}
