import { showUtc } from '../../lib/text/show-utc.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import type { JournalRecord } from '../../domain/record.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { wordsOfUniverse } from '../universe-words.ts'
import { countLevels } from '../../engine/book/apply-record.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { type Entries, type ExplainFrame, describeAround } from './explain-order.ts'
import {
  type StepsBySymbol,
  type Moment,
  sizeOf,
  type Story,
  wordsOfAnswer,
  wordsOfDecision,
  wordsOfDenial,
  wordsOfFill,
  wordsOfHolding,
  wordsOfSend,
  wordsOfSettled,
} from './explain-words.ts'

/** @param since Unix ms, our clock */
export function explainSymbol(frame: ExplainFrame, symbol: string, since: number): Story {
  const batches = new Set<number>()
  const moments: Moment[] = []
  for (const { sequence, record } of frame.reader.records({ since })) {
    if (record.kind === 'send' && record.symbol === symbol) batches.add(record.batchId)
    if (record.kind === 'outcome' && !batches.has(record.batchId)) continue
    for (const [what, text] of describeRecord(frame.instruments, record, symbol)) {
      moments.push({ sequence, at: record.at, what, text })
    }
  }
  const counts = Map.groupBy(moments, ({ what }) => what)
  const summary = [...counts].map(([what, group]) => `${group.length} ${what}`).join(', ')
  return {
    title: `${symbol} since ${showUtc(since)}`,
    moments,
    verdict: [summary || 'nothing happened', ...listWishes(frame, symbol)].join('; '),
  }
}

/** Some seconds of reading at most. */
const DECISIONS_READ_MAX = 100_000

function listWishes({ reader, instruments }: ExplainFrame, symbol: string): readonly string[] {
  const wishes = new Map<string, string>()
  let looked = 0
  const query = { newestFirst: true, kinds: ['decision'], containing: `"${symbol}"` } as const
  for (const { record } of reader.records(query)) {
    if (++looked > DECISIONS_READ_MAX) break
    if (record.kind !== 'decision' || wishes.has(record.strategyId)) continue
    const what = wishIn(instruments, record, symbol)
    if (what === undefined) continue
    const since = new Date(record.at).toISOString().slice(0, 16).replace('T', ' ')
    wishes.set(record.strategyId, `${record.strategyId} wants ${what} since ${since} UTC`)
  }
  return [...wishes.values()]
}

function wishIn(
  instruments: StepsBySymbol,
  { targets = [], quotes = [] }: Extract<JournalRecord, { kind: 'decision' }>,
  symbol: string,
): string | undefined {
  const target = targets.find((one) => one.symbol === symbol)
  if (target) return sizeOf(instruments, symbol, target.lots)
  const quote = quotes.find((one) => one.symbol === symbol)
  if (quote === undefined) return undefined
  const levels = countLevels(quote)
  return levels === 0 ? 'no ladder' : `a ladder of ${levels}`
}

