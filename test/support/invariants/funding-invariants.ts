import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { type Decimal, decimal, sumDecimals, ZERO } from '../../../src/lib/decimal.ts'
import { type TruePosition } from '../virtual/exchange-truth.ts'
import { hasUnseen } from '../faults/foreign-fills.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

/** A position from its first lot to its last, and its funding counters, oldest first. */
interface PositionLife {
  readonly symbol: string
  readonly openedAt: number
  readonly holdSide: 'long' | 'short'
  readonly counters: string[]
  /** Readings of the newest counter by one process, each followed by a reading of fills. */
  heard: number
  isShown: boolean
}

/** A counter heard this often in one run is counted, at one reading a second. */
const HEARD_ENOUGH = 5

/**
 * Funding equals the counters of positions, by sign and digit, over restarts, checkpoints and later
 * positions. Excused is one last payment to each position that was gone, or process that had died,
 * within a few readings.
 */
export function watchFunding(world: World): WorldWatcher {
  const lives = new PositionLives()
  world.exchange.truth.onPosition = (id, position) => lives.note(id, position)
  return {
    onBirth: () => lives.forgetReadings(),
    afterStep(event, effects) {
      if (event.kind === 'positionRead' && !isRefused(event, effects)) lives.hear(event.reading)
      if (event.kind === 'fillsRead') lives.judge()
    },
    atEnd() {
      const { book } = world.process.engine ?? {}
      if (!book || world.violations.length > 0) return
      const counted = new Map<PositionLife, Counted>()
      for (const record of world.process.journal.loadAll()) {
        if (record.kind !== 'funding') continue
        const { symbol, holdSide, counter, change } = record
        if (counter === '' && !decimal(change).eq(ZERO))
          violate(world, 'MONEY', `funding ${change} of no position of ${symbol}`)
        if (counter === '') continue
        const found = lives.find(symbol, holdSide, counter)
        if (!found)
          return violate(world, 'MONEY', `no position of ${symbol} ever had the counter ${counter}`)
        const { sum = ZERO } = counted.get(found.life) ?? {}
        counted.set(found.life, { sum: sum.plus(decimal(change)), index: found.index })
      }
      for (const life of lives.all) compareLife(world, life, counted.get(life))
      const total = sumDecimals([...counted.values()].map(({ sum }) => sum))
      const ours = sumDecimals(book.funding.values())
      if (!ours.eq(total))
        violate(world, 'MONEY', `funding ${ours.toString()}, recorded ${total.toString()}`)
    },
  }
}

interface Counted {
  readonly sum: Decimal
  /** Index of the counter recorded last. */
  readonly index: number
}

function isRefused({ kind }: EngineEvent, effects: readonly Effect[]): boolean {
  return (
    kind === 'positionRead' &&
    effects.some((one) => one.kind === 'announce' && one.event === 'read.failed')
  )
}

function compareLife(
  world: World,
  { symbol, holdSide, counters, heard }: PositionLife,
  counted?: Counted,
): void {
  // Nothing else shows that it was gone in between.
  if (hasUnseen(world, symbol) || world.exchange.brokenFills.isOutOfOrder(symbol)) return
  const newest = counters.length - 1
  const { sum = ZERO, index = -1 } = counted ?? {}
  const what = `funding of a ${holdSide} position of ${symbol}`
  const known = counters[index] ?? '0'
  if (!sum.eq(decimal(known)))
    violate(world, 'MONEY', `${what}: counted ${sum.toString()} of ${known}`)
  if (index < newest && heard >= HEARD_ENOUGH)
    violate(
      world,
      'MONEY',
      `${what}: ${counters[newest]} was heard ${heard} times, counted ${known}`,
    )
}

class PositionLives {
  readonly all: PositionLife[] = []
  readonly #standing = new Map<string, PositionLife>()
  readonly #byCounter = new Map<string, { readonly life: PositionLife; readonly index: number }>()

  note(id: string, position: TruePosition | undefined): void {
    if (!position) return void this.#standing.delete(id)
    const { symbol, holdSide, openedAt, funding } = position
    const known = this.#standing.get(id)
    const isSame = known?.openedAt === openedAt && known.holdSide === holdSide
    const life = isSame
      ? known
      : { symbol, holdSide, openedAt, counters: [], heard: 0, isShown: false }
    this.#standing.set(id, life)
    if (!isSame) this.all.push(life)
    const counter = funding?.toString()
    if (counter === undefined || life.counters.at(-1) === counter) return
    life.counters.push(counter)
    life.heard = 0
    this.#byCounter.set(`${symbol} ${holdSide} ${counter}`, {
      life,
      index: life.counters.length - 1,
    })
  }

  find(symbol: string, holdSide: 'long' | 'short', counter: string) {
    return this.#byCounter.get(`${symbol} ${holdSide} ${counter}`)
  }

  hear({ symbol, rows }: Extract<EngineEvent, { kind: 'positionRead' }>['reading']): void {
    for (const { holdSide, fundingFee } of rows) {
      const found = this.find(symbol, holdSide, fundingFee)
      if (found && found.index === found.life.counters.length - 1) found.life.isShown = true
    }
  }

  /** Readings are judged when the fills are known. */
  judge(): void {
    for (const life of this.all) {
      if (life.isShown) life.heard += 1
      life.isShown = false
    }
  }

  forgetReadings(): void {
    for (const life of this.all) Object.assign(life, { heard: 0, isShown: false })
  }
}
