import type { ServerResponse } from 'node:http'

export const GUARD_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

const JSON_TYPE = { 'Content-Type': 'application/json' }

interface PlainAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

export function answerJson(outgoing: ServerResponse, text: string): void {
  send(outgoing, text, { status: 200, headers: JSON_TYPE })
}

export function answerError(
  outgoing: ServerResponse,
  error: string,
  { status, headers }: PlainAnswer,
): void {
  send(outgoing, JSON.stringify({ error }), { status, headers: { ...JSON_TYPE, ...headers } })
}

function send(outgoing: ServerResponse, text: string, { status, headers }: PlainAnswer): void {
  if (outgoing.destroyed || outgoing.headersSent) return
  const length = { 'Content-Length': Buffer.byteLength(text) }
  outgoing.writeHead(status, { ...GUARD_HEADERS, ...headers, ...length })
  outgoing.end(text)
}
