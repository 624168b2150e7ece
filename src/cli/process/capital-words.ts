import type { CapitalView } from '../../control/views.ts'
import { money } from './table.ts'

export function describeCapital({ set, max, used }: CapitalView, coin: string): string {
  const [shownUsed, shownMax] = [used, max].map((amount) =>
    amount === null ? 'an unknown amount' : money(String(amount), coin),
  )
  const share = set.endsWith('%') ? ` (${set})` : ''
  return `uses ${shownUsed} of ${shownMax} ${coin}${share}`
}
