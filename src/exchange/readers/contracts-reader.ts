import type { Answer } from '../../domain/answer.ts'
import type { ContractRules } from '../../domain/contract-rules.ts'
import { isFundingInterval, type ProductType, SYMBOL_PATTERN } from '../../domain/instrument.ts'
import { decimal, type Decimal, quotient } from '../../lib/decimal.ts'
import { createGrid } from '../../lib/grid.ts'
import type { ResponseOf } from '../../protocol/endpoints.ts'
import { PRIORITY } from '../limiter/grant.ts'
import type { BeyondCaller } from './candles-reader.ts'

type WireContract = ResponseOf<'contracts'>[number]

const DECIMAL = /^\d{1,18}(\.\d{1,18})?$/
const MILLIS = /^[1-9]\d{9,15}$/
const PLACES_MAX = 18

/** At background priority. Rows without a usable symbol, tick, lot or minimum are left out. */
export async function readContracts(
  caller: BeyondCaller,
  productType: ProductType,
): Promise<Answer<ReadonlyMap<string, ContractRules>>> {
  const answer = await caller.call('contracts', { productType }, { priority: PRIORITY.background })
  if (answer.kind !== 'accepted') return answer
  const contracts = new Map<string, ContractRules>()
  for (const row of answer.data) {
    const rules = toRules(row)
    if (rules !== undefined && SYMBOL_PATTERN.test(row.symbol)) contracts.set(row.symbol, rules)
  }
  return { ...answer, data: contracts }
}

function toRules(row: WireContract): ContractRules | undefined {
  const tick = toTick(row)
  const lot = toLot(row)
  const least = readDecimal(row.minTradeNum)
  const notional = readDecimal(row.minTradeUSDT)
  if (tick === undefined || lot === undefined || least === undefined || notional === undefined)
    return undefined
  if (!isGrid(tick) || !isGrid(lot)) return undefined
  const fundingHours = Number(row.fundInterval)
  const leverageMax = Number(row.maxLever)
  const [launchedAt, offAt] = [readTime(row.launchTime), readTime(row.offTime)]
  return {
    tickSize: tick.toFixed(),
    lotSize: lot.toFixed(),
    // An order has whole lots, at least one.
    minSize: quotient(least, lot, { decimals: 0, rounding: 'up' }).times(lot).toFixed(),
    minNotional: notional.toFixed(),
    ...(row.quoteCoin ? { quoteCoin: row.quoteCoin } : {}),
    ...(isFundingInterval(fundingHours) && { fundingHours }),
    ...(leverageMax > 0 && { leverageMax }),
    ...(row.symbolStatus ? { status: row.symbolStatus } : {}),
    ...(launchedAt !== undefined && { launchedAt }),
    ...(offAt !== undefined && { offAt }),
  }
}

/** With a step that is no grid, building the instrument would throw. */
function isGrid(step: Decimal): boolean {
  try {
    createGrid(step.toFixed())
    return true
  } catch {
    return false
  }
}

function toTick({ pricePlace, priceEndStep }: WireContract): Decimal | undefined {
  const unit = readPlaces(pricePlace)
  const steps = readDecimal(priceEndStep ?? '1')
  return unit && steps?.times(unit)
}

/** The coarser of multiple and last decimal; undefined if neither contains the other. */
function toLot({ sizeMultiplier, volumePlace }: WireContract): Decimal | undefined {
  const [multiple, unit] = [readDecimal(sizeMultiplier), readPlaces(volumePlace)]
  if (multiple === undefined || unit === undefined) return multiple ?? unit
  if (multiple.mod(unit).eq('0')) return multiple
  return unit.mod(multiple).eq('0') ? unit : undefined
}

function readPlaces(text: string | null | undefined): Decimal | undefined {
  const places = /^\d{1,2}$/.test(text ?? '') ? Number(text) : PLACES_MAX + 1
  return places > PLACES_MAX ? undefined : decimal(`1e-${places}`)
}

function readDecimal(text: string | null | undefined): Decimal | undefined {
  if (!DECIMAL.test(text ?? '')) return undefined
  const value = decimal(text ?? '')
  return value.gt('0') ? value : undefined
}

/** The exchange writes an empty text or -1 for none. */
function readTime(text: string | null | undefined): number | undefined {
  return MILLIS.test(text ?? '') ? Number(text) : undefined
}
