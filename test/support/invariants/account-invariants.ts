import { type JournalRecord, type ReleasedRecord } from '../../../src/domain/record.ts'
import { type PositionReading } from '../../../src/domain/position.ts'
import { ACCOUNT, strategyScope } from '../../../src/domain/trading-mode.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import {
  type InstrumentFigures,
  type Leg,
  type OwnerFigures,
  SecondAccount,
} from '../account/second-account.ts'
import { hasUnseen } from '../faults/foreign-fills.ts'
import { hidesMoney } from './fill-invariants.ts'
import { KnownPrices } from './known-prices.ts'
import { capitalOf, type World, type WorldWatcher, violate } from '../world/world.ts'

/** Float error after some thousands of sums, margin coin. */
const TOLERANCE = 1e-5
/** These records may change owners or results. */
const MOVING: ReadonlySet<JournalRecord['kind']> = new Set([
  'fills',
  'outcome',
  'cancelAnswered',
  'settle',
  'foreign',
  'adopt',
  'assigned',
  'released',
])

function createSecondAccount({ plan, settings }: World): SecondAccount {
  return new SecondAccount({
    isOneWay: plan.positionMode === 'one_way_mode',
    unitOf: (symbol) => {
      const { tick, lot } = settings.instruments.get(symbol) ?? {}
      return tick && lot ? (tick.units / tick.scale) * (lot.units / lot.scale) : Number.NaN
    },
  })
}

/**
 * Each strategy's holding, cost, result and losing streak equal those of a second account of the
 * records; at the end the strategies' sum equals the exchange's ledger.
 */
export function watchStrategyAccounts(world: World): WorldWatcher {
  const second = createSecondAccount(world)
  return {
    onBirth: () => second.restart(world.process.journal.loadAll()),
    afterStep(_, effects) {
      const records = recordsIn(effects)
      for (const record of records) second.add(record)
      if (!records.some(({ kind }) => MOVING.has(kind))) return
      for (const symbol of world.plan.symbols) compareOwners(world, symbol, second.of(symbol))
    },
    atEnd() {
      if (world.violations.length === 0) compareWithLedger(world, second)
    },
  }
}

/**
 * A position is adopted only on an instrument that the journal already halts for it: a crash may
 * follow any record.
 */
export function watchAdoptions(world: World): WorldWatcher {
  const halted = new Set<string>()
  const note = (record: JournalRecord): void => {
    if (record.kind === 'restricted' && record.code === 'contradiction') halted.add(record.scope)
    if (record.kind === 'released' && (record.code ?? 'contradiction') === 'contradiction')
      halted.delete(record.scope)
  }
  return {
    onBirth() {
      halted.clear()
      for (const record of world.process.journal.loadAll()) note(record)
    },
    onRecord(record) {
      if (record.kind === 'adopt' && !halted.has(record.symbol))
        violate(world, 'RSK2', `${record.symbol} is adopted before it is halted for that`)
      note(record)
    },
  }
}

function recordsIn(effects: readonly Effect[]): readonly JournalRecord[] {
  return effects.flatMap((effect) => (effect.kind === 'record' ? [effect.record] : []))
}

function compareOwners(
  world: World,
  symbol: string,
  { owners, isUncertain }: InstrumentFigures,
): void {
  const { book } = world.process.engine ?? {}
  if (!book) return
  for (const id of world.settings.strategies.keys()) {
    const expected = owners.get(id)
    const { entry, profit, fees, lostInRow = 0 } = book.ownTrades.get(`${id}|${symbol}`) ?? {}
    if (!expected || !entry) {
      if (expected || entry)
        violate(world, 'MONEY', `only one account knows trades of ${id} on ${symbol}`)
      continue
    }
    const { longLots, longTicks, shortLots, shortTicks } = entry
    const isSame =
      isLeg(expected.long, longLots, longTicks) &&
      isLeg(expected.short, shortLots, shortTicks) &&
      (isUncertain ||
        (isClose(expected.profit, Number(profit)) &&
          isClose(expected.fees, Number(fees)) &&
          expected.lostInRow === lostInRow))
    if (!isSame)
      violate(
        world,
        'MONEY',
        `${id} on ${symbol}: ${JSON.stringify({ entry, profit, fees, lostInRow })}, by a second account ${describe(expected)}`,
      )
  }
}

function describe({ long, short, profit, fees, lostInRow }: OwnerFigures): string {
  return JSON.stringify({ long, short, profit, fees, lostInRow })
}

