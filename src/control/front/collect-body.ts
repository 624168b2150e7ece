import type { IncomingMessage } from 'node:http'

/** Calls back with undefined for a body that is too long, and never for one that does not end. */
export function collectBody(
  incoming: IncomingMessage,
  bytesMax: number,
  done: (body: Buffer | undefined) => void,
): void {
  const chunks: Buffer[] = []
  let length = 0
  const take = (chunk: Buffer): void => {
    length += chunk.length
    if (length <= bytesMax) return void chunks.push(chunk)
    incoming.off('data', take).off('end', end)
    done(undefined)
  }
  const end = (): void => done(Buffer.concat(chunks))
  incoming.on('data', take).once('end', end)
  incoming.on('error', () => undefined)
}
