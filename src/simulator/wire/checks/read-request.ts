import type { IncomingMessage } from 'node:http'
import type { ReceivedRequest } from '../wire-request.ts'

/**
 * A body longer than `bodyBytesMax` is cut one byte beyond it, so that the wire refuses it.
 * @returns undefined if the client left before the request was complete
 */
export async function readRequest(
  incoming: IncomingMessage,
  bodyBytesMax: number,
): Promise<ReceivedRequest | undefined> {
  const body = hasBody(incoming) ? await readBody(incoming, bodyBytesMax + 1) : ''
  if (body === undefined) return undefined
  const target = incoming.url ?? '/'
  const queryAt = target.indexOf('?')
  return {
    method: incoming.method ?? 'GET',
    path: queryAt < 0 ? target : target.slice(0, queryAt),
    query: queryAt < 0 ? '' : target.slice(queryAt + 1),
    headers: incoming.headers as Record<string, string | undefined>,
    body,
    remoteAddress: addressOf(incoming),
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function readBody(incoming: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const finish = () => resolve(Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8'))
    incoming.on('data', (chunk: Buffer) => {
      if (bytes < bytesMax) chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= bytesMax) finish()
    })
    incoming.once('end', finish)
    incoming.once('error', () => resolve(undefined))
    incoming.once('close', () => resolve(undefined))
  })
}

function addressOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:/, '')
}