/** The book's entry has no lots that were taken over at an unknown price. */
function isLeg({ lots, cost, unpriced }: Leg, otherLots: number, ticks: number): boolean {
  if (unpriced > 0) return otherLots <= lots && otherLots >= lots - unpriced
  return lots === otherLots && (lots === 0 || Math.abs(cost / lots - ticks) < 1e-6 * ticks)
}

function isClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= TOLERANCE
}

/** The strategies' sum equals the account's result where no one else traded. */
function compareWithLedger(world: World, second: SecondAccount): void {
  const { exchange, plan } = world
  const { coins, positions } = exchange.ledger()
  const [coin] = coins
  const isOurs = exchange.truth.fillsInOrder.every((fill) => {
    const order = exchange.truth.orders.get(String(fill.orderSequence))
    return world.facts.strategyOf.has(order?.clientOid ?? '') && !hidesMoney(world, fill)
  })
  if (!coin || !isOurs || plan.symbols.some((symbol) => hasUnseen(world, symbol))) return
  let net = 0
  let theirs = Number(coin.realisedProfit) - Number(coin.fees)
  for (const { unrealised } of positions) theirs += Number(unrealised)
  for (const symbol of plan.symbols) {
    const { owners, isUncertain, isWaiting } = second.of(symbol)
    if (isUncertain || isWaiting) return
    const marks = positions.filter((position) => position.symbol === symbol)
    const unit = createUnit(world, symbol)
    for (const { long, short, profit, fees } of owners.values()) {
      net += profit - fees
      const [mark] = marks
      // For opposite holdings of strategies and a flat account any price gives the same.
      const ticks = mark ? markOf(mark) / unit.tick : 0
      net += (long.lots * ticks - long.cost - (short.lots * ticks - short.cost)) * unit.value
    }
  }
  if (Math.abs(net - theirs) > 1e-3)
    violate(world, 'MONEY', `the strategies have made ${net} together, the exchange says ${theirs}`)
}

/** The price at which the exchange values a position. */
function markOf(
  position: Readonly<Record<'holdSide' | 'size' | 'openPriceAvg' | 'unrealised', string>>,
): number {
  const gained = Number(position.unrealised) / Number(position.size)
  return Number(position.openPriceAvg) + (position.holdSide === 'long' ? gained : -gained)
}

function createUnit(
  { settings }: World,
  symbol: string,
): { readonly tick: number; readonly value: number } {
  const { tick, lot } = settings.instruments.get(symbol) ?? {}
  const price = tick ? tick.units / tick.scale : Number.NaN
  return { tick: price, value: price * (lot ? lot.units / lot.scale : Number.NaN) }
}

/**
 * The figures of a strategy's limits: net profit with its holding at our own price, and the used
 * part of day and drawdown. They are recounted where reading and book agree on the position, like
 * the equity.
 */
