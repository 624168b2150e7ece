import { expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import { SegmentedMap } from '../../src/lib/segmented-map.ts'

test.each([1, 3, 50, 1000])(
  'with segments of %i it is what a map is, in the same order',
  (segmentSize) => {
    const random = createRandom(`segments/${segmentSize}`)
    const map = new Map<string, number>()
    const segmented = new SegmentedMap<string, number>(segmentSize)
    for (let change = 0; change < 3000; change++) {
      const key = `key ${random.integer(400)}`
      const value = random.integer(100)
      if (random.integer(3) === 0) expect(segmented.delete(key)).toBe(map.delete(key))
      else expect(segmented.set(key, value).get(key)).toBe(map.set(key, value).get(key))
      if (random.integer(1000) === 0) {
        map.clear()
        segmented.clear()
      }

      const asked = `key ${random.integer(400)}`
      const ours = [segmented.size, segmented.get(asked), segmented.has(asked)]
      expect(ours).toEqual([map.size, map.get(asked), map.has(asked)])
    }

    const visited: [string, number][] = []
    segmented.forEach((value, key) => visited.push([key, value]))
    expect([[...segmented], [...segmented.entries()], visited]).toEqual([
      [...map],
      [...map],
      [...map],
    ])
    expect([...segmented.keys()]).toEqual([...map.keys()])
    expect([...segmented.values()]).toEqual([...map.values()])
  },
)

test('entries that stay for ever keep no segment for themselves', () => {
  const segmented = new SegmentedMap<string, number>(100)
  for (let order = 0; order < 100_000; order++) {
    segmented.set(`order ${order}`, order)
    if (order >= 50 && (order - 50) % 1000 !== 0) segmented.delete(`order ${order - 50}`)
  }

  expect(segmented.size).toBe(150)
  expect(segmented.segmentCount).toBeLessThan(20)
  expect([...segmented.values()]).toEqual(
    [...segmented.values()].toSorted((one, other) => one - other),
  )
})
