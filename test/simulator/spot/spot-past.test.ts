import { describe, expect, test } from 'vitest'
import { endpoints } from '../../../src/protocol/endpoints.ts'
import { SpotDesk } from '../../../src/simulator/spot/spot-desk.ts'
import { createDeskBench, dataOf, ONE, STARTED_AT, TWO, type DeskBench } from '../wallet/desk-bench.ts'

function openDesk(bench: DeskBench = createDeskBench(), seed?: string) {
  const ports = bench.open(seed)
  return { ports, desk: new SpotDesk(ports) }
}

describe('the seeded past', () => {
  test('gives each account 130 orders of both kinds, in every status', () => {
    const { desk } = openDesk()

    for (const account of [ONE, TWO]) {
      const normal = readAll(desk, account, 'normal')
      const tpsl = readAll(desk, account, 'tpsl')
      const statuses = new Set([...normal, ...tpsl].map(({ status }) => status))
      expect(normal.length + tpsl.length).toBe(130)
      expect(tpsl.length).toBeGreaterThan(5)
      expect(statuses).toEqual(new Set(['cancelled', 'full_fill', 'init', 'new', 'partially_fill']))
      expect(new Set(normal.map(({ cancelReason }) => cancelReason))).toContain('normal_cancel')
    }
  })

  test('is the same for the same seed and another for another', () => {
    const one = readAll(openDesk().desk, ONE, 'normal')

    expect(readAll(openDesk().desk, ONE, 'normal')).toEqual(one)
    expect(readAll(openDesk(createDeskBench(), 'other').desk, ONE, 'normal')).not.toEqual(one)
  })

  test('has earlier orders with fees under a coin and recent ones under newFees', () => {
    const { desk } = openDesk()
    const filled = readAll(desk, ONE, 'normal').filter(({ status }) => status === 'full_fill')

    const keys = filled.map(({ cTime, feeDetail }) => ({
      isOld: Number(cTime) < STARTED_AT - 45 * 86_400_000,
      keys: Object.keys(JSON.parse(feeDetail ?? '') as object),
    }))

    expect(keys.filter(({ isOld }) => isOld).length).toBeGreaterThan(10)
    expect(keys.filter(({ isOld }) => !isOld).length).toBeGreaterThan(10)
    for (const { isOld, keys: names } of keys) expect(names.includes('newFees')).toBe(!isOld)
  })

  test('agrees with the balances to the last digit', () => {
    const { ports, desk } = openDesk()

    expect(ports.wallet.sums().every(({ sum }) => sum === '0')).toBe(true)
    expect(ports.wallet.unexplained()).toEqual([])
    expect(desk.withdrawals(ONE.uid).length).toBe(8)
    expect(desk.ledger(ONE.uid)).toMatchObject({ ordersOpen: 5, ordersKept: 130 })
  })

  test('is written once in the life of a store', () => {
    const bench = createDeskBench()
    const { desk, ports } = openDesk(bench)
    const before = readAll(desk, ONE, 'normal')

    const again = openDesk(bench)

    expect(readAll(again.desk, ONE, 'normal')).toEqual(before)
    expect(again.desk.ledger(ONE.uid)).toEqual(desk.ledger(ONE.uid))
    expect(again.ports.wallet.statement(ONE.uid)).toEqual(ports.wallet.statement(ONE.uid))
  })

  test('satisfies the wire schemas of every answer', () => {
    const { desk } = openDesk()
    const history = dataOf(desk.spotHistoryOrders(ONE, {}, STARTED_AT))
    const symbols = dataOf(desk.spotSymbols({}, STARTED_AT))

    expect(endpoints.spotHistoryOrders.response.parse(history)).toHaveLength(100)
    expect(endpoints.spotSymbols.response.parse(symbols)).toHaveLength(2)
    for (const { orderId } of readAll(desk, ONE, 'tpsl')) {
      const detail = dataOf(desk.spotOrderInfo(ONE, { orderId }, STARTED_AT))
      expect(endpoints.spotOrderInfo.response.parse(detail)[0]?.orderId).toBe(orderId)
    }
  })
})

function readAll(desk: SpotDesk, account: typeof ONE, tpslType: 'normal' | 'tpsl') {
  const rows = []
  let idLessThan: string | undefined
  for (;;) {
    const request = { tpslType, limit: '40', ...(idLessThan !== undefined && { idLessThan }) }
    const page = listOf(dataOf(desk.spotHistoryOrders(account, request, STARTED_AT)))
    rows.push(...page)
    if (page.length < 40) return rows
    idLessThan = page.at(-1)?.orderId
  }
}

function listOf<Row>(data: readonly Row[] | Record<string, never> | null | undefined): readonly Row[] {
  if (Array.isArray(data)) return data as readonly Row[]
  throw new Error('expected a list')
}
