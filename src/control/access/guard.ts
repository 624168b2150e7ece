import type { Context, MiddlewareHandler } from 'hono'
import { PAGE_PATHS } from '../../dashboard/page-files.ts'
import { AGENT_PATH, POST_TOKENS } from '../powers.ts'
import { type Peer, peerOf } from './peer.ts'
import { GUARD_HEADERS } from './plain-answer.ts'
import { PROOF_PATH } from './server-proof.ts'
import type { SessionCodes } from './session-codes.ts'
import type { ControlTokens } from './token-file.ts'

/** The file system protects the socket; the port needs a token. */
export interface Entrance {
  readonly via: 'socket' | 'port'
  readonly hosts: readonly string[]
  readonly tokens: ControlTokens | undefined
  readonly codes?: SessionCodes
}

const OPEN_PATHS: ReadonlySet<string> = new Set([
  '/livez',
  '/readyz',
  '/docs',
  '/openapi.json',
  PROOF_PATH,
  ...PAGE_PATHS,
  ...Object.keys(POST_TOKENS).filter((path) => POST_TOKENS[path] === 'open'),
])

export interface GuardOptions {
  readonly entrance: Entrance
  readonly onRefused: (why: string) => void
}

/**
 * Refuses what a web page could send to loopback (docs/control.md, "What protects it"). All but the
 * open paths need a token.
 */
export function guard({ entrance, onRefused }: GuardOptions): MiddlewareHandler {
  return async (context, next) => {
    for (const [name, value] of Object.entries(GUARD_HEADERS)) context.header(name, value)
    const { req } = context
    const header = (name: string): string | undefined => req.header(name)
    const refusal = refuseHead({ method: req.method, path: req.path, header }, entrance)
    if (refusal === undefined) return next()
    onRefused(refusal.why)
    if (refusal.status === 401) context.header('WWW-Authenticate', 'Bearer')
    return context.json({ error: refusal.why }, refusal.status)
  }
}

export interface RefusedHead {
  readonly status: 400 | 401 | 403 | 415 | 421
  readonly why: string
}

export function mayLook({ req }: Context, { via, tokens }: Entrance): boolean {
  return via === 'socket' || ['full', 'read'].includes(peerOf(req.header('authorization'), tokens))
}

export interface RequestHead {
  readonly method: string
  readonly path: string
  readonly header: (name: string) => string | undefined
}

/** @param peer as the head shows it, if that is known */
export function refuseHead(
  head: RequestHead,
  entrance: Entrance,
  peer?: Peer,
): RefusedHead | undefined {
  const { method, header } = head
  if (entrance.via === 'port') {
    const host = header('host')?.toLowerCase()
    if (host === undefined || !entrance.hosts.includes(host))
      return { status: 421, why: 'the Host is none of this daemon' }
    const origin = header('origin')
    if (origin !== undefined && !entrance.hosts.some((own) => origin === `http://${own}`))
      return { status: 403, why: 'another Origin' }
    const site = header('sec-fetch-site')
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      return { status: 403, why: 'sent by another site' }
    const refusal = refuseToken(head, entrance, peer)
    if (refusal) return refusal
  }
  if (method === 'POST' && !isJson(header('content-type')))
    return { status: 415, why: 'the Content-Type is not application/json' }
  return undefined
}

const READING: readonly string[] = ['GET', 'HEAD']

function refuseToken(
  { method, path, header }: RequestHead,
  { tokens }: Entrance,
  peer = peerOf(header('authorization'), tokens),
): RefusedHead | undefined {
  if (OPEN_PATHS.has(path)) return undefined
  if (peer === 'nobody') return { status: 401, why: 'no token, or another one' }
  const isServed = tokens?.agent !== undefined && POST_TOKENS[path] === 'agent'
  if ((peer === 'agent') !== isServed)
    return {
      status: 403,
      why: `${AGENT_PATH} takes the token in control.agent.token, which opens nothing else`,
    }
  if (READING.includes(method) || peer !== 'read') return undefined
  return {
    status: 403,
    why: 'this token only looks (control.read.token); what changes something needs the one in control.token, or the command line',
  }
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}
