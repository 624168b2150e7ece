import { createRequire } from 'node:module'
import type Undici from 'undici'
import type { Dispatcher } from 'undici'
import { type ForwardProxy, openTunnel, type ProxyFor } from '../../lib/net/proxy.ts'
import type { Timers } from '../../lib/timers.ts'

export interface WebhookCall {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Contains no address, and nothing of an error's message. */
export type WebhookOutcome =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly text: string
      readonly retryAfterMs: number | undefined
    }
  | { readonly kind: 'failed'; readonly reason: string }

export interface WebhookClientOptions {
  readonly timers: Timers
  readonly timeoutMs?: number
  readonly proxyFor?: ProxyFor | undefined
}

const TIMEOUT_MS = 10_000
/** The HTTP client's timers are a backstop behind ours. */
const BACKSTOP_MS = 30_000
const CONNECT_MS = 5000
const ANSWER_BYTES_MAX = 4096

/** Follows no redirect, repeats nothing, and reads only the beginning of an answer. */
export class WebhookClient {
  readonly #timers: Timers
  readonly #timeoutMs: number
  readonly #proxyFor: ProxyFor
  #http: ReturnType<typeof openHttp> | undefined

  constructor({
    timers,
    timeoutMs = TIMEOUT_MS,
    proxyFor = () => undefined,
  }: WebhookClientOptions) {
    this.#timers = timers
    this.#proxyFor = proxyFor
    this.#timeoutMs = timeoutMs
  }

  /** Never throws. */
  async call({ url, method, headers, body }: WebhookCall): Promise<WebhookOutcome> {
    const ending = new AbortController()
    const cancel = this.#timers.after(this.#timeoutMs, () => ending.abort())
    try {
      const { request, agentFor } = (this.#http ??= openHttp())
      const answer = await request(url, {
        dispatcher: agentFor(this.#proxyFor(url)),
        signal: ending.signal,
        method,
        headers,
        body: body ?? null,
      })
      const text = await readBeginning(answer.body)
      const retryAfterMs = readRetryAfter(answer.headers['retry-after'], text)
      return { kind: 'answered', status: answer.statusCode, text, retryAfterMs }
    } catch (error) {
      const waited = `did not answer within ${this.#timeoutMs} ms`
      return { kind: 'failed', reason: ending.signal.aborted ? waited : describeError(error) }
    } finally {
      cancel()
    }
  }

  async close(): Promise<void> {
    await this.#http?.destroy()
  }
}

function openHttp() {
  const { Agent, request } = createRequire(import.meta.url)('undici') as typeof Undici
  const options = {
    allowH2: false,
    headersTimeout: BACKSTOP_MS,
    bodyTimeout: BACKSTOP_MS,
    keepAliveTimeout: 1000,
    keepAliveMaxTimeout: 1000,
  }
  const direct = new Agent({ ...options, connect: { timeout: CONNECT_MS } })
  const tunnels = new Map<string, Undici.ProxyAgent>()
  const agentFor = (proxy: ForwardProxy | undefined): Undici.Dispatcher => {
    if (proxy === undefined) return direct
    const tunnel =
      tunnels.get(proxy.url) ?? openTunnel(proxy, { ...options, connectTimeoutMs: CONNECT_MS })
    tunnels.set(proxy.url, tunnel)
    return tunnel
  }
  const destroy = async (): Promise<void> => {
    await Promise.all([direct, ...tunnels.values()].map((agent) => agent.destroy()))
  }
  return { agentFor, destroy, request }
}

async function readBeginning(body: Dispatcher.ResponseData['body']): Promise<string> {
  body.on('error', () => undefined)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= ANSWER_BYTES_MAX) break
    }
  } catch {}
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX).toString('utf8')
}

function readRetryAfter(header: unknown, text: string): number | undefined {
  const inBody = /"retry_after"\s*:\s*(\d{1,7}(?:\.\d{1,9})?)/.exec(text)?.[1]
  const seconds = typeof header === 'string' && /^\d{1,7}$/.test(header) ? header : inBody
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000)
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses the connection',
  ECONNRESET: 'reset the connection',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ENETUNREACH: 'there is no way to the host',
  EHOSTUNREACH: 'there is no way to the host',
  UND_ERR_CONNECT_TIMEOUT: 'does not take the connection',
  UND_ERR_SOCKET: 'closed the connection',
}

/** Messages of errors contain addresses. */
function describeError(error: unknown): string {
  const code = codeOf(error)
  return (
    REASONS[code] ??
    (/^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? `the call failed (${code})` : 'the call failed')
  )
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return code === '' ? codeOf(error.cause) : code
}
