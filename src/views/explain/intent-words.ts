import { isAccountCall } from '../../domain/account-call.ts'
import type { Intent, PlaceIntent, QuoteLevel } from '../../domain/intent.ts'
import type { Instrument } from '../../domain/instrument.ts'
import { showOnGrid } from '../../lib/grid.ts'
import { unreachable } from '../../lib/unreachable.ts'

/** One for each order, so that two ladders can be compared. */
export function toWords(intents: readonly Intent[], instrument: Instrument): readonly string[] {
  return intents.flatMap((intent) => intentWords(intent, instrument))
}

function intentWords(intent: Intent, instrument: Instrument): readonly string[] {
  if (isAccountCall(intent)) return [`${intent.kind} ${JSON.stringify(intent)}`]
  switch (intent.kind) {
    case 'quote':
      if (intent.levels.length === 0) return ['quote nothing']
      return intent.levels.map((level) => `quote ${levelWords(level, instrument)}`)
    case 'target':
      return [`hold ${showOnGrid(instrument.lot, intent.lots)}`]
    case 'place':
      return [placeWords(intent, instrument)]
    case 'cancelAll':
      return ['cancel all']
    default:
      return unreachable(intent)
  }
}

function levelWords({ side, lots, ticks }: QuoteLevel, { lot, tick }: Instrument): string {
  return `${side} ${showOnGrid(lot, lots)} at ${showOnGrid(tick, ticks)}`
}

function placeWords(intent: PlaceIntent, { lot, tick }: Instrument): string {
  const { key, action, lots, ticks, force } = intent
  const price = ticks === undefined ? 'at the market' : `at ${showOnGrid(tick, ticks)}`
  return [action, showOnGrid(lot, lots), price, force, `key ${key}`]
    .filter((word) => word !== undefined)
    .join(' ')
}
