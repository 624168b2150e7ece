import { expect, test } from 'vitest'
import {
  HttpExchangePort,
  type HttpExchangePortOptions,
} from '../../src/daemon/account/http-exchange-port.ts'
import type { CallOptions } from '../../src/exchange/client/request-writer.ts'
import { ManualTime } from '../support/manual-time.ts'

/** An exchange that accepts, whatever it is asked. */
function openExchange(
  readings: readonly object[] = [],
  change: Partial<HttpExchangePortOptions> = {},
) {
  const time = new ManualTime(0)
  let reads = 0
  const asked: { readonly request: unknown; readonly options: CallOptions }[] = []
  const heard: string[] = []
  const accepted = { kind: 'accepted', data: 'success', receivedAt: 0 }
  const client = {
    send: (request: unknown, options: CallOptions) => {
      asked.push({ request, options })
      return Promise.resolve(accepted)
    },
    readFills: () => Promise.resolve(readings[reads++] ?? accepted),
    readPosition: () => Promise.reject(new Error('a defect')),
  }
  const exchange = new HttpExchangePort({
    client: client as unknown as HttpExchangePortOptions['client'],
    settings: {
      productType: 'USDT-FUTURES',
      positionMode: 'one_way_mode',
      instruments: new Map([['BTCUSDT', {} as never]]),
    },
    clock: time,
    onRefused: ({ code }) => heard.push(`refused ${code}`),
    onBroken: (error) => heard.push(String(error)),
    ...change,
  })
  return { exchange, asked, heard, time, reads: () => reads }
}

test('a call leaves with its exact bytes, and is on the wire until its answer was heard', async () => {
  const { exchange, asked, heard } = openExchange()

  exchange.callAccount(
    { endpoint: 'modifyPlanOrder', body: '{"a":1}' },
    { priority: 1 },
    ({ kind }) => heard.push(kind),
  )
  await exchange.idle()

  expect(asked[0]).toMatchObject({
    request: { endpoint: 'modifyPlanOrder', body: '{"a":1}', query: '' },
    options: { priority: 1 },
  })
  expect(heard).toEqual(['accepted'])
})

test('a read is answered, and one that breaks the program is reported', async () => {
  const { exchange, heard } = openExchange()

  exchange.readFills(0, ({ kind }) => heard.push(kind))
  await exchange.idle()
  exchange.readPosition('BTCUSDT', ({ kind }) => heard.push(kind))
  await exchange.idle()

  expect(heard).toEqual(['accepted', 'Error: a defect'])
})

const REFUSED_KEY = {
  kind: 'refused',
  class: 'definite',
  topic: 'auth',
  code: '40037',
  message: '',
  receivedAt: 0,
}
const PAGE = { kind: 'unknown', cause: 'unreadable', code: 'HTTP_403', message: '', status: 403 }
const ACCEPTED = { kind: 'accepted', data: 'success', receivedAt: 0 }

/** Reads the fills each second. */
async function readEachSecond(
  { exchange, time }: ReturnType<typeof openExchange>,
  seconds: number,
) {
  for (let second = 0; second < seconds; second++) {
    exchange.readFills(0, () => undefined)
    await exchange.idle()
    await time.pass(1000)
  }
}

test.each([
  ['keys that are refused', REFUSED_KEY, ['refused 40037']],
  ['pages of something in front of the exchange', PAGE, ['refused HTTP_403']],
])('%s are said once when they have lasted for three seconds', async (_, answer, said) => {
  const opened = openExchange(Array.from({ length: 60 }, () => answer))

  await readEachSecond(opened, 3)
  expect(opened.heard).toEqual([])
  await readEachSecond(opened, 57)

  expect(opened.heard).toEqual(said)
})

test('one refusal between answers is not said, and after an answer the next series is', async () => {
  const answers = [
    REFUSED_KEY,
    ACCEPTED,
    PAGE,
    ACCEPTED,
    ...Array.from({ length: 4 }, () => PAGE),
    ACCEPTED,
  ]
  const opened = openExchange([...answers, ...Array.from({ length: 4 }, () => REFUSED_KEY)])

  await readEachSecond(opened, answers.length + 4)

  expect(opened.heard).toEqual(['refused HTTP_403', 'refused 40037'])
})

test('a call that is accepted shows that refusals of reads are over', async () => {
  const opened = openExchange(Array.from({ length: 5 }, () => PAGE))

  await readEachSecond(opened, 3)
  opened.exchange.cancelAll('{}', {}, () => undefined)
  await opened.exchange.idle()
  await readEachSecond(opened, 2)

  expect(opened.heard).toEqual([])
})

test('a dry run sends nothing that changes the account, and says what would have left', async () => {
  const withheld: string[] = []
  const onWithheld = (endpoint: string, body: string) => void withheld.push(`${endpoint} ${body}`)
  const { exchange, asked, reads } = openExchange([], { onWithheld })
  const released: string[] = []
  const grant = {
    endpoint: 'batchPlaceOrder',
    release: () => released.push('batch'),
    unused: () => undefined,
  } as const
  const answers: unknown[] = []
  const hear = (answer: object): void => void answers.push(answer)

  exchange.placeBatch('{"a":1}', { grant }, hear)
  exchange.placeBatch('{"a":2}', { beforeWrite: () => 'stale' }, hear)
  exchange.cancelAll('{"b":1}', {}, hear)
  exchange.callAccount({ endpoint: 'modifyPlanOrder', body: '{"c":1}' }, {}, hear)
  exchange.readFills(0, hear)
  await exchange.idle()

  expect(asked).toEqual([])
  expect(reads()).toBe(1)
  expect(withheld).toEqual([
    'batchPlaceOrder {"a":1}',
    'cancelAllOrders {"b":1}',
    'modifyPlanOrder {"c":1}',
  ])
  expect(released).toEqual(['batch'])
  expect(answers).toMatchObject([
    { kind: 'refused', class: 'definite', code: 'DRY_RUN' },
    { kind: 'refused', class: 'notSent', message: 'stale' },
    { kind: 'refused', class: 'definite' },
    { kind: 'refused', class: 'definite' },
    { kind: 'accepted' },
  ])
})
