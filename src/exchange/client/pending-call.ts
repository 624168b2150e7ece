import type { Dispatcher } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { OutgoingRequest } from './request-writer.ts'

export interface RequestHandler extends Dispatcher.DispatchHandler {
  /** Must be called once, when the HTTP client is done with the request in any way. */
  onFree: () => void
  onUnsent: (error: unknown) => void
}

export interface WireRequest<Result> extends Pick<
  OutgoingRequest,
  'method' | 'target' | 'headers' | 'body'
> {
  readonly timeoutMs: number
  readonly answerBytesMax: number
  readonly beforeWrite?: (() => string | undefined) | undefined
  /** The bytes are valid only during this call. */
  readonly read: (answer: WireAnswer) => Result
}

export interface WireAnswer {
  readonly status: number
  readonly contentEncoding: string
  readonly body: Buffer
  /** Just before the first byte left, and after the last one arrived. */
  readonly sentAt: number
  readonly receivedAt: number
}

/**
 * - `answered`: a complete answer came.
 * - `notSent`: no byte has left, and none will.
 * - `lost`: a part has left, and no complete answer came.
 */
export type WireOutcome<Result> =
  | { readonly kind: 'answered'; readonly result: Result }
  | {
      readonly kind: 'notSent'
      readonly code: NotSentCode
      readonly message: string
      readonly at: number
    }
  | {
      readonly kind: 'lost'
      readonly cause: LossCause
      readonly code: string
      readonly status: number | undefined
      readonly sentAt: number
      readonly at: number
    }

type NotSentCode = 'ABORTED' | 'CONNECT_FAILED' | 'CONNECT_TIMEOUT'
type LossCause = 'timeout' | 'connectionLost' | 'tooLarge'

/** Fixed texts, so that no secret is in them. */
class Refusal extends Error {
  override readonly name = 'Refusal'
}

interface PendingCallOptions<Result> {
  readonly request: WireRequest<Result>
  readonly isProxied: boolean
  readonly clock: Clock
  readonly timers: Timers
  readonly buffers: AnswerBuffers
  readonly resolve: (outcome: WireOutcome<Result>) => void
  readonly reject: (error: unknown) => void
}

/**
 * One request and its answer.
 *
 * ```
 *  waiting ──the connection is there──► written ──last byte──► over (answered)
 *     │  beforeWrite objects, deadline,    │  deadline, reset, too large
 *     │  connection refused                ▼
 *     └──────► over (notSent)          over (lost)
 * ```
 * A request is written once: if the HTTP client tries a second connection, it is stopped there.
 */
export class PendingCall<Result> implements RequestHandler {
  onFree = (): void => undefined
  readonly #options: PendingCallOptions<Result>
  #state: 'waiting' | 'written' | 'over' = 'waiting'
  #controller: Dispatcher.DispatchController | undefined
  #cancelDeadline: (() => void) | undefined
  #buffer: AnswerBuffer | undefined
  #sentAt = 0
  #status: number | undefined
  #contentEncoding = ''

  constructor(options: PendingCallOptions<Result>) {
    this.#options = options
  }

  start(dispatch: (options: Dispatcher.DispatchOptions) => unknown): void {
    const { method, target, headers, body, timeoutMs } = this.#options.request
    this.#cancelDeadline = this.#options.timers.after(timeoutMs, () => this.#expire())
    try {
      dispatch({ method, path: target, headers, body: body === '' ? null : body })
    } catch (error) {
      this.onUnsent(error)
    }
  }

