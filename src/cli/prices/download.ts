import { join, resolve } from 'node:path'
import process from 'node:process'
import { type Command, InvalidArgumentError } from 'commander'
import {
  downloadPrices,
  nameDownload,
  type DownloadResult,
} from '../../assembly/recordings/download-prices.ts'
import { ProgressBar } from '../../backtest/playing/progress-bar.ts'
import { loadConfig, toConfigRequest } from '../../config/load-config.ts'
import { openOf, parseInterval } from '../../domain/candles.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import { systemClock } from '../../lib/clock.ts'
import { makeDirectory } from '../../lib/durable-file.ts'
import { onStopSignals } from '../../lib/stop-signals.ts'
import { systemTimers } from '../../lib/timers.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'
import { type Granularity, GRANULARITIES, granularityOf } from '../../protocol/beyond/candles.ts'
import { addConfigOptions, parseDate } from '../process/options.ts'
import { openPublicClient, publicSourceOf, SIMULATED } from './public-client.ts'
import type { VerbFrame } from '../process/verb-frame.ts'

interface DownloadCommandOptions {
  readonly config?: string
  readonly set: readonly string[]
  readonly interval: Granularity
  readonly from: number
  readonly to?: number
  readonly out: string
  readonly json?: boolean
}

const MADE_UP_SAID =
  'made-up prices: this configuration names no exchange, so its simulator makes them. The files are marked. For real ones set exchange.baseUrl, or simulator.market.live.baseUrl'

export function addDownloadCommand(program: Command, { setExit }: VerbFrame): void {
  const command = program
    .command('download')
    .argument('<symbol...>', 'instruments such as BTCUSDT')
    .description('read candles and funding rates of the exchange into price files')
    .option('--interval <interval>', 'length of a candle: 1m, 5m, 1h, 1d', parseGranularity, '1m')
    .requiredOption('--from <date>', 'beginning, UTC: 2025-06-01 or 2025-06-01T12:00', parseDate)
    .option('--to <date>', 'end, excluded (default: now)', parseDate)
    .requiredOption(
      '--out <directory>',
      'where the price files go; those that exist are continued after their last row',
    )
    .option('--json', 'as JSON')
  addConfigOptions(command).action(
    async (symbols: readonly string[], options: DownloadCommandOptions) =>
      setExit(await download([...new Set(symbols)].map(parseSymbol), options)),
  )
}

function parseGranularity(text: string): Granularity {
  const granularity = granularityOf(parseInterval(text) ?? 0)
  if (granularity !== undefined) return granularity
  throw new InvalidArgumentError('write 1m, 3m, 5m, 15m, 30m, 1h, 4h, 6h, 12h or 1d.')
}

function parseSymbol(text: string): string {
  if (/^[A-Z0-9]{2,30}(_[A-Z0-9]{1,12})?$/.test(text)) return text
  throw new InvalidArgumentError(`write a symbol such as BTCUSDT, not ${text}.`)
}

async function download(
  symbols: readonly string[],
  options: DownloadCommandOptions,
): Promise<number> {
  const { config } = loadConfig(toConfigRequest(options))
  const directory = resolve(options.out)
  makeDirectory(directory)
  const exchange = await openPublicClient({ config, directory, endpoint: 'historyCandles' })
  const source = publicSourceOf(config)
  if (source === undefined) writeAside(`! ${MADE_UP_SAID}\n`)
  let stopReason: string | undefined
  const unlisten = onStopSignals((why) => (stopReason = why))
  const progress = new ProgressBar(process.stderr, systemClock)
  const { interval, from, to = Number.POSITIVE_INFINITY } = options
  const { lengthMs } = GRANULARITIES[interval]
  const all: DownloadResult[] = []
  try {
    for (const [index, symbol] of symbols.entries()) {
      all.push(
        await downloadPrices({
          caller: exchange.client,
          productType: config.account.productType,
          symbol,
          granularity: interval,
          fromAt: from,
          toAt: Math.min(to, openOf(systemClock.now(), lengthMs)),
          file: join(directory, nameDownload(symbol, lengthMs)),
          source: source ?? SIMULATED,
          isMadeUp: source === undefined,
          timers: systemTimers,
          onProgress: (share, label) => progress.show((index + share) / symbols.length, label),
          stopReason: () => stopReason,
        }),
      )
    }
  } finally {
    unlisten()
    progress.clear()
    await exchange.close()
  }
  for (const one of all) for (const lack of describeLack(one, options)) writeAside(`! ${lack}\n`)
  if (options.json === true) writeOut(`${JSON.stringify(all, undefined, 2)}\n`)
  else for (const one of all) writeOut(`${describe(one)}\n`)
  return 0
}

export function describeLack(
  { symbol, fromAt, toAt }: Pick<DownloadResult, 'symbol' | 'fromAt' | 'toAt'>,
  { from, to, interval }: Pick<DownloadCommandOptions, 'from' | 'to' | 'interval'>,
): readonly string[] {
  const leastMs = GRANULARITIES[interval].lengthMs
  const time = (at: number): string => new Date(at).toISOString().slice(0, 16)
  return [
    ...(fromAt - from > leastMs
      ? [
          `${symbol}: nothing from ${time(from)} on, as was asked, but from ${time(fromAt)}: the exchange showed no earlier candle (${showDuration(fromAt - from)} are missing)`,
        ]
      : []),
    ...(to !== undefined && Math.min(to, systemClock.now()) - toAt > 2 * leastMs
      ? [
          `${symbol}: nothing up to ${time(to)}, as was asked, but up to ${time(toAt)}: the exchange showed no later candle`,
        ]
      : []),
  ]
}

function describe(result: DownloadResult): string {
  const { file, rows, added, payments, missing, fromAt, toAt } = result
  const [first, last] = [fromAt, toAt].map((at) => new Date(at).toISOString().slice(0, 16))
  const news = added === rows ? '' : `, ${added} of them new`
  const gaps = missing === 0 ? '' : `, ${missing} missing between them`
  return `${file}  ${rows} candles${news}${gaps}, ${payments} payments of funding, ${first} to ${last}`
}
