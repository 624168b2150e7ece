import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { buildControlApp, type ControlAppOptions } from './control-app.ts'

export function listenForControl(options: ControlAppOptions): RequestListener {
  // The daemon shares this process, so the runtime's Request and Response stay.
  const listen = getRequestListener(buildControlApp(options).fetch, {
    overrideGlobalObjects: false,
  })
  return (incoming, outgoing) => void listen(incoming, outgoing)
}
