import { expect, test } from 'vitest'
import { OrderWatch } from './order-watch.ts'
import { type PlantedError, runWholeCampaign } from './whole-campaign.ts'

/** `npm run test:campaign` does a hundred thousand. */
const ACTS = 2000
/** Each planted error is found sooner. */
const PLANTED_ACTS = 4000
/** It only ends a run that hangs. */
const TIMEOUT_MS = 1_800_000

test(
  `[SEC1] [PWR1] whatever ${ACTS} requests, tool calls and messages try at a whole daemon: nothing is riskier without a code for just that, no secret leaves, and no order that must not`,
  { timeout: TIMEOUT_MS },
  async () => {
    const { violations, leaks, ...counts } = await runWholeCampaign({ seed: 'whole', acts: ACTS })

    expect(violations).toEqual([])
    expect(leaks).toEqual([])
    expect(counts.byWay).toEqual({
      port: expect.any(Number) as number,
      person: expect.any(Number) as number,
      assistant: expect.any(Number) as number,
      'hostile assistant': expect.any(Number) as number,
      chat: expect.any(Number) as number,
      signal: expect.any(Number) as number,
    })
    expect(counts.commands).toBeGreaterThan(100)
    expect(counts.proposed).toBeGreaterThan(20)
    expect(counts.raised).toMatchObject({ release: expect.any(Number) as number })
    expect(counts.ordersSent).toBeGreaterThan(20)
    expect(counts.records).toBeGreaterThan(50)
    expect(counts.steps).toBeGreaterThan(100)
  },
)

test.each<PlantedError>(['forgetsMiddleman', 'anyCode', 'codeTwice'])(
  'the campaign notices a planted error: %s',
  { timeout: TIMEOUT_MS },
  async (planted) => {
    const { violations, leaks } = await runWholeCampaign({
      seed: 'planted',
      acts: PLANTED_ACTS,
      planted,
    })

    expect(violations.join('\n')).toContain('without a code for it')
    expect(leaks).toEqual([])
  },
)

test.each<PlantedError>(['tokenInAnswer', 'secretInLog'])(
  'the campaign notices a planted leak: %s',
  { timeout: TIMEOUT_MS },
  async (planted) => {
    const { leaks } = await runWholeCampaign({ seed: 'planted', acts: PLANTED_ACTS, planted })

    expect(leaks[0]).toMatch(planted === 'tokenInAnswer' ? /denials/ : /^control\.failed: /)
  },
)

test('orders that must not leave are noticed: under a kill, a halt, while it reduces, and two of one name', () => {
  const order = {
    clientOid: 'c1',
    strategy: 'grid',
    symbol: 'BTCUSDT',
    purpose: 'quote',
    action: 'openShort',
    size: '2',
    price: '1',
  }
  const judge = (mode: string, net: number, ...orders: readonly object[]): readonly string[] => {
    const watch = new OrderWatch({
      held: () => (mode === 'active' ? [] : [{ scope: '*', mode, code: 'operator' }]),
      netOf: () => net,
    })
    for (const fields of orders) watch.hear({ event: 'order.sent', fields: { ...fields } })
    return watch.violations
  }

  expect(judge('active', 0, order, order)).toEqual([])
  expect(judge('active', 0, order, { ...order, size: '3' })).toHaveLength(1)
  expect(judge('reducing', 2, order)).toEqual([])
  expect(judge('reducing', 1, order)).toHaveLength(1)
  expect(judge('reducing', -2, order)).toHaveLength(1)
  expect(judge('halted', 2, { ...order, purpose: 'flatten' })).toEqual([])
  expect(judge('halted', 2, order)).toHaveLength(1)
  expect(judge('killed', 2, { ...order, purpose: 'flatten' })).toHaveLength(1)
})
