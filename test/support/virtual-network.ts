import { type Answer } from '../../src/domain/answer.ts'
import { type Reply } from '../../src/simulator/core/reply.ts'
import { toAnswer } from './virtual-exchange.ts'
import { type VirtualFaults } from './virtual-faults.ts'
import { type VirtualTime } from './virtual-time.ts'

export interface VirtualNetworkOptions {
  readonly time: VirtualTime
  readonly faults: VirtualFaults
  /** How long a client waits for an answer, ms. */
  readonly requestTimeoutMs: number
  /** Longest delay of a request or an answer that is late. */
  readonly lateMsMax: number
}

/** One call: what the exchange does when it arrives, and who hears the answer. */
export interface VirtualCall<Data> {
  /** Names the stream of random numbers that its faults are drawn from. */
  readonly site: string
  readonly perform: () => Reply<Data>
  /** Our clock, for the answer's times. */
  readonly ourNow: () => number
  /** Heard once; twice where the answer is delivered twice; not at all once its process has died. */
  readonly hear: (answer: Answer<Data>) => void
}

/** Between a client and the exchange: it delays, loses, repeats, and answers in the exchange's name. */
export class VirtualNetwork {
  readonly #options: VirtualNetworkOptions
  readonly #calls = new Map<string, number>()
  /** Hears what the exchange made of each call that reached it, before anything happens to the answer. */
  onReply: (site: string, reply: Reply<unknown>) => void = () => undefined

  constructor(options: VirtualNetworkOptions) {
    this.#options = options
  }

  send<Data>(call: VirtualCall<Data>): void {
    const { time, faults, requestTimeoutMs } = this.#options
    const { site } = call
    // Everything about a call is drawn by its number at the site.
    const n = this.#calls.get(site) ?? 0
    this.#calls.set(site, n + 1)
    const answered = once(call)
    if (faults.strikes('refusedConnection', site, n)) {
      time.after(this.#latency(site, n), () => answered(notSent(call.ourNow())))
      return
    }
    time.after(requestTimeoutMs, () => answered(timedOut(call.ourNow())))
    if (faults.strikes('requestLost', site, n)) return
    const arrives = faults.strikes('requestLate', site, n) ? this.#late() : this.#latency(site, n)
    time.after(arrives, () => this.#arrive(call, n, answered))
  }

  #arrive<Data>(call: VirtualCall<Data>, n: number, answered: (answer: Answer<Data>) => void): void {
    const { time, faults } = this.#options
    const { site } = call
    const requestTime = time.now
    const latencyMs = this.#latency(`${site}/answer`, n)
    const answer = (make: () => Answer<Data>): void => time.after(latencyMs, () => answered(make()))
    if (faults.strikes('serverErrorBefore', site, n)) return answer(() => brokenServer(call.ourNow()))
    if (faults.strikes('rateLimited', site, n)) return answer(() => tooMany(call.ourNow()))
    const reply = call.perform()
    this.onReply(site, reply)
    if (faults.strikes('answerLost', site, n)) return
    if (faults.strikes('serverErrorAfter', site, n)) return answer(() => brokenServer(call.ourNow()))
    if (faults.strikes('rateLimitedAfter', site, n)) return answer(() => tooMany(call.ourNow()))
    const made = (): Answer<Data> => toAnswer(reply, { receivedAt: call.ourNow(), requestTime })
    const isTwice = faults.strikes('answerTwice', site, n)
    time.after(faults.strikes('answerLate', site, n) ? this.#late() : latencyMs, () => {
      answered(made())
      if (isTwice) time.after(this.#latency(`${site}/again`, n), () => call.hear(made()))
    })
  }

  #latency(site: string, n: number): number {
    return this.#options.faults.delayMs(`${site}/latency`, 3, 40, n)
  }

  /** Of the fault that has just struck. */
  #late(): number {
    return this.#options.faults.severity(40, this.#options.lateMsMax)
  }
}

/** The first answer counts: a client that gave up hears no more. */
function once<Data>(call: VirtualCall<Data>): (answer: Answer<Data>) => void {
  let isOver = false
  return (answer) => {
    if (isOver) return
    isOver = true
    call.hear(answer)
  }
}

function notSent(receivedAt: number): Answer<never> {
  return {
    kind: 'refused',
    class: 'notSent',
    code: 'CONNECTION_REFUSED',
    topic: 'system',
    message: '',
    status: undefined,
    receivedAt,
  }
}

function timedOut(receivedAt: number): Answer<never> {
  return { kind: 'unknown', cause: 'timeout', code: '', message: '', status: undefined, receivedAt }
}

function brokenServer(receivedAt: number): Answer<never> {
  return { kind: 'unknown', cause: 'serverError', code: '', message: '', status: 502, receivedAt }
}

function tooMany(receivedAt: number): Answer<never> {
  return {
    kind: 'refused',
    class: 'retry',
    code: '429',
    topic: 'rate',
    message: 'Too Many Requests',
    status: 429,
    receivedAt,
  }
}
