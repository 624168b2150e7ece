import type { ServerResponse } from 'node:http'
import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { FaultKind, FaultPlan } from './faults.ts'
import type { Wire } from './handle.ts'
import type { ServerEvent } from './server-event.ts'
import { bytesOf, type WireRequest, type WireResponse } from './wire-request.ts'

export interface AnswererOptions {
  readonly wire: Wire
  readonly faults: FaultPlan
  readonly clock: Clock
  readonly timers: Timers
  readonly answerDelay: () => number
  readonly onEvent: (event: ServerEvent) => void
}

export class Answerer {
  readonly #options: AnswererOptions
  readonly #waiting = new Set<() => void>()
  #stopped = false

  constructor(options: AnswererOptions) {
    this.#options = options
  }

  /** Settles when the answer is with the socket, or the socket is gone. */
  async answer(request: WireRequest, outgoing: ServerResponse): Promise<void> {
    const { faults, wire, clock, answerDelay, onEvent } = this.#options
    const endpoint = wire.endpointOf(request)
    const fault = faults.draw(endpoint)
    if (fault === undefined) {
      const response = wire.handle(request)
      const delayMs = answerDelay()
      if (delayMs > 0) await this.#wait(delayMs)
      // Announces the end, so that the socket closes by itself.
      if (this.#stopped) outgoing.shouldKeepAlive = false
      return send(outgoing, response)
    }
    onEvent({ kind: 'faultInjected', fault: fault.kind, endpoint })
    const response = fault.kind in AFTER ? wire.handle(request) : undefined
    await this.#wait(answerDelay() + fault.delayMs)
    const answer = AFTER[fault.kind] ?? BEFORE[fault.kind]
    if (!this.#stopped) answer?.(outgoing, response, clock.now())
  }

  stop(): void {
    this.#stopped = true
    for (const end of this.#waiting) end()
  }

  #wait(delayMs: number): Promise<void> {
    if (this.#stopped) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        cancel()
        this.#waiting.delete(end)
        resolve()
      }
      const cancel = this.#options.timers.after(delayMs, end)
      this.#waiting.add(end)
    })
  }
}

type FaultAnswer = (
  outgoing: ServerResponse,
  response: WireResponse | undefined,
  now: number,
) => void

const BEFORE: Partial<Record<FaultKind, FaultAnswer>> = {
  requestDropped: () => {},
  gatewayErrorBefore: (outgoing) => send(outgoing, gatewayPage(502, 'Bad Gateway')),
  tooManyRequests: (outgoing, _, now) => send(outgoing, tooManyRequests(now)),
}

const AFTER: Partial<Record<FaultKind, FaultAnswer>> = {
  answerLost: (outgoing) => outgoing.socket?.resetAndDestroy(),
  gatewayErrorAfter: (outgoing) => send(outgoing, gatewayPage(500, 'Internal Server Error')),
  truncatedBody: sendHalf,
  garbageBody: (outgoing) => send(outgoing, GARBAGE),
  delayedAnswer: (outgoing, response) => response && send(outgoing, response),
}

function tooManyRequests(requestTime: number): WireResponse {
  return {
    status: 429,
    headers: { 'content-type': 'application/json;charset=UTF-8' },
    body: JSON.stringify({ code: '429', msg: 'Too Many Requests', requestTime, data: null }),
  }
}

/** Valid status and type with a body that is not JSON. */
const GARBAGE: WireResponse = {
  status: 200,
  headers: { 'content-type': 'application/json;charset=UTF-8' },
  body: '{"code":"00000","msg":"success","requestTime":NaN,"data":[\u0000\ufffd}',
}

function gatewayPage(status: number, title: string): WireResponse {
  return {
    status,
    headers: { 'content-type': 'text/html' },
    body: `<html>\r\n<head><title>${status} ${title}</title></head>\r\n<body>${status} ${title}</body>\r\n</html>\r\n`,
  }
}

function send(outgoing: ServerResponse, { status, headers, body }: WireResponse): void {
  if (outgoing.destroyed) return
  outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  outgoing.end(body)
}

function sendHalf(outgoing: ServerResponse, response: WireResponse | undefined): void {
  if (outgoing.destroyed || response === undefined) return
  const body = bytesOf(response)
  outgoing.writeHead(response.status, { ...response.headers, 'content-length': body.length })
  outgoing.write(body.subarray(0, Math.ceil(body.length / 2)), () => outgoing.socket?.destroy())
}
