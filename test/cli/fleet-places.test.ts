import { afterEach, expect, test, vi } from 'vitest'
import { placeOf } from '../../src/cli/operator/fleet-places.ts'

afterEach(() => vi.unstubAllEnvs())

test.each([
  [{ INTENTD_JOURNAL_PASSWORD: 'j', INTENTD_SWEEP_PASSWORD: 's' }, 'j'],
  [{ INTENTD_SWEEP_PASSWORD: 's' }, 's'],
  [{}, undefined],
])(
  'the password of the queue is taken where there is none of a journal: %j',
  (variables, taken) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    expect(placeOf('postgresql://intentd@db.example/sweeps').password?.reveal()).toBe(taken)
  },
)

test.each([
  ['postgresql://intentd:o%40k@db.example/intentd?sslmode=require', 'sslmode=require'],
  ['postgresql://intentd@db.example/intentd?password=o%40k&sslmode=require', 'sslmode=require'],
])('[SEC1] the password of an address is used, and not shown: %s', (address, rest) => {
  const { url, password } = placeOf(address)

  expect(url).toBe(`postgresql://intentd@db.example/intentd?${rest}`)
  expect(password?.reveal()).toBe('o@k')
})
