import type { RequestListener, Server } from 'node:http'
import { messageOf } from '../../lib/failure.ts'
import { createServer } from '../../lib/net/node-http.ts'

const HTTP_PORT = 80
const HEADERS_MS_MAX = 5000
const REQUEST_MS_MAX = 10_000
const KEEP_ALIVE_MS = 5000
const HEADER_BYTES_MAX = 16_384

export function createControlServer(hear: RequestListener): Server {
  return createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    hear,
  )
}

/** A browser omits HTTP's default port from the Host. */
export function hostsOf(port: number): readonly string[] {
  const names = ['127.0.0.1', 'localhost', '[::1]']
  return [...names.map((name) => `${name}:${port}`), ...(port === HTTP_PORT ? names : [])]
}

/** @returns the port @throws if it cannot be opened */
export async function listenAt(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  onBroken: (reason: string) => void,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  // A broken server must not stop trading.
  server.on('error', (error) => onBroken(messageOf(error)))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}
