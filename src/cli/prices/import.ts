import { type Command, InvalidArgumentError, Option } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { importPrices } from '../../prices/import/import-prices.ts'
import { readInterval } from '../../prices/times.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Recording } from '../../prices/recording.ts'
import { printImports } from './print-imports.ts'

interface ImportCommandOptions {
  readonly out: string
  readonly symbol?: string
  readonly interval?: number
  readonly market?: NonNullable<Recording['market']>
  readonly strict?: boolean
  readonly replace?: boolean
  readonly json?: boolean
}

export function addImportCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('import')
    .argument('<file...>', 'CSV or JSON, plain, gzipped or zipped; docs/data.md lists the formats')
    .description('make price files from candles, quotes, trades and funding rates on this disk')
    .requiredOption(
      '--out <directory>',
      'where the price files go, one for each symbol and interval',
    )
    .option(
      '--symbol <symbol>',
      'of all files (default: as their names and columns say)',
      parseSymbol,
    )
    .option(
      '--interval <interval>',
      'of candles whose files do not say it: 1m, 4h, 1d',
      parseInterval,
    )
    .addOption(
      new Option('--market <market>', 'kept in the file and its name').choices(['spot', 'futures']),
    )
    .option(
      '--strict',
      'write no data with gaps, outliers, or rows that had to be sorted or dropped (exit code 65)',
    )
    .option('--replace', 'write over an existing price file')
    .option('--json', 'as JSON')
    .action(async (files: readonly string[], options: ImportCommandOptions) =>
      setExit(await runImport(files, options)),
    )
}

function parseSymbol(text: string): string {
  if (/^[A-Z0-9]{2,30}(_[A-Z0-9]{1,12})?$/.test(text)) return text
  throw new InvalidArgumentError('write a symbol such as BTCUSDT.')
}

function parseInterval(text: string): number {
  const intervalMs = readInterval(text)
  if (intervalMs !== undefined && intervalMs > 0) return intervalMs
  throw new InvalidArgumentError('write an interval such as 1m, 4h or 1d.')
}

async function runImport(files: readonly string[], options: ImportCommandOptions): Promise<number> {
  const { out, symbol, interval, market, strict = false, replace = false, json = false } = options
  const request = {
    files,
    directory: out,
    isStrict: strict,
    isReplacing: replace,
    now: systemClock.now(),
    ...(symbol !== undefined && { symbol }),
    ...(interval !== undefined && { intervalMs: interval }),
    ...(market !== undefined && { market }),
  }
  return printImports(importPrices(request), { json, isStrict: strict })
}
