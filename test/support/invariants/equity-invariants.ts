import { fillKey } from '../../../src/domain/fill.ts'
import { type JournalRecord, type WatermarkRecord } from '../../../src/domain/record.ts'
import { type PositionReading } from '../../../src/domain/position.ts'
import { ACCOUNT } from '../../../src/domain/trading-mode.ts'
import { type Book } from '../../../src/engine/book/book.ts'
import { symbolsIn } from './account-invariants.ts'
import { capitalOf, type World, type WorldWatcher, violate } from '../world/world.ts'

/** Float error after some thousands of sums, margin coin. */
const TOLERANCE = 1e-6
/** They change results or holdings after losses were judged in the same step. */
const LATER: ReadonlySet<JournalRecord['kind']> = new Set(['adopt', 'foreign', 'settle', 'outcome'])

/**
 * Equity = capital + all realised results and costs of fills, whoever's they are, + funding + the
 * exchange's unrealised profit, counted from the records alone. It is updated for an instrument
 * when its last reading and the book agree on the position. Instruments that are no longer
 * configured count too.
 */
export function watchEquity(world: World): WorldWatcher {
  const fold = new SettledFold()
  const { symbols } = world.plan
  if (Number.isNaN(capitalOf(world))) return {}
  const readings = new Map<string, PositionReading>()
  const nets = new Map<string, { readonly net: number; readonly tolerance: number }>()
  return {
    onBirth() {
      fold.restart(world.process.journal.loadAll())
      readings.clear()
      nets.clear()
    },
    afterStep(event, effects) {
      const { engine } = world.process
      const records = effects.flatMap((effect) => (effect.kind === 'record' ? [effect.record] : []))
      for (const record of records) fold.add(record)
      const named = symbolsIn(event, records)
      const compared = symbols.filter((one) => named.includes(one))
      if (engine === undefined || compared.length === 0) return
      const isRefused = effects.some(
        (effect) => effect.kind === 'announce' && effect.event === 'read.failed',
      )
      // A silent reading is refused if something is held, else it is an ordinary one.
      if (event.kind === 'positionRead' && !isRefused)
        readings.set(event.reading.symbol, event.reading)
      if (records.some(({ kind }) => LATER.has(kind))) nets.clear()
      else {
        for (const one of compared) {
          const read = readings.get(one)
          if (read === undefined || !agrees(engine.book, read)) continue
          nets.set(one, {
            net: fold.settledOf(one) + unrealisedOf(read),
            tolerance: toleranceOf(world, read),
          })
        }
      }
      // While the figures differ, MON1 decides what counts.
      if (engine.equity === undefined || engine.disputes.size > 0) return
      const parts = symbols.map((one) => nets.get(one))
      if (parts.includes(undefined)) return
      const others = fold.symbols.filter((one) => !symbols.includes(one))
      const net = addUp([
        ...parts.map((part) => part?.net ?? 0),
        ...others.map((one) => fold.settledOf(one)),
      ])
      const tolerance = TOLERANCE + addUp(parts.map((part) => part?.tolerance ?? 0))
      const { equity } = engine.equity
      const capital = capitalOf(world)
      if (Math.abs(equity - capital - net) > tolerance)
        violate(world, 'MONEY', `the equity is ${equity}, its parts come to ${capital + net}`)
    },
  }
}

function addUp(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0)
}

/** Our own figure uses another price than the exchange's. */
function toleranceOf({ settings }: World, read: PositionReading): number {
  const { toleranceRatio = 0, toleranceMin = 0 } = settings.figures ?? {}
  const notional = read.rows.reduce((sum, row) => sum + row.lots * row.markPrice, 0)
  const lot = settings.instruments.get(read.symbol)?.lot
  const size = lot === undefined ? 0 : lot.units / lot.scale
  return TOLERANCE + Math.max(toleranceMin, 2 * toleranceRatio * notional * size)
}

function unrealisedOf({ rows }: PositionReading): number {
  return rows.reduce((sum, row) => sum + Number(row.unrealisedProfit || 0), 0)
}

