import { describe, expect, test } from 'vitest'
import { mutate } from './mutant.ts'
import { LEASE_MUTANTS } from './lease-mutants.ts'
import { MUTANTS } from './mutants.ts'

describe('the mutants', () => {
  test.each([...MUTANTS, ...LEASE_MUTANTS])('$name fits the code as it is: $what', (mutant) => {
    expect(mutate(mutant).source).toContain(mutant.replace)
  })

  test('have names of their own', () => {
    const names = [...MUTANTS, ...LEASE_MUTANTS].map(({ name }) => name)

    expect(names).toEqual([...new Set(names)])
  })

  test('find their place however it is broken into lines', () => {
    const find = "order.filledLots===0\n\n?{...order, state: 'absent', reason,}: order"

    expect(mutate({ name: 'a', what: 'b', find, replace: 'planted' }).source).toContain('planted')
  })

  test('that fit nowhere, or in two places, are called stale', () => {
    const stale = { name: 'a', what: 'b', find: 'nowhere in the product', replace: '' }

    expect(() => mutate(stale)).toThrow(/MUTANT_STALE/)
    expect(() => mutate({ ...stale, find: 'return' })).toThrow(/MUTANT_STALE/)
  })
})
