import { expect, test } from 'vitest'
import { type Grant } from '../../src/exchange/limiter/grant.ts'
import { MOMENT_AT } from '../support/market-moment.ts'
import { batchEffect, callEffect, InterpreterBench, NOTHING } from './interpreter-bench.ts'

/** Calls leave at once: nothing waits for the journal. */
function openBench(): InterpreterBench {
  const bench = new InterpreterBench()
  bench.commitsAtOnce = true
  return bench
}

test('a call leaves, what takes orders away first, and the core hears its answer', () => {
  const bench = openBench()

  bench.step('started', [
    callEffect('copyConfigSettingSymbols', 1),
    callEffect('isolatedBatchCancelOrders', 2),
  ])
  for (const { answer } of bench.calls) answer(NOTHING)

  expect(bench.calls.map(({ options }) => options.priority)).toEqual([1, 0])
  expect(bench.events.slice(1)).toMatchObject([
    { kind: 'callAnswered', callId: 1, answer: { kind: 'accepted' } },
    { kind: 'callAnswered', callId: 2 },
  ])
})

test('[ORD7] a call whose time is over when its turn comes does not leave', () => {
  const bench = openBench()
  bench.step('started', [callEffect('modifyPlanOrder')])
  const [call] = bench.calls
  bench.time.setClock(MOMENT_AT + 1000)
  expect(call?.options.beforeWrite?.()).toBeUndefined()

  bench.time.setClock(MOMENT_AT + 1001)
  expect(call?.options.beforeWrite?.()).toBe('its time was over before its turn')
})

test('[RSK2] nothing that creates leaves once the kill switch is thrown, however late it is seen', () => {
  const bench = openBench()
  bench.step('started', [
    callEffect('modifyPlanOrder'),
    callEffect('isolatedBatchCancelOrders'),
    batchEffect('a'),
  ])
  bench.isKilled = true

  const verdicts = bench.calls.map(({ options }) => options.beforeWrite?.())

  expect(verdicts).toEqual(['the kill switch is thrown', undefined, 'the kill switch is thrown'])
})

test('[RSK2] no call leaves that the core holds back since it was approved', () => {
  const bench = openBench()
  bench.step('started', [callEffect('modifyPlanOrder')])
  bench.heldBack = 'calls'

  expect(bench.calls[0]?.options.beforeWrite?.()).toBe('trading was restricted meanwhile')
})

test('[RSK2] no batch leaves that the core holds back since it was formed', () => {
  const bench = openBench()
  bench.step('started', [batchEffect('a'), batchEffect('b')])
  bench.heldBack = 'a'

  const verdicts = bench.calls.map(({ options }) => options.beforeWrite?.())
  expect(verdicts).toEqual(['trading was restricted meanwhile', undefined])
})

test('the first byte of a batch is heard of once nothing objects', () => {
  const bench = openBench()
  bench.step('started', [batchEffect('a')])
  bench.isKilled = true
  bench.writeCalls()
  expect(bench.leaving).toEqual([])

  bench.isKilled = false
  bench.writeCalls()
  expect(bench.leaving).toEqual([undefined])
})

test('[MKT1] no batch leaves while a clock may have jumped', () => {
  const bench = openBench()
  bench.step('started', [batchEffect('a')])
  bench.isClockSynchronised = false

  expect(bench.calls[0]?.options.beforeWrite?.()).toMatch('a clock may have jumped')
})

test('[RSK3] what a broken core held or waited for is given back: there is one cancel-all a second', () => {
  const bench = openBench()
  const unused: string[] = []
  const give = (index: number, endpoint: Grant['endpoint']): void =>
    bench.granted[index]?.({
      endpoint,
      release: () => undefined,
      unused: () => unused.push(endpoint),
    })
  bench.step('started', [
    { kind: 'askGrant', endpoint: 'cancelAllOrders', priority: 'reduce' },
    { kind: 'askGrant', endpoint: 'batchPlaceOrder', priority: 'add' },
  ])
  give(0, 'cancelAllOrders')

  bench.interpreter.close()
  give(1, 'batchPlaceOrder')

  expect(unused).toEqual(['cancelAllOrders', 'batchPlaceOrder'])
  expect(bench.events.slice(1)).toEqual([{ kind: 'granted', endpoint: 'cancelAllOrders' }])
})
