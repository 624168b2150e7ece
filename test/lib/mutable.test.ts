import { expect, expectTypeOf, test } from 'vitest'
import { mutable } from '../../src/lib/mutable.ts'

interface State {
  readonly isOpen: boolean
  readonly at?: number
  readonly orders: ReadonlyMap<string, { readonly lots: number }>
  readonly symbols: ReadonlySet<string>
  readonly codes: readonly string[]
  readonly pair: readonly [string, number] | undefined
}

test('the owner of a state changes the state itself, not a copy', () => {
  const state: State = {
    isOpen: false,
    orders: new Map(),
    symbols: new Set(),
    codes: [],
    pair: undefined,
  }

  mutable(state).isOpen = true
  mutable(state).orders.set('a', { lots: 1 })
  mutable(state).symbols.add('BTCUSDT')
  mutable(state).codes.push('one')
  mutable(state.orders).set('b', { lots: 2 })

  expect(state).toMatchObject({ isOpen: true, codes: ['one'] })
  expect([...state.orders.keys()]).toEqual(['a', 'b'])
  expect([...state.symbols]).toEqual(['BTCUSDT'])
})

test('readonly goes from properties and from what they hold, and no deeper', () => {
  const state = {} as State

  expectTypeOf(mutable(state)).toEqualTypeOf<{
    isOpen: boolean
    at?: number
    orders: Map<string, { readonly lots: number }>
    symbols: Set<string>
    codes: string[]
    pair: [string, number] | undefined
  }>()
  expectTypeOf(mutable(state.symbols)).toEqualTypeOf<Set<string>>()
})
