import { request as send } from 'undici'
import { type Clock } from '../../../src/lib/clock.ts'
import { systemTimers } from '../../../src/lib/timers.ts'
import { FaultPlan, type FaultSettings, noFaults } from '../../../src/simulator/wire/faults.ts'
import { Wire } from '../../../src/simulator/wire/handle.ts'
import { type ServerEvent } from '../../../src/simulator/wire/server-event.ts'
import { type RunningServer, startServer } from '../../../src/simulator/wire/server.ts'
import { defaultWireSettings } from '../../../src/simulator/wire/settings.ts'
import { type ReceivedRequest } from '../../../src/simulator/wire/wire-request.ts'
import { FakeCore } from './fake-core.ts'
import { START_AT } from './signed-request.ts'

/** Rate limits and stale clocks are tested without sockets: here the exchange's time stands still. */
const CLOCK: Clock = { now: () => START_AT, monotonic: () => START_AT }

export interface ServerBench {
  readonly core: FakeCore
  readonly server: RunningServer
  readonly faults: FaultPlan
  readonly events: ServerEvent[]
}

export interface ServerBenchOptions {
  readonly faults?: FaultSettings
  readonly answerDelayMs?: number
  readonly stepMs?: number
  readonly core?: FakeCore
  readonly clock?: Clock
  readonly host?: string
  readonly headersMsMax?: number
  readonly requestMsMax?: number
}

/** A server over a fake core, on a real socket. */
export async function startServerBench(options: ServerBenchOptions = {}): Promise<ServerBench> {
  const {
    core = new FakeCore(),
    clock = CLOCK,
    answerDelayMs = 0,
    stepMs = 60_000,
    host = '127.0.0.1',
  } = options
  const events: ServerEvent[] = []
  const onEvent = (event: ServerEvent) => void events.push(event)
  const faults = new FaultPlan(options.faults ?? noFaults, 7)
  const server = await startServer({
    wire: new Wire({ exchange: core, clock, onEvent }),
    faults,
    clock,
    timers: systemTimers,
    host,
    port: 0,
    stepMs,
    advance: (now) => core.advance(now),
    answerDelay: () => answerDelayMs,
    bodyBytesMax: defaultWireSettings.bodyBytesMax,
    ...(options.headersMsMax === undefined ? {} : { headersMsMax: options.headersMsMax }),
    ...(options.requestMsMax === undefined ? {} : { requestMsMax: options.requestMsMax }),
    onEvent,
  })
  return { core, server, faults, events }
}

/** Sends a wire request over HTTP, as it stands. */
export async function sendRequest(baseUrl: string, request: ReceivedRequest, timeoutMs = 2000) {
  const { method, path, query, headers, body } = request
  const response = await send(`${baseUrl}${path}${query === '' ? '' : `?${query}`}`, {
    method: method === 'POST' ? 'POST' : 'GET',
    headers: { ...headers },
    body: method === 'POST' ? body : null,
    signal: AbortSignal.timeout(timeoutMs),
  })
  return {
    status: response.statusCode,
    headers: response.headers,
    text: await response.body.text(),
  }
}
