import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { createServer } from '../../lib/net/node-http.ts'
import { findPortHolder } from '../../lib/net/port-holder.ts'
import type { Timers } from '../../lib/timers.ts'
import type { Endpoint } from '../../protocol/endpoint.ts'
import { readRequest } from './checks/read-request.ts'
import type { FaultKind, FaultPlan } from './faults.ts'
import type { Wire } from './handle.ts'
import { servedNames, servedRow } from './served-rows.ts'
import type { ServerEvent } from './server-event.ts'
import { bytesOf, type ReceivedRequest, type WireResponse } from './wire-request.ts'

interface ServerOptions extends AnswererOptions {
  readonly host: string
  readonly port: number
  readonly stepMs: number
  readonly advance: (now: number) => unknown
  readonly bodyBytesMax: number
  /**
   * Limits the time from the first byte to the last of the headers; default {@link HEADERS_MS_MAX}.
   */
  readonly headersMsMax?: number
  /** Limits the time to the last byte of the body; not shorter; default {@link REQUEST_MS_MAX}. */
  readonly requestMsMax?: number
}

export interface RunningServer {
  readonly baseUrl: string
  stop(): Promise<void>
}

/**
 * Clients keep idle sockets for a shorter time (undici: 4 s), so they close first and no request
 * meets a closing socket.
 */
const KEEP_ALIVE_MS = 75_000
const HEADERS_MS_MAX = 10_000
const REQUEST_MS_MAX = 30_000
/** Node checks limits every 30 s, which would turn a limit of 10 s into 40. */
const CHECKS_A_LIMIT = 10
const HEADER_BYTES_MAX = 16_384
const CONNECTIONS_MAX = 1024
const STOP_GRACE_MS = 250

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { clock, timers, host, port, stepMs, onEvent } = options
  const { headersMsMax = HEADERS_MS_MAX, requestMsMax = REQUEST_MS_MAX } = options
  const answerer = new Answerer(options)
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: headersMsMax,
      requestTimeout: requestMsMax,
      connectionsCheckingInterval: Math.ceil(headersMsMax / CHECKS_A_LIMIT),
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    createListener(options, answerer),
  )
  server.maxConnections = CONNECTIONS_MAX
  const address = await new Promise<AddressInfo>((resolve, reject) => {
    server.once('error', (error) => reject(listenFailure(host, port, error)))
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })
  server.on('error', (error) => onEvent({ kind: 'serverFailed', reason: messageOf(error) }))
  const stopTicking = startTicking({ clock, timers, stepMs, tick: createTick(options) })

  let stopped: Promise<void> | undefined
  const stop = async () => {
    stopTicking()
    answerer.stop()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    const cancel = timers.after(STOP_GRACE_MS, () => server.closeAllConnections())
    await closed
    cancel()
  }
  return { baseUrl: `http://${urlHost(address)}:${address.port}`, stop: () => (stopped ??= stop()) }
}

function createListener(
  { bodyBytesMax, onEvent }: ServerOptions,
  answerer: Answerer,
): RequestListener {
  const frontPage = renderFrontPage(servedNames.map(servedRow))
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (isFrontPage(incoming)) {
      outgoing.writeHead(200, { 'content-type': 'text/html; charset=UTF-8' }).end(frontPage)
      return
    }
    const request = await readRequest(incoming, bodyBytesMax)
    if (request !== undefined) await answerer.answer(request, outgoing)
  }
  return (incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      onEvent({ kind: 'serverFailed', reason: messageOf(error) })
      if (outgoing.headersSent) outgoing.destroy()
      else
        outgoing
          .writeHead(500, { 'content-type': 'text/plain; charset=UTF-8' })
          .end('internal error')
    })
  }
}

function isFrontPage({ method, url = '' }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && (url === '/' || url.startsWith('/?'))
}

/** A defect of the simulator must not stop the daemon that embeds it. */
function createTick({ advance, onEvent }: ServerOptions): (now: number) => void {
  let isBroken = false
  return (now) => {
    try {
      advance(now)
      isBroken = false
    } catch (error) {
      if (!isBroken) onEvent({ kind: 'marketFailed', reason: messageOf(error) })
      isBroken = true
    }
  }
}

function urlHost({ address, family }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]` : address
}

function listenFailure(host: string, port: number, cause: Error): Failure {
  const holder = cause.message.includes('EADDRINUSE') ? findPortHolder(port) : undefined
  return new Failure({
    code: 'SIMULATOR_LISTEN_FAILED',
    sentence: 'the simulator cannot listen at its address',
    facts: { host, port, ...(holder && { 'has it': `${holder.program} (pid ${holder.pid})` }) },
    hint: 'choose another one with --port (0 takes any that is free), or end what has it, such as a simulator that still runs',
    cause,
  })
}

/** Cells come from our own tables, which contain no markup. */
function renderFrontPage(endpoints: readonly Endpoint[]): string {
  const rows = endpoints.map(renderRow).join('\n')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Exchange simulator</title>
<h1>Exchange simulator</h1>
<p>A simulated derivatives exchange: simulated prices, simulated money, a real wire. Requests must be
signed, are counted against the documented limits, and are refused with the codes of the real exchange.</p>
<table>
<tr><th>Method<th>Path<th>Signed<th>Limit
${rows}
</table>
</html>
`
}

function renderRow({ method, path, auth, limit }: Endpoint): string {
  const calls = `${limit.calls} in ${limit.perMs} ms a ${limit.scope === 'ip' ? 'client address' : 'user'}`
  const cells = [method, path, SIGNED[auth], calls]
  return `<tr><td>${cells.join('<td>')}`
}

const SIGNED = { public: 'no', schemeA: 'scheme A', schemeB: 'scheme B' } as const

interface TickingOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly stepMs: number
  readonly tick: (now: number) => void
}

/**
 * Missed multiples of `stepMs` are skipped.
 * @returns a function that stops it
 */
export function startTicking({ clock, timers, stepMs, tick }: TickingOptions): () => void {
  let cancel = () => {}
  let stopped = false
  const wait = () => {
    const now = clock.now()
    cancel = timers.after(stepMs - (now % stepMs), () => {
      tick(clock.now())
      if (!stopped) wait()
    })
  }
  wait()
  return () => {
    stopped = true
    cancel()
  }
}

interface AnswererOptions {
  readonly wire: Wire
  readonly faults: FaultPlan
  readonly clock: Clock
  readonly timers: Timers
  readonly answerDelay: () => number
  readonly onEvent: (event: ServerEvent) => void
}

class Answerer {
  readonly #options: AnswererOptions
  readonly #waiting = new Set<() => void>()
  #stopped = false

  constructor(options: AnswererOptions) {
    this.#options = options
  }

  async answer(request: ReceivedRequest, outgoing: ServerResponse): Promise<void> {
    const { faults, wire, clock, answerDelay, onEvent } = this.#options
    const endpoint = wire.endpointOf(request)
    const fault = faults.draw(endpoint)
    if (fault === undefined) {
      const response = wire.handle(request)
      const delayMs = answerDelay()
      if (delayMs > 0) await this.#wait(delayMs)
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
