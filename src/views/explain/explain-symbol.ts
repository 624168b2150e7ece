import { showUtc } from '../../lib/text/show-utc.ts'
import { EXIT_KINDS, PAUSE_CAUSES } from '../../domain/exits.ts'
import { ACCOUNT, strategyScope } from '../../domain/trading-mode.ts'
import type { JournalRecord } from '../../domain/record.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { wordsOfUniverse } from '../universe-words.ts'
import { countLevels } from '../../engine/book/apply-record.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { type Entries, type ExplainContext, describeAround } from './explain-order.ts'
import {
  type StepsBySymbol,
  type Moment,
  sizeOf,
  type Explanation,
  wordsOfAnswer,
  wordsOfDecision,
  wordsOfDenial,
  wordsOfFill,
  wordsOfHolding,
  wordsOfSend,
  wordsOfSettled,
} from './explain-words.ts'

/** @param since Unix ms, our clock */
export function explainSymbol(context: ExplainContext, symbol: string, since: number): Explanation {
  const batches = new Set<number>()
  const moments: Moment[] = []
  const { wishes, traders } = readDecisions(context, symbol)
  const exits = new ExitChanges()
  for (const { sequence, record } of context.reader.records({ since })) {
    if (record.kind === 'send' && record.symbol === symbol) batches.add(record.batchId)
    if (record.kind === 'outcome' && !batches.has(record.batchId)) continue
    const isExit = record.kind === 'exits' && record.symbol === symbol
    const entries = isExit
      ? exits.describe(record)
      : describeRecord(context.instruments, record, symbol, traders)
    for (const [what, text] of entries) {
      moments.push({ sequence, at: record.at, what, text })
    }
  }
  const counts = Map.groupBy(moments, ({ what }) => what)
  const summary = [...counts].map(([what, group]) => `${group.length} ${what}`).join(', ')
  return {
    title: `${symbol} since ${showUtc(since)}`,
    moments,
    verdict: [summary || 'nothing happened', ...wishes].join('; '),
  }
}

const DECISIONS_READ_MAX = 100_000

/** Reads what each strategy wanted last, and the scopes of those that ever wanted something here. */
function readDecisions({ reader, instruments }: ExplainContext, symbol: string) {
  const wishes = new Map<string, string>()
  const traders = new Set<string>()
  let looked = 0
  const query = { newestFirst: true, kinds: ['decision'], containing: `"${symbol}"` } as const
  for (const { record } of reader.records(query)) {
    if (++looked > DECISIONS_READ_MAX) break
    if (record.kind !== 'decision') continue
    if (concerns(record, symbol)) traders.add(strategyScope(record.strategyId))
    if (wishes.has(record.strategyId)) continue
    const what = wishIn(instruments, record, symbol)
    if (what === undefined) continue
    const since = new Date(record.at).toISOString().slice(0, 16).replace('T', ' ')
    wishes.set(record.strategyId, `${record.strategyId} wants ${what} since ${since} UTC`)
  }
  return { wishes: [...wishes.values()], traders }
}

/**
 * The exits that became due and the pauses of entries that followed. The state is recorded whenever
 * the best price moves, so what was described before is left out.
 */
class ExitChanges {
  readonly #before = new Map<string, ReadonlySet<string>>()

  describe({ strategyId, state }: Extract<JournalRecord, { kind: 'exits' }>): Entries {
    const entries = describeExits(strategyId, state)
    const earlier = this.#before.get(strategyId)
    this.#before.set(strategyId, new Set(entries.map(([, text]) => text)))
    return entries.filter(([, text]) => earlier?.has(text) !== true)
  }
}

function describeExits(
  strategyId: string,
  state: Extract<JournalRecord, { kind: 'exits' }>['state'],
): Entries {
  const dues = [state?.long?.due, state?.short?.due].flatMap((due) => (due ? [due] : []))
  const pause = state?.pause
  return [
    ...dues.map(({ kind }) => ['exit due', `${EXIT_KINDS[kind]} of ${strategyId}`] as const),
    ...(pause
      ? ([
          [
            'pause',
            `${strategyId} enters nothing until ${showUtc(pause.untilAt)}: ${PAUSE_CAUSES[pause.cause]}`,
          ],
        ] as const)
      : []),
  ]
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
  traders: ReadonlySet<string> = NO_TRADERS,
): Entries {
  if ('symbol' in record && record.symbol !== symbol) return []
  if ('scope' in record && record.scope !== symbol && record.scope !== ACCOUNT)
    return isAbout(record, symbol, traders) ? describeAround(record) : []
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

const NO_TRADERS: ReadonlySet<string> = new Set()

type ScopedRecord = Extract<JournalRecord, { kind: 'restricted' | 'released' }>

function isAbout(record: ScopedRecord, symbol: string, traders: ReadonlySet<string>): boolean {
  const isClose =
    record.kind === 'restricted' && (record.code === 'flatten' || record.code === 'close')
  return isClose ? closesOn(record, symbol) : traders.has(record.scope)
}

/** Orders that close a strategy have no decision as their cause. */
function closesOn(
  { keeps }: Extract<JournalRecord, { kind: 'restricted' }>,
  symbol: string,
): boolean {
  return keeps === undefined || keeps.some((kept) => kept.symbol === symbol)
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
  const reasons = items.flatMap(({ outcome, code, message = '' }) =>
    code === undefined ? [] : [`${outcome} for ${`${code} ${message}`.trim()}`],
  )
  return [
    `batch ${batchId}: ${counts.join(', ')}`,
    ...new Set(reasons),
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
