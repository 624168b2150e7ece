import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import type { Context, Hono } from 'hono'
import type Undici from 'undici'
import type { Agent } from 'undici'
import { shortPath } from '../lib/net/socket-path.ts'
import { AGENT_PATH } from './powers.ts'
import type { Refusals } from './refusals.ts'
import { RateBucket } from './signals/rate-bucket.ts'

/** A tool call is one request; a program that begins makes four. */
const PER_MINUTE = 300
/** A call of research may take ten minutes, and each holds two sockets. */
const OPEN_MAX = 16
/** The protocol needs these. The token stays here. */
const PASSED_ON = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

interface AgentRelayOptions {
  /** That of `intentd mcp --http`. */
  readonly socket: string
  readonly monotonic: () => number
  readonly refusals: Refusals
}

/**
 * Passes requests of assistants on to `intentd mcp --http`, a process of its own beside the daemon.
 * Nothing of them is read here, and no command of theirs is run by the daemon.
 */
export function addAgentRelay(app: Hono, { socket, monotonic, refusals }: AgentRelayOptions): void {
  const rate = new RateBucket(PER_MINUTE, monotonic)
  let open = 0
  let server: ReturnType<typeof openServer> | undefined
  const refuse = (context: Context, why: string): Response => {
    refusals.add('request', why)
    return context.json({ error: why }, 429)
  }
  app.post(AGENT_PATH, async (context) => {
    if (!rate.take()) return refuse(context, `more than ${PER_MINUTE} requests a minute`)
    if (open >= OPEN_MAX) return refuse(context, `${OPEN_MAX} requests are open already`)
    open += 1
    let isCounted = true
    const leave = (): void => {
      if (isCounted) open -= 1
      isCounted = false
    }
    try {
      server ??= openServer(socket)
      const answer = await server.request(`http://localhost${AGENT_PATH}`, {
        method: 'POST',
        dispatcher: server.agent,
        signal: context.req.raw.signal,
        headers: headersOf(context),
        body: await context.req.text(),
      })
      answer.body.once('close', leave).on('error', () => undefined)
      const type = answer.headers['content-type']
      return new Response(Readable.toWeb(answer.body) as ReadableStream, {
        status: answer.statusCode,
        headers: typeof type === 'string' ? { 'content-type': type } : {},
      })
    } catch {
      leave()
      const error =
        'no assistant is served now: `intentd mcp --http` has to run beside the daemon, with the same configuration'
      return context.json({ error }, 503)
    }
  })
}

function headersOf({ req }: Context): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = req.header(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function openServer(socket: string): { agent: Agent; request: typeof Undici.request } {
  const undici = createRequire(import.meta.url)('undici') as typeof Undici
  const agent = new undici.Agent({
    connect: { socketPath: shortPath(socket), timeout: 2000 },
    // The other end bounds each of its commands; a client that goes away ends its request.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return { agent, request: undici.request }
}
