import { isAccountCall } from '../../domain/account-call.ts'
import type { Intent, PlaceIntent, QuoteLevel } from '../../domain/intent.ts'
import type { Instrument } from '../../domain/instrument.ts'
import { showOnGrid } from '../../lib/grid.ts'
import { unreachable } from '../../lib/unreachable.ts'

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
      return [`hold ${showOnGrid(instrument.lot, intent.lots)}${asTag(intent)}`]
    case 'place':
      return [placeWords(intent, instrument)]
    case 'cancelAll':
      return ['cancel all']
    default:
      return unreachable(intent)
  }
}

function asTag({ tag }: { readonly tag?: string }): string {
  return tag === undefined ? '' : ` as ${tag}`
}

function levelWords(level: QuoteLevel, { lot, tick }: Instrument): string {
  const { side, lots, ticks } = level
  return `${side} ${showOnGrid(lot, lots)} at ${showOnGrid(tick, ticks)}${asTag(level)}`
}

function placeWords(intent: PlaceIntent, { lot, tick }: Instrument): string {
  const { key, action, lots, ticks, force, tag } = intent
  const price = ticks === undefined ? 'at the market' : `at ${showOnGrid(tick, ticks)}`
  const as = tag === undefined ? undefined : `as ${tag}`
  return [action, showOnGrid(lot, lots), price, force, `key ${key}`, as]
    .filter((word) => word !== undefined)
    .join(' ')
}
