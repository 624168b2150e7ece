import { expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import { historyPage } from '../../src/simulator/shared/history-page.ts'
import { serviceIdText } from '../../src/simulator/shared/order-sequence.ts'

interface Row {
  readonly id: string
  readonly at: number
  readonly isOdd: boolean
}

/** Ids with gaps, and several rows of one moment. */
function someRows(count: number, seed = 1): Row[] {
  const random = createRandom(seed)
  let [sequence, at] = [0, 1000]
  return Array.from({ length: count }, () => {
    sequence += 1 + random.integer(3)
    at += random.integer(3)
    return { id: serviceIdText(sequence), at, isOdd: sequence % 2 === 1 }
  })
}

const idOf = ({ id }: Row) => id
const timeOf = ({ at }: Row) => at

test.each([1, 2, 3, 4, 5])(
  'a page is what a walk over the whole history finds, seed %i',
  (seed) => {
    const rows = someRows(200, seed)
    const random = createRandom(`queries/${seed}`)

    for (let count = 0; count < 200; count++) {
      const [startAt, endAt] = [990 + random.integer(220), 990 + random.integer(220)]
      const cursor = random.integer(3) === 0 ? undefined : serviceIdText(random.integer(450))
      const limit = 1 + random.integer(30)
      const page = historyPage(rows, {
        idOf,
        timeOf,
        startAt,
        endAt,
        idLessThan: cursor,
        limit,
        accepts: ({ isOdd }) => isOdd,
      })

      const walked = rows.filter(
        ({ id, at, isOdd }) =>
          isOdd &&
          at >= startAt &&
          at <= endAt &&
          (cursor === undefined || BigInt(id) < BigInt(cursor)),
      )
      expect(page).toEqual(walked.reverse().slice(0, limit))
    }
  },
)

test('a cursor that is no id of the history compares as the number it is', () => {
  const rows = someRows(10)

  expect(historyPage(rows, { idOf, idLessThan: '5', limit: 100 })).toEqual([])
  expect(historyPage(rows, { idOf, idLessThan: '99999999999999999999', limit: 100 })).toHaveLength(
    10,
  )
})

test('of a hundred thousand rows a page looks at few beside its own', () => {
  const rows = someRows(100_000)
  let looks = 0
  const accepts = () => {
    looks++
    return true
  }
  const watched = { idOf, timeOf: (row: Row) => (looks++, row.at), accepts, limit: 100 }

  expect(historyPage(rows, { ...watched, endAt: 999 })).toEqual([])
  expect(historyPage(rows, { ...watched, startAt: 1e9 })).toEqual([])
  expect(historyPage(rows, { ...watched, idLessThan: serviceIdText(0) })).toEqual([])
  expect(historyPage(rows, { ...watched, idLessThan: rows[50_000]?.id })).toHaveLength(100)
  expect(looks).toBeLessThan(300)
})
