import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { showUtc } from '../lib/text/show-utc.ts'
import { type Context, Hono, type Next } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { z } from 'zod'
import { Failure, messageOf } from '../lib/failure.ts'
import { describeSocket } from './access/verified-caller.ts'
import { type AnsweredRequests, asRepeated, type Unanswered } from './answered-requests.ts'
import type { ConfirmedBefore, Proposals, Refused } from './approval/proposals.ts'
import {
  confirmationSchema,
  type ControlAnswer,
  type ControlRequest,
  controlRequestSchema,
  type ProposalView,
  sessionRequestSchema,
} from './commands.ts'
import { COMMANDS_PATH, isRiskier, PROPOSALS_PATH, SESSION_PATH, urgencyOf } from './powers.ts'
import type { CommandOutcome, Controlled } from './controlled.ts'
import { EVERY_MS, followEvents, followLive, parseEventId } from './follow-events.ts'
import { type Entrance, guard, mayLook } from './access/guard.ts'
import { LiveSections } from './live-sections.ts'
import { buildOpenApi, renderDocs } from './openapi.ts'
import { type Peer, peerOf } from './access/peer.ts'
import type { TurnQueue } from './access/turn-queue.ts'
import type { Refusals } from './refusals.ts'
import { READ_ROUTES } from './routes.ts'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST']
const BODY_BYTES_MAX = 65_536
/** Each follower holds a socket and wakes with every event. */
const FOLLOWERS_MAX = 32

export interface ControlAppOptions {
  readonly daemon: Controlled
  readonly version: string
  readonly monotonic: () => number
  readonly readOnly: boolean
  /** This and `proposals` are shared by socket and port. */
  readonly answered: AnsweredRequests
  readonly proposals: Proposals
  readonly entrance: Entrance
  /** Shared by all entrances, so that a kill comes before other commands. */
  readonly turns: TurnQueue
  readonly address: () => string | undefined
  readonly refusals: Refusals
  readonly onBroken: (reason: string) => void
}

export interface LoadedApp {
  /** At the socket. */
  readonly listen: RequestListener
  /** From the port. */
  readonly fetch: (request: Request) => Promise<Response>
}

export function loadApp(options: ControlAppOptions): LoadedApp {
  const app = buildControlApp(options)
  // The daemon shares this process, so the runtime's Request and Response stay.
  const listen = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  return {
    listen: (incoming, outgoing) => void listen(incoming, outgoing),
    fetch: async (request) => app.fetch(request),
  }
}

export function buildControlApp(options: ControlAppOptions): Hono {
  const { daemon, version, entrance, refusals, onBroken } = options
  const app = new Hono()
  app.use(guard({ entrance, onRefused: (why) => refusals.add('request', why) }))
  app.use(async (context, next) => {
    if (METHODS.includes(context.req.method)) return next()
    return context.json({ error: `only ${METHODS.join(', ')}` }, 405, { allow: METHODS.join(', ') })
  })
  app.use(boundBody)
  app.get('/livez', (context) => context.text('ok\n'))
  app.get('/readyz', (context) => answerReadiness(context, daemon, entrance))
  app.get('/metrics', (context) =>
    context.text(`${daemon.metrics()}${refusals.render()}`, 200, {
      'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
    }),
  )
  const description = once(() => JSON.stringify(buildOpenApi(version)))
  const docs = once(() => renderDocs(version))
  app.get('/openapi.json', (context) =>
    context.body(description(), 200, { 'Content-Type': 'application/json' }),
  )
  app.get('/docs', (context) => context.html(docs()))
  for (const route of READ_ROUTES) {
    app.get(route.path, async (context) => {
      const asked = route.query.safeParse(context.req.query())
      if (!asked.success) return context.json({ error: wordsOf(asked.error) }, 400)
      const found = await route.read(daemon, asked.data)
      if (found === undefined) return context.json({ error: 'there is no such thing' }, 404)
      return context.json(found)
    })
  }
  addSession(app, entrance)
  addFollowing(app, options)
  app.post('/v1/addresses', (context) => context.json({ url: options.address() ?? null }))
  addCommands(app, options)
  addProposals(app, options)
  app.notFound((context) => context.json({ error: 'there is no such path; /docs lists them' }, 404))
  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse()
    if (error instanceof Failure) return context.json({ error: error.message }, 503)
    // The client has left or timed out, so nothing reads this answer.
    if (context.req.raw.signal.aborted) return context.json({ error: 'not asked to the end' }, 400)
    onBroken(messageOf(error))
    return context.json({ error: 'the daemon failed to answer; its log says why' }, 500)
  })
  return app
}

