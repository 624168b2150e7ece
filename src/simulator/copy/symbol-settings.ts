import type { WireRequestOf } from '../../protocol/endpoints.ts'
import type { CoreState } from '../futures/core-state.ts'
import { deliveryStatus } from '../futures/instruments/delivery-status.ts'
import { refusals } from '../shared/refusals.ts'
import { accept, type Refusal, type Reply } from '../shared/reply.ts'
import type { SymbolSetting } from './trader.ts'

type SettingChange = WireRequestOf<'copyConfigSettingSymbols'>['settingList'][number]

type SymbolSettings = ReadonlyMap<string, SymbolSetting>

/**
 * Applies the changes in order, all or none.
 * - ADD replaces both ratios of an open symbol, so it can be repeated.
 * - UPDATE: empty keeps a ratio, `0` removes it.
 * - DELETE ignores the ratios.
 */
export function changeSettings(
  settings: SymbolSettings,
  changes: readonly SettingChange[],
  futures: Pick<CoreState, 'symbols' | 'clock'>,
): Reply<SymbolSettings> {
  const changed = new Map(settings)
  for (const change of changes) {
    const refusal = refusalOf(change, changed, futures)
    if (refusal !== undefined) return refusal
    if (change.settingType === 'DELETE') changed.delete(change.symbol)
    else changed.set(change.symbol, toSetting(change, changed.get(change.symbol)))
  }
  return accept<SymbolSettings>(changed)
}

function refusalOf(
  change: SettingChange,
  changed: SymbolSettings,
  { symbols, clock }: Pick<CoreState, 'symbols' | 'clock'>,
): Refusal | undefined {
  const symbol = symbols.get(change.symbol)
  const isListed = symbol !== undefined && clock.now >= symbol.listedAt
  if (!isListed || symbol.instrument.productType !== change.productType)
    return refusals.copiedSymbolUnknown
  if (change.settingType === 'DELETE') return undefined
  if (change.settingType === 'UPDATE' && !changed.has(change.symbol))
    return refusals.copiedSymbolNotOpened
  return deliveryStatus(symbol, clock.now) === 'delivery_normal'
    ? undefined
    : refusals.copiedSymbolClosed
}

function toSetting(change: SettingChange, existing: SymbolSetting | undefined): SymbolSetting {
  const { symbol, productType, settingType } = change
  const kept = settingType === 'UPDATE' ? existing : undefined
  return {
    symbol,
    productType,
    stopSurplusRatio: changedRatio(change.stopSurplusRatio, kept?.stopSurplusRatio),
    stopLossRatio: changedRatio(change.stopLossRatio, kept?.stopLossRatio),
  }
}

function changedRatio(text: string | undefined, kept: string | undefined): string | undefined {
  if (text === undefined || text === '') return kept
  return text === '0' ? undefined : text
}
