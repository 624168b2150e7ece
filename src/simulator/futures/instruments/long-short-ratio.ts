import { createRandom } from '../../../lib/random.ts'
import type { RequestOf, ResponseOf } from '../../../protocol/endpoints.ts'
import type { CoreState } from '../core-state.ts'
import { refusals } from '../../shared/refusals.ts'
import { accept, type Reply } from '../../shared/reply.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Neighbouring points share draws, so the series moves gradually. */
const DRAWS = 12
const DEVIATION = 0.12

export function longShortRatio(
  state: CoreState,
  _: unknown,
  request: RequestOf<'longShortRatio'>,
): Reply<ResponseOf<'longShortRatio'>> {
  const symbol = state.symbols.get(request.symbol)
  if (symbol === undefined || state.clock.now < symbol.listedAt)
    return refusals.symbolUnknown(request.symbol)
  const { baseCoin, quoteCoin } = symbol.instrument
  const { coin = baseCoin, period = '24h' } = request
  if (coin !== baseCoin && coin !== quoteCoin) return refusals.parameter('coin')
  const [stepMs, count] = period === '24h' ? [HOUR_MS, 24] : [DAY_MS, 30]
  const latest = Math.floor(state.clock.now / stepMs)
  const stream = `${state.seed}/${request.symbol}/${coin}/${period}`
  const points = Array.from({ length: count }, (_point, index) => {
    const slot = latest - (count - 1 - index)
    return { ts: String(slot * stepMs), longShortRatio: ratioAt(stream, slot).toFixed(4) }
  })
  return accept(points)
}

function ratioAt(stream: string, slot: number): number {
  let sum = 0
  for (let back = 0; back < DRAWS; back++) sum += createRandom(`${stream}/${slot - back}`).normal()
  return Math.max(0.2, 1 + (DEVIATION * sum) / Math.sqrt(DRAWS))
}
