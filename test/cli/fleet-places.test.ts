import { expect, test } from 'vitest'
import { placeOf } from '../../src/cli/fleet/fleet-places.ts'

test.each([
  ['postgresql://intentd:o%40k@db.example/intentd?sslmode=require', 'sslmode=require'],
  ['postgresql://intentd@db.example/intentd?password=o%40k&sslmode=require', 'sslmode=require'],
])('[SEC1] the password of an address is used, and not shown: %s', (address, rest) => {
  const { url, password } = placeOf(address)

  expect(url).toBe(`postgresql://intentd@db.example/intentd?${rest}`)
  expect(password?.reveal()).toBe('o@k')
})