export function watchStrategyLosses(world: World): WorldWatcher {
  const { losses } = world.settings
  if (!losses) return {}
  const second = createSecondAccount(world)
  const prices = new KnownPrices()
  const readings = new Map<string, PositionReading>()
  /** Keyed by strategy and symbol; undefined if a recount is due. */
  const worths = new Map<string, number | undefined>()
  let isReleased = false
  let isAwaited = false
  return {
    onBirth() {
      isReleased = false
      isAwaited = false
      second.restart(world.process.journal.loadAll())
      prices.forget()
      readings.clear()
      worths.clear()
    },
    afterStep(event, effects, now) {
      const { engine } = world.process
      prices.note(event, now)
      const records = recordsIn(effects)
      for (const record of records) second.add(record)
      for (const record of records) {
        if (record.kind === 'watermark') checkDay(world, record, losses.timeZone)
        if (record.kind === 'released') checkRelease(world, second, record)
      }
      // Waiting judgements are repeated after a release.
      isReleased ||= records.some(({ kind }) => kind === 'released')
      if (engine === undefined) return
      // They change results after losses were judged in the same step, or new prices compared.
      const isLater = records.some(({ kind }) => LATER.has(kind))
      // A flatten that waits for a second reading is judged with new prices. Its scope is reduced
      // meanwhile, where the limits have that step.
      const hasFallen = engine.restrictions.some(({ code }) => code === 'drawdown')
      const wasAwaited = isAwaited
      isAwaited = awaitsFlatten(world, second)
      const isWaiting =
        event.kind === 'snapshotTaken' &&
        (engine.disputes.size > 0 || hasFallen || wasAwaited || isAwaited || isReleased)
      if (event.kind === 'snapshotTaken') isReleased = false
      if (isLater || isWaiting) return worths.clear()
      // An ignored reading makes the daemon judge its last one at new prices, and may be reported
      // only once.
      if (event.kind === 'positionRead' && (event.reading.isSilent || isReadFailed(effects))) {
        for (const { id } of world.settings.strategies.values())
          worths.set(`${id}|${event.reading.symbol}`, undefined)
        return
      }
      if (isReadFailed(effects)) return
      if (event.kind === 'positionRead') readings.set(event.reading.symbol, event.reading)
      const compared = symbolsIn(event, records)
      if (compared.length === 0) return
      for (const symbol of compared) {
        const figures = second.of(symbol)
        const isAgreed = agrees(readings.get(symbol), figures)
        const price = priceOf(prices, symbol)
        const isFresh = prices.ageOf(symbol, now) <= world.settings.limits.dataAgeMaxMs
        for (const { id } of world.settings.strategies.values()) {
          // What was handed back is priced anew when it is judged for others: at which price is open.
          const isPresent = engine.settings.strategies.get(id)?.symbols.includes(symbol) === true
          if (isAgreed)
            worths.set(
              `${id}|${symbol}`,
              isFresh && isPresent
                ? worthAt(world, symbol, figures.owners.get(id), price)
                : undefined,
            )
        }
      }
      for (const { id, symbols } of world.settings.strategies.values()) {
        // Those that have left a strategy are counted when it is judged for the others.
        const present = engine.settings.strategies.get(id)?.symbols ?? []
        if (!present.some((symbol) => compared.includes(symbol))) continue
        const parts = symbols.map((symbol) => {
          const { owners, isUncertain } = second.of(symbol)
          const owner = owners.get(id)
          if (isUncertain) return undefined
          const isHeld = owner !== undefined && (owner.long.lots > 0 || owner.short.lots > 0)
          return isHeld ? worths.get(`${id}|${symbol}`) : (owner?.profit ?? 0) - (owner?.fees ?? 0)
        })
        if (parts.includes(undefined)) continue
        const net = parts.reduce<number>((sum, part) => sum + (part ?? 0), 0)
        compareUsed(world, second, strategyScope(id), net)
      }
    },
  }
}

/**
 * The last step of a drawdown is reached, and not yet confirmed by a second reading. It has its own
 * peak over releases, so nothing else need have been reached since one.
 */
function awaitsFlatten(world: World, second: SecondAccount): boolean {
  const { engine } = world.process
  const { losses } = world.settings
  return [...(losses?.limits ?? [])].some(([scope, { drawdown }]) => {
    const net =
      scope === ACCOUNT
        ? Number(engine?.equity?.equity) - capitalOf(world)
        : Number(engine?.losses.get(scope)?.net)
    const last = drawdown?.flatten ?? Number.POSITIVE_INFINITY
    return fallFromTop(world, second, scope, net) >= last * (1 - 1e-9)
  })
}

function isReadFailed(effects: readonly Effect[]): boolean {
  return effects.some((effect) => effect.kind === 'announce' && effect.event === 'read.failed')
}

const LATER: ReadonlySet<JournalRecord['kind']> = new Set([
  'adopt',
  'assigned',
  'foreign',
  'settle',
  'outcome',
  // Another one is read, or one no more.
  'universe',
  'departed',
])

/**
 * Instruments whose profit is compared anew: with new fills, a reading that waited for them may have
 * shown funding of its instrument.
 */
export function symbolsIn(
  event: EngineEvent,
  records: readonly JournalRecord[],
): readonly string[] {
  if (event.kind === 'positionRead') return [event.reading.symbol]
  if (event.kind !== 'fillsRead') return []
  const paid = records.flatMap((record) => (record.kind === 'funding' ? record.symbol : []))
  return [...new Set([...event.reading.fills.map(({ symbol }) => symbol), ...paid])]
}

function agrees(
  reading: PositionReading | undefined,
  { longLots, shortLots }: InstrumentFigures,
): boolean {
  if (!reading) return false
  const lotsOf = (side: 'long' | 'short'): number =>
    reading.rows.reduce((sum, { holdSide, lots }) => sum + (holdSide === side ? lots : 0), 0)
  return lotsOf('long') === longLots && lotsOf('short') === shortLots
}

