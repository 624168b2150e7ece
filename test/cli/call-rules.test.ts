import { describe, expect, it } from 'vitest'
import { CALL_OPTIONS, toKey } from '../../src/cli/call/call-arguments.ts'
import { topParameters } from '../../src/cli/call/call-parameters.ts'
import { sampleOf, toWords } from '../../src/cli/call/call-samples.ts'
import { toOption } from '../../src/cli/call/endpoint-words.ts'
import { describeEndpoint } from '../../src/protocol/describe-endpoint.ts'
import { endpointNamed, callableNames } from '../../src/protocol/endpoints.ts'
import { typed } from './call-fixture.ts'

const broken = callableNames.flatMap((name) =>
  sampleOf(name).broken.map((sample) => ({ name, says: sample.says, sample })),
)

describe('a broken rule is refused before anything is sent, in words', () => {
  it.each(broken)('$name: $says', async ({ name, sample }) => {
    const { change, positionMode, pending, says } = sample
    const mode = positionMode === undefined ? [] : ['--set', `account.positionMode=${positionMode}`]
    const kind = pending === undefined ? [] : ['--pending', pending]

    // Even with consent: the rules come first.
    const { code, out, err } = await typed([
      ...toWords(name, change),
      ...mode,
      ...kind,
      '--yes=all',
    ])

    expect(err).toContain(says)
    expect(err).toMatch(/^REQUEST_INVALID: /)
    expect({ code, out }).toEqual({ code: 64, out: '' })
  })

  it.each(callableNames)('%s: a parameter that it does not have', async (name) => {
    const { code, err } = await typed([...toWords(name), '--no-such-parameter=1'])
    expect(code).toBe(64)
    expect(err).toContain(`${name} has no such parameter`)
  })

  it.each(callableNames)('%s: every required parameter', async (name) => {
    const { code, err } = await typed([name])
    const required = topParameters(describeEndpoint(endpointNamed(name))).filter(
      ({ isRequired }) => isRequired,
    )
    for (const field of required)
      expect(err).toMatch(new RegExp(`${toOption(field.name)} +required`))
    if (required.length > 0) expect(code).toBe(64)
  })
})

describe('words', () => {
  it.each([
    [['tikers'], 'did you mean tickers?'],
    [['tickers', '--produkt-type=x'], 'did you mean --product-type?'],
    [['tickers', '--product-type'], '--product-type needs a value'],
    [['tickers', '--product-type', '--json'], '--product-type needs a value'],
    [['tickers', 'USDT-FUTURES'], 'belongs to no option'],
    [['tickers', '--product-type=a', '--product-type=b'], 'given more than once'],
    [['tickers', '--yes=1', '--yes=2'], '--yes was given more than once'],
    [['modifyPlanOrder', '--pending=stop'], '--pending takes limit, market, trailing'],
    [['tickers', '--pending=limit'], '--pending is for modifyPlanOrder'],
    [
      ['modifyPlanOrder', '--new-surplus-trigger-price=1'],
      'write --new-stop-surplus-trigger-price',
    ],
    [['batchPlaceOrder', '--orders=[{'], 'is not JSON'],
    [['batchPlaceOrder', '--orders=["a"]'], 'takes a JSON list of objects'],
    [['batchPlaceOrder', '--orders=side'], '"side" is neither'],
    [
      [...toWords('batchPlaceOrder', { orders: 'side=buy,orderType=market,sise=1' })],
      'did you mean size?',
    ],
  ])('%j', async (words, says) => {
    const { code, err } = await typed(words)
    expect(err).toContain(says)
    expect(code).toBe(64)
  })

  it('case and dashes of names do not count, samples in lower case are put in capitals', async () => {
    const words = [
      'single-position',
      '--PRODUCTTYPE=usdt-futures',
      '--symbol=btcusdt',
      '--margin-coin=USDT',
    ]
    const { code, out } = await typed([...words, '--dry-run'])
    expect(code).toBe(0)
    expect(out).toContain('?marginCoin=USDT&productType=USDT-FUTURES&symbol=BTCUSDT\n')
  })

  it('a list may come as JSON, once an item, or in parts', async () => {
    const one = '{"size":"1","side":"buy","orderType":"market"}'
    const rest = toWords('batchPlaceOrder', { orders: undefined })
    const bodies = await Promise.all(
      [
        [`--order-list=[${one},${one}]`],
        [`--orders=${one}`, '--orders=size=1 side=buy orderType=market'],
      ].map(async (orders) => (await typed([...rest, ...orders, '--dry-run', '--json'])).out),
    )
    for (const text of bodies) {
      const { body } = JSON.parse(text) as { body: string }
      expect(JSON.parse(body)).toMatchObject({ orderList: [JSON.parse(one), JSON.parse(one)] })
    }
  })

  it('no parameter of the table has the name of an option of the command', () => {
    const own = new Set(CALL_OPTIONS.map(toKey))
    const names = callableNames.flatMap((name) =>
      topParameters(describeEndpoint(endpointNamed(name))),
    )
    expect(names.filter(({ name }) => own.has(toKey(name)))).toEqual([])
  })
})

describe('help', () => {
  it('lists every endpoint under its family', async () => {
    const { code, out } = await typed(['--help'])
    expect(code).toBe(0)
    for (const name of callableNames) expect(out).toMatch(new RegExp(`^  ${name} `, 'm'))
    for (const family of [
      'Futures',
      'Spot',
      'Margin',
      'Copy trading',
      'Conversion',
      'Sub-accounts',
    ]) {
      expect(out).toMatch(new RegExp(`^${family}$`, 'm'))
    }
  })

  it('stands for a call without an endpoint, which is not understood', async () => {
    const { code, out } = await typed([])
    expect(code).toBe(64)
    expect(out).toMatch(/^Usage: intentd call/)
  })

  it.each(callableNames)(
    'of %s names its parameters, values, limit and signature',
    async (name) => {
      const { code, out } = await typed([name, '--help'])
      const row = describeEndpoint(endpointNamed(name))
      expect(code).toBe(0)
      expect(out).toContain(`${row.method} ${row.path}`)
      expect(out).toMatch(/^ {2}limit {4}\d+ calls? a second per (account|IP address)/m)
      expect(out).toMatch(/^ {2}auth {5}(public|signed)/m)
      for (const field of topParameters(row)) {
        expect(out).toContain(`  ${toOption(field.name)}`)
        for (const value of field.values) expect(out).toContain(value)
        if (field.description !== undefined) expect(out).toContain(field.description)
      }
    },
  )
})
