import { NOBODY } from '../../../src/simulator/shared/handlers.ts'
import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import type { ExchangeCore } from '../../../src/simulator/futures/exchange-core.ts'
import { FILL_MODELS, type FillModelName } from '../../../src/simulator/matching/fill-model.ts'
import { buildSession, openSession, SESSION_START_AT, sessionAccounts } from './random-session.ts'

describe('same seed, same operations: same answers', () => {
  test.each([51, 52])('twice, seed %i', (seed) => {
    const play = () => {
      const core = openSession({ seed })
      return buildSession(seed, 600).map(({ run }) => run(core))
    }

    expect(play()).toEqual(play())
  })

  test.each([53])('however the time between them is cut into calls, seed %i', (seed) => {
    const settings = { matchingLagMs: 2300 }
    const whole = openSession({ seed, settings })
    const cut = openSession({ seed, settings })
    const random = createRandom(`cut/${seed}`)
    let now = 0

    for (const { at, run } of buildSession(seed, 600)) {
      const from = now === 0 ? at : now
      for (let piece = from; piece < at; piece += 1 + random.integer(4000)) touch(cut, piece)
      expect(run(cut)).toEqual(run(whole))
      now = at
    }
  })
})

describe('on recorded candles, with every order on its way for a while', () => {
  test.each([61, 62])(
    'funding, triggers and liquidations come the same, however time is cut, seed %i',
    (seed) => {
      const settings = {
        entryLatency: { medianMs: 400, deviation: 1 },
        fillModel: FILL_MODELS[seed % FILL_MODELS.length] as FillModelName,
      }
      const [whole, cut] = [1, 2].map(() => openSession({ seed, settings, isRecorded: true })) as [
        ExchangeCore,
        ExchangeCore,
      ]
      const random = createRandom(`cut/${seed}`)
      let now = SESSION_START_AT

      for (const { at, run } of buildSession(seed, 800)) {
        for (let piece = now; piece < at; piece += 1 + random.integer(4000)) touch(cut, piece)
        expect(run(cut)).toEqual(run(whole))
        now = at
      }

      const ledgers = (core: ExchangeCore) => sessionAccounts.map(({ uid }) => core.ledger(uid))
      expect(ledgers(cut)).toEqual(ledgers(whole))
      // What a session must have met, or it proves nothing.
      const coins = ledgers(whole).flatMap((ledger) => ledger.coins)
      expect(coins.filter(({ funding }) => Number(funding) !== 0).length).toBeGreaterThan(0)
      expect(whole.counters().liquidations).toBeGreaterThan(0)
      const plans = whole.carryOut(now, ({ accounts }) =>
        [...accounts.values()].flatMap(({ planOrders }) => [...planOrders.values()]),
      )
      expect(plans.filter(({ status }) => status === 'triggered').length).toBeGreaterThan(0)
      expect(whole.counters().fills).toBeGreaterThan(100)
    },
  )
})

function touch(core: ExchangeCore, now: number): void {
  core.advance(now)
  core.answer('tickers', NOBODY, { productType: 'USDT-FUTURES' }, now)
  core.answer(
    'singlePosition',
    { uid: '1' },
    { productType: 'USDT-FUTURES', symbol: 'BTCUSDT', marginCoin: 'USDT' },
    now,
  )
}
