import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { buildControlApp, type ControlAppOptions } from './control-app.ts'

/** Answers the requests of one entrance. */
export function listenForControl(options: ControlAppOptions): RequestListener {
  // The daemon lives in this process too: its Request and Response stay the runtime's own.
  const listen = getRequestListener(buildControlApp(options).fetch, {
    overrideGlobalObjects: false,
  })
  return (incoming, outgoing) => void listen(incoming, outgoing)
}
