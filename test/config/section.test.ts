import { expect, test } from 'vitest'
import { z } from 'zod'
import { checkSection } from '../../src/config/yaml/checked-file.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import { YamlSource } from '../../src/config/yaml/yaml-source.ts'

const params = z
  .strictObject({
    levels: z.int().min(1).max(100),
    size: z.string().regex(/^\d+(\.\d+)?$/, 'a size such as "0.01"'),
    side: z.enum(['long', 'short']).optional(),
    exit: z
      .discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('time'), seconds: z.number().positive() }),
        z.strictObject({ kind: z.literal('price'), price: z.string() }),
      ])
      .optional(),
    weights: z.array(z.number()).optional(),
  })
  .refine(({ levels, size }) => levels < 50 || size !== '1', {
    message: 'that many levels of 1 are too much',
    path: ['levels'],
  })

const check = (text: string) => {
  const result = checkSection(new YamlSource(text, 'grid.yaml'), params, ['params'])
  return result.ok ? result.value : result.problems.map(formatProblem)
}

test("a strategy's own schema reads its params, with the digits of an unquoted size", () => {
  const found = check(
    'id: grid\nparams:\n  levels: 5\n  size: 0.10\n  exit: { kind: price, price: 100.50 }\n',
  )

  expect(found).toEqual({ levels: 5, size: '0.10', exit: { kind: 'price', price: '100.50' } })
})

test("[CFG1] a strategy's bad params are reported at their own line and column", () => {
  const found = check(
    'id: grid\nparams:\n  levels: 500\n  sise: 1\n  side: both\n  weights: [1, two]\n',
  )

  expect(found).toEqual([
    'grid.yaml:3:11 params.levels: expected a whole number from 1 to 100, got 500',
    'grid.yaml:5:9 params.side: expected "long" or "short", got "both"',
    'grid.yaml:6:16 params.weights.1: expected a number, got "two"',
    'grid.yaml:4:3 params.sise: unknown key; there are levels, size, side, exit, weights; did you mean "size"?',
  ])
})

test('[CFG1] a wrong choice between shapes names the choices', () => {
  const found = check('params:\n  levels: 1\n  size: 1\n  exit: { kind: never }\n')

  expect(found).toEqual([
    'grid.yaml:4:17 params.exit.kind: expected "time" or "price", got "never"',
  ])
})

test("[CFG1] a strategy's own rule speaks in its own words", () => {
  const found = check('params:\n  levels: 50\n  size: 1\n')

  expect(found).toEqual(['grid.yaml:2:11 params.levels: that many levels of 1 are too much'])
})

test('[CFG1] params that are not written are missing at the top', () => {
  const found = check('id: grid\n')

  expect(found).toEqual([
    'grid.yaml:1:1 params: the key "levels" is missing: expected a whole number from 1 to 100',
    'grid.yaml:1:1 params: the key "size" is missing: expected text',
  ])
})
