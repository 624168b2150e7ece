import { describe, expect, test } from 'vitest'
import { describeEndpoint } from '../../src/protocol/describe-endpoint.ts'
import { endpointNamed, endpointNames, type EndpointName } from '../../src/protocol/endpoints.ts'
import { isRecord } from '../../src/lib/plain-data.ts'
import { ANNA, BERT, ExchangeBench, TARA } from './exchange-bench.ts'
import { GOOD_REQUEST_OF } from './wire/signed-request.ts'

/** Document: "String or null". */
const MAY_BE_NULL = new Set(['triggerPrice', 'deliveryStartTime', 'deliveryTime'])

/** The signed gateway: its payloads are not shown. */
const documented = endpointNames.filter((name) => name !== 'gatewayTest')

const MARKET = { size: '0.3', side: 'buy', orderType: 'market' }
const REDUCE = { side: 'sell', orderType: 'limit', force: 'gtc', reduceOnly: 'YES' }
const BATCH = {
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'crossed',
}

/** Every value of an answer that is no text, by its way there. */
function otherThanTexts(value: unknown, way = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => otherThanTexts(item, `${way}[]`))
  if (isRecord(value)) {
    return Object.entries(value).flatMap(([name, inner]) =>
      inner === null && MAY_BE_NULL.has(name) ? [] : otherThanTexts(inner, `${way}.${name}`),
    )
  }
  return typeof value === 'string' ? [] : [`${way} is ${JSON.stringify(value)}`]
}

// Document: "Nearly every numeric value is transmitted as a String", and every field's type is String.
test('an account that has done nothing is answered in texts, empty pages too', async () => {
  const bench = await ExchangeBench.open()

  for (const name of documented) {
    bench.wait(1000)
    const account = name.startsWith('copy') || name === 'createVirtualSubaccounts' ? TARA : BERT
    expect([name, otherThanTexts(bench.call(account, name).data ?? [])]).toEqual([name, []])
  }
})

test('an account that trades is answered in texts, an order without an id too', async () => {
  const bench = await ExchangeBench.open()
  const place = (...orderList: object[]) => {
    bench.wait(1000)
    return bench.data(ANNA, 'batchPlaceOrder', { body: { ...BATCH, orderList } })
  }
  place(MARKET)
  const [position] = bench.data(ANNA, 'singlePosition') ?? []
  const price = String(Math.round(Number(position?.markPrice) * 1.02))
  place({ ...REDUCE, price, size: '0.3' }, { ...MARKET, size: '0' })
  const excess = place(
    { ...REDUCE, price, size: '0.1', clientOid: 'more' },
    { ...MARKET, size: '10000' },
  )

  expect(excess.successList).toEqual([{ orderId: '', clientOid: 'more' }])
  expect(otherThanTexts(excess)).toEqual([])
  for (const name of ['orderFills', 'singlePosition', 'cancelAllOrders'] as const) {
    expect([name, otherThanTexts(bench.data(ANNA, name))]).toEqual([name, []])
  }
})

describe('a number where the document has a text', () => {
  // Document: Common conventions, 3, and every parameter's type. Lists and objects are what holds them.
  test.each(documented.filter((name) => endpointNamed(name).method === 'POST'))(
    'is a wrong type to %s, in every parameter',
    async (name) => {
      const bench = await ExchangeBench.open({ stepMs: 60_000 })
      const good = GOOD_REQUEST_OF[name].body as Record<string, unknown>
      for (const { name: parameter, type } of describeEndpoint(endpointNamed(name)).parameters) {
        const [list, field] = parameter.split('[].')
        if (type !== 'string' || list === undefined) continue
        bench.wait(1000)
        const items = good[list]
        const body =
          field === undefined
            ? { ...good, [list]: 5 }
            : {
                ...good,
                [list]: [{ ...(Array.isArray(items) ? (items[0] as object) : {}), [field]: 5 }],
              }

        const answer = bench.call(callerOf(name), name, { body })

        expect([parameter, ...codesOf(answer)]).toEqual([
          parameter,
          expect.stringMatching(/^40020|error$/),
        ])
      }
    },
  )
})

function callerOf(name: EndpointName) {
  return name === 'copyConfigSettingSymbols' || name === 'createVirtualSubaccounts' ? TARA : ANNA
}

/** The envelope's code, or those of what failed alone; the margin's failures have a message only. */
function codesOf({ code, data }: { readonly code: string; readonly data: unknown }): string[] {
  if (code !== '00000') return [code]
  const failures = isRecord(data) && Array.isArray(data['failureList']) ? data['failureList'] : []
  return failures.map((failure: { errorCode?: string; errorMsg?: string }) =>
    String(failure.errorCode ?? failure.errorMsg),
  )
}
