import { spotAccountOf } from '../../../src/simulator/spot/spot-state.ts'
import { spotLedger } from '../../../src/simulator/spot/spot.ts'
import { NOBODY } from '../../../src/simulator/handlers.ts'
import { describe, expect, test } from 'vitest'
import { endpoints } from '../../../src/protocol/endpoints.ts'
import {
  createServiceBench,
  dataOf,
  ONE,
  STARTED_AT,
  TWO,
  type ServiceBench,
} from '../wallet/service-bench.ts'
import { openSpotPart, type SpotPart } from './spot-bench.ts'

function openService(bench: ServiceBench = createServiceBench(), seed?: string) {
  const ports = bench.open(seed)
  return { ports, service: openSpotPart(bench, ports) }
}

describe('the seeded past', () => {
  test('gives each account 130 orders of both kinds, in every status', () => {
    const { service } = openService()

    for (const account of [ONE, TWO]) {
      const normal = readAll(service, account, 'normal')
      const tpsl = readAll(service, account, 'tpsl')
      const statuses = new Set([...normal, ...tpsl].map(({ status }) => status))
      expect(normal.length + tpsl.length).toBe(130)
      expect(tpsl.length).toBeGreaterThan(5)
      expect(statuses).toEqual(new Set(['cancelled', 'full_fill', 'init', 'new', 'partially_fill']))
      expect(new Set(normal.map(({ cancelReason }) => cancelReason))).toContain('normal_cancel')
    }
  })

  test('is the same for the same seed and another for another', () => {
    const one = readAll(openService().service, ONE, 'normal')

    expect(readAll(openService().service, ONE, 'normal')).toEqual(one)
    expect(readAll(openService(createServiceBench(), 'other').service, ONE, 'normal')).not.toEqual(one)
  })

  test('has earlier orders with fees under a coin and recent ones under newFees', () => {
    const { service } = openService()
    const filled = readAll(service, ONE, 'normal').filter(({ status }) => status === 'full_fill')

    const keys = filled.map(({ cTime, feeDetail }) => ({
      isOld: Number(cTime) < STARTED_AT - 45 * 86_400_000,
      keys: Object.keys(JSON.parse(feeDetail ?? '') as object),
    }))

    expect(keys.filter(({ isOld }) => isOld).length).toBeGreaterThan(10)
    expect(keys.filter(({ isOld }) => !isOld).length).toBeGreaterThan(10)
    for (const { isOld, keys: names } of keys) expect(names.includes('newFees')).toBe(!isOld)
  })

  test('agrees with the balances to the last digit', () => {
    const { ports, service } = openService()

    expect(ports.wallet.sums().every(({ sum }) => sum === '0')).toBe(true)
    expect(ports.wallet.unexplained()).toEqual([])
    expect(spotAccountOf(service.state, ONE.uid).withdrawals.length).toBe(8)
    expect(spotLedger(service.state, ONE.uid)).toMatchObject({ ordersOpen: 5, ordersKept: 130 })
  })

  test('is written once, when the store is fresh', () => {
    const bench = createServiceBench()
    const { service, ports } = openService(bench)
    const before = readAll(service, ONE, 'normal')

    const again = openService(bench)

    expect(readAll(again.service, ONE, 'normal')).toEqual(before)
    expect(spotLedger(again.service.state, ONE.uid)).toEqual(spotLedger(service.state, ONE.uid))
    expect(again.ports.wallet.statement(ONE.uid)).toEqual(ports.wallet.statement(ONE.uid))
  })

  test('satisfies the wire schemas of every answer', () => {
    const { service } = openService()
    const history = dataOf(service.answer('spotHistoryOrders', ONE, {}, STARTED_AT))
    const symbols = dataOf(service.answer('spotSymbols', NOBODY, {}, STARTED_AT))

    expect(endpoints.spotHistoryOrders.response.parse(history)).toHaveLength(100)
    expect(endpoints.spotSymbols.response.parse(symbols)).toHaveLength(5)
    for (const { orderId } of readAll(service, ONE, 'tpsl')) {
      const detail = dataOf(service.answer('spotOrderInfo', ONE, { orderId }, STARTED_AT))
      expect(endpoints.spotOrderInfo.response.parse(detail)[0]?.orderId).toBe(orderId)
    }
  })
})

function readAll(service: SpotPart, account: typeof ONE, tpslType: 'normal' | 'tpsl') {
  const rows = []
  let idLessThan: string | undefined
  for (;;) {
    const request = { tpslType, limit: '40', ...(idLessThan !== undefined && { idLessThan }) }
    const page = listOf(dataOf(service.answer('spotHistoryOrders', account, request, STARTED_AT)))
    rows.push(...page)
    if (page.length < 40) return rows
    idLessThan = page.at(-1)?.orderId
  }
}

function listOf<Row>(data: readonly Row[] | Record<string, never> | null | undefined): readonly Row[] {
  if (Array.isArray(data)) return data as readonly Row[]
  throw new Error('expected a list')
}
