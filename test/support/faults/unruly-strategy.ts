import { type Strategy } from '../../../src/strategy/define-strategy.ts'
import { type PlaceIntent } from '../../../src/strategy/contract.ts'
import { edgeIntent } from '../months/edge-intents.ts'
import { type VirtualFaults } from './virtual-faults.ts'

const FLOOD = 300
const HOURS_MS = 7_200_000

const GARBAGE: readonly ((symbol: string) => unknown)[] = [
  () => null,
  () => 7,
  () => ({ kind: 'nothing' }),
  () => ({ kind: 'place' }),
  (symbol) => ({ kind: 'place', symbol, key: '', action: 'openLong', lots: 1 }),
  (symbol) => ({ kind: 'place', symbol, key: 'g', action: 'openLong', lots: -1, ticks: 1 }),
  (symbol) => ({ kind: 'place', symbol, key: 'h', action: 'openLong', lots: 1, ticks: Number.NaN }),
  (symbol) => ({ kind: 'quote', symbol, levels: 'none' }),
  (symbol) => ({ kind: 'quote', symbol, levels: [{ side: 'buy', ticks: 0.5, lots: -0 }] }),
  (symbol) => ({ kind: 'target', symbol, lots: Number.POSITIVE_INFINITY }),
  (symbol) => ({ kind: 'target', symbol, lots: Number.MAX_SAFE_INTEGER }),
  (symbol) => ({
    kind: 'place',
    symbol,
    key: 'i',
    action: 'openLong',
    lots: 1,
    stopLossTicks: 2 ** 60,
  }),
  () => ({ kind: 'target', symbol: 'NOSUCHUSDT', lots: 1 }),
  () => ({ kind: 'cancelAll', symbol: 'NOSUCHUSDT' }),
]

/** Intents of instruments that are not the strategy's. */
const STRAY: readonly ((symbol: string) => unknown)[] = [
  (symbol) => ({ kind: 'target', symbol, lots: 1 }),
  (symbol) => ({ kind: 'quote', symbol, levels: [{ side: 'buy', ticks: 1000, lots: 1 }] }),
  (symbol) => ({ kind: 'place', symbol, key: 'stray', action: 'openLong', lots: 1 }),
  (symbol) => ({ kind: 'cancelAll', symbol }),
]

/** Valid intents that must not pass the risk checks. */
const WILD: readonly Partial<PlaceIntent>[] = [
  { action: 'openLong', lots: 1, takeProfitTicks: 1.5 },
  { action: 'openShort', lots: 2, ticks: 1, stopLossTicks: 1.5, force: 'gtc' },
  { action: 'openLong', lots: 3, ticks: 1, takeProfitTicks: 1.5, force: 'gtc' },
  { action: 'openShort', lots: 2, takeProfitTicks: 0.5 },
  { action: 'openLong', lots: 1, ticks: 1.5, force: 'gtc' },
  { action: 'openLong', lots: 1, ticks: 0.5, force: 'gtc' },
  { action: 'openShort', lots: 1, ticks: 1.5, force: 'post_only' },
  { action: 'openShort', lots: 1, ticks: 0.5, force: 'ioc' },
  { action: 'openLong', lots: 1000, ticks: 1, force: 'gtc' },
  // Below the maximum position, above the maximum order.
  { action: 'openLong', lots: 7, ticks: 1, force: 'gtc' },
  { action: 'openShort', lots: 7 },
  { action: 'openShort', lots: 1000 },
  { action: 'closeLong', lots: 1000 },
]

export interface UnrulyOptions {
  readonly strategy: Strategy
  readonly others: readonly string[]
  readonly site: string
  readonly faults: VirtualFaults
  readonly isSilent: () => boolean
}

/** A strategy that sometimes throws, returns nonsense or absurd intents, or far too many (STR1). */
export function createUnruly({
  strategy,
  others,
  site,
  faults,
  isSilent,
}: UnrulyOptions): Strategy {
  const decide: Strategy['decide'] = (snapshot, context) => {
    if (isSilent()) return { intents: [], state: context.state }
    if (faults.strikes('strategyThrows', site)) throw new Error('a strategy threw')
    const decision = strategy.decide(snapshot, context) as { readonly intents: readonly unknown[] }
    const symbol = snapshot.instruments[0]?.symbol ?? ''
    const more: unknown[] = []
    const isLasting = faults.strikes('strategyLasting', site)
    if (faults.strikes('strategyGarbage', site)) {
      more.push(GARBAGE[faults.severity(0, GARBAGE.length)]?.(symbol))
    }
    if (faults.strikes('strategyWild', site)) {
      const wild = WILD[faults.severity(0, WILD.length)] ?? {}
      const prices = pricesOf(wild, snapshot.instruments[0]?.bidTicks ?? 0)
      more.push({ kind: 'place', symbol, key: `wild:${snapshot.takenAt}`, ...wild, ...prices })
    }
    if (faults.strikes('strategyEdges', site)) more.push(edgeIntent(symbol, faults))
    const [other] = others
    if (other !== undefined && faults.strikes('strategyStray', site)) {
      more.push(STRAY[faults.severity(0, STRAY.length)]?.(other))
    }
    if (faults.strikes('strategyFlood', site)) more.push(...flood(symbol, snapshot.takenAt))
    return {
      ...decision,
      intents: [
        ...decision.intents.map((intent) => (isLasting ? lasting(intent) : intent)),
        ...more,
      ],
    }
  }
  return { ...strategy, decide }
}

/** Its prices, given as multiples of the market's, in ticks. */
function pricesOf(wild: Partial<PlaceIntent>, market: number): Partial<PlaceIntent> {
  const names = ['ticks', 'takeProfitTicks', 'stopLossTicks'] as const
  const prices = names.flatMap((name) => {
    const share = wild[name]
    return share === undefined ? [] : [[name, Math.round(market * share)] as const]
  })
  return Object.fromEntries(prices)
}

function lasting(intent: unknown): unknown {
  const isPlace = (intent as { readonly kind?: unknown }).kind === 'place'
  return isPlace ? { ...(intent as object), ttlMs: HOURS_MS } : intent
}

function flood(symbol: string, takenAt: number): readonly unknown[] {
  return Array.from({ length: FLOOD }, (_, index) => ({
    kind: 'place',
    symbol,
    key: `flood:${takenAt}:${index}`,
    action: index % 2 === 0 ? 'openLong' : 'openShort',
    lots: 1,
  }))
}
