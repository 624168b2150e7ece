import { expect, test } from 'vitest'
import { ClientExchange, type ClientExchangeOptions } from '../../src/daemon/account/client-exchange.ts'
import { type CallOptions } from '../../src/exchange/client/call-options.ts'
import { ManualTime } from '../support/manual-time.ts'

/** An exchange that accepts, whatever it is asked. */
function openExchange(readings: readonly object[] = [], change: Partial<ClientExchangeOptions> = {}) {
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
  const exchange = new ClientExchange({
    client: client as unknown as ClientExchangeOptions['client'],
    settings: {
      productType: 'USDT-FUTURES',
      positionMode: 'one_way_mode',
      instruments: new Map([['BTCUSDT', {} as never]]),
    },
    clock: time,
    onRefused: ({ code }) => heard.push(`refused ${code}`),
    onBatch: () => () => heard.push('first byte'),
    onBroken: (error) => heard.push(String(error)),
    ...change,
  })
  return { exchange, asked, heard, time, reads: () => reads }
}

test('a call leaves with its exact bytes, and is on the wire until its answer was heard', async () => {
  const { exchange, asked, heard } = openExchange()

  exchange.callAccount({ endpoint: 'modifyPlanOrder', body: '{"a":1}' }, { priority: 1 }, ({ kind }) =>
    heard.push(kind),
  )
  await exchange.idle()

  expect(asked[0]).toMatchObject({
    request: { endpoint: 'modifyPlanOrder', body: '{"a":1}', query: '' },
    options: { priority: 1 },
  })
  expect(heard).toEqual(['accepted'])
})

test('the first byte of a batch is heard of once nobody objects', () => {
  const { exchange, asked, heard } = openExchange()
  let objection: string | undefined = 'stale'
  exchange.placeBatch('{}', { beforeWrite: () => objection }, () => undefined)
  const { beforeWrite } = asked[0]?.options ?? {}

  expect([beforeWrite?.(), [...heard]]).toEqual(['stale', []])
  objection = undefined
  expect([beforeWrite?.(), heard]).toEqual([undefined, ['first byte']])
})

test('a read is answered, and one that breaks the program is reported', async () => {
  const { exchange, heard } = openExchange()

  exchange.readFills(0, ({ kind }) => heard.push(kind))
  await exchange.idle()
  exchange.readPosition('BTCUSDT', ({ kind }) => heard.push(kind))
  await exchange.idle()

  expect(heard).toEqual(['accepted', 'Error: a defect'])
})

test('keys that the exchange refuses are said once, and shown to it once a minute until it takes them', async () => {
  const refused = {
    kind: 'refused',
    class: 'definite',
    topic: 'auth',
    code: '40037',
    message: '',
    receivedAt: 0,
  }
  const { exchange, heard, time, reads } = openExchange([refused, refused])
  const answers: string[] = []
  const read = async () => {
    exchange.readFills(0, ({ kind }) => answers.push(kind))
    await exchange.idle()
  }

  await read()
  await read()
  await time.pass(60_000)
  await read()
  await read()
  await time.pass(60_000)
  await read()
  await read()

  expect(heard).toEqual(['refused 40037'])
  expect(answers).toEqual(['refused', 'refused', 'refused', 'refused', 'accepted', 'accepted'])
  expect(reads()).toBe(4)
})

test('pages of something in front of the exchange are asked for ever more rarely, and said when they last', async () => {
  const page = { kind: 'unknown', cause: 'unreadable', code: 'HTTP_403', message: '', status: 403 }
  const { exchange, heard, time, reads } = openExchange(Array.from({ length: 12 }, () => page))
  const askedAt: number[] = []
  const read = async () => {
    const before = reads()
    exchange.readFills(0, () => undefined)
    await exchange.idle()
    if (reads() > before) askedAt.push(time.monotonic() / 1000)
  }

  // Two that are on the wire together are one refusal.
  exchange.readFills(0, () => undefined)
  await read()
  while (askedAt.length < 9) {
    await time.pass(1000)
    await read()
    if (askedAt.length < 4) expect(heard).toEqual(askedAt.length < 3 ? [] : ['refused HTTP_403'])
  }

  expect(askedAt).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183])
  expect(heard).toEqual(['refused HTTP_403'])
})

test('pages that come slower than they are asked for are counted all the same', async () => {
  const page = { kind: 'unknown', cause: 'unreadable', code: 'HTTP_403', message: '', status: 403 }
  const { exchange, heard, time } = openExchange([], {
    client: {
      readFills: () =>
        new Promise((resolve) => {
          time.after(3500, () => resolve({ ...page }))
        }),
    } as unknown as ClientExchangeOptions['client'],
  })

  for (let seconds = 0; seconds < 60; seconds++) {
    exchange.readFills(0, () => undefined)
    await time.pass(1000)
  }

  expect(heard).toEqual(['refused HTTP_403'])
})

test('a call that is accepted ends the pause of the reads', async () => {
  const page = { kind: 'unknown', cause: 'unreadable', code: 'HTTP_403', message: '', status: 403 }
  const { exchange, time, reads } = openExchange([page, page, page, page])
  const read = async () => {
    exchange.readFills(0, () => undefined)
    await exchange.idle()
  }
  for (const pauseMs of [1000, 2000, 4000, 0]) {
    await read()
    await time.pass(pauseMs)
  }
  await read()
  expect(reads()).toBe(4)

  exchange.cancelAll('{}', {}, () => undefined)
  await exchange.idle()
  await read()

  expect(reads()).toBe(5)
})

test('a page that was on its way when a call was accepted begins no new pause', async () => {
  const page = { kind: 'unknown', cause: 'unreadable', code: 'HTTP_403', message: '', status: 403 }
  let reads = 0
  const { exchange, time } = openExchange([], {
    client: {
      send: () => Promise.resolve({ kind: 'accepted' }),
      readFills: () =>
        new Promise((resolve) => {
          reads += 1
          time.after(500, () => resolve({ ...page }))
        }),
    } as unknown as ClientExchangeOptions['client'],
  })
  const read = () => exchange.readFills(0, () => undefined)
  read()
  await time.pass(2000)
  read()

  exchange.cancelAll('{}', {}, () => undefined)
  await time.pass(600)
  read()

  expect(reads).toBe(3)
})

test('one page between answers costs a second', async () => {
  const page = { kind: 'unknown', cause: 'unreadable', code: 'HTTP_401', message: '', status: 401 }
  const accepted = { kind: 'accepted', data: 'success', receivedAt: 0 }
  const { exchange, heard, time } = openExchange([page, accepted, page, accepted, page, accepted])
  const answers: string[] = []
  const read = async () => {
    exchange.readFills(0, ({ kind }) => answers.push(kind))
    await exchange.idle()
  }

  for (let reads = 0; reads < 6; reads++) {
    await read()
    await time.pass(1000)
  }

  expect(answers).toEqual(['unknown', 'accepted', 'unknown', 'accepted', 'unknown', 'accepted'])
  expect(heard).toEqual([])
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
  expect(withheld).toEqual(['batchPlaceOrder {"a":1}', 'cancelAllOrders {"b":1}', 'modifyPlanOrder {"c":1}'])
  expect(released).toEqual(['batch'])
  expect(answers).toMatchObject([
    { kind: 'refused', class: 'definite', code: 'DRY_RUN' },
    { kind: 'refused', class: 'notSent', message: 'stale' },
    { kind: 'refused', class: 'definite' },
    { kind: 'refused', class: 'definite' },
    { kind: 'accepted' },
  ])
})
