import type { VirtualCall, VirtualWire } from '../../../src/backtest/virtual-wire.ts'
import type { SimulatedExchange } from '../../../src/backtest/direct-exchange.ts'
import type { Answer } from '../../../src/domain/answer.ts'
import type {
  WireAnswer,
  WireOutcome,
  TransportRequest,
} from '../../../src/exchange/client/transport.ts'
import type { Carrier } from '../../../src/exchange/exchange-client.ts'
import { type EndpointName, endpointNamed } from '../../../src/protocol/endpoints.ts'
import type { Reply } from '../../../src/simulator/shared/reply.ts'
import type { VirtualFaults } from '../faults/virtual-faults.ts'
import { type Bytes, renderAnswer } from './rendered-answer.ts'

export interface WireCarrierOptions {
  readonly wire: VirtualWire
  readonly exchange: SimulatedExchange
  readonly faults: VirtualFaults
}

type Written = Pick<TransportRequest<unknown>, 'target' | 'headers' | 'body'>

/** Endpoints of a world. */
const ENDPOINTS = [
  'batchPlaceOrder',
  'cancelAllOrders',
  'orderFills',
  'singlePosition',
] as const satisfies readonly EndpointName[]
type WiredEndpoint = (typeof ENDPOINTS)[number]

/** The client has its own clock and observes times itself. */
const NOT_OBSERVED = { observe: () => undefined }

/**
 * Carries the daemon's own client over a world's network: requests are parsed from bytes, answers
 * come back as bytes or not at all. A request waits for its connection as in other worlds.
 */
export class WireCarrier implements Carrier {
  readonly #options: WireCarrierOptions

  constructor(options: WireCarrierOptions) {
    this.#options = options
  }

  send<Result>(request: TransportRequest<Result>): Promise<WireOutcome<Result>> {
    const { wire } = this.#options
    const { time, network, gate } = wire
    const site = siteOf(request.target)
    return new Promise((resolve, reject) => {
      const write = (): void => {
        try {
          this.#write(site, request, resolve)
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }
      if (site !== 'batchPlaceOrder') return write()
      time.after(network.connectMs(), () => gate.settle(write))
    })
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #write<Result>(
    site: WiredEndpoint,
    request: TransportRequest<Result>,
    resolve: (outcome: WireOutcome<Result>) => void,
  ): void {
    const { wire, faults } = this.#options
    const { clock } = wire.trusted
    const objection = request.beforeWrite?.()
    const sentAt = clock.now()
    if (objection !== undefined)
      return resolve({ kind: 'notSent', code: 'ABORTED', message: objection, at: sentAt })
    const isReading = site === 'orderFills' || site === 'singlePosition'
    let isHeard = false
    const hear = (answer: Answer<unknown>): void => {
      if (isHeard) return
      isHeard = true
      const bytes = renderAnswer(site, answer, (ways) => faults.delayMs(`wire/${site}`, 0, ways))
      const happens = (): void =>
        resolve(toOutcome(request, bytes, { sentAt, receivedAt: clock.now() }))
      if (isReading) wire.gate.enter(happens)
      else wire.gate.settle(happens)
    }
    const call: VirtualCall<unknown> = {
      site,
      trusted: { clock, offset: NOT_OBSERVED },
      perform: (isCopy) => this.#perform(site, request, isCopy),
      hear,
    }
    wire.network.send(call)
  }

  #perform(site: WiredEndpoint, request: Written, isCopy: boolean): Reply<unknown> {
    const { exchange } = this.#options
    const { body, headers, target } = request
    const query = new URLSearchParams(target.slice(target.indexOf('?') + 1))
    const signedAt = Number(headers[headers.indexOf('ACCESS-TIMESTAMP') + 1])
    switch (site) {
      case 'batchPlaceOrder':
        return exchange.placeBatch({ body, signedAt, isCopy })
      case 'cancelAllOrders':
        return exchange.cancelAll(body, signedAt)
      case 'singlePosition':
        return exchange.position(query.get('symbol') ?? '')
      case 'orderFills':
        return exchange.fillsPage({
          sinceAt: Number(query.get('startTime')),
          limit: Number(query.get('limit')),
          idLessThan: query.get('idLessThan') ?? undefined,
        })
    }
  }
}

function siteOf(target: string): WiredEndpoint {
  const [path = ''] = target.split('?')
  const site = ENDPOINTS.find((name) => endpointNamed(name).path === path)
  if (site === undefined) throw new Error(`nothing in a world answers ${path}`)
  return site
}

function toOutcome<Result>(
  request: TransportRequest<Result>,
  bytes: Bytes,
  times: Pick<WireAnswer, 'sentAt' | 'receivedAt'>,
): WireOutcome<Result> {
  const { sentAt, receivedAt: at } = times
  switch (bytes.kind) {
    case 'notSent':
      return { kind: 'notSent', code: 'CONNECT_FAILED', message: 'no connection', at }
    case 'lost':
      return { kind: 'lost', cause: bytes.cause, code: '', status: undefined, sentAt, at }
    case 'answered': {
      const { status, body, contentEncoding } = bytes
      return { kind: 'answered', result: request.read({ status, body, contentEncoding, ...times }) }
    }
  }
}
