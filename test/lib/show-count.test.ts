import { expect, test } from 'vitest'
import { showCount } from '../../src/lib/text/show-count.ts'

test('one thing is not several', () => {
  expect([0, 1, 2].map((count) => showCount(count, 'fill'))).toEqual([
    '0 fills',
    '1 fill',
    '2 fills',
  ])
})
