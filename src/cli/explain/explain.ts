import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { readGrids } from '../../assembly/state/known-grids.ts'
import { JournalReader } from '../../journal/journal-reader.ts'
import { TRADING_MODES } from '../../domain/trading-mode.ts'
import { didYouMeanEnd } from '../../lib/did-you-mean.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import { systemClock } from '../../lib/clock.ts'
import { explainKey } from '../../views/explain/explain-key.ts'
import { explainOrder, type ExplainContext } from '../../views/explain/explain-order.ts'
import { explainSymbol } from '../../views/explain/explain-symbol.ts'
import { newestJournal } from '../process/newest-journal.ts'
import { clockTime, type Explanation } from '../../views/explain/explain-words.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { parseCount, parseInstant } from '../process/options.ts'
import type { ConfigOptions, DaemonConfig } from '../../config/load-config.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'

const HOUR_MS = 3_600_000
const SINCE_MS = [600_000, 2 * HOUR_MS, 24 * HOUR_MS, 168 * HOUR_MS]
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
    const { limit } = options
    const found = storiesOf(frame, subject, options.since)
    const stories =
      limit === undefined
        ? found
        : found.slice(0, STORIES_MAX).map((story) =>
            shortenStory(story, {
              limit,
              charsMax: found.length > 1 ? STORY_CHARS_MAX : LONE_STORY_CHARS_MAX,
            }),
          )
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

function storiesOf(
  frame: ExplainContext,
  subject: string,
  since: number | undefined,
): readonly Explanation[] {
  if (frame.instruments.has(subject)) return [explainLately(frame, subject, since)]
  const order = explainOrder(frame, subject)
  const found = order === undefined ? explainKey(frame, subject) : [order]
  if (found.length > 0 || !SYMBOL.test(subject)) return found
  // A universe also judges instruments that it never took in.
  const judged = explainLately(frame, subject, since)
  return judged.moments.some(({ what }) => !OF_ACCOUNT.has(what)) ? [judged] : []
}

const OF_ACCOUNT: ReadonlySet<string> = new Set([
  'started',
  'reload',
  'released',
  'repaired',
  ...TRADING_MODES,
])

const STORIES_MAX = 10
const STORY_CHARS_MAX = 10_000
const LONE_STORY_CHARS_MAX = 100_000
const MOMENT_CHARS = 100

export function shortenStory(
  story: Explanation,
  { limit, charsMax }: { readonly limit: number; readonly charsMax: number },
): Explanation {
  const newest: Explanation['moments'][number][] = []
  let chars = 0
  for (const moment of story.moments.toReversed()) {
    chars += JSON.stringify(moment.text).length + moment.what.length + MOMENT_CHARS
    if (newest.length >= limit || chars > charsMax) break
    newest.push(moment)
  }
  const left = story.moments.length - newest.length
  if (left === 0) return story
  const verdict = `${story.verdict}; ${left} earlier moments are left out`
  return { ...story, moments: newest.toReversed(), verdict }
}

const SYMBOL = /^[A-Z0-9]{2,30}(_[A-Z0-9]{1,12})?$/

function explainLately(
  frame: ExplainContext,
  symbol: string,
  since: number | undefined,
): Explanation {
  if (since !== undefined) return explainSymbol(frame, symbol, since)
  const now = systemClock.now()
  let story: Explanation | undefined
  for (const spanMs of SINCE_MS) {
    story = explainSymbol(frame, symbol, now - spanMs)
    if (story.moments.length === 0) continue
    const verdict = `${story.verdict}; --since 24h looks further back`
    return spanMs < 24 * HOUR_MS ? { ...story, verdict } : story
  }
  return story ?? explainSymbol(frame, symbol, now)
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
