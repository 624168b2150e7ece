import { describe, expect, test } from 'vitest'
import { explainValues, listParamSets, listValues } from '../../src/sweep/param-sets.ts'
import { sweepFileSchema } from '../../src/sweep/sweep-file.ts'

const parse = (file: object) => sweepFileSchema.parse(file)

describe('the values of a parameter', () => {
  test.each([
    [
      [3, 'a', true],
      ['3', '"a"', 'true'],
    ],
    [{ from: 0.1, to: 0.5, step: 0.1 }, ['0.1', '0.2', '0.3', '0.4', '0.5']],
    [{ from: 1, to: 6, step: 2 }, ['1', '3', '5']],
    [{ from: 1, to: 100, points: 3, scale: 'log' }, ['1', '10', '100']],
    [{ from: 1, to: 20, points: 5, scale: 'log', whole: true }, ['1', '2', '4', '9', '20']],
    [{ from: 1, to: 3, points: 7, whole: true }, ['1', '2', '3']],
    [{ from: 0, to: 1, points: 3 }, ['0', '0.5', '1']],
  ])('%j', (values, texts) => {
    expect(listValues(parse({ params: { grid: { size: values } } })).get('grid.size')).toEqual(
      texts,
    )
  })

  test.each([
    [{ from: 2, to: 1, step: 1 }, /from is above to/],
    [{ from: 0, to: 1, points: 3, scale: 'log' }, /begins above 0/],
  ])('%j is refused', (values, says) => {
    expect(explainValues(parse({ params: { grid: { size: values } } }))?.message).toMatch(says)
  })

  test('a grid too large is refused, and drawn from it is not', () => {
    const params = {
      grid: { a: { from: 1, to: 1000, step: 1 }, b: { from: 1, to: 1000, step: 1 } },
    }

    expect(explainValues(parse({ params }))?.message).toMatch(/1000000 combinations/)
    expect(explainValues(parse({ params, method: 'random' }))).toBeUndefined()
  })
})

describe('what is tried', () => {
  const params = { grid: { a: [1, 2], b: ['x', 'y', 'z'] }, trend: { c: [true] } }

  test('of a grid is every combination, the last parameter first', () => {
    const sets = listParamSets(parse({ params }))

    expect(sets).toHaveLength(6)
    expect(sets[1]).toEqual({ 'grid.a': '1', 'grid.b': '"y"', 'trend.c': 'true' })
    expect(new Set(sets.map((set) => JSON.stringify(set))).size).toBe(6)
  })

  test('of a draw is as many, each once, the same for the same seed', () => {
    const draw = (seed: number) =>
      listParamSets(
        parse({
          params: { grid: { a: { from: 1, to: 50, step: 1 }, b: { from: 1, to: 50, step: 1 } } },
          method: 'random',
          trials: 40,
          seed,
        }),
      )

    expect(draw(1)).toEqual(draw(1))
    expect(draw(2)).not.toEqual(draw(1))
    expect(new Set(draw(1).map((set) => JSON.stringify(set))).size).toBe(40)
    expect(listParamSets(parse({ params, method: 'random', trials: 40 }))).toHaveLength(6)
  })
})