export function describeRecord(
  instruments: StepsBySymbol,
  record: JournalRecord,
  symbol: string,
): Entries {
  if ('symbol' in record && record.symbol !== symbol) return []
  if ('scope' in record && record.scope !== symbol && record.scope !== ACCOUNT)
    return record.kind === 'restricted' && closesOn(record, symbol) ? describeAround(record) : []
  switch (record.kind) {
    case 'decision':
      return concerns(record, symbol)
        ? [['decided', wordsOfDecision(instruments, record, symbol)]]
        : []
    case 'denial':
      return [['denied', wordsOfDenial(record)]]
    case 'send':
      return [['sent', wordsOfSend(record)]]
    case 'outcome':
      return [['answered', wordsOfOutcomes(record)]]
    case 'fills':
      return record.fills
        .filter((fill) => fill.symbol === symbol)
        .map((fill) => ['filled', wordsOfFill(instruments, fill)])
    case 'cancel':
      return record.symbols.includes(symbol)
        ? [['cancel-all', `of ${record.symbols.join(', ')}, for ${record.cause}`]]
        : []
    case 'settle':
      return record.orders.map((item) => [
        item.state,
        `${item.clientOid}: ${wordsOfSettled(instruments, item)}`,
      ])
    case 'expire':
      return record.orders.map(({ clientOid, state }) => [state, `${clientOid}: ${record.reason}`])
    case 'adopt':
      return [['adopted', wordsOfAdoption(instruments, record)]]
    case 'assigned':
      return [['assigned', wordsOfAssigned(instruments, record)]]
    case 'foreign':
      return [['foreign', `fills of orders that are not ours: ${record.orderIds.join(', ')}`]]
    case 'entry':
      return [['entry', wordsOfEntry(instruments, record)]]
    case 'funding':
      return [['funding', `${record.holdSide} ${record.change}`]]
    case 'unseenFunding':
      return [['funding', `${record.holdSide} ${record.change}, estimated: no reading showed it`]]
    case 'boot':
    case 'reload':
    case 'restricted':
    case 'released':
    case 'repaired':
      return describeAround(record)
    case 'exits':
    case 'exitsListed':
      return []
    case 'universe':
      return wordsOfUniverse(record, symbol).map((text) => ['universe', text] as const)
    case 'departed':
      return [['universe', `${record.strategyId} has left it`]]
    case 'archived':
    case 'deposit':
    case 'signal':
    case 'candles':
    case 'watermark':
    case 'cancelAnswered':
    case 'call':
    case 'callEnded':
    case 'prune':
      return []
    default:
      return unreachable(record)
  }
}

/** Orders that close a strategy have no decision as their cause. */
function closesOn(
  { code, keeps }: Extract<JournalRecord, { kind: 'restricted' }>,
  symbol: string,
): boolean {
  if (keeps !== undefined) return keeps.some((kept) => kept.symbol === symbol)
  return code === 'flatten' || code === 'close'
}

function concerns(record: Extract<JournalRecord, { kind: 'decision' }>, symbol: string): boolean {
  const changes = [...(record.quotes ?? []), ...(record.targets ?? []), ...(record.places ?? [])]
  return changes.some((change) => change.symbol === symbol)
}

function wordsOfOutcomes({
  batchId,
  items,
  answer,
}: Extract<JournalRecord, { kind: 'outcome' }>): string {
  const counts = [...Map.groupBy(items, ({ outcome }) => outcome)].map(
    ([outcome, group]) => `${group.length} ${outcome}`,
  )
  return [
    `batch ${batchId}: ${counts.join(', ')}`,
    ...(answer === undefined ? [] : [wordsOfAnswer(answer)]),
  ].join(', ')
}

function wordsOfEntry(
  instruments: StepsBySymbol,
  { symbol, holdSide, ticks, statedLots }: Extract<JournalRecord, { kind: 'entry' }>,
): string {
  const tick = instruments.get(symbol)?.tick
  const price = tick ? floatOnGrid(tick, ticks).toFixed(tick.decimals) : `${ticks} ticks`
  return `${holdSide} at ${price} by the exchange: no fill explains ${statedLots} lots of it`
}

function wordsOfAdoption(
  instruments: StepsBySymbol,
  record: Extract<JournalRecord, { kind: 'adopt' }>,
): string {
  const { symbol, holding, was } = record
  const now = wordsOfHolding(instruments, symbol, holding)
  return `the exchange says ${now}, the fills said ${wordsOfHolding(instruments, symbol, was)}`
}

function wordsOfAssigned(
  instruments: StepsBySymbol,
  { symbol, holding, strategyId, reason, by }: Extract<JournalRecord, { kind: 'assigned' }>,
): string {
  const size = wordsOfHolding(instruments, symbol, holding)
  return `${strategyId} takes over ${size}, which no strategy held: ${reason}, by ${by}`
}
