import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { buildControlApp, type ControlAppOptions } from './control-app.ts'

export interface LoadedApp {
  /** At the socket. */
  readonly listen: RequestListener
  /** From the port. */
  readonly fetch: (request: Request) => Promise<Response>
}

export function loadApp(options: ControlAppOptions): LoadedApp {
  const app = buildControlApp(options)
  // The daemon shares this process, so the runtime's Request and Response stay.
  const listen = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  return {
    listen: (incoming, outgoing) => void listen(incoming, outgoing),
    fetch: async (request) => app.fetch(request),
  }
}
