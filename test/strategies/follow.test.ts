import { expect, test } from 'vitest'
import { checkBinding } from '../../src/strategy/load-strategy.ts'
import follow from '../../strategies/follow.ts'
import { madeInstrument, madeSnapshot, MOMENT_AT } from '../support/market-moment.ts'
import { createExample, decide } from './decide-on.ts'

const PARAMS = { size: '0.01' }

/** What is wanted with a signal of these contents. */
function wantedWith(data: unknown, { ageMs = 0, id = 'a' } = {}): unknown {
  const reading = { data, id, readAt: MOMENT_AT - ageMs, untilAt: MOMENT_AT - ageMs + 60_000 }
  const snapshot = {
    ...madeSnapshot([{ bid: 999, ask: 1000 }]),
    feeds: new Map(data === undefined ? [] : [['tv', reading]]),
  }
  const [target] = decide(createExample(follow, PARAMS), snapshot)
  return target?.kind === 'target' ? target.lots : target
}

test('it is long, short or flat as the last signal says', () => {
  const wanted = ['long', 'short', 'flat'].map((action) => wantedWith({ action }))
  expect(wanted).toEqual([10, -10, 0].map((lots) => lots + 0))
})

test('it is flat without a signal, after one that has expired, and with one that it cannot read', () => {
  expect(wantedWith(undefined)).toBe(0)
  expect(wantedWith({ action: 'long' }, { ageMs: 59_999 })).toBe(10)
  expect(wantedWith({ action: 'long' }, { ageMs: 60_000 })).toBe(0)
  for (const data of [{}, { action: 'buy everything' }, { action: 1 }])
    expect(wantedWith(data)).toBe(0)
})

test('a size below the smallest order is found by check', () => {
  const instruments = [madeInstrument({ lotsMin: 11 })]
  expect(checkBinding({ strategy: follow, params: PARAMS, instruments })).toHaveLength(1)
})
