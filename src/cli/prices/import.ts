import { type Command, InvalidArgumentError, Option } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { type Imported, importPrices, isClean } from '../../prices/import/import-prices.ts'
import type { Recording } from '../../prices/recording.ts'
import { EXITS } from '../process/exit-codes.ts'
import { describeFeed, type WrittenFeed } from './feed-report.ts'
import { describeHeader, describeImport, describeLine } from './price-report.ts'

interface ImportCommandOptions {
  readonly out: string
  readonly symbol?: string
  readonly market?: NonNullable<Recording['market']>
  readonly strict?: boolean
  readonly replace?: boolean
  readonly json?: boolean
}

/** `intentd import`: prices as exchanges and other programs write them become price files. */
export function addImportCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('import')
    .argument('<file...>', 'CSV or JSON, plain, gzipped or zipped; docs/data.md lists the formats')
    .description('make price files from candles, quotes and trades on this disk')
    .requiredOption('--out <directory>', 'where the price files go, one for each symbol and interval')
    .option('--symbol <symbol>', 'of all files (default: from the name of each)', parseSymbol)
    .addOption(new Option('--market <market>', 'kept in the file and its name').choices(['spot', 'futures']))
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
  if (/^[A-Z0-9]{2,40}$/.test(text)) return text
  throw new InvalidArgumentError('write a symbol such as BTCUSDT.')
}

async function runImport(files: readonly string[], options: ImportCommandOptions): Promise<number> {
  const { out, symbol, market, strict = false, replace = false, json = false } = options
  const request = {
    ...{ files, directory: out, isStrict: strict, isReplacing: replace },
    ...(symbol !== undefined && { symbol }),
    ...(market !== undefined && { market }),
  }
  return printImports(importPrices(request), { json, isStrict: strict })
}

interface PrintOptions {
  readonly json: boolean
  readonly isStrict: boolean
  /** Writes what is no price, once all prices are there. */
  readonly feeds?: () => readonly WrittenFeed[]
}

/** Prints each as it is done. Returns the exit code. */
export async function printImports(
  imports: AsyncIterable<Imported> | Iterable<Imported>,
  { json, isStrict, feeds }: PrintOptions,
): Promise<number> {
  const all: object[] = []
  let exitCode = 0
  for await (const one of imports) {
    if (isStrict && !isClean(one)) exitCode = EXITS.inputWrong
    const { rows, ...facts } = one
    const { at } = rows
    if (json) all.push({ kind: rows.kind, ...facts, rows: at.length, from: at[0], to: at[at.length - 1] })
    else {
      if (all.length === 0) process.stdout.write(`${describeHeader()}\n`)
      all.push(facts)
      process.stdout.write(`${describeLine({ ...one, at })}\n${describeImport(one)}\n`)
    }
  }
  const written = feeds?.() ?? []
  if (!json) for (const feed of written) process.stdout.write(`${describeFeed(feed)}\n`)
  else {
    all.push(...written.map((feed) => ({ kind: 'feed', ...feed })))
    process.stdout.write(`${JSON.stringify(all, undefined, 2)}\n`)
  }
  return exitCode
}
