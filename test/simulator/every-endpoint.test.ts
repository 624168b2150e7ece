import { addressesOf } from '../../src/simulator/spot/address-book.ts'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { type RunningSimulator, startSimulator } from '../../src/simulator/start-simulator.ts'
import { servedRow, type ServedName } from '../../src/simulator/wire/served-rows.ts'
import { ANNA, BERT, depositMargin, TARA } from './exchange-bench.ts'
import { sendRequest } from './wire/server-bench.ts'
import {
  GATEWAY_PATH,
  GOOD_REQUESTS,
  requestFor,
  type RequestParts,
} from './wire/signed-request.ts'

/** What an account that has done nothing is told where there must be something first. */
const NOTHING_THERE: Readonly<Partial<Record<ServedName, string>>> = {
  modifyPlanOrder: '43025',
  modifyTpslOrder: '43025',
  cancelOrder: '43001',
  orderDetail: '40109',
  spotCancelOrder: '43001',
  isolatedCancelOrder: '43001',
  crossedCancelOrder: '43001',
}

let simulator: RunningSimulator
let agent: Agent
const dispatcher = getGlobalDispatcher()

beforeAll(async () => {
  agent = new Agent({ allowH2: false })
  setGlobalDispatcher(agent)
  simulator = await startSimulator({
    market: { kind: 'seeded' },
    seed: 1,
    accounts: [ANNA, BERT, TARA],
    services: { platformCoin: { name: 'OWN', price: '2' } },
  })
  const now = systemClock.now()
  for (const mode of ['isolated', 'crossed'] as const) {
    depositMargin(
      simulator.exchange,
      TARA,
      { mode, symbol: 'BTCUSDT', coin: 'USDT', amount: '5000' },
      now,
    )
  }
})

afterAll(async () => {
  await simulator.stop()
  await agent.destroy()
  setGlobalDispatcher(dispatcher)
})

async function send(parts: RequestParts, account = TARA) {
  const request = requestFor(account, { ...parts, at: systemClock.now() })
  const { status, text } = await sendRequest(simulator.baseUrl, request)
  return {
    status,
    ...(JSON.parse(text) as { code: string; msg?: string; message?: string; data: unknown }),
  }
}

const parts = GOOD_REQUESTS.map((request) => ({
  ...request,
  path: request.path.replace('/house-', '/own-'),
}))

test.each(parts)('$name is answered over HTTP as its row says', async (request) => {
  const { name } = request
  const answer = await send({ ...request, ...livePartsOf(name) }, callerOf(name))

  const expected = NOTHING_THERE[name] ?? '00000'
  expect(answer).toMatchObject({ code: expected, status: expected === '00000' ? 200 : 400 })
  if (expected === '00000') {
    const read = servedRow(name).response.safeParse(answer.data)
    expect(read).toMatchObject({ success: true })
    expect(JSON.stringify(read.data) ?? '').not.toContain('"unreadable":')
    expect(answer[servedRow(name).textField ?? 'msg']).toBe('success')
  }
})

/** What depends on the day, or on the account's own address book. */
function livePartsOf(name: ServedName): Partial<RequestParts> {
  if (name === 'crossedOpenOrders')
    return { query: `startTime=${systemClock.now() - 60_000}&symbol=BTCUSDT` }
  if (name !== 'spotWithdrawal') return {}
  const [address] = addressesOf(TARA.uid)
  return { body: { transferType: 'on_chain', size: '20', ...address } }
}

/** Only one of the accounts has a client at the gateway. */
function callerOf(name: ServedName) {
  return name === 'gatewayTest' ? ANNA : TARA
}

test('over HTTP the gateway’s refusals have their status, and its address no other method', async () => {
  const good = { path: GATEWAY_PATH, query: 'a=1&b=2', body: '{}' }
  const at = systemClock.now()

  const refused = [
    await send(good, BERT),
    await send({ ...good, query: 'a=1' }, ANNA),
    await sendRequest(simulator.baseUrl, requestFor(ANNA, { ...good, at: at - 601_000 })),
    await sendRequest(simulator.baseUrl, { ...requestFor(ANNA, { ...good, at }), method: 'GET' }),
  ]

  expect(refused.map(({ status }) => status)).toEqual([403, 400, 400, 404])
})

test('a key that is bound to addresses is refused from any other', async () => {
  const { exchange } = simulator
  const stranger = { ...TARA, boundToIps: ['10.0.0.9'] }
  const { Wire } = await import('../../src/simulator/wire/handle.ts')
  const { bytesOf } = await import('../../src/simulator/wire/wire-request.ts')
  const wire = new Wire({
    clock: systemClock,
    exchange: {
      answer: (name, account, request, now) => exchange.answer(name, account, request, now),
      accountByKey: (key) => (key === TARA.key ? stranger : undefined),
      accountByGatewayKey: () => undefined,
    },
  })
  const ask = (remoteAddress: string) => {
    const request = requestFor(TARA, {
      path: '/api/v2/mix/order/fills',
      query: 'productType=USDT-FUTURES',
      at: systemClock.now(),
      remoteAddress,
    })
    return JSON.parse(bytesOf(wire.handle(request)).toString()) as { code: string; msg: string }
  }

  expect(ask('127.0.0.1')).toMatchObject({ code: '40018', msg: 'Invalid IP' })
  expect(ask('10.0.0.9').code).toBe('00000')
})