/** A client without a token must not be able to have the text made again and again. */
function once(make: () => string): () => string {
  let made: string | undefined
  return () => (made ??= make())
}

/**
 * Counts a body in chunks as it comes. Hono's own limit would make a Request of its Request, which
 * fails if the runtime's classes are not replaced.
 */
async function boundBody(context: Context, next: Next): Promise<Response | void> {
  const { req } = context
  const refuse = (): Response => context.json({ error: 'the body is too large' }, 413)
  const length = req.header('content-length')
  if (Number(length ?? 0) > BODY_BYTES_MAX) return refuse()
  if (length !== undefined || req.method !== 'POST' || req.raw.body === null) return next()
  const body: AsyncIterable<Uint8Array> = req.raw.body
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) return refuse()
    chunks.push(chunk)
  }
  const { url, method, headers, signal } = req.raw
  req.raw = new Request(url, { method, headers, signal, body: Buffer.concat(chunks) })
  return next()
}

/** Without the token the reasons are omitted. */
function answerReadiness(context: Context, daemon: Controlled, entrance: Entrance): Response {
  const { isReady, checks } = daemon.readiness()
  const lines = Object.entries(checks).map(
    ([name, { ok, found }]) => `[${ok ? '+' : '-'}] ${name}: ${found}\n`,
  )
  const verbose = context.req.query('verbose') !== undefined && mayLook(context, entrance)
  return context.text(
    `${verbose ? lines.join('') : ''}${isReady ? 'ok' : 'not ready'}\n`,
    isReady ? 200 : 503,
  )
}

function addSession(app: Hono, { codes, tokens }: Entrance): void {
  app.post(SESSION_PATH, async (context) => {
    const asked = sessionRequestSchema.safeParse(readJson(await context.req.text()))
    if (!asked.success) return context.json({ error: wordsOf(asked.error) }, 400)
    if (tokens === undefined || codes?.redeem(asked.data.code) !== true)
      return context.json({ error: 'this code was used, or its minute is over' }, 403)
    return context.json({ token: tokens.full.reveal() })
  })
}

function addFollowing(
  app: Hono,
  { daemon, monotonic, entrance, refusals }: ControlAppOptions,
): void {
  const sections = new LiveSections({ read: () => daemon.status(), monotonic, everyMs: EVERY_MS })
  const followers: Record<Peer, number> = { full: 0, read: 0, agent: 0, nobody: 0 }
  const add = (
    path: string,
    follow: (stream: SSEStreamingApi, from: number) => Promise<void>,
  ): void => {
    app.get(path, (context) => {
      // A HEAD answer's body would not be read.
      if (context.req.method === 'HEAD') return context.body(null, 405)
      const from = parseEventId(context, daemon.events)
      if (from === undefined)
        return context.json({ error: 'the id of an event is a whole number' }, 400)
      // Counted by kind of token, so that readers take no place of those that command; the socket
      // has one kind.
      const peer = peerOf(context.req.header('authorization'), entrance.tokens)
      if (followers[peer] >= FOLLOWERS_MAX) {
        refusals.add('follower', `${FOLLOWERS_MAX} follow already`)
        return context.json({ error: `${FOLLOWERS_MAX} follow already` }, 503)
      }
      followers[peer] += 1
      let isCounted = true
      const leave = (): void => {
        if (isCounted) followers[peer] -= 1
        isCounted = false
      }
      context.req.raw.signal.addEventListener('abort', leave, { once: true })
      return streamSSE(context, (stream) => follow(stream, from).finally(leave))
    })
  }
  add('/v1/events', (stream, from) => followEvents(stream, from, daemon.events))
  add('/v1/live', (stream, from) => followLive({ stream, from, history: daemon.events, sections }))
}

/** The port accepts commands with one token only. */
function callerAt({ via }: Entrance): string {
  return via === 'socket' ? describeSocket() : 'port:control.token'
}

/** The socket admits only the daemon's user, so what adds risk needs no code there. */
function addCommands(app: Hono, options: ControlAppOptions): void {
  const { daemon, entrance, answered, turns } = options
  app.post(COMMANDS_PATH, async (context) => {
    const request = await readRequest(context, options)
    if (request instanceof Response) return request
    if (entrance.via === 'port' && isRiskier(request.order))
      return propose(context, request, options)
    if (entrance.via === 'socket')
      await new Promise<void>((resolve) => void turns.add(urgencyOf(request.order), resolve))
    const answer = await answered.once(request, () => daemon.command(request, callerAt(entrance)))
    return answerOnce(context, answer)
  })
}

