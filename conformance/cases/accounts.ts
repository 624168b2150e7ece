import assert from 'node:assert/strict'
import { type ConformedExchange } from '../exchange.ts'
import {
  assertAllowed,
  assertFields,
  assertNewestFirst,
  at,
  listAt,
  numberAt,
  textAt,
} from '../read.ts'
import { type Report } from '../report.ts'

/** Document: Copy trader summary. */
const SUMMARY_FIELDS = [
  'roi',
  'tradingOrderNum',
  'totalFollowerNum',
  'currentFollowerNum',
  'totalpl',
  'gainNum',
  'lossNum',
  'totalEquity',
  'winRate',
]
/** Document: Convert record. */
const RECORD_FIELDS = [
  'orderId',
  'fromCoin',
  'fromAmount',
  'fromCoinPrice',
  'toCoin',
  'toAmount',
  'toCoinPrice',
  'status',
  'ctime',
]
/** Document: Virtual sub-account. */
const SUBACCOUNT_FIELDS = ['subaAccountUid', 'subaAccountName', 'status', 'label', 'cTime', 'uTime']

const DAY_MS = 86_400_000

/** Copy trading, conversions, sub-accounts. */
export async function tryAccounts(report: Report, exchange: ConformedExchange): Promise<void> {
  await tryCopyTrading(report, exchange)
  await tryConversions(report, exchange)
  await trySubaccounts(report, exchange)
}

async function tryCopyTrading(report: Report, exchange: ConformedExchange): Promise<void> {
  const sdk = await exchange.sdk('trader')
  const pairs = async () =>
    listAt((await sdk.getFuturesTraderOrder()).data, 'tradingPairsAvailableList')

  await report.try('SDK copy trader summary', async () => {
    const { data } = await sdk.getFuturesTraderOrder()
    assertFields([data], SUMMARY_FIELDS)
    assert.ok(listAt(data, 'tradingPairsAvailableList').every((pair) => typeof pair === 'string'))
    for (const span of ['lastWeek', 'lastMonth']) {
      assertFields(listAt(data, `${span}RoiList`), ['rate', 'ctime'])
      assertFields(listAt(data, `${span}ProfitList`), ['amount', 'ctime'])
    }
    return `${SUMMARY_FIELDS.length} fields and 5 lists`
  })

  await report.try('SDK copy settings: add, update, delete', async () => {
    const setting = { symbol: 'ETHUSDT', productType: 'USDT-FUTURES' }
    const change = async (more: Readonly<Record<string, string>>) => {
      exchange.passSecond()
      const { data } = await sdk.updateFuturesTraderSymbolSettings({
        settingList: [{ ...setting, ...more }],
      })
      assert.equal(typeof data, 'string', 'the setting result is a string')
      return data
    }
    await change({ settingType: 'ADD', stopSurplusRatio: '10', stopLossRatio: '400' })
    assert.ok((await pairs()).includes('ETHUSDT'), 'it can be traded')
    await change({ settingType: 'UPDATE', stopSurplusRatio: '0' })
    const result = await change({ settingType: 'DELETE' })
    assert.ok(!(await pairs()).includes('ETHUSDT'), 'it cannot any more')
    return `the available pairs follow; result ${JSON.stringify(result)}`
  })

  await report.try('SDK copy settings as the samples write them', async () => {
    const settingList = [
      {
        symbol: 'BTCUSDT',
        productType: 'usdt-futures',
        settingType: 'add',
        stopSurplusRatio: '',
        stopLossRatio: '5',
      },
    ]
    await sdk.updateFuturesTraderSymbolSettings({ settingList })
    return 'lower case, empty ratio'
  })
}

