import type { MarginMode } from '../../domain/instrument.ts'
import type { OrderTerms } from '../../domain/order.ts'
import { isClosing } from '../../domain/order-action.ts'
import type { PositionReading, PositionRow } from '../../domain/position.ts'
import type { ItemOutcome } from '../../domain/record.ts'
import type { ModeReason } from '../../domain/trading-mode.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { mutable } from '../../lib/mutable.ts'
import { errorCode } from '../../protocol/error-codes.ts'
import { tierRateOf } from '../../risk/liquidation.ts'
import { restrictionOf } from '../book/book.ts'
import { announce, type Core, type InstrumentState, specOf } from '../state/core.ts'
import { askForPositionSoon } from '../state/readings.ts'
import { endHalt, halt, marginModeOf } from '../state/trading-mode.ts'

type Setting = Extract<ModeReason, 'positionMode' | 'marginMode' | 'leverage' | 'maintenance'>

const AGREES = 'agrees'
/** The two sides of a position may state different settings, in any order. */
const DIFFERS = 'differs'

/**
 * Position rows show account settings, which a person may have changed by hand. Two readings that
 * agree, of different answers, begin a restriction or end it. A row without the setting contradicts
 * nothing.
 */
export function checkSetup(
  core: Core,
  instrument: InstrumentState,
  reading: PositionReading,
): void {
  const { rows, symbol, isSilent } = reading
  const { positionMode, marginMode } = core.settings
  const modes = saidBy(rows, (row) => row.marginMode)
  const held = modes.length === 1 ? modes[0] : undefined
  if (!isSilent && (rows.length === 0 || held !== undefined))
    mutable(instrument.setup).marginMode = held
  if (!isSilent && rows.length === 0) noteRefusedMode(instrument, undefined)
  compare(core, instrument, reading, {
    setting: 'positionMode',
    path: 'account.positionMode',
    wanted: positionMode,
    said: saidBy(rows, (row) => row.positionMode),
  })
  compare(core, instrument, reading, {
    setting: 'marginMode',
    path: 'account.marginMode',
    wanted: marginMode,
    // Where nothing is held, no position has the wrong margin mode.
    said: rows.length === 0 && !isSilent ? [marginMode] : modes,
  })
  compareTiers(core, instrument, reading)
  const leverages = saidBy(rows, (row) => row.leverage?.toString())
  const { leverage } = specOf(core, symbol)
  if (leverage === undefined) return noteLeverage(core, instrument, reading, leverages)
  compare(core, instrument, reading, {
    setting: 'leverage',
    path: `instruments.${symbol}.leverage or account.leverage`,
    wanted: String(leverage),
    said: leverages,
  })
}

/** An order that the exchange takes disproves what it refused before in the same mode. */
export function noteModeAnswered(
  instrument: InstrumentState,
  items: readonly Pick<ItemOutcome, 'outcome' | 'code'>[],
): void {
  const { sentMode, refusedMode } = instrument.setup
  if (items.some(({ outcome }) => outcome === 'accepted')) {
    if (refusedMode === sentMode) noteRefusedMode(instrument, undefined)
  } else if (items.some(({ code }) => errorCode(code).topic === 'marginMode'))
    noteRefusedMode(instrument, sentMode)
}

function noteRefusedMode({ setup }: InstrumentState, mode: MarginMode | undefined): void {
  if (setup.refusedMode !== mode) mutable(setup).refusedMode = mode
}

/**
 * The position may have another margin mode than its rows say. Batches that only close it then name
 * the two modes in turn, until the exchange takes one.
 */
export function noteModeSent(
  core: Core,
  instrument: InstrumentState,
  terms: readonly Pick<OrderTerms, 'action'>[],
): MarginMode {
  const { setup, symbol } = instrument
  const stated = marginModeOf(core, symbol)
  const isOnlyClosing = terms.every(({ action }) => isClosing(action))
  const isRefused = isOnlyClosing && setup.refusedMode === stated
  const named = isRefused ? (stated === 'crossed' ? 'isolated' : 'crossed') : stated
  if (setup.sentMode !== named) mutable(setup).sentMode = named
  return named
}

/** A share of the value. Near the end of a tier the exchange may have looked at another price. */
const TIER_SLACK = 0.02

/**
 * A stated rate above the configured one would let the steps before a liquidation come too late. An
 * operator may want one below it.
 */
