import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeEndpoint, type FieldDescription } from '../../src/protocol/describe-endpoint.ts'
import { endpointNamed, endpointNames, type EndpointName } from '../../src/protocol/endpoints.ts'
import { type DocumentedFields, type DocumentFields, readDocument } from './read-document.ts'

/** The document, where it lies beside the project; `INTENTD_DOCUMENT` names another place. */
const DOCUMENT_PATH =
  process.env['INTENTD_DOCUMENT'] ?? join(import.meta.dirname, '../../../shared/spec/rest-api.md')

/** What {@link readDocument} made of the document, as data for where the document is not. */
const DOCUMENT = JSON.parse(
  readFileSync(join(import.meta.dirname, 'document-fields.json'), 'utf8'),
) as DocumentFields

/** Values that a cell mentions without allowing them. */
const MENTIONED: Readonly<Record<string, readonly string[]>> = {
  'orderList[].force': ['limit'],
  size: ['limit', 'market'],
  ctime: ['ts', 'ctime'],
}

/** Which answers a resource of the document is in. */
const RESOURCES: Readonly<Record<string, readonly EndpointName[]>> = {
  'Product type (parameter used by futures endpoints)': [],
  'Order reference (result of modifying a trigger order, items of success lists)': [
    'batchPlaceOrder',
    'cancelAllOrders',
    'modifyPlanOrder',
    'isolatedBatchCancelOrders',
  ],
  'Batch result item': ['batchPlaceOrder', 'cancelAllOrders'],
  'Spot order (history-orders and orderInfo)': ['spotHistoryOrders', 'spotOrderInfo'],
  'Margin order (isolated and cross current orders)': ['crossedOpenOrders', 'isolatedOpenOrders'],
  'Margin liquidation record (isolated and cross)': [
    'isolatedLiquidationOrders',
    'crossedLiquidationOrders',
  ],
  'Futures position (single position)': ['singlePosition'],
  'Futures fill (order fill detail)': ['orderFills'],
  'Futures ticker': ['tickers'],
  'Long/short ratio point': ['longShortRatio'],
  'Spot symbol': ['spotSymbols'],
  'Copy trader summary': ['copyOrderTotalDetail'],
  "Convert record (conversion into the platform's own coin)": ['convertRecords'],
  'Virtual sub-account': ['createVirtualSubaccounts'],
}

/** The field of the given name, whether or not it stands in a list. */
function fieldNamed(
  fields: readonly FieldDescription[],
  name: string,
): FieldDescription | undefined {
  return fields.find((field) => field.name === name || field.name.endsWith(`].${name}`))
}

/** What the document names and the schema has not. */
function missing(
  documented: DocumentedFields,
  answers: readonly (readonly FieldDescription[])[],
): string[] {
  return Object.entries(documented).flatMap(([name, values]) => {
    const absent = answers
      .filter((fields) => fieldNamed(fields, name) === undefined)
      .map(() => name)
    const known = new Set(answers.flatMap((fields) => fieldNamed(fields, name)?.values ?? []))
    const unlisted = values.filter(
      (value) => !known.has(value) && !MENTIONED[name]?.includes(value),
    )
    return [...absent, ...unlisted.map((value) => `${name}: ${value}`)]
  })
}

const described = (name: EndpointName) => describeEndpoint(endpointNamed(name))
const rowAt = (address: string) =>
  endpointNames.find(
    (name) => `${endpointNamed(name).method} ${endpointNamed(name).path}` === address,
  )

describe('the document', () => {
  it.skipIf(!existsSync(DOCUMENT_PATH))('names what the checked-in list says', () => {
    expect(readDocument(readFileSync(DOCUMENT_PATH, 'utf8'))).toEqual(DOCUMENT)
  })

  it('and the table have the same endpoints, in the same order; the gateway is described elsewhere', () => {
    const addresses = Object.keys(DOCUMENT.endpoints)
    expect(addresses.map(rowAt)).toEqual(endpointNames.filter((name) => name !== 'gatewayTest'))
    expect(addresses).toHaveLength(20)
  })
})

describe('a field or value without a counterpart', () => {
  it('is found', () => {
    const answers = [described('tickers').answer]

    expect(missing({ lastPr: [], lastPrice: [], deliveryStatus: ['missing'] }, answers)).toEqual([
      'lastPrice',
      'deliveryStatus: missing',
    ])
  })
})

describe.each(Object.entries(DOCUMENT.endpoints))('%s', (address, documented) => {
  const name = rowAt(address) ?? 'gatewayTest'
  const { parameters, answer, section } = described(name)

  it('has every parameter of the document, with its values', () => {
    expect(missing(documented.parameters, [parameters])).toEqual([])
  })

  it('requires what the document requires, and nothing else', () => {
    const required = parameters.filter(({ isRequired }) => isRequired).map((field) => field.name)
    const leaf = (path: string) => path.replace(/^settingList\[\]\./, '')
    expect(required.map(leaf).toSorted()).toEqual(documented.required.toSorted())
  })

  it('has no parameter that the document has not', () => {
    const leaves = parameters.map((field) => field.name.replace(/^settingList\[\]\./, ''))
    expect(leaves.toSorted()).toEqual(Object.keys(documented.parameters).toSorted())
  })

  it('answers what the document names', () => {
    expect(
      missing(Object.fromEntries(documented.answer.map((field) => [field, []])), [answer]),
    ).toEqual([])
  })

  it('cites its heading', () => {
    expect(section).toBe(documented.section)
  })

  it('says what every field means', () => {
    const silent = [...parameters, ...answer].filter(({ description }) => !description)
    expect(silent.map((field) => field.name)).toEqual([])
  })
})

describe.each(Object.entries(DOCUMENT.resources))('%s', (heading, fields) => {
  it('has every field in the answers that carry it, with its values', () => {
    const carriers = RESOURCES[heading]

    expect(carriers).toBeDefined()
    expect(missing(fields, carriers?.map((name) => described(name).answer) ?? [])).toEqual([])
  })
})

describe.each(Object.entries(DOCUMENT.limits))('limit of %s', (address, limit) => {
  it(`is ${limit}`, () => {
    const names = address.includes('margin endpoints')
      ? endpointNames.filter((name) => endpointNamed(name).path.includes('/margin/'))
      : endpointNames.filter((name) => name === rowAt(address))
    const [calls, copyTraderCalls] = [...limit.matchAll(/(\d+) per second/g)].map(([, count]) =>
      Number(count),
    )

    expect(names.length).toBeGreaterThan(0)
    for (const name of names) {
      expect(endpointNamed(name).limit, name).toEqual({
        calls,
        perMs: 1000,
        scope: limit.includes('per IP') ? 'ip' : 'uid',
        ...(copyTraderCalls === undefined ? {} : { copyTraderCalls }),
      })
    }
  })
})
