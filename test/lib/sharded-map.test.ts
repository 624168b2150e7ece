import { expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import { ShardedMap, shardOf } from '../../src/lib/sharded-map.ts'

test.each([1, 4, 64])('in %i parts it holds what a map holds', (shards) => {
  const random = createRandom(`shards/${shards}`)
  const [map, sharded] = [new Map<string, number>(), new ShardedMap<string, number>(shards)]
  for (let change = 0; change < 3000; change++) {
    const key = `key ${random.integer(400)}`
    const value = random.integer(100)
    if (random.integer(3) === 0) expect(sharded.delete(key)).toBe(map.delete(key))
    else expect(sharded.set(key, value).get(key)).toBe(map.set(key, value).get(key))
    if (random.integer(1000) === 0) {
      map.clear()
      sharded.clear()
    }

    const asked = `key ${random.integer(400)}`
    expect([sharded.size, sharded.get(asked), sharded.has(asked)]).toEqual([
      map.size,
      map.get(asked),
      map.has(asked),
    ])
  }

  const visited: [string, number][] = []
  sharded.forEach((value, key) => visited.push([key, value]))
  for (const entries of [sharded, sharded.entries(), visited]) {
    expect(visited).toHaveLength(map.size)
    expect(new Map(entries)).toEqual(map)
  }
  expect(new Set(sharded.keys())).toEqual(new Set(map.keys()))
  expect([...sharded.keys()].map((key) => map.get(key))).toEqual([...sharded.values()])
})

test('names, numbers and keys with a number at their end spread over the parts', () => {
  const random = createRandom('spread')
  const letters = 'abcdefghijklmnopqrstuvwxyz234567'
  const name = (): string => Array.from({ length: 26 }, () => letters[random.integer(32)]).join('')
  const kinds = [
    Array.from({ length: 16_000 }, () => `t${name()}-0`),
    Array.from({ length: 16_000 }, (_, index) => String(110_000_000_000_000_000n + BigInt(index))),
    Array.from({ length: 16_000 }, (_, index) => `s1\u0000quote:BTCUSDT:${index}`),
  ]

  for (const keys of kinds) {
    const parts = new Map<number, number>()
    for (const key of keys) {
      const part = shardOf(key, 64)
      parts.set(part, (parts.get(part) ?? 0) + 1)
    }
    expect(parts.size).toBe(64)
    // An even share is 250.
    expect(Math.max(...parts.values())).toBeLessThan(750)
  }
})
