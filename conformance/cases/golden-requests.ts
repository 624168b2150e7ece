import assert from 'node:assert/strict'
import { type ConformedExchange, type Label } from '../exchange.ts'
import { at, listAt, textAt } from '../read.ts'
import { type Report } from '../report.ts'
import { areFixturesThere, readEndpointFixtures } from './fixtures.ts'

/** What says that a request is malformed. An order that is not there or a coin that is short is no matter. */
const MALFORMED = ['40019', '40020', '40017', '40053', '400172', '40306', '40404', '40007', '40725']

/** The requests of the vendor's samples, sent to the simulator by the SDK: it must understand each of them. */
export async function tryGoldenRequests(
  report: Report,
  exchange: ConformedExchange,
): Promise<void> {
  if (!(await areFixturesThere(report, 'golden requests'))) return
  for (const recorded of readEndpointFixtures()) {
    const [method, endpoint] = [textAt(recorded, 'method'), textAt(recorded, 'endpoint')]
    for (const [index, sample] of listAt(recorded, 'cases').entries()) {
      const body = at(sample, 'request', 'body')
      const query = at(sample, 'request', 'query')
      // Some samples show the answer only.
      if (method === 'POST' && (body === undefined || body === null)) continue
      await report.try(
        `golden request: ${method} ${endpoint.replace('/api/v2/', '')} ${index + 1}`,
        async () => {
          const sdk = await exchange.sdk(labelFor(endpoint, body))
          const parameters = (method === 'GET' ? query : body) as Record<string, unknown>
          const call =
            method === 'GET'
              ? sdk.getPrivate(endpoint, parameters)
              : sdk.postPrivate(endpoint, parameters)
          await Promise.allSettled([call])
          const { status, code, message } = exchange.relay.last
          assert.ok(!MALFORMED.includes(code), `HTTP ${status}, ${code} ${message}`)
          return `HTTP ${status}, ${code} ${message}`
        },
      )
    }
  }
}

/** Whoever the sample is for: a trader, or an account in the position mode that its tradeSide tells of. */
function labelFor(endpoint: string, body: unknown): Label {
  if (endpoint.includes('/copy/')) return 'trader'
  return at(body, 'orderList', 0, 'tradeSide') === undefined ? 'oneWay' : 'hedge'
}