function agrees({ account }: Book, { symbol, rows }: PositionReading): boolean {
  const lotsOf = (side: 'long' | 'short') =>
    rows.filter(({ holdSide }) => holdSide === side).reduce((sum, { lots }) => sum + lots, 0)
  const { longLots = 0, shortLots = 0 } = account.get(symbol) ?? {}
  return longLots === lotsOf('long') && shortLots === lotsOf('short')
}

/** Realised minus fees, plus funding, of the journal: each fill once, by instrument. */
class SettledFold {
  #trades = new Set<string>()
  #settled = new Map<string, number>()

  restart(records: readonly JournalRecord[]): void {
    this.#trades = new Set()
    this.#settled = new Map()
    for (const record of records) this.add(record)
  }

  add(record: JournalRecord): void {
    for (const { id, symbol, amount } of amountsIn(record)) {
      if (id !== undefined && this.#trades.has(id)) continue
      if (id !== undefined) this.#trades.add(id)
      this.#settled.set(symbol, this.settledOf(symbol) + amount)
    }
  }

  get symbols(): readonly string[] {
    return [...this.#settled.keys()]
  }

  settledOf(symbol: string): number {
    return this.#settled.get(symbol) ?? 0
  }
}

interface Amount {
  readonly id: string | undefined
  readonly symbol: string
  readonly amount: number
}

function amountsIn(record: JournalRecord): readonly Amount[] {
  if (record.kind === 'funding')
    return [{ id: undefined, symbol: record.symbol, amount: Number(record.change) }]
  if (record.kind !== 'fills') return []
  return record.fills.map((fill) => {
    const { profit = '0', fee = '0', otherFees = [], symbol } = fill
    const others = otherFees.reduce(
      (paid, { amount, price = '0' }) => paid + Number(amount) * Number(price),
      0,
    )
    return { id: fillKey(fill), symbol, amount: Number(profit) - Number(fee) - others }
  })
}

/** A day is extended by an hour at most, and judged at the next reading. */
const DAY_MS_MAX = 25 * 3_600_000
/** Readings of each instrument while a past day is still counted; those of one may repeat. */
const READINGS_OF_A_DAY = 6

/**
 * The peak of the account's drawdown is recorded, survives restarts, and falls only by a release.
 * The day of losses is the present one.
 */
export function watchPeak(world: World): WorldWatcher {
  if (world.settings.losses?.limits.get(ACCOUNT)?.drawdown === undefined) return {}
  let peak: number | undefined
  let late = 0
  const note = (record: JournalRecord): number | undefined => {
    if (record.kind === 'released' && record.scope === ACCOUNT) peak = undefined
    const found = record.kind === 'watermark' ? ofAccount(record) : undefined
    const fell =
      found !== undefined && peak !== undefined && found < peak - TOLERANCE ? peak : undefined
    if (found !== undefined) peak = found
    return fell
  }
  return {
    onBirth() {
      peak = undefined
      late = 0
      for (const record of world.process.journal.loadAll()) note(record)
    },
    onRecord(record) {
      const before = note(record)
      if (before !== undefined)
        violate(world, 'RSK2', `the peak fell from ${before} without a release`)
    },
    afterStep(event, _, now) {
      const used = world.process.engine?.losses.get(ACCOUNT)
      if (event.kind !== 'positionRead' || !used || peak === undefined) return
      const { dayFrom = 0 } = world.process.engine?.book.watermarks.get(ACCOUNT) ?? {}
      // A day begins at figures that agree, in three readings of each instrument.
      const isDisputed = (world.process.engine?.disputes.size ?? 0) > 0
      late = !isDisputed && now - dayFrom > DAY_MS_MAX ? late + 1 : 0
      if (late > READINGS_OF_A_DAY * world.plan.symbols.length)
        violate(world, 'RSK2', `losses are counted from ${dayFrom} on`)
      if (used.drawdown < peak - used.net - TOLERANCE)
        violate(
          world,
          'RSK2',
          `a drawdown of ${used.drawdown}, ${peak - used.net} below the recorded peak`,
        )
    },
  }
}

function ofAccount({ watermarks }: WatermarkRecord): number | undefined {
  return watermarks.find(({ scope }) => scope === ACCOUNT)?.peak ?? undefined
}
