import { describe, expect, test } from 'vitest'
import { readMutated } from './mutant.ts'
import { MUTANTS } from './mutants.ts'

describe('the mutants', () => {
  test.each(MUTANTS)('$name fits the code as it is: $what', (mutant) => {
    expect(readMutated(mutant)).toContain(mutant.replace)
  })

  test('have names of their own', () => {
    const names = MUTANTS.map(({ name }) => name)

    expect(names).toEqual([...new Set(names)])
  })
})
