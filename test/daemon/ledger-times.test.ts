import { expect, test } from 'vitest'
import { type JournalRecord } from '../../src/domain/record.ts'
import { ExchangeTruth } from '../support/virtual/exchange-truth.ts'
import { findLateOrders, timeWithoutOrder } from './ledger-times.ts'

/** An exchange that took these orders then. */
function truthOf(orders: Readonly<Record<string, number>>): ExchangeTruth {
  const truth = new ExchangeTruth()
  for (const [clientOid, createdAt] of Object.entries(orders))
    truth.save([{ table: 'orders', id: clientOid, json: JSON.stringify({ clientOid, createdAt }) }])
  return truth
}

const boot = (epoch: number): JournalRecord => ({ kind: 'boot', epoch }) as never
const send = (clientOid: string): JournalRecord =>
  ({ kind: 'send', orders: [{ clientOid }], again: [] }) as never
const sendAgain = (clientOid: string): JournalRecord =>
  ({ kind: 'send', orders: [], again: [clientOid] }) as never

test('an order of a writer that was passed over is late when the exchange took it after the next had the lease', () => {
  const records = [boot(1), send('early'), send('late'), boot(2), send('next')]
  const truth = truthOf({ early: 900, late: 1001, next: 1500 })

  const late = findLateOrders(records, truth, new Map([[2, 1000]]))

  expect(late).toEqual(['late of epoch 1 came when another had the lease'])
})

test('one that the next writer sends again is that one’s', () => {
  const records = [boot(1), send('again'), boot(2), sendAgain('again')]
  expect(findLateOrders(records, truthOf({ again: 1500 }), new Map([[2, 1000]]))).toEqual([])
})

test('the time without an order is from the last before a takeover to the first after it', () => {
  const truth = truthOf({ a: 100, b: 700, c: 3200, d: 4000 })
  expect(timeWithoutOrder(truth, 1000)).toBe(2500)
  expect(timeWithoutOrder(truth, 5000)).toBeUndefined()
})
