// The exchange of bench/shared-tickers.ts, in a process of its own: 600 tickers, of which the first has another bid
// in each answer, and orders that are all refused, so that none is left for the next tick. By their price it knows
// which answer they follow from.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { BATCH_PATH, TICKERS_PATH } from './floor.ts'
import { TickerAnswers } from './ticker-answers.ts'

/** What it says to whoever started it. */
export type Said =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'tickers' }
  /** `elapsedMs` since the last byte of the answer that it follows from. */
  | {
      readonly kind: 'batch'
      readonly key: string
      readonly bid: number
      readonly elapsedMs: number
    }

const ANSWERS: Readonly<Record<string, unknown>> = {
  '/api/v2/mix/order/fills': { fillList: [], endId: null },
  '/api/v2/mix/position/single-position': [],
  '/api/v2/mix/order/cancel-all-orders': { successList: [], failureList: [] },
}
const REFUSAL = {
  errorCode: '40815',
  errorMsg: 'The order price is higher than the highest bid price',
}
const BIDS = 1000

const answers = new TickerAnswers()
const sentAt = new Map<number, number>()
let ticks = 0

function answerTickers(response: ServerResponse): void {
  const bid = 42_000 + (ticks++ % BIDS)
  response.end(answers.next(bid), () => sentAt.set(bid, performance.now()))
  say({ kind: 'tickers' })
}

async function takeBatch(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const arrivedAt = performance.now()
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const { orderList } = JSON.parse(body) as { orderList: { clientOid: string; price: string }[] }
  const failureList = orderList.map(({ clientOid }) => ({ orderId: '', clientOid, ...REFUSAL }))
  response.end(envelope({ successList: [], failureList }))
  const bid = Math.max(...orderList.map(({ price }) => Number(price)))
  const key = String(request.headers['access-key'])
  say({ kind: 'batch', key, bid, elapsedMs: arrivedAt - (sentAt.get(bid) ?? Number.NaN) })
}

function envelope(data: unknown): string {
  return JSON.stringify({ code: '00000', msg: 'success', requestTime: Date.now(), data })
}

function say(said: Said): void {
  process.send?.(said)
}

const server = createServer((request, response) => {
  const [path = ''] = (request.url ?? '').split('?')
  response.setHeader('content-type', 'application/json')
  if (path === TICKERS_PATH) answerTickers(response)
  else if (path === BATCH_PATH) void takeBatch(request, response)
  else request.resume().once('end', () => response.end(envelope(ANSWERS[path] ?? null)))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
say({ kind: 'listening', port: (server.address() as AddressInfo).port })