function priceOf({ tickers }: KnownPrices, symbol: string): number {
  if (!tickers) return Number.NaN
  const [bid, ask, last] = (['bidPr', 'askPr', 'lastPr'] as const).map((field) =>
    tickers.read(symbol, field),
  )
  if (!bid || !ask || !last || bid > ask) return Number.NaN
  return last < bid ? bid : last > ask ? ask : last
}

function worthAt(
  world: World,
  symbol: string,
  owner: OwnerFigures | undefined,
  price: number,
): number | undefined {
  if (!owner) return 0
  const { tick, value } = createUnit(world, symbol)
  const { long, short, profit, fees } = owner
  const ticks = price / tick
  const held = (long.lots * ticks - long.cost - (short.lots * ticks - short.cost)) * value
  return Number.isNaN(held) ? undefined : profit - fees + held
}

function compareUsed(world: World, second: SecondAccount, scope: string, net: number): void {
  const used = world.process.engine?.losses.get(scope)
  if (!used) return
  const { dayNet = null, peak = null } = second.watermarks.get(scope) ?? {}
  if (Math.abs(used.net - net) > TOLERANCE)
    violate(world, 'MONEY', `${scope} has made ${used.net}, by a second account ${net}`)
  else if (dayNet !== null && Math.abs(used.dayLoss - Math.max(0, dayNet - net)) > TOLERANCE)
    violate(
      world,
      'RSK2',
      `${scope}: lost ${used.dayLoss} that day, by a second account ${dayNet - net}`,
    )
  else if (peak !== null && used.drawdown < peak - net - TOLERANCE)
    violate(
      world,
      'RSK2',
      `${scope}: ${used.drawdown} below the peak, by a second account ${peak - net}`,
    )
  else if (used.lastDrawdown < fallFromTop(world, second, scope, net) - TOLERANCE)
    violate(
      world,
      'RSK2',
      `${scope}: its last step counts a fall of ${used.lastDrawdown}, by a second account ${fallFromTop(world, second, scope, net)}`,
    )
}

/** Basis of a drawdown's last step: a share of the account's peak equity, or an amount. */
function fallFromTop(world: World, { tops }: SecondAccount, scope: string, net: number): number {
  const top = tops.get(scope)
  if (top === undefined) return 0
  return scope === ACCOUNT ? (top - net) / (capitalOf(world) + top) : top - net
}

/**
 * A release of a drawdown is refused while its figures are unknown, and one that keeps the peak while
 * the last step would fire again at once.
 */
function checkRelease(world: World, second: SecondAccount, { scope, peak }: ReleasedRecord): void {
  const { flatten } = world.settings.losses?.limits.get(scope)?.drawdown ?? {}
  const { engine } = world.process
  // A strategy without positions is known, although no reading was about it.
  const used = engine?.losses.get(scope) ?? engine?.usedLossNow(scope)
  if (peak !== undefined && used === undefined)
    violate(world, 'RSK2', `${scope} was released, its peak ${peak}, while its drawdown is unknown`)
  if (peak !== 'kept' || flatten === undefined || used === undefined) return
  const fallen = fallFromTop(world, second, scope, used.net)
  if (fallen > flatten * (1 + 1e-6))
    violate(
      world,
      'RSK2',
      `${scope} was released ${fallen} below its peak, its last step is ${flatten}`,
    )
}

/** A day begins at midnight in its time zone, and must be the present one. */
function checkDay(
  world: World,
  { at, watermarks }: Extract<JournalRecord, { kind: 'watermark' }>,
  timeZone: string,
): void {
  for (const { scope, dayFrom } of watermarks) {
    const [date, time] = wallClock(dayFrom, timeZone)
    const [before] = wallClock(dayFrom - 1, timeZone)
    if (date === before || !/^0[0-3]:00:00$/.test(time))
      violate(world, 'RSK2', `the day of ${scope} begins at ${date} ${time} in ${timeZone}`)
    // Clocks may be set; a past day is counted until the figures agree.
    if (scope === ACCOUNT && dayFrom > at + DAY_MS)
      violate(world, 'RSK2', `the day of ${scope} begins at ${dayFrom}, and it is ${at}`)
  }
}

const DAY_MS = 86_400_000

function wallClock(at: number, timeZone: string): readonly [date: string, time: string] {
  const text = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(at)
  const [date = '', time = ''] = text.split(' ')
  return [date, time]
}
