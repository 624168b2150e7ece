import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withoutPlace } from '../../src/lib/without-place.ts'

const PROGRAM = join(import.meta.dirname, '../../src')

test.each([
  ['Error: no (decide (file:///a/b/grid.ts:7:3))', 'Error: no (decide (grid.ts:7:3))'],
  ["ENOENT: no such file, open '/a/b/data/x.json'", "ENOENT: no such file, open 'data/x.json'"],
  ["open '/a/bc/x.json'", "open '/a/bc/x.json'"],
  [`at file://${PROGRAM}/strategy/contract.ts:1:2`, 'at intentd/strategy/contract.ts:1:2'],
  ['nothing of it', 'nothing of it'],
])('what a trial failed with is said alike on each machine: %s', (text, said) => {
  expect(withoutPlace(text, '/a/b')).toBe(said)
})

test('a folder may have a name that an address writes otherwise, or be the root', () => {
  expect(withoutPlace('file:///my%20bots/grid.ts:7 of /my bots/grid.ts', '/my bots')).toBe(
    'grid.ts:7 of grid.ts',
  )
  expect(withoutPlace('file:///bots/grid.ts:7', '/')).toBe('file:///bots/grid.ts:7')
})