function compareTiers(core: Core, instrument: InstrumentState, reading: PositionReading): void {
  const { symbol, rows } = reading
  const { steps, rules } = core.settings.liquidation ?? {}
  const tiers = rules?.get(symbol)
  if (steps === undefined || tiers === undefined) return
  const { lot } = specOf(core, symbol)
  const said = rows.flatMap(({ lots, markPrice, maintenanceRate = Number.NaN }) => {
    const value = floatOnGrid(lot, lots) * markPrice
    if (!(value > 0) || !(maintenanceRate > 0)) return []
    const known = [1 - TIER_SLACK, 1, 1 + TIER_SLACK].map((share) =>
      tierRateOf(tiers, value * share),
    )
    const isRight = maintenanceRate <= Math.max(...known) + RATE_ROUNDING
    const wanted = `${tierRateOf(tiers, value)} for a value of ${Math.round(value)}`
    return [{ wanted, found: isRight ? wanted : String(maintenanceRate) }]
  })
  const wrong = said.find(({ wanted, found }) => wanted !== found) ?? said[0]
  if (wrong === undefined) return
  const path = `instruments.${symbol}.maintenance`
  compare(core, instrument, reading, {
    setting: 'maintenance',
    path,
    wanted: wrong.wanted,
    said: [wrong.found],
    remedy: `write the tiers of the contract page of the exchange into ${path} and restart`,
  })
}

/** Rates have few digits. */
const RATE_ROUNDING = 1e-9

function saidBy<Value extends string>(
  rows: readonly PositionRow[],
  read: (row: PositionRow) => Value | undefined,
): readonly Value[] {
  const [row] = rows
  if (row !== undefined && rows.length === 1) {
    const value = read(row)
    return value === undefined ? [] : [value]
  }
  return [...new Set(rows.map(read))].filter((value) => value !== undefined)
}

interface SettingComparison {
  readonly setting: Setting
  readonly path: string
  readonly wanted: string
  readonly said: readonly string[]
  readonly remedy?: string
}

function compare(
  core: Core,
  instrument: InstrumentState,
  reading: PositionReading,
  { setting, path, wanted, said, remedy }: SettingComparison,
): void {
  const [first] = said
  if (first === undefined) return
  const { symbol } = instrument
  const found = said.length === 1 ? first : said.join(' and ')
  const isRight = found === wanted
  const isHeld = restrictionOf(core.book, symbol, setting) !== undefined
  const isNews = isRight === isHeld
  if (
    !isSeenTwice(core, instrument, reading, {
      setting,
      verdict: isRight ? AGREES : DIFFERS,
      isNews,
    })
  )
    return
  if (!isRight) {
    const advice = remedy ?? adviseOn(core, { setting, path })
    const reason = `the position says ${setting} ${found}, the configuration ${wanted}: ${advice}; it ends by itself then`
    return halt(core, symbol, setting, reason)
  }
  if (isHeld)
    endHalt(
      core,
      symbol,
      setting,
      `two readings of the position agree with ${path} ${wanted} again`,
    )
}

function adviseOn(
  { settings }: Core,
  { setting, path }: Pick<SettingComparison, 'setting' | 'path'>,
): string {
  if (settings.isEmbedded !== true)
    return `set it back on the exchange's page or in its app, or change ${path} and restart`
  const simulated = setting === 'leverage' ? 'simulator.leverage and ' : ''
  return `the exchange is the simulator inside the daemon, and its account keeps what it began with: make ${simulated}${path} equal to that and restart, or begin anew with another state.directory`
}

/** A leverage that is not configured is known from the first reading on. */
function noteLeverage(
  core: Core,
  instrument: InstrumentState,
  reading: PositionReading,
  said: readonly string[],
): void {
  if (said.length === 0) return
  const found = said.join(' and ')
  const known = instrument.setup.leverage
  const isNews = known !== undefined && known !== found
  if (!isSeenTwice(core, instrument, reading, { setting: 'leverage', verdict: found, isNews }))
    return
  if (known === found) return
  mutable(instrument.setup).leverage = found
  if (known === undefined) return
  announce(core, 'warn', 'position.leverageChanged', {
    symbol: instrument.symbol,
    was: known,
    is: found,
  })
}

/** An answer that is heard twice is one reading. */
function isSeenTwice(
  core: Core,
  { symbol, setup }: InstrumentState,
  { requestedAt }: PositionReading,
  {
    setting,
    verdict,
    isNews,
  }: { readonly setting: Setting; readonly verdict: string; readonly isNews: boolean },
): boolean {
  const seen = setup.found.get(setting)
  if (seen?.verdict === verdict) return requestedAt >= seen.at
  mutable(setup).found.set(setting, { verdict, at: core.now })
  if (isNews) askForPositionSoon(core, symbol)
  return false
}
