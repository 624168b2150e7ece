import { hostname } from 'node:os'
import { resolve } from 'node:path'
import process from 'node:process'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { UniverseRecorder } from '../../assembly/recordings/record-universe.ts'
import { readRecordedFeeds } from '../../assembly/recordings/recorded-feeds.ts'
import {
  readRecordedQuotes,
  type RecordedQuotes,
} from '../../assembly/recordings/recorded-quotes.ts'
import { type ConfigOptions, loadConfig, toConfigRequest } from '../../config/load-config.ts'
import { PRIORITY } from '../../exchange/limiter/grant.ts'
import { readContracts } from '../../exchange/readers/contracts-reader.ts'
import { systemClock } from '../../lib/clock.ts'
import { onStopSignals } from '../../lib/stop-signals.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import { systemTimers } from '../../lib/timers.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'
import { type ImportedPrices, writePrices } from '../../prices/import/import-prices.ts'
import { findSegments } from '../../recording/recordings.ts'
import { UniverseWriter } from '../../recording/universe/universe-writer.ts'
import { EXITS } from '../process/exit-codes.ts'
import { addConfigOptions, parseDuration } from '../process/options.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { writeFeedFiles } from './feed-report.ts'
import { printImports } from './print-imports.ts'
import { openPublicClient, publicSourceOf, SIMULATED } from './public-client.ts'

interface RecordCommandOptions extends Pick<ConfigOptions, 'config' | 'set'> {
  readonly out: string
  readonly universe?: boolean
  readonly every: number
  readonly market: 'spot' | 'futures'
  readonly replace?: boolean
  readonly json?: boolean
}

export function addRecordCommand(program: Command, { setExit }: VerbFrame): void {
  const command = program
    .command('record')
    .argument('[recording...]', '.rec files, or directories of them; the daemon may be running')
    .description(
      'make files of the prices and feeds in a recording of a daemon (record: true), or with --universe keep the tickers of all instruments until it is ended',
    )
    .requiredOption(
      '--out <directory>',
      'where the files go, one for each instrument and feed, or for each day',
    )
    .option('--universe', 'read all tickers of the exchange, and keep them')
    .addOption(
      new Option('--every <duration>', 'how often, with --universe')
        .argParser(parseEvery)
        .default(EVERY_MS, '1m'),
    )
    .addOption(
      new Option('--market <market>', 'kept in the file and its name')
        .choices(['spot', 'futures'])
        .default('futures'),
    )
    .option('--replace', 'write over existing files')
    .option('--json', 'as JSON')
  addConfigOptions(command).action(
    async (recordings: readonly string[], options: RecordCommandOptions) => {
      const isUniverse = options.universe === true
      if (isUniverse && recordings.length > 0)
        command.error('error: --universe reads the exchange, and takes no recordings')
      if (!isUniverse && recordings.length === 0)
        command.error('error: name recordings, or --universe')
      setExit(await (isUniverse ? recordUniverse(options) : record(recordings, options)))
    },
  )
}

const EVERY_MS = 60_000
const EVERY_MS_MIN = 1000
const DAY_MS = 86_400_000

function parseEvery(text: string): number {
  const everyMs = parseDuration(text)
  if (everyMs >= EVERY_MS_MIN && everyMs <= DAY_MS && DAY_MS % everyMs === 0) return everyMs
  throw new InvalidArgumentError('write 1s to 1d, in which a day can be divided: 10s, 1m, 5m, 1h.')
}

async function record(
  recordings: readonly string[],
  { out, market, replace = false, json = false }: RecordCommandOptions,
): Promise<number> {
  const segments = recordings.flatMap((path) => findSegments(resolve(path)))
  const read = readRecordedQuotes(segments)
  const options = { directory: out, market, isStrict: false, isReplacing: replace }
  const feeds = () => writeFeedFiles(readRecordedFeeds(segments), options)
  const exitCode = await printImports(writeAll(read, options), { json, isStrict: false, feeds })
  for (const { message } of read.damages) writeAside(`${message}\n`)
  return read.damages.length > 0 ? EXITS.inputWrong : exitCode
}

function* writeAll(
  { tables }: RecordedQuotes,
  options: Parameters<typeof writePrices>[1]['options'],
): Generator<ImportedPrices> {
  for (const [symbol, quotes] of tables)
    yield* writePrices(new Map([[undefined, quotes]]), { symbol, options })
}

export interface RecordUniverseOptions extends Pick<ConfigOptions, 'config' | 'set'> {
  readonly out: string
  readonly every: number
  readonly json?: boolean
}

export async function recordUniverse(options: RecordUniverseOptions): Promise<number> {
  const { config } = loadConfig(toConfigRequest(options))
  const { productType } = config.account
  const directory = resolve(options.out)
  const source = publicSourceOf(config) ?? SIMULATED
  const writer = new UniverseWriter({
    directory,
    source,
    productType,
    holder: {
      pid: process.pid,
      since: systemClock.now(),
      host: hostname(),
      name: config.name,
      command: 'record --universe',
    },
    onTorn: (file, tornBytes) =>
      say(`${file} ended within an answer: ${tornBytes} bytes are left out`),
  })
  try {
    const exchange = await openPublicClient({ config, directory, endpoint: 'contracts' })
    try {
      const { client } = exchange
      const priority = PRIORITY.background
      const recorder = new UniverseRecorder({
        readTickers: (table) => client.readTickers(table, productType, { priority }),
        readContracts: () => readContracts(client, productType),
        writer,
        clock: systemClock,
        timers: systemTimers,
        everyMs: options.every,
        say,
      })
      await runUntilSignal(recorder, { ...options, what: `${productType} of ${source}` })
    } finally {
      await exchange.close()
    }
  } finally {
    await writer.close()
  }
  return 0
}

async function runUntilSignal(
  recorder: UniverseRecorder,
  {
    out,
    every,
    json,
    what,
  }: Pick<RecordUniverseOptions, 'out' | 'every' | 'json'> & { readonly what: string },
): Promise<void> {
  const unlisten = onStopSignals(() => recorder.stop())
  try {
    writeAside(`keeps all tickers of ${what} in ${out}, every ${showDuration(every)}\n`)
    await recorder.run()
  } finally {
    unlisten()
  }
  const { answers, bytes, missed } = recorder.stats
  if (json === true) writeOut(`${JSON.stringify({ directory: out, answers, bytes, missed })}\n`)
  else writeOut(`${out}  ${answers} answers, ${bytes} bytes, ${missed} missed\n`)
}

function say(sentence: string): void {
  writeAside(`${new Date(systemClock.now()).toISOString()}  ${sentence}\n`)
}
