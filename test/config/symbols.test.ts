import { expect, test } from 'vitest'
import { symbolSchema } from '../../src/config/schema/exchange-schema.ts'
import { symbol as requested } from '../../src/protocol/values.ts'

test.each([
  ['BTCUSDT', true],
  ['1000SATSUSDT', true],
  ['BTCUSDT_UMCBL', true],
  ['ETHUSD_231229', true],
  ['BTCUSD-240628', false],
  ['BTC_USD_PERP', false],
  ['BTCUSDT_', false],
  ['_BTCUSDT', false],
  ['btcusdt', false],
  ['BTC/USDT', false],
  ['BTC|USDT', false],
  ['../BTCUSDT', false],
  ['币安人生USDT', false],
  ['', false],
])(
  '[CFG1] the symbol %j passes %s: what the configuration takes, a request can ask for',
  (text, passes) => {
    expect(symbolSchema.safeParse(text).success).toBe(passes)
    expect(requested.safeParse(text).success).toBe(passes)
  },
)

test('[CFG1] a symbol that cannot be traded is refused in one sentence', () => {
  expect(symbolSchema.meta()?.title).toMatch(
    /instruments with other characters in their name cannot be traded/,
  )
})
