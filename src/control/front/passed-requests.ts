import type { IncomingMessage, ServerResponse } from 'node:http'
import { isRecord } from '../../lib/plain-data.ts'
import { RateBucket } from '../../lib/rate-bucket.ts'
import type { Timers } from '../../lib/timers.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { answerError } from '../access/plain-answer.ts'
import { SharedAnswers } from './shared-answers.ts'
import {
  type UncheckedOrder,
  COMMANDS_PATH,
  isRiskier,
  PROPOSALS_PATH,
  urgencyOf,
} from '../powers.ts'
import { collectBody } from './collect-body.ts'
import type { PortNews, PassedAnswer, PassedRequest, ToPort } from './port-messages.ts'

const BODY_BYTES_MAX = 65_536
/** While so many requests that look wait, further ones are not passed on. */
const LOOKS_MAX = 64
/** Places among the looks for `/livez` and `/readyz` alone. */
const HEALTH_PLACES = 4
const TOO_MANY = 'too many requests wait already'
/** A look without an answer is forgotten after this time. */
const LOOK_MS_MAX = 10_000
/** A command may be carried out late, so its sender waits longer for the answer. */
const POSTED_MS_MAX = 30_000
const LATE = `the daemon has not answered for ${LOOK_MS_MAX / 1000} s`
const POSTED_LATE = `the daemon has not answered for ${POSTED_MS_MAX / 1000} s, and may still do it: look, or send a command again with the same requestId`
/** The trading thread makes a plan of each proposal. */
const PROPOSED_PER_MINUTE = 60
const PROPOSED_BURST = 20
/** Each command is written durably. A kill, a halt and a flatten do not count. */
const COMMANDED_PER_MINUTE = 600
const COMMANDED_BURST = 60
const RETRY_AFTER = { 'Retry-After': '1' }
const PASSED_ON = [
  'host',
  'origin',
  'sec-fetch-site',
  'authorization',
  'content-type',
  'last-event-id',
]

const COMMON = /^\/(?:v1\/(?!events\b|live\b)|livez$|readyz$|openapi\.json|docs)/

interface Waiting {
  readonly id: number
  readonly target: string
  readonly method: string
  /** More than one if the same was requested again meanwhile. */
  readonly outgoing: Set<ServerResponse>
  isLook: boolean
  /** How many commands had been carried out when it was passed on. */
  readonly commands: number
  readonly stopWaiting: () => void
}

interface PassedRequestsOptions {
  readonly monotonic: () => number
  readonly timers: Timers
  readonly onRefused: (why: string) => void
  readonly post: (message: PortNews) => void
}

/** Passes admitted requests to the trading thread, and its answers back. */
export class PassedRequests {
  readonly #options: PassedRequestsOptions
  readonly #waiting = new Map<number, Waiting>()
  readonly #shared: SharedAnswers
  readonly #commandRate: RateBucket
  readonly #proposalRate: RateBucket
  /** Requests under way whose answer serves all that ask for the same target. */
  readonly #common = new Map<string, Waiting>()
  #looks = 0
  #lastId = 0

  constructor(options: PassedRequestsOptions) {
    this.#options = options
    this.#shared = new SharedAnswers(options.monotonic)
    this.#commandRate = new RateBucket(COMMANDED_PER_MINUTE, options.monotonic, COMMANDED_BURST)
    this.#proposalRate = new RateBucket(PROPOSED_PER_MINUTE, options.monotonic, PROPOSED_BURST)
  }

  /** False: the request has to be passed on. */
  answerInCommon({ url = '', method }: IncomingMessage, outgoing: ServerResponse): boolean {
    if (method !== 'GET') return false
    const answer = this.#shared.recall(url)
    if (answer !== undefined) {
      send(outgoing, answer)
      return true
    }
    const asked = this.#common.get(url)
    if (asked === undefined || asked.commands !== this.#shared.commands) return false
    this.#attach(asked, outgoing)
    return true
  }

  /** Has no rate, because many at once become one request for the trading thread. */
  passHealth(incoming: IncomingMessage, outgoing: ServerResponse): void {
    // Node leaves out the body of an answer to HEAD.
    incoming.method = 'GET'
    if (this.answerInCommon(incoming, outgoing)) return
    if (this.#looks >= LOOKS_MAX) return this.#refuse(outgoing, 503, TOO_MANY)
    this.#send(incoming, outgoing, { kind: 'look' })
  }

  pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (incoming.method === 'POST') return this.#passPosted(incoming, outgoing)
    if (this.#isFull()) return this.#refuse(outgoing, 503, TOO_MANY)
    this.#send(incoming, outgoing, { kind: 'look' })
  }

  #isFull(): boolean {
    return this.#looks >= LOOKS_MAX - HEALTH_PLACES
  }

  #passPosted(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const tooLarge = (): void =>
      answerError(outgoing, 'the body is too large', {
        status: 413,
        headers: { Connection: 'close' },
      })
    if (Number(incoming.headers['content-length'] ?? 0) > BODY_BYTES_MAX) return tooLarge()
    collectBody(incoming, BODY_BYTES_MAX, (bytes) => {
      if (bytes === undefined) return tooLarge()
      const body = bytes.toString()
      const [path = ''] = (incoming.url ?? '').split('?', 1)
      const order = orderOf(path, body)
      const kind = path === COMMANDS_PATH ? urgencyOf(order) : 'look'
      if (kind === 'look' && this.#isFull()) return this.#refuse(outgoing, 503, TOO_MANY)
      const why = this.#objectToRate(path, order)
      if (why !== undefined) return this.#refuse(outgoing, 429, why)
      this.#send(incoming, outgoing, { kind, body })
    })
  }

  /** No flood with the token may keep a kill, a halt or a flatten out. */
  #objectToRate(path: string, order: UncheckedOrder): string | undefined {
    if (path === PROPOSALS_PATH || (path === COMMANDS_PATH && isRiskier(order)))
      return this.#proposalRate.take()
        ? undefined
        : `more than ${PROPOSED_PER_MINUTE} proposals a minute`
    if (path !== COMMANDS_PATH || urgencyOf(order) !== 'command') return undefined
    return this.#commandRate.take()
      ? undefined
      : `more than ${COMMANDED_PER_MINUTE} commands a minute`
  }

