import { expect, test } from 'vitest'
import { listResolutions } from '../../src/views/instrument-view.ts'
import { type ShownAccount } from '../../src/views/shown-account.ts'

test('what an instrument finds out before it trades on is in the way, but for the clearing of a ladder that moves', () => {
  const causes = {
    BTCUSDT: 'unknown',
    ETHUSDT: 'unwanted',
    SOLUSDT: undefined,
    XRPUSDT: 'missing',
  } as const
  const account = {
    settings: { instruments: new Map(Object.keys(causes).map((symbol) => [symbol, {}])) },
    engine: {
      instrument(symbol: keyof typeof causes) {
        const cause = causes[symbol]
        return { resolution: cause && { cause, stage: 'waiting' } }
      },
    },
  } as unknown as ShownAccount

  expect([...listResolutions(account)]).toEqual([
    'BTCUSDT: it is not known what became of an order: it waits until no request of an unknown order can be accepted any more',
    'XRPUSDT: an order that should rest does not: it waits until no request of an unknown order can be accepted any more',
  ])
})
