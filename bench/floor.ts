// The floor of tick to order: what the bare HTTP client, JSON.parse and a signature cost, with no journal, no
// risk and no limits. A bare server on a thread of its own sends 600 tickers (some 300 KB) and takes the time
// from their last byte out until the head of a batch of 50 signed orders is in.
// `node bench/floor.ts` prints it beside the exchange client.

import { createHmac, createSecretKey } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { Pool } from 'undici'
import { TickerTable } from '../src/domain/ticker-table.ts'
import { ExchangeClock } from '../src/exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../src/exchange/exchange-client.ts'
import { systemClock } from '../src/lib/clock.ts'
import { Secret } from '../src/lib/secret.ts'
import { systemTimers } from '../src/lib/timers.ts'
import { type BatchPlaceRequest } from '../src/protocol/futures/batch-place-order.ts'
import { percentileOf } from './figures.ts'
import { TickerAnswers } from './ticker-answers.ts'

export interface Floor {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly n: number
}

export const TICKERS_PATH = '/api/v2/mix/market/tickers'
export const BATCH_PATH = '/api/v2/mix/order/batch-place-order'
export const ORDERS = 50
const ROUNDS = 400
/** Until the code is compiled and the connections are warm. */
const WARM_UP = 100
/** Between two rounds: the poll of a busy daemon. */
const PAUSE_MS = 5

const SERVER = 'floor server'

/** Reads the tickers once, and gives the bid; sends a batch of orders below it. */
export type Contender = (baseUrl: string) => {
  readonly poll: () => Promise<number>
  readonly place: (bid: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** A bare server on a thread of its own, which says how long after a ticker answer a batch came, ms. */
export async function startServer(onBatch: (elapsedMs: number) => void = () => undefined) {
  const worker = new Worker(new URL(import.meta.url), { workerData: SERVER })
  const [port]: number[] = await once(worker, 'message')
  worker.on('message', onBatch)
  return { baseUrl: `http://127.0.0.1:${port}`, stop: () => worker.terminate() }
}

/** Measured in this run, on this machine. */
export function measureFloor(): Promise<Floor> {
  return measure(bare)
}

async function measure(contender: Contender): Promise<Floor> {
  const elapsedMs: number[] = []
  const server = await startServer((ms) => elapsedMs.push(ms))
  const { poll, place, close } = contender(server.baseUrl)
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    await place(await poll())
    await new Promise<void>((resolve) => systemTimers.after(PAUSE_MS, resolve))
  }
  await close()
  await server.stop()
  const warm = elapsedMs.slice(WARM_UP)
  return { p50Ms: percentileOf(warm, 0.5), p99Ms: percentileOf(warm, 0.99), n: warm.length }
}

/** What a plain script does. */
export const bare: Contender = (baseUrl) => {
  const pool = new Pool(baseUrl, { allowH2: false })
  const key = createSecretKey('floor-secret', 'utf8')
  return {
    async poll() {
      const tickers = await pool.request({
        method: 'GET',
        path: `${TICKERS_PATH}?productType=USDT-FUTURES`,
      })
      const answer = JSON.parse(await tickers.body.text())
      return Number(answer.data[0].bidPr)
    },
    async place(bid) {
      const body = JSON.stringify(batchAt(bid))
      const timestamp = String(Date.now())
      const prehash = `${timestamp}POST${BATCH_PATH}${body}`
      const headers = {
        'Content-Type': 'application/json',
        locale: 'en-US',
        'ACCESS-KEY': 'floor-key',
        'ACCESS-SIGN': createHmac('sha256', key).update(prehash).digest('base64'),
        'ACCESS-PASSPHRASE': 'floor-passphrase',
        'ACCESS-TIMESTAMP': timestamp,
      }
      const placed = await pool.request({ method: 'POST', path: BATCH_PATH, headers, body })
      JSON.parse(await placed.body.text())
    },
    close: () => pool.close(),
  }
}

/** The same through the exchange client: every field of every row checked, every order checked. */
export const client: Contender = (baseUrl) => {
  const exchange = new ExchangeClient({
    baseUrl,
    credentials: {
      apiKey: new Secret('floor-key'),
      secret: new Secret('floor-secret'),
      passphrase: new Secret('floor-passphrase'),
    },
    positionMode: 'one_way_mode',
    clock: systemClock,
    timers: systemTimers,
    offset: new ExchangeClock(),
    requestTimeoutMs: 5e3,
    answerBytesMax: 8388608,
    locale: 'en-US',
  })
  const table = new TickerTable()
  return {
    async poll() {
      const tickers = await exchange.readTickers(table, 'USDT-FUTURES')
      if (tickers.kind !== 'accepted') throw new Error(tickers.message)
      return table.read('S0USDT', 'bidPr')
    },
    async place(bid) {
      const placed = await exchange.call('batchPlaceOrder', batchAt(bid))
      if (placed.kind !== 'accepted') throw new Error(placed.message)
    },
    close: () => exchange.close(),
  }
}

function batchAt(price: number): BatchPlaceRequest {
  return {
    symbol: 'S0USDT',
    productType: 'USDT-FUTURES',
    marginCoin: 'USDT',
    marginMode: 'crossed',
    orderList: Array.from({ length: ORDERS }, (_, rung) => ({
      size: '0.01',
      price: (price - rung * 0.5).toFixed(1),
      side: 'buy',
      orderType: 'limit',
      force: 'post_only',
      clientOid: clientOidOf(rung),
    })),
  }
}

function clientOidOf(rung: number): string {
  return `t${'a'.repeat(26)}-${rung}`
}

async function serve(): Promise<void> {
  let sentAt = 0
  const answers = new TickerAnswers()
  const successList = Array.from({ length: ORDERS }, (_, rung) => ({
    orderId: String(1_234_567_890_123_456_000 + rung),
    clientOid: clientOidOf(rung),
  }))
  const batchBody = JSON.stringify({
    code: '00000',
    msg: 'success',
    requestTime: 1700000000123,
    data: {
      successList,
      failureList: [],
    },
  })
  const server = createServer((request, response) => {
    const arrivedAt = performance.now()
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') {
      response.end(answers.next(42_000), () => (sentAt = performance.now()))
      return
    }
    parentPort?.postMessage(arrivedAt - sentAt)
    request.resume().once('end', () => response.end(batchBody))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  parentPort?.postMessage((server.address() as AddressInfo).port)
}

if (!isMainThread && workerData === SERVER) {
  await serve()
} else if (process.argv[1] === import.meta.filename) {
  for (const [name, contender] of [
    ['floor', bare],
    ['exchange client', client],
    ['floor', bare],
  ] as const) {
    const { p50Ms, p99Ms, n } = await measure(contender)
    console.log(
      `${name.padEnd(16)} p50 ${p50Ms.toFixed(3)} ms   p99 ${p99Ms.toFixed(3)} ms   n ${n}`,
    )
  }
}
