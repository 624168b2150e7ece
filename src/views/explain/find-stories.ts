import type { ExplainQuery } from '../../control/detail-views.ts'
import { TRADING_MODES } from '../../domain/trading-mode.ts'
import { systemClock } from '../../lib/clock.ts'
import { explainKey } from './explain-key.ts'
import { explainOrder, type ExplainContext } from './explain-order.ts'
import { explainSymbol } from './explain-symbol.ts'
import type { Explanation } from './explain-words.ts'

const HOUR_MS = 3_600_000
const SINCE_MS = [600_000, 2 * HOUR_MS, 24 * HOUR_MS, 168 * HOUR_MS]

/** Stories of an instrument, an order, or a key, for the command and the control interface. */
export function findStories(
  context: ExplainContext,
  { subject, since, limit }: ExplainQuery,
): readonly Explanation[] {
  const found = storiesOf(context, subject, since)
  if (limit === undefined) return found
  const charsMax = found.length > 1 ? STORY_CHARS_MAX : LONE_STORY_CHARS_MAX
  return found.slice(0, STORIES_MAX).map((story) => shortenStory(story, { limit, charsMax }))
}

function storiesOf(
  context: ExplainContext,
  subject: string,
  since: number | undefined,
): readonly Explanation[] {
  if (context.instruments.has(subject)) return [explainLately(context, subject, since)]
  const order = explainOrder(context, subject)
  const found = order === undefined ? explainKey(context, subject) : [order]
  if (found.length > 0 || !SYMBOL.test(subject)) return found
  // A universe also judges instruments that it never took in.
  const judged = explainLately(context, subject, since)
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
  context: ExplainContext,
  symbol: string,
  since: number | undefined,
): Explanation {
  if (since !== undefined) return explainSymbol(context, symbol, since)
  const now = systemClock.now()
  let story: Explanation | undefined
  for (const spanMs of SINCE_MS) {
    story = explainSymbol(context, symbol, now - spanMs)
    if (story.moments.length === 0) continue
    const verdict = `${story.verdict}; --since 24h looks further back`
    return spanMs < 24 * HOUR_MS ? { ...story, verdict } : story
  }
  return story ?? explainSymbol(context, symbol, now)
}