async function tryConversions(report: Report, exchange: ConformedExchange): Promise<void> {
  const ccxt = await exchange.ccxt('oneWay')
  const sdk = await exchange.sdk('oneWay')
  await ccxt.loadMarkets()
  let records: readonly unknown[] = []

  await report.try('SDK conversion records', async () => {
    records = listAt((await sdk.getConvertBGBHistory({ limit: '100' })).data)
    assert.ok(records.length > 1)
    assertFields(records, RECORD_FIELDS)
    assertAllowed(records, 'toCoin', ['BGB'])
    assertNewestFirst(records, 'orderId')
    for (const record of records) {
      const fees = listAt(record, 'feeDetail')
      assertFields(fees, ['feeCoin', 'fee'])
      const gross =
        (numberAt(record, 'fromAmount') * numberAt(record, 'fromCoinPrice')) /
        numberAt(record, 'toCoinPrice')
      const paid = fees.reduce<number>((sum, fee) => sum + numberAt(fee, 'fee'), 0)
      const received = numberAt(record, 'toAmount')
      const isRight = [received, received + paid].some(
        (amount) => Math.abs(amount / gross - 1) < 0.001,
      )
      assert.ok(isRight, `${received} received and ${paid} paid of ${gross}`)
    }
    return `${records.length} records, newest first; amounts follow from the prices and the fee`
  })

  await report.try('SDK conversion records, pages and spans', async () => {
    const standard = listAt((await sdk.getConvertBGBHistory({})).data)
    assert.equal(standard.length, Math.min(20, records.length), 'the default is 20')
    const idLessThan = textAt(standard[4], 'orderId')
    const next = listAt((await sdk.getConvertBGBHistory({ idLessThan, limit: '5' })).data)
    assert.deepEqual(
      next.map((row) => at(row, 'orderId')),
      records.slice(5, 10).map((row) => at(row, 'orderId')),
    )
    const endTime = textAt(records[9], 'ctime')
    const startTime = String(Number(endTime) - 30 * DAY_MS)
    const span = listAt((await sdk.getConvertBGBHistory({ startTime, endTime })).data)
    const isInside = (row: unknown) =>
      numberAt(row, 'ctime') >= Number(startTime) && numberAt(row, 'ctime') <= Number(endTime)
    assert.ok(span.length > 0 && span.every(isInside))
    const one = listAt((await sdk.getConvertBGBHistory({ orderId: idLessThan })).data)
    assert.equal(one.length, 1)
    return `20 by default; 5 after the fifth; ${span.length} in 30 days; 1 by orderId`
  })

  await report.try('ccxt conversion records', async () => {
    const { data } = await ccxt.privateConvertGetV2ConvertBgbConvertRecords({ limit: 3 })
    assert.equal(listAt(data).length, 3)
    return '3 of 3'
  })
}

async function trySubaccounts(report: Report, exchange: ConformedExchange): Promise<void> {
  const sdk = await exchange.sdk('oneWay')

  await report.try('SDK creates virtual sub-accounts', async () => {
    const { data } = await sdk.createVirtualSubaccount({ subAccountList: ['Abcdefgh', 'Ijklmnop'] })
    const rows = listAt(data, 'successList')
    assertFields(rows, SUBACCOUNT_FIELDS)
    assertAllowed(rows, 'status', ['normal'])
    for (const row of rows) {
      const known = ['spot_trade', 'contract_trade', 'read']
      assert.ok(listAt(row, 'permList').every((permission) => known.includes(String(permission))))
    }
    assert.deepEqual(
      rows.map((row) => at(row, 'subaAccountName')),
      ['Abcdefgh', 'Ijklmnop'],
    )
    assert.deepEqual(listAt(data, 'failureList'), [])
    return '2 in successList, status normal'
  })

  await report.try('SDK creates a sub-account whose alias exists', async () => {
    const { code, data } = await sdk.createVirtualSubaccount({
      subAccountList: ['Abcdefgh', 'Qrstuvwx'],
    })
    assert.equal(code, '00000')
    assert.equal(listAt(data, 'successList').length, 1)
    assert.deepEqual(
      listAt(data, 'failureList').map((row) => at(row, 'subaAccountName')),
      ['Abcdefgh'],
    )
    return 'the alias in failureList, the other created'
  })

  await report.try('SDK creates a sub-account with an unbound key', async () => {
    const other = await exchange.sdk('hedge')
    const refused = await exchange.refusalOf(() =>
      other.createVirtualSubaccount({ subAccountList: ['Yzabcdef'] }),
    )
    return `HTTP ${refused.status}, ${refused.code} ${refused.message}`
  })

  await report.try('SDK creates sub-accounts beyond the limit', async () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz'
    const subAccountList = Array.from(letters, (letter) => `Manyxyz${letter}`)
    const { data } = await sdk.createVirtualSubaccount({ subAccountList })
    const failed = listAt(data, 'failureList').length
    assert.ok(failed > 0)
    assert.equal(failed + listAt(data, 'successList').length, 26)
    return `${26 - failed} created, ${failed} in failureList`
  })
}