  #send(
    { method = '', url: target = '', headers }: IncomingMessage,
    outgoing: ServerResponse,
    { kind, body }: Pick<PassedRequest, 'kind'> & { readonly body?: string },
  ): void {
    const id = ++this.#lastId
    if (method === 'POST') this.#shared.forget()
    const { commands } = this.#shared
    const isLook = kind === 'look'
    const lifeMs = method === 'POST' ? POSTED_MS_MAX : LOOK_MS_MAX
    const stopWaiting = this.#options.timers.after(lifeMs, () => this.#expire(waiting))
    const outgoings = new Set<ServerResponse>()
    const waiting: Waiting = {
      id,
      target,
      method,
      outgoing: outgoings,
      isLook,
      commands,
      stopWaiting,
    }
    if (isLook) this.#looks += 1
    if (isCommon(waiting)) this.#common.set(target, waiting)
    this.#waiting.set(id, waiting)
    this.#attach(waiting, outgoing)
    const passed = PASSED_ON.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value] as const] : []
    })
    const request = { id, kind, method, target, headers: Object.fromEntries(passed), body }
    this.#options.post({ kind: 'passed', request })
  }

  hear(message: ToPort): void {
    const { id } = message
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    const [outgoing] = waiting.outgoing
    if (message.kind === 'answer') this.#answer(waiting, message.answer)
    else if (message.kind === 'end') this.#end(waiting)
    else if (message.kind === 'full') this.#giveUp(waiting, 503, TOO_MANY)
    else if (outgoing !== undefined && !outgoing.write(message.chunk)) {
      this.#options.post({ kind: 'slow', id, isSlow: true })
      outgoing.once('drain', () => this.#options.post({ kind: 'slow', id, isSlow: false }))
    }
  }

  #answer(waiting: Waiting, answer: PassedAnswer): void {
    if (answer.body === undefined) return this.#begin(waiting, answer)
    this.#forget(waiting)
    if (waiting.method === 'POST') this.#shared.forget()
    else if (isCommon(waiting)) this.#shared.keep(waiting.target, answer, waiting.commands)
    for (const outgoing of waiting.outgoing) send(outgoing, answer)
  }

  /** Begins a stream. The number of followers bounds streams. */
  #begin(waiting: Waiting, { status, headers }: PassedAnswer): void {
    const [outgoing] = waiting.outgoing
    waiting.stopWaiting()
    this.#uncount(waiting)
    if (outgoing === undefined || outgoing.destroyed) return
    outgoing.writeHead(status, headers)
    outgoing.flushHeaders()
  }

  #end(waiting: Waiting): void {
    this.#forget(waiting)
    for (const outgoing of waiting.outgoing)
      if (outgoing.headersSent) outgoing.end()
      else outgoing.destroy()
  }

  #attach(waiting: Waiting, outgoing: ServerResponse): void {
    waiting.outgoing.add(outgoing)
    outgoing.once('close', () => this.#leave(waiting, outgoing))
  }

  #leave(waiting: Waiting, outgoing: ServerResponse): void {
    waiting.outgoing.delete(outgoing)
    if (waiting.outgoing.size > 0 || !this.#waiting.has(waiting.id)) return
    this.#forget(waiting)
    this.#options.post({ kind: 'left', id: waiting.id })
  }

  /** A posted request is still carried out: a kill is not dropped because it is late. */
  #expire(waiting: Waiting): void {
    const isPosted = waiting.method === 'POST'
    this.#giveUp(waiting, 504, isPosted ? POSTED_LATE : LATE)
    if (!isPosted) this.#options.post({ kind: 'left', id: waiting.id })
  }

  #giveUp(waiting: Waiting, status: number, why: string): void {
    this.#forget(waiting)
    for (const outgoing of waiting.outgoing) this.#refuse(outgoing, status, why)
  }

  #uncount(waiting: Waiting): void {
    if (waiting.isLook) this.#looks -= 1
    waiting.isLook = false
  }

  #forget(waiting: Waiting): void {
    waiting.stopWaiting()
    this.#waiting.delete(waiting.id)
    this.#uncount(waiting)
    if (this.#common.get(waiting.target) === waiting) this.#common.delete(waiting.target)
  }

  #refuse(outgoing: ServerResponse, status: number, why: string): void {
    this.#options.onRefused(why)
    answerError(outgoing, why, { status, headers: RETRY_AFTER })
  }
}

/** The answer is the same for every client. A stream belongs to one client. */
function isCommon({ method, target }: Waiting): boolean {
  return method === 'GET' && COMMON.test(target)
}

/** Not validated yet. A body that is no order has the urgency and the rate of any command. */
function orderOf(path: string, body: string): UncheckedOrder {
  if (path !== COMMANDS_PATH) return {}
  try {
    const asked = parseBoundedJson(body)
    return isRecord(asked) && isRecord(asked['order']) ? asked['order'] : {}
  } catch {
    return {}
  }
}

function send(outgoing: ServerResponse, { status, headers, body = '' }: PassedAnswer): void {
  if (outgoing.destroyed) return
  outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  outgoing.end(body)
}
