import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { readGrids } from '../../assembly/state/known-grids.ts'
import { JournalReader } from '../../journal/journal-reader.ts'
import { didYouMeanEnd } from '../../lib/did-you-mean.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import { findStories } from '../../views/explain/find-stories.ts'
import { newestJournal } from '../process/newest-journal.ts'
import { clockTime, type Explanation } from '../../views/explain/explain-words.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { parseCount, parseInstant } from '../process/options.ts'
import type { ConfigOptions, DaemonConfig } from '../../config/load-config.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'

const EXIT_NOTHING = 1

interface ExplainOptions extends ConfigOptions {
  readonly since?: number
  readonly journal?: string
  readonly json?: boolean
  readonly limit?: number
}

export function addExplainCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('explain'))
    .description(
      "show an order's whole history from the journal, or why there was none; also while the daemon runs",
    )
    .argument(
      '<subject>',
      'a clientOid, an intent key, a symbol, or the tradeId or orderId of a fill',
    )
    .option(
      '--since <when>',
      'for a symbol: the last 10m or 2h, or from an instant such as 2025-06-02T06:00Z (default: the last 10m; if nothing happened in it, 2h, a day, a week)',
      parseInstant,
    )
    .option('--journal <file>', 'another journal file than that of the configuration')
    .option('--limit <n>', 'the newest moments alone, at most so many (default: all)', parseCount)
    .option('--json', 'as JSON')
    .action((subject: string, options: ExplainOptions) => setExit(explain(subject, options)))
}

function explain(subject: string, options: ExplainOptions): number {
  const config = loadOperated(options)
  const file =
    options.journal === undefined ? newestJournal(config.state.directory) : resolve(options.journal)
  const reader = new JournalReader(file)
  try {
    const { positionMode } = config.account
    const instruments = new Map([...readGrids(dirname(file)), ...toInstruments(config)])
    const frame = { reader, instruments, positionMode }
    const { since, limit } = options
    const stories = findStories(frame, { subject, since, limit })
    if (options.json) writeOut(`${JSON.stringify(stories, undefined, 2)}\n`)
    else writeOut(stories.map(formatStory).join(''))
    writeAside(
      stories.length > 0
        ? `from ${file}\n`
        : nothingOf(subject, file, {
            isStrategy: isStrategyOf(config, subject),
            symbols: [...instruments.keys()],
          }),
    )
    return stories.length > 0 ? 0 : EXIT_NOTHING
  } finally {
    reader.close()
  }
}

function isStrategyOf({ strategies, manual }: DaemonConfig, subject: string): boolean {
  return strategies.some(({ id }) => id === subject) || (subject === MANUAL && manual !== undefined)
}

function nothingOf(
  subject: string,
  file: string,
  { isStrategy, symbols }: { readonly isStrategy: boolean; readonly symbols: readonly string[] },
): string {
  if (isStrategy)
    return `${subject} is a strategy: give one of its instruments, or an order of it (intentd orders, intentd fills --json)\n`
  return (
    `nothing of ${subject} in ${file}${didYouMeanEnd(subject, symbols)}\n` +
    'it keeps a week; a key stands as its strategy spelt it, a clientOid whole, a symbol as in the configuration\n' +
    `instruments: ${symbols.join(', ')}\n`
  )
}

function formatStory({ title, moments, verdict }: Explanation): string {
  const width = Math.max(0, ...moments.map(({ what }) => what.length))
  let day = ''
  const lines = moments.flatMap(({ at, what, text }) => {
    const today = new Date(at).toISOString().slice(0, 10)
    const heading = today === day ? [] : [`  ${today} UTC`]
    day = today
    return [...heading, `  ${clockTime(at)}  ${what.padEnd(width)}  ${text}`]
  })
  return [title, ...lines, `  = ${verdict}`, ''].join('\n')
}
