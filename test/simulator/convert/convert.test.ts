import { describe, expect, test } from 'vitest'
import { decimal } from '../../../src/lib/decimal.ts'
import { endpoints, type WireRequestOf } from '../../../src/protocol/endpoints.ts'
import { convertLedger, type ConvertSettings } from '../../../src/simulator/convert/convert.ts'
import { writeConversions } from '../../../src/simulator/demo/write-past.ts'
import { openSpot } from '../../../src/simulator/spot/spot.ts'
import {
  createServiceBench,
  dataOf,
  ONE,
  STARTED_AT,
  type ServiceBench,
} from '../wallet/service-bench.ts'
import { openConvertPart, type ConvertPart } from './convert-bench.ts'

const DAY_MS = 86_400_000

/** With thirty conversions in the past, unless they are there already. */
function openService(
  settings: Partial<ConvertSettings> = {},
  bench: ServiceBench = createServiceBench(),
) {
  const ports = bench.open()
  openSpot(ports)
  const service = openConvertPart(bench, ports, settings)
  if (convertLedger(service.state, ONE.uid).conversions === 0)
    writeConversions(service.state, ONE.uid)
  return { bench, ports, service }
}

describe('the conversion history', () => {
  test('has a past of 30 conversions that agrees with the balances', () => {
    const { service, ports } = openService()
    const rows = readRows(service, { limit: '100' })

    expect(rows).toHaveLength(30)
    expect(ports.wallet.sums().every(({ sum }) => sum === '0')).toBe(true)
    for (const row of rows) {
      const worth = decimal(row.fromAmount ?? '').times(row.fromCoinPrice ?? '')
      const received = decimal(row.toAmount ?? '').times(row.toCoinPrice ?? '')
      expect(Number(worth.minus(received).toString())).toBeLessThan(0.0000001)
      expect(row).toMatchObject({ toCoin: 'HOUSE', status: 'success' })
    }
    expect(endpoints.convertRecords.response.parse(rows)).toHaveLength(30)
  })

  test('pages by the last record’s id, twenty a page by default', () => {
    const { service } = openService()
    const all = readRows(service, { limit: '100' })

    const first = readRows(service, {})
    const second = readRows(service, { idLessThan: first.at(-1)?.orderId ?? '' })

    expect(first).toHaveLength(20)
    expect([...first, ...second]).toEqual(all)
  })

  test('filters by record and time', () => {
    const { service } = openService()
    const row = readRows(service, {})[7]

    expect(readRows(service, { orderId: row?.orderId ?? '' })).toEqual([row])
    const at = row?.ctime ?? ''
    expect(readRows(service, { startTime: at, endTime: at })).toEqual([row])
  })

  test('is asked for in spans of at most 90 days', () => {
    const { service } = openService()
    const span = (days: number, extra = 0) => ({
      startTime: String(STARTED_AT - days * DAY_MS - extra),
      endTime: String(STARTED_AT),
    })

    expect(service.answer('convertRecords', ONE, span(90), STARTED_AT)).toMatchObject({ ok: true })
    expect(service.answer('convertRecords', ONE, span(90, 1), STARTED_AT)).toMatchObject({
      ok: false,
      code: '00001',
    })
    expect(service.answer('convertRecords', ONE, span(-1), STARTED_AT)).toMatchObject({
      ok: false,
      code: '20001',
    })
  })

  test('names the platform’s own coin as the settings do', () => {
    const { service } = openService({ platformCoin: { name: 'OWN', price: '2' } })

    expect(readRows(service, {})[0]).toMatchObject({
      toCoin: 'OWN',
      feeDetail: [{ feeCoin: 'OWN' }],
    })
  })

  test('keeps so many records and forgets the oldest', () => {
    const { service } = openService({ recordsMax: 10 })

    expect(readRows(service, { limit: '100' })).toHaveLength(10)
  })
})

describe('a conversion', () => {
  test('moves both coins and takes its fee out of the target', () => {
    const { service, ports } = openService()
    const own = { uid: ONE.uid, balance: 'spot', coin: 'HOUSE' } as const
    const before = ports.wallet.coin(own).available

    dataOf(service.answer('convert', ONE, { fromCoin: 'ETH', amount: '0.01' }, STARTED_AT + 5))

    const row = readRows(service, {}, STARTED_AT + 5)[0]
    expect(row).toMatchObject({ fromAmount: '0.01000000', fromCoinPrice: '2600.00000000' })
    const fees = Array.isArray(row?.feeDetail) ? row.feeDetail : []
    const credited = decimal(row?.toAmount ?? '').minus(fees[0]?.fee ?? '')
    expect(ports.wallet.coin(own).available.minus(before).eq(credited)).toBe(true)
    expect(row?.ctime).toBe(String(STARTED_AT + 5))
  })

  test('survives a restart, and the past is not written twice', () => {
    const { service, bench } = openService()
    dataOf(service.answer('convert', ONE, { fromCoin: 'ETH', amount: '0.003' }, STARTED_AT))

    const again = openService({}, bench)

    expect(readRows(again.service, { limit: '100' })).toEqual(readRows(service, { limit: '100' }))
  })
})

function readRows(service: ConvertPart, query: WireRequestOf<'convertRecords'>, now = STARTED_AT) {
  const data = dataOf(service.answer('convertRecords', ONE, query, now))
  if (!Array.isArray(data)) throw new Error('expected a list of records')
  return data
}
