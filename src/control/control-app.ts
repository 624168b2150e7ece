import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { z } from 'zod'
import { messageOf } from '../lib/failure.ts'
import { AnsweredRequests } from './answered-requests.ts'
import { type ControlAnswer, controlRequestSchema } from './commands.ts'
import { type Controlled } from './controlled.ts'
import { followEvents } from './follow-events.ts'
import { type Entrance, guard, isTrusted } from './guard.ts'
import { buildOpenApi, renderDocs } from './openapi.ts'
import { READ_ROUTES } from './routes.ts'

const BODY_BYTES_MAX = 65_536
/** Each holds a socket and wakes with every event. */
const FOLLOWERS_MAX = 16

export interface ControlAppOptions {
  readonly daemon: Controlled
  readonly version: string
  /** Whether commands are taken at all. */
  readonly readOnly: boolean
  /** By which it is reached. */
  readonly entrance: Entrance
  readonly onRefused: (why: string) => void
  /** The program failed while it answered. */
  readonly onBroken: (reason: string) => void
}

/** Everything that the control interface answers. */
export function buildControlApp(options: ControlAppOptions): Hono {
  const { daemon, version, entrance, onRefused, onBroken } = options
  const app = new Hono()
  app.use(guard({ entrance, onRefused }))
  app.use(
    bodyLimit({
      maxSize: BODY_BYTES_MAX,
      onError: (context) => context.json({ error: 'the body is too large' }, 413),
    }),
  )
  app.get('/livez', (context) => context.text('ok\n'))
  app.get('/readyz', (context) => answerReadiness(context, daemon, entrance))
  app.get('/metrics', (context) =>
    context.text(daemon.metrics(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }),
  )
  app.get('/openapi.json', (context) => context.json(buildOpenApi(version)))
  app.get('/docs', (context) => context.html(renderDocs(version)))
  for (const route of READ_ROUTES) {
    app.get(route.path, (context) => {
      const asked = route.query.safeParse(context.req.query())
      return asked.success
        ? context.json(route.read(daemon, asked.data))
        : context.json({ error: wordsOf(asked.error) }, 400)
    })
  }
  addFollowing(app, daemon)
  addCommands(app, options)
  app.notFound((context) => context.json({ error: 'there is no such path; /docs lists them' }, 404))
  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse()
    onBroken(messageOf(error))
    return context.json({ error: 'the daemon failed to answer; its log says why' }, 500)
  })
  return app
}

/** Without the token it says whether, and not why. */
function answerReadiness(context: Context, daemon: Controlled, entrance: Entrance): Response {
  const { isReady, checks } = daemon.readiness()
  const lines = Object.entries(checks).map(
    ([name, { ok, found }]) => `[${ok ? '+' : '-'}] ${name}: ${found}\n`,
  )
  const verbose = context.req.query('verbose') !== undefined && isTrusted(context, entrance)
  return context.text(
    `${verbose ? lines.join('') : ''}${isReady ? 'ok' : 'not ready'}\n`,
    isReady ? 200 : 503,
  )
}

function addFollowing(app: Hono, daemon: Controlled): void {
  let followers = 0
  app.get('/v1/events', (context) => {
    if (followers >= FOLLOWERS_MAX) return context.json({ error: `${FOLLOWERS_MAX} follow already` }, 503)
    followers += 1
    context.req.raw.signal.addEventListener('abort', () => (followers -= 1), { once: true })
    return followEvents(context, daemon.events)
  })
}

function addCommands(app: Hono, { daemon, readOnly, entrance }: ControlAppOptions): void {
  const answered = new AnsweredRequests()
  app.post('/v1/commands', async (context) => {
    if (readOnly) return context.json({ error: 'control.readOnly: commands are not taken here' }, 403)
    const body = readJson(await context.req.text())
    const request = controlRequestSchema.safeParse(body)
    if (!request.success) return context.json({ error: wordsOf(request.error) }, 400)
    const answer: ControlAnswer | undefined = answered.once(request.data, () =>
      daemon.command(request.data, entrance.via),
    )
    if (answer === undefined)
      return context.json({ error: 'this request id was used for another command' }, 409)
    return context.json(answer)
  })
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function wordsOf(error: z.ZodError): string {
  return z.prettifyError(error)
}
