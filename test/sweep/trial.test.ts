import { expect, test } from 'vitest'
import { nameTrial } from '../../src/sweep/trial.ts'

const PERIOD = { fromAt: 0, toAt: 1000 }

test('the same parameters are the same trial, whatever the order of their names', () => {
  const one = nameTrial('recipe', { ...PERIOD, params: { 'a.x': '1', 'b.y': '2' } })
  const other = nameTrial('recipe', { ...PERIOD, params: { 'b.y': '2', 'a.x': '1' } })

  expect(other).toEqual(one)
})

test('other values, another recipe and another range are other trials', () => {
  const base = { ...PERIOD, params: { 'a.x': '1', 'b.y': '2' } }
  const names = [
    nameTrial('recipe', base),
    nameTrial('recipe', { ...base, params: { 'a.x': '2', 'b.y': '1' } }),
    nameTrial('another', base),
    nameTrial('recipe', { ...base, toAt: 2000 }),
  ]

  expect(new Set(names.map(({ id }) => id)).size).toBe(names.length)
})
