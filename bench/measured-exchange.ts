// An exchange that only measures, in a process of its own: 600 tickers of which the first has a new price each
// time, and orders that are all refused once they have been measured, so that none is left for the next tick.
// It listens twice, once for each contender, and tells for each batch how long ago the last byte of that side's
// last ticker answer went out. Started by bench/tick-to-order.ts.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { BATCH_PATH, TICKERS_PATH } from './floor.ts'
import { TickerAnswers } from './ticker-answers.ts'

export const SIDES = ['daemon', 'floor'] as const
export type Side = (typeof SIDES)[number]

/** What it says to whoever started it. */
export type Message =
  | { readonly kind: 'listening'; readonly ports: Readonly<Record<Side, number>> }
  | {
      readonly kind: 'batch'
      readonly side: Side
      readonly elapsedMs: number
      readonly orders: number
    }

const ANSWERS: Readonly<Record<string, unknown>> = {
  '/api/v2/mix/order/fills': { fillList: [], endId: null },
  '/api/v2/mix/position/single-position': [],
  '/api/v2/mix/order/cancel-all-orders': { successList: [], failureList: [] },
}

/** All orders are refused, so that none rests; for a reason after which no later one waits. */
const REFUSAL = {
  errorCode: '40917',
  errorMsg: 'Stop price for long positions please < mark price',
}

const answers = new TickerAnswers()
let ticks = 0

/** Up and down, so that every answer is news. */
function nextBid(): number {
  return 42_000 + (ticks++ % 50)
}

function envelope(data: unknown): string {
  return JSON.stringify({ code: '00000', msg: 'success', requestTime: Date.now(), data })
}

async function listen(side: Side): Promise<number> {
  let sentAt = Number.NaN
  const server = createServer((request, response) => {
    const arrivedAt = performance.now()
    const [path = ''] = (request.url ?? '').split('?')
    response.setHeader('content-type', 'application/json')
    if (path === TICKERS_PATH)
      response.end(answers.next(nextBid()), () => (sentAt = performance.now()))
    else if (path === BATCH_PATH)
      void takeBatch(request, response, { side, elapsedMs: arrivedAt - sentAt })
    else request.resume().once('end', () => response.end(envelope(ANSWERS[path] ?? null)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function takeBatch(
  request: IncomingMessage,
  response: ServerResponse,
  measured: { readonly side: Side; readonly elapsedMs: number },
): Promise<void> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const { orderList } = JSON.parse(body) as { orderList: { clientOid: string }[] }
  const failureList = orderList.map(({ clientOid }) => ({ orderId: '', clientOid, ...REFUSAL }))
  response.end(envelope({ successList: [], failureList }))
  send({ kind: 'batch', ...measured, orders: orderList.length })
}

function send(message: Message): void {
  process.send?.(message)
}

const [daemon, floor] = await Promise.all(SIDES.map(listen))
send({ kind: 'listening', ports: { daemon: daemon ?? 0, floor: floor ?? 0 } })
