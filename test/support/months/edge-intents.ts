import { type VirtualFaults } from '../faults/virtual-faults.ts'

/** Numbers from the edges of their type. */
const NUMBERS: readonly number[] = [
  Number.MAX_SAFE_INTEGER,
  -Number.MAX_SAFE_INTEGER,
  2 ** 53,
  Number.MIN_VALUE,
  -0,
  0,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1e308,
  1.5,
  2 ** 31,
]
const KEY_CHARACTERS_MAX = 128
const KEYS: readonly string[] = [
  '',
  'k'.repeat(KEY_CHARACTERS_MAX),
  'k'.repeat(KEY_CHARACTERS_MAX + 1),
  '\u{1F600}'.repeat(KEY_CHARACTERS_MAX / 2),
  '\uD83D',
  'a|b',
  '\u0000',
  '__proto__',
  'constructor',
]
const LEVELS_MAX = 200

/** Intents with a value from the edge of its type, valid in shape. */
const EDGES: readonly ((symbol: string, value: number, key: string) => unknown)[] = [
  (symbol, lots, key) => ({ kind: 'place', symbol, key, action: 'openLong', lots }),
  (symbol, ticks, key) => ({ kind: 'place', symbol, key, action: 'openShort', lots: 1, ticks }),
  (symbol, takeProfitTicks, key) => ({
    kind: 'place',
    symbol,
    key,
    action: 'openLong',
    lots: 1,
    takeProfitTicks,
  }),
  (symbol, stopLossTicks, key) => ({
    kind: 'place',
    symbol,
    key,
    action: 'openShort',
    lots: 1,
    stopLossTicks,
  }),
  (symbol, ttlMs, key) => ({ kind: 'place', symbol, key, action: 'closeLong', lots: 1, ttlMs }),
  (symbol, lots) => ({ kind: 'target', symbol, lots }),
  (symbol, ticks) => ({ kind: 'quote', symbol, levels: [{ side: 'buy', ticks, lots: 1 }] }),
  (symbol, lots) => ({ kind: 'quote', symbol, levels: [{ side: 'sell', ticks: 1, lots }] }),
  (symbol) => ({ kind: 'quote', symbol, levels: levelsOf(LEVELS_MAX) }),
  (symbol) => ({ kind: 'quote', symbol, levels: levelsOf(LEVELS_MAX + 1) }),
  (symbol, value, key) => ({
    kind: 'modifyTrigger',
    symbol,
    key,
    orderId: key,
    triggerTicks: value,
  }),
]

/** Drawn by the fault that has just struck. */
export function edgeIntent(symbol: string, faults: VirtualFaults): unknown {
  const drawn = faults.severity(0, EDGES.length * NUMBERS.length * KEYS.length)
  const value = NUMBERS[Math.floor(drawn / EDGES.length) % NUMBERS.length] ?? 0
  const key = KEYS[Math.floor(drawn / (EDGES.length * NUMBERS.length))] ?? ''
  return EDGES[drawn % EDGES.length]?.(symbol, value, key)
}

function levelsOf(count: number): readonly unknown[] {
  return Array.from({ length: count }, (_, index) => ({ side: 'buy', ticks: 1 + index, lots: 1 }))
}
