import { expect, expectTypeOf, test } from 'vitest'
import { own } from '../../src/lib/own.ts'

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

  own(state).isOpen = true
  own(state).orders.set('a', { lots: 1 })
  own(state).symbols.add('BTCUSDT')
  own(state).codes.push('one')
  own(state.orders).set('b', { lots: 2 })

  expect(state).toMatchObject({ isOpen: true, codes: ['one'] })
  expect([...state.orders.keys()]).toEqual(['a', 'b'])
  expect([...state.symbols]).toEqual(['BTCUSDT'])
})

test('readonly goes from properties and from what they hold, and no deeper', () => {
  const state = {} as State

  expectTypeOf(own(state)).toEqualTypeOf<{
    isOpen: boolean
    at?: number
    orders: Map<string, { readonly lots: number }>
    symbols: Set<string>
    codes: string[]
    pair: [string, number] | undefined
  }>()
  expectTypeOf(own(state.symbols)).toEqualTypeOf<Set<string>>()
})
