import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerError, GUARD_HEADERS } from '../access/plain-answer.ts'
import { loadPage, type DashboardPage } from '../../dashboard/page-files.ts'

let loading: Promise<DashboardPage> | undefined

/** Undefined if a file is missing; then the next request tries again. */
async function loadOnce(): Promise<DashboardPage | undefined> {
  try {
    return await (loading ??= loadPage())
  } catch {
    loading = undefined
    return undefined
  }
}

/** These files hold nothing of the daemon, so they need no token. */
export async function servePage(
  { headers, method }: IncomingMessage,
  outgoing: ServerResponse,
  path: string,
): Promise<void> {
  const page = await loadOnce()
  const file = page?.files.get(path)
  if (page === undefined || file === undefined)
    return answerError(outgoing, 'the files of the page cannot be read', { status: 500 })
  if (outgoing.destroyed) return
  const { type, body, packed, etag } = file
  const shared = {
    ...GUARD_HEADERS,
    ETag: etag,
    // Browsers revalidate each time, and an unchanged file costs a 304.
    'Cache-Control': 'no-cache',
    Vary: 'Accept-Encoding',
    ...(path === '/' && { 'Content-Security-Policy': page.policy }),
  }
  if (headers['if-none-match'] === etag) {
    outgoing.writeHead(304, shared)
    return void outgoing.end()
  }
  const isPacked = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
  const sent = isPacked ? packed : body
  outgoing.writeHead(200, {
    ...shared,
    ...(isPacked && { 'Content-Encoding': 'gzip' }),
    'Content-Type': type,
    'Content-Length': sent.length,
  })
  outgoing.end(method === 'HEAD' ? undefined : sent)
}
