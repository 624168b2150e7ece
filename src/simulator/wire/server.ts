import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Failure, messageOf } from '../../lib/failure.ts'
import { findPortHolder } from '../../lib/net/port-holder.ts'
import { Answerer, type AnswererOptions } from './answerer.ts'
import { renderFrontPage } from './front-page.ts'
import { readRequest } from './checks/read-request.ts'
import { servedNames, servedRow } from './served-rows.ts'
import { startTicking } from './ticking.ts'

/** An import would also load Node's HTTP client: 35 ms of CPU at each start. */
const { createServer } = process.getBuiltinModule('node:http')

export interface ServerOptions extends AnswererOptions {
  readonly host: string
  readonly port: number
  readonly stepMs: number
  readonly advance: (now: number) => unknown
  readonly bodyBytesMax: number
  /**
   * From the connection's first byte to the last of the headers. Default {@link HEADERS_MS_MAX}.
   */
  readonly headersMsMax?: number
  /** To the last byte of the body; not shorter. Default {@link REQUEST_MS_MAX}. */
  readonly requestMsMax?: number
}

export interface RunningServer {
  readonly baseUrl: string
  /**
   * Answers what it can within {@link STOP_GRACE_MS}, then closes every socket. A second call does
   * nothing.
   */
  stop(): Promise<void>
}

/**
 * Longer than clients keep an idle socket (undici: 4 s), and announced, so the client closes first
 * and no request meets a closing socket.
 */
const KEEP_ALIVE_MS = 75_000
const HEADERS_MS_MAX = 10_000
const REQUEST_MS_MAX = 30_000
/** Node's checks every 30 s would turn a limit of 10 s into 40. */
const CHECKS_A_LIMIT = 10
const HEADER_BYTES_MAX = 16_384
/** Far above any daemon's pool; a leak of sockets shows here first. */
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

/** A defect is reported and answered, and the next request is served. */
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
    // A request that is incomplete because its client left is not executed.
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

/** A failing market is reported once, and must not stop the daemon around it. */
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
