// Loaded before `intentd simulate`: writes down when each request came, its path, the status of its answer, from where it
// came, and when it was signed (`-` for one that is not).

import { appendFileSync } from 'node:fs'
import { Server, type IncomingMessage, type ServerResponse } from 'node:http'

const file = process.env['ARRIVALS_FILE'] ?? ''
const FLUSH_MS = 500
const original = Reflect.get(Server.prototype, 'emit') as (...args: unknown[]) => boolean
let lines: string[] = []

const flush = (): void => {
  if (lines.length > 0) appendFileSync(file, lines.join(''))
  lines = []
}

Server.prototype.emit = function emit(this: Server, event: string, ...args: unknown[]): boolean {
  if (event === 'request') {
    const [incoming, outgoing] = args as [IncomingMessage, ServerResponse]
    const at = performance.timeOrigin + performance.now()
    const [path = ''] = (incoming.url ?? '').split('?')
    const from = incoming.socket.remoteAddress ?? '-'
    const signedAt = String(incoming.headers['access-timestamp'] ?? '-')
    outgoing.once('close', () =>
      lines.push(`${at.toFixed(3)} ${path} ${outgoing.statusCode} ${from} ${signedAt}\n`),
    )
  }
  return original.call(this, event, ...args)
}

setInterval(flush, FLUSH_MS).unref()
process.once('exit', flush)
