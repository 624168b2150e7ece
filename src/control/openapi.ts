import { z } from 'zod'
import {
  addressSchema,
  confirmationSchema,
  controlAnswerSchema,
  controlRequestSchema,
  proposalSchema,
  sessionRequestSchema,
  sessionSchema,
} from './commands.ts'
import { READ_ROUTES } from './routes.ts'
import { NONCE, PROOF_PATH } from './access/server-proof.ts'
import { eventSchema, statusSchema } from './views.ts'

const proofQuerySchema = z.object({
  nonce: z.string().regex(NONCE).meta({ description: 'random, in hexadecimal digits' }),
})

const proofSchema = z.strictObject({
  proofs: z.array(z.string()).meta({
    description:
      'HMAC-SHA256 of `intentd proof NONCE`, in hexadecimal digits, with each token as key: one of them is that of yours, or another program answers.',
  }),
})

interface Operation {
  readonly method: 'get' | 'post'
  readonly path: string
  readonly summary: string
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly type: string
  readonly response: z.ZodType
}

const OTHER: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/commands',
    summary:
      'Commands the daemon: restrict, flatten, close, cancel, kill, withdrawal, logLevel. At the port order, release, releaseKill, adopt, deposit, correctDeposit and reload become proposals (202); an order that only reduces, and a dry run, does not.',
    body: controlRequestSchema,
    type: 'application/json',
    response: controlAnswerSchema,
  },
  {
    method: 'get',
    path: '/v1/proposals',
    summary: 'What waits for a confirmation, the newest first.',
    type: 'application/json',
    response: z.array(proposalSchema),
  },
  {
    method: 'post',
    path: '/v1/proposals',
    summary:
      'Proposes release, releaseKill, adopt, deposit, correctDeposit, reload or an order by hand: nothing is done before it is confirmed.',
    body: controlRequestSchema,
    type: 'application/json',
    response: controlAnswerSchema,
  },
  {
    method: 'post',
    path: '/v1/confirmations',
    summary:
      'Confirms a proposal with a one-time code: it is done once, if what it would change is as it was shown.',
    body: confirmationSchema,
    type: 'application/json',
    response: controlAnswerSchema,
  },
  {
    method: 'get',
    path: '/v1/events',
    summary:
      'Follows the log as server-sent events; `after` or the header Last-Event-ID resumes behind an id.',
    query: z.object({ after: z.coerce.number().int().optional() }),
    type: 'text/event-stream',
    response: eventSchema,
  },
  {
    method: 'get',
    path: '/v1/live',
    summary:
      'What a screen shows, as server-sent events: `state` has the parts of the status that changed, at most four ' +
      'times a second; `log` the events, resumed as /v1/events.',
    query: z.object({ after: z.coerce.number().int().optional() }),
    type: 'text/event-stream',
    response: statusSchema,
  },
  {
    method: 'post',
    path: '/v1/addresses',
    summary: 'The address of the dashboard, with a code that opens it once within a minute.',
    body: z.strictObject({}),
    type: 'application/json',
    response: addressSchema,
  },
  {
    method: 'post',
    path: '/v1/session',
    summary: 'Exchanges such a code for the token. Needs no token.',
    body: sessionRequestSchema,
    type: 'application/json',
    response: sessionSchema,
  },
  {
    method: 'get',
    path: PROOF_PATH,
    summary:
      'Shows that the daemon answers, and no other program: ask before a token is sent. Needs no token.',
    query: proofQuerySchema,
    type: 'application/json',
    response: proofSchema,
  },
  {
    method: 'get',
    path: '/metrics',
    summary: 'For Prometheus; docs/metrics.md lists them.',
    type: 'text/plain',
    response: z.string(),
  },
  {
    method: 'get',
    path: '/livez',
    summary: 'Whether the process answers. Needs no token.',
    type: 'text/plain',
    response: z.string(),
  },
  {
    method: 'get',
    path: '/readyz',
    summary:
      'Whether it does what it is for: 200 or 503. Needs no token; which check failed is shown with `?verbose` and the token.',
    type: 'text/plain',
    response: z.string(),
  },
]

export function buildOpenApi(version: string): unknown {
  const reads = READ_ROUTES.map((row): Operation => ({
    ...row,
    method: 'get',
    type: 'application/json',
  }))
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of [...reads, ...OTHER]) {
    ;(paths[operation.path] ??= {})[operation.method] = describe(operation)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'intentd control', version, description: 'See docs/control.md.' },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths,
  }
}

function describe({ summary, query, body, type, response }: Operation): unknown {
  return {
    summary,
    ...(query ? { parameters: toParameters(query) } : {}),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: toSchema(body) } },
          },
        }
      : {}),
    responses: {
      200: { description: 'done', content: { [type]: { schema: toSchema(response) } } },
      401: { description: 'no token, or another one' },
    },
  }
}

function toParameters(query: z.ZodType): readonly unknown[] {
  const { properties = {} } = toSchema(query) as { properties?: Readonly<Record<string, unknown>> }
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }))
}

function toSchema(schema: z.ZodType): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest
}

export function renderDocs(version: string): string {
  const { paths } = buildOpenApi(version) as {
    paths: Record<string, Record<string, { summary: string }>>
  }
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { summary }]) =>
        `<tr><td><code>${method.toUpperCase()}</code></td><td><code>${path}</code></td><td>${escapeHtml(summary)}</td></tr>`,
    ),
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>intentd control</title>
<h1>intentd ${escapeHtml(version)}: control</h1>
<p>Bearer token on every path but /livez, /readyz, this page, the files of the dashboard and the exchange of its code. Schemas: <code>/openapi.json</code>. See docs/control.md.</p>
<table>${rows.join('\n')}</table></html>`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`)
}
