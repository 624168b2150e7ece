import { basename } from 'node:path'
import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { findUnit } from '../../prices/column-codec.ts'
import { findInterval, findGaps } from '../../prices/import/gaps.ts'
import { findOutliers, timeIn } from '../../prices/import/outliers.ts'
import { nameInterval } from '../../prices/times.ts'
import { type FundingFile, isFundingFile, parseFunding } from '../../prices/funding-file.ts'
import { loadRecording, readPrices } from '../../prices/load-recording.ts'
import type { Recording } from '../../prices/recording.ts'
import {
  describeFacts,
  describeFindings,
  describeGaps,
  describeHeader,
  describeLine,
} from './price-report.ts'
import { writeOut } from '../../lib/write-out.ts'

const MINUTE_MS = 60_000

export function addDataCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('data')
    .argument('<file...>', 'price files, CSV as for `run --market`, or files of funding payments')
    .description(
      'describe files of prices: symbol, interval, from, to, rows, gaps, outliers, checksum',
    )
    .option('--json', 'as JSON')
    .action(async (files: readonly string[], { json = false }: { json?: boolean }) => {
      const all: object[] = []
      for (const file of files) {
        const { facts, text } = await describeFile(file)
        all.push(facts)
        if (json) continue
        if (all.length === 1) writeOut(`${describeHeader()}\n`)
        writeOut(`${text}\n`)
      }
      if (json) writeOut(`${JSON.stringify(all, undefined, 2)}\n`)
      setExit(0)
    })
}

async function describeFile(
  file: string,
): Promise<{ readonly facts: object; readonly text: string }> {
  const funding = await loadFunding(file)
  if (funding) return describeFunding(file, funding)
  const facts = describe(await loadRecording(file))
  return { facts: toJson(file, facts), text: toText(facts) }
}

async function loadFunding(file: string): Promise<FundingFile | undefined> {
  if (!file.endsWith('.csv')) return undefined
  const bytes = await readPrices(file)
  return isFundingFile(bytes) ? parseFunding({ bytes, source: basename(file) }) : undefined
}

/** Funding periods vary in length, so gaps cannot be known. */
function describeFunding(file: string, { symbol, at, rates }: FundingFile) {
  const [from, to] = [at[0], at[at.length - 1]]
  const sum = rates.reduce((total, rate) => total + rate, 0)
  const text = [
    describeLine({ symbol, name: 'funding', at, gaps: { count: 0, longestMs: 0 } }),
    describeFacts([
      ['file', basename(file)],
      ['paid', `${(sum * 100).toFixed(4)} % of a position's value by longs, all payments together`],
    ]),
  ].join('\n')
  return { facts: { file, symbol, kind: 'funding', rows: at.length, from, to, sum }, text }
}

function describe(recording: Recording) {
  const { rows } = recording
  const intervalMs =
    rows.kind === 'candles'
      ? (recording.intervalMs ?? findInterval(rows.at) ?? MINUTE_MS)
      : undefined
  return {
    recording,
    intervalMs,
    name: intervalMs === undefined ? 'quotes' : nameInterval(intervalMs),
    gaps: findGaps(rows.at, intervalMs),
    findings: { outliers: findOutliers(rows, timeIn(rows)) },
    tick: findTick(rows),
  }
}

function findTick(rows: Recording['rows']): string | undefined {
  const { kind, at } = rows
  const columns =
    kind === 'candles'
      ? [rows.open, rows.high, rows.low, rows.close]
      : [rows.bid, rows.ask, rows.last]
  const prices = new Float64Array(columns.length * at.length)
  for (const [index, column] of columns.entries()) prices.set(column, index * at.length)
  return findUnit(prices)
}

type Facts = ReturnType<typeof describe>

function toText({ recording, name, gaps, findings, tick }: Facts): string {
  const { symbol, market, source, sha256, rows, madeUp } = recording
  return [
    describeLine({ symbol, name, at: rows.at, gaps }),
    describeFacts([
      ['file', source],
      ...(madeUp ? [['prices', 'made up: downloaded from a simulator'] as const] : []),
      ...(market === undefined ? [] : [['market', market]]),
      ...(tick === undefined ? [] : [['tick', `${tick}, as far as its prices show`]]),
      ...describeGaps(gaps),
      ...describeFindings(findings),
      ['sha256', sha256],
    ]),
  ].join('\n')
}

function toJson(file: string, { recording, intervalMs, gaps, findings, tick }: Facts): object {
  const { symbol, market, sha256, rows, madeUp } = recording
  const { kind, at } = rows
  const [from, to] = [at[0], at[at.length - 1]]
  return {
    file,
    symbol,
    market,
    madeUp,
    kind,
    intervalMs,
    rows: at.length,
    from,
    to,
    gaps,
    findings,
    tick,
    sha256,
  }
}