function addProposals(app: Hono, options: ControlAppOptions): void {
  const { daemon, readOnly, entrance, answered, proposals } = options
  app.get(PROPOSALS_PATH, (context) => context.json(proposals.list()))
  app.post(PROPOSALS_PATH, async (context) => {
    const request = await readRequest(context, options)
    return request instanceof Response ? request : propose(context, request, options)
  })
  app.post('/v1/confirmations', async (context) => {
    if (readOnly) return refuseReadOnly(context)
    const asked = confirmationSchema.safeParse(readJson(await context.req.text()))
    if (!asked.success) return context.json({ error: wordsOf(asked.error) }, 400)
    let answer: Promise<ControlAnswer | Unanswered> | undefined
    const confirmed = await proposals.confirm(
      asked.data,
      { verified: callerAt(entrance) },
      (request, verified, approval) => {
        let outcome: CommandOutcome | undefined
        answer = answered.once(
          request,
          () => (outcome = daemon.command(request, verified, approval)),
        )
        return outcome && (outcome.written ?? Promise.resolve(outcome.answer))
      },
    )
    if (confirmed.kind === 'refused') return answerRefusal(context, confirmed)
    if (confirmed.kind === 'before') return answerConfirmed(context, confirmed, answered)
    return answerOnce(context, (await answer) ?? 'other')
  })
}

/** Tells what came of it without doing anything. */
async function answerConfirmed(
  context: Context,
  { why, request, lasting }: ConfirmedBefore,
  answered: AnsweredRequests,
): Promise<Response> {
  const known = await answered.follow(request)
  const last = known === 'unknown' && lasting ? asRepeated(await lasting) : known
  if (last === 'unknown') return context.json({ error: `${why}; look at status` }, 410)
  if (typeof last === 'string') return answerOnce(context, last)
  return answerOnce(context, { ...last, text: `${why}; ${last.text}` })
}

async function propose(
  context: Context,
  request: ControlRequest,
  { daemon, entrance, proposals, answered }: ControlAppOptions,
): Promise<Response> {
  const known = answered.recall(request)
  if (known !== 'unknown') return answerOnce(context, known)
  const verified = callerAt(entrance)
  const proposed = await proposals.propose(request, { entrance: entrance.via, verified })
  if (proposed.kind === 'refused') return answerRefusal(context, proposed)
  const nothing = { requestId: request.requestId, isObeyed: false, held: [], lifted: [] }
  if (proposed.kind === 'impossible')
    return context.json({ ...nothing, stillHeld: {}, text: `not done: ${proposed.why}` })
  const { proposal } = proposed
  const text = describeProposal(proposal, daemon.status().configOption)
  return context.json({ ...nothing, stillHeld: {}, text, proposal }, 202)
}

function describeProposal({ id, expiresAt }: ProposalView, configOption: string): string {
  return `not done yet: this can add risk, so it waits as proposal ${id} until ${showUtc(expiresAt)}; confirm it with a code of your authenticator: \`intentd confirm${configOption} ${id}\` at the machine, or /confirm ${id} CODE in the chat`
}

async function readRequest(
  context: Context,
  { readOnly }: ControlAppOptions,
): Promise<ControlRequest | Response> {
  if (readOnly) return refuseReadOnly(context)
  const request = controlRequestSchema.safeParse(readJson(await context.req.text()))
  return request.success ? request.data : context.json({ error: wordsOf(request.error) }, 400)
}

function refuseReadOnly(context: Context): Response {
  return context.json({ error: 'control.readOnly: commands are not taken here' }, 403)
}

function answerRefusal(context: Context, { status, why }: Refused): Response {
  return context.json({ error: why }, status)
}

const UNANSWERED: Readonly<Record<Unanswered, string>> = {
  other:
    'this request id (--key at the command line) was used for another command or another reason',
  outdated:
    'outdated: the time in this request id is before all that is remembered, so it may have been obeyed already; look at status, and order it with a new id',
}

function answerOnce(context: Context, answer: ControlAnswer | Unanswered): Response {
  return typeof answer === 'string'
    ? context.json({ error: UNANSWERED[answer] }, 409)
    : context.json(answer)
}

function readJson(text: string): unknown {
  try {
    return parseBoundedJson(text)
  } catch {
    return undefined
  }
}

function wordsOf(error: z.ZodError): string {
  return z.prettifyError(error)
}