  onUnsent(error: unknown): void {
    this.onFree()
    this.#fail(error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // An abort would close the connection.
    if (this.#state !== 'waiting') throw new Refusal('the call is over')
    const reason = this.#lastCheck()
    if (reason !== undefined) {
      this.#end({
        kind: 'notSent',
        code: 'ABORTED',
        message: reason,
        at: this.#options.clock.now(),
      })
      throw new Refusal('aborted before it was written')
    }
    this.#state = 'written'
    this.#controller = controller
    this.#sentAt = this.#options.clock.now()
  }

  #lastCheck(): string | undefined {
    try {
      return this.#options.request.beforeWrite?.()
    } catch (error) {
      this.#close()
      this.#options.reject(error)
      throw error
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    this.#status = status
    this.#contentEncoding = String(headers['content-encoding'] ?? '').toLowerCase()
    this.#buffer = this.#options.buffers.borrow()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#state !== 'written' || this.#buffer === undefined) return
    if (this.#buffer.length + chunk.length > this.#options.request.answerBytesMax) {
      this.#lose('tooLarge', 'ANSWER_TOO_LARGE')
      return
    }
    this.#buffer.append(chunk)
  }

  onResponseEnd(): void {
    this.onFree()
    if (this.#state !== 'written' || this.#buffer === undefined) return
    const { request, clock, resolve, reject } = this.#options
    this.#close()
    try {
      const result = request.read({
        status: this.#status ?? 0,
        contentEncoding: this.#contentEncoding,
        body: this.#buffer.view,
        sentAt: this.#sentAt,
        receivedAt: clock.now(),
      })
      resolve({ kind: 'answered', result })
    } catch (error) {
      reject(error)
    } finally {
      this.#returnBuffer()
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.onFree()
    this.#fail(error)
  }

  #fail(error: unknown): void {
    if (this.#state === 'over') return
    const code = codeOf(error)
    if (this.#state === 'waiting') {
      const isTimeout = code === 'UND_ERR_CONNECT_TIMEOUT'
      this.#end({
        kind: 'notSent',
        code: isTimeout ? 'CONNECT_TIMEOUT' : 'CONNECT_FAILED',
        message: this.#options.isProxied
          ? `no connection to the exchange through the proxy (${proxyAnswer(error) ?? code})`
          : `no connection to the exchange (${code})`,
        at: this.#options.clock.now(),
      })
      return
    }
    this.#lose(code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? 'tooLarge' : 'connectionLost', code)
  }

  #expire(): void {
    if (this.#state === 'waiting') {
      const message = 'no connection to the exchange was free in time'
      this.#end({
        kind: 'notSent',
        code: 'CONNECT_TIMEOUT',
        message,
        at: this.#options.clock.now(),
      })
    } else if (this.#state === 'written') {
      this.#lose('timeout', 'DEADLINE')
    }
  }

  #lose(cause: LossCause, code: string): void {
    const at = this.#options.clock.now()
    this.#end({ kind: 'lost', cause, code, status: this.#status, sentAt: this.#sentAt, at })
    this.#returnBuffer()
    this.#controller?.abort(new Refusal(code))
  }

  #end(outcome: WireOutcome<Result>): void {
    this.#close()
    this.#options.resolve(outcome)
  }

  #close(): void {
    this.#state = 'over'
    this.#cancelDeadline?.()
  }

  #returnBuffer(): void {
    if (this.#buffer !== undefined) this.#options.buffers.giveBack(this.#buffer)
    this.#buffer = undefined
  }
}

/** The HTTP client's text if CONNECT is not answered with 200. */
function proxyAnswer(error: unknown): string | undefined {
  const [, status] =
    (error instanceof Error && /^Proxy response \((\d{3})\)/.exec(error.message)) || []
  return status === undefined ? undefined : `it answers ${status}`
}

/** Foreign messages may contain secrets, so only the code is used. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN'
  const code = 'code' in error ? error.code : undefined
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code)) return code
  return /^[A-Za-z]{3,40}$/.test(error.name) ? error.name : 'UNKNOWN'
}

export class AnswerBuffer {
  #bytes: Buffer
  #length = 0

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity)
  }

  get length(): number {
    return this.#length
  }

  get capacity(): number {
    return this.#bytes.length
  }

  get view(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, this.#bytes.length * 2))
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = length
  }

  reset(): void {
    this.#length = 0
  }
}

/** Holds all tickers (300 KB) without growing. */
const CAPACITY = 512 * 1024

const KEPT_MAX = 4

/** One huge answer must not hold its memory for months. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024

export class AnswerBuffers {
  readonly bytesMax: number
  readonly #free: AnswerBuffer[] = []

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  borrow(): AnswerBuffer {
    return this.#free.pop() ?? new AnswerBuffer(Math.min(CAPACITY, this.bytesMax))
  }

  giveBack(buffer: AnswerBuffer): void {
    buffer.reset()
    if (this.#free.length < KEPT_MAX && buffer.capacity <= KEPT_BYTES_MAX) this.#free.push(buffer)
  }
}
