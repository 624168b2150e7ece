import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import {
  readRecordedQuotes,
  type RecordedQuotes,
} from '../../assembly/recordings/recorded-quotes.ts'
import { type ImportedPrices, writePrices } from '../../prices/import/import-prices.ts'
import { readRecordedFeeds } from '../../assembly/recordings/recorded-feeds.ts'
import { findSegments } from '../../recording/recordings.ts'
import { EXITS } from '../process/exit-codes.ts'
import { writeFeedFiles } from './feed-report.ts'
import { printImports } from './print-imports.ts'
import { writeAside } from '../../lib/write-out.ts'

interface RecordCommandOptions {
  readonly out: string
  readonly market: 'spot' | 'futures'
  readonly replace?: boolean
  readonly json?: boolean
}

export function addRecordCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('record')
    .argument('<recording...>', '.rec files, or directories of them; the daemon may be running')
    .description('make files of the prices and feeds in a recording of a daemon (record: true)')
    .requiredOption('--out <directory>', 'where the files go, one for each instrument and feed')
    .addOption(
      new Option('--market <market>', 'kept in the file and its name')
        .choices(['spot', 'futures'])
        .default('futures'),
    )
    .option('--replace', 'write over existing files')
    .option('--json', 'as JSON')
    .action(async (recordings: readonly string[], options: RecordCommandOptions) => {
      setExit(await record(recordings, options))
    })
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
