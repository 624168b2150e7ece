import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Alerts, type AlertSource } from '../../src/alerts/alerts.ts'
import { loadAlertSecrets } from '../../src/config/alert-secrets.ts'
import { alertsSchema } from '../../src/config/schema/alerts-schema.ts'
import { Secret } from '../../src/lib/secret.ts'
import { ManualTime } from '../support/manual-time.ts'
import { jsonAnswer, type ReceivedRequest, rawAnswer, WireServer } from '../support/wire-server.ts'

const CANARY = 'canary-4417aa90'
const HALT = {
  scope: 'BTCUSDT',
  code: 'contradiction',
  reason: 'compare',
  by: 'intentd',
  ends: 'looked at',
}
const NOON = Date.UTC(2026, 10, 23, 12)

let server: WireServer
let baseUrl: string
let time: ManualTime
let alerts: Alerts | undefined
const logged: string[] = []
beforeEach(async () => {
  server = new WireServer()
  baseUrl = await server.start()
  server.script = (_request, socket) => void socket.write(jsonAnswer({ ok: true }))
  time = new ManualTime(NOON)
  logged.length = 0
})
afterEach(async () => {
  const stopped = alerts?.stop()
  alerts = undefined
  // A target that hangs is given up.
  await time.pass(3000)
  await stopped
  await server.stop()
})

/** Alerts to this server, which pass through a variable each. */
function openAlerts(
  section: object,
  targets: readonly (Readonly<Record<string, unknown>> & { readonly kind: string })[] = [
    { kind: 'json' },
  ],
): Alerts {
  const named = targets.map((target, index) => ({
    name: `t${index}`,
    variable: `INTENTD_ALERT_T${index}`,
    ...target,
  }))
  const variables = Object.fromEntries([
    ...named.map(({ kind, variable }) => [
      variable,
      kind === 'telegram' ? `123456:${CANARY}` : `${baseUrl}/${kind}/${CANARY}`,
    ]),
    ['INTENTD_ALERT_MONITOR', `${baseUrl}/ping/${CANARY}`],
    ['INTENTD_ALERT_TOKEN', `token-${CANARY}`],
  ]) as Record<string, string>
  const settings = alertsSchema.parse({ targets: named, ...section })
  alerts = new Alerts({
    settings,
    secrets: loadAlertSecrets(settings, { cwd: '/', variables }),
    place: {
      name: 'paper',
      environment: 'simulator',
      optionsOf: (account) => ` -c ${account ?? 'paper'}.yaml`,
    },
    clock: time,
    timers: time,
    logger: {
      log: (level, event, fields) =>
        void logged.push(`${level} ${event} ${JSON.stringify(fields)}`),
      hide: () => undefined,
    },
  })
  alerts.start()
  return alerts
}

function watched(parts: Partial<AlertSource>): AlertSource {
  const equityOf = () => '10,003.30 USDT'
  return { digest: () => [], obstacle: () => undefined, equityOf, ...parts }
}

/** Lets seconds pass, and then what is on the wire arrive. */
async function pass(seconds: number, requests: number): Promise<readonly ReceivedRequest[]> {
  for (let second = 0; second < seconds; second++) {
    await time.pass(1000)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
  }
  for (let turn = 0; turn < 5000 && server.requests.length < requests; turn++) await setImmediate()
  return server.requests
}

test('each kind of target gets what it understands: where, what, and the command', async () => {
  const kinds = ['json', 'slack', 'discord', 'ntfy'].map((kind) => ({ kind }))
  const telegram = { kind: 'telegram', chat: '-100', apiUrl: baseUrl }
  const withToken = { kind: 'json', tokenVariable: 'INTENTD_ALERT_TOKEN' }
  const { hear } = bound(openAlerts({}, [...kinds, telegram, withToken]))

  hear('trading.halted', { ...HALT, reason: 'see <!channel> & all' })
  const requests = await pass(1, 6)

  const byPath = new Map(requests.map((request) => [request.target, request]))
  const bodyOf = (path: string) =>
    JSON.parse(byPath.get(path)?.body ?? '{}') as Record<string, unknown>
  expect(bodyOf(`/json/${CANARY}`)).toMatchObject({
    name: 'paper',
    environment: 'simulator',
    event: 'trading.halted',
    urgency: 'urgent',
    repeats: 0,
    title: 'URGENT paper (simulator): trading is halted for BTCUSDT (contradiction)',
    command: 'intentd release BTCUSDT --reason "..." -c paper.yaml',
    at: '2026-11-23T12:00:00.000Z',
  })
  expect(bodyOf(`/slack/${CANARY}`)['text']).toContain('see &lt;!channel&gt; &amp; all')
  expect(bodyOf(`/discord/${CANARY}`)).toMatchObject({
    content: expect.stringContaining('when that is understood and mended: intentd release BTCUSDT'),
    allowed_mentions: { parse: [] },
  })
  expect(bodyOf(`/bot123456:${CANARY}/sendMessage`)).toMatchObject({
    chat_id: '-100',
    text: expect.stringContaining('ends: looked at'),
  })
  expect(byPath.get(`/ntfy/${CANARY}`)).toMatchObject({
    headers: { priority: '5', title: expect.stringContaining('halted for BTCUSDT') },
    body: expect.stringContaining('reason: see <!channel>'),
  })
  expect(requests.map(({ headers }) => headers['authorization'])).toContain(
    `Bearer token-${CANARY}`,
  )
})

test('of several accounts the one that it is about is named, and its file', async () => {
  const { hear } = bound(openAlerts({}, [{ kind: 'json' }]))
  hear('trading.halted', { ...HALT, account: 'bob' })
  const [request] = await pass(1, 1)
  expect(JSON.parse(request?.body ?? '{}')).toMatchObject({
    name: 'bob',
    title: 'URGENT bob (simulator): trading is halted for BTCUSDT (contradiction)',
    command: 'intentd release BTCUSDT --reason "..." -c bob.yaml',
  })
})

test('[SEC1] keys, addresses and tokens stand in no message, no log and no answer that is shown', async () => {
  const opened = openAlerts({}, [
    { kind: 'json' },
    { kind: 'telegram', chat: '7', apiUrl: baseUrl },
    { kind: 'ntfy', tokenVariable: 'INTENTD_ALERT_TOKEN' },
  ])
  const { hear } = bound(opened)
  opened.hide(new Secret('exchange-key-canary'))
  server.script = ({ target, headers }, socket) => {
    const encoded = Buffer.from(`123456:${CANARY}`).toString('base64')
    const said = [
      target,
      headers['authorization'],
      encodeURIComponent(`123456:${CANARY}`),
      encoded,
    ].join(' ')
    socket.write(rawAnswer({ status: 401, body: said }))
  }

  hear('trading.halted', {
    ...HALT,
    reason: `exchange-key-canary ${baseUrl}/json/${CANARY} 123456:${CANARY}`,
  })
  const requests = await pass(1, 3)
  const results = await opened.test()

  const shown = [...logged, ...requests.map(({ body }) => body), JSON.stringify(results)].join('\n')
  expect(logged).toHaveLength(3)
  expect(shown).toContain('[hidden]')
  expect(shown).not.toContain(CANARY)
  expect(shown).not.toContain('exchange-key-canary')
  expect(shown).not.toContain(Buffer.from(`123456:${CANARY}`).toString('base64'))
  expect(results.map(({ isDelivered }) => isDelivered)).toEqual([false, false, false])
})

test('an alert leaves within a second, and a target that hangs holds up no other', async () => {
  const { hear } = bound(openAlerts({}, [{ kind: 'json' }, { kind: 'discord' }]))
  server.script = ({ target }, socket) => {
    if (target.startsWith('/discord')) socket.write(jsonAnswer({}))
  }

  hear('trading.halted', HALT)
  hear('trading.halted', { ...HALT, scope: 'ETHUSDT' })
  const requests = await pass(2, 3)

  expect(
    requests.map(({ target }) => target.split('/')[1] ?? '').toSorted((a, b) => a.localeCompare(b)),
  ).toEqual(['discord', 'discord', 'json'])
})

test('in quiet hours, of the time zone, only what is urgent is sent', async () => {
  const { hear } = bound(
    openAlerts({ quiet: { from: '12:30', to: '13:30' }, timezone: 'Europe/Berlin' }),
  )

  hear('strategy.failed', { strategy: 'grid', reason: 'odd' })
  hear('trading.halted', HALT)
  expect(titlesOf(await pass(5, 1))).toEqual([expect.stringContaining('trading is halted')])

  time.setClock(Date.UTC(2026, 10, 23, 12, 31))
  expect(titlesOf(await pass(2, 2)).at(-1)).toContain('strategy grid fails')
})

test('the digest comes once a day at its time; one that was due before the start is left out', async () => {
  const opened = openAlerts({ digestAt: '12:00' })
  opened.watch(watched({ digest: () => ['orders sent: 3'] }))

  expect(await pass(3, 0)).toEqual([])
  time.setClock(NOON + 86_400_000)
  const requests = await pass(3, 1)

  expect(titlesOf(requests)).toEqual(['paper (simulator): the day so far'])
  expect(requests[0]?.body).toContain('orders sent: 3')
})

test('the heartbeat is sent while all is well, withheld with its reason, and sent again', async () => {
  let obstacle: string | undefined
  const section = { heartbeat: { variable: 'INTENTD_ALERT_MONITOR', everyMs: 2000 } }
  openAlerts(section, []).watch(watched({ obstacle: () => obstacle }))

  expect(await pass(4, 2)).toMatchObject([
    { method: 'GET', target: `/ping/${CANARY}` },
    { method: 'GET' },
  ])
  obstacle = 'the prices of BTCUSDT are stale'
  expect(await pass(6, 2)).toHaveLength(2)
  obstacle = undefined
  expect(await pass(2, 3)).toHaveLength(3)
  expect(logged).toEqual([
    'warn heartbeat.withheld {"reason":"the prices of BTCUSDT are stale"}',
    'info heartbeat.resumed {"was":"the prices of BTCUSDT are stale"}',
  ])
})

test('the heartbeat is withheld while a target takes no alerts', async () => {
  server.script = (request, socket) =>
    void socket.write(
      request.target.startsWith('/json')
        ? rawAnswer({ status: 404, body: 'gone' })
        : jsonAnswer({ ok: true }),
    )
  const section = { heartbeat: { variable: 'INTENTD_ALERT_MONITOR', everyMs: 2000 } }
  const opened = openAlerts(section)
  opened.watch(watched({}))
  await pass(1, 1)

  opened.hear('trading.halted', HALT)
  await pass(6, 3)

  expect([...opened.targets]).toMatchObject([['t0', { reason: expect.stringContaining('404') }]])
  expect(logged.at(-1)).toMatch(
    /^warn heartbeat.withheld .*alerts do not arrive at t0 \(answers 404/,
  )
})

test('a clock of the machine that is set back by a day holds no alert up', async () => {
  const { hear } = bound(openAlerts({}))
  await pass(1, 0)
  time.setClock(NOON - 86_400_000)

  hear('trading.halted', HALT)

  expect(await pass(2, 1)).toHaveLength(1)
})

test('at a stop what was queued and what was counted is sent; what is not taken in time is said', async () => {
  const opened = openAlerts({})
  const { hear } = bound(opened)
  hear('trading.halted', HALT)
  hear('trading.halted', HALT)

  await opened.stop()

  expect(titlesOf(server.requests)).toEqual([
    expect.stringContaining('BTCUSDT (contradiction)'),
    expect.stringContaining('BTCUSDT (contradiction) (1 more)'),
  ])
  const silent = openAlerts({})
  server.script = () => undefined
  bound(silent).hear('trading.halted', HALT)
  const stopped = silent.stop()
  await time.pass(3000)
  await stopped
  expect(logged.at(-1)).toBe('warn alert.dropped {"target":"t0","alerts":1}')
})

test('a line that cannot become an alert harms nobody who logs, and is said once', () => {
  const { hear } = bound(openAlerts({}))
  const circular: Record<string, unknown> = { ...HALT }
  circular['reason'] = circular

  hear('trading.halted', circular)
  hear('trading.halted', circular)

  expect(logged).toHaveLength(1)
  expect(logged[0]).toMatch(/^error alert\.broken/)
})

test('[BND1] ten thousand lines leave no more than a queue of a hundred', async () => {
  const opened = openAlerts({})
  const { hear } = bound(opened)
  server.script = (_request, socket) => void socket.end()
  for (let index = 0; index < 10_000; index++)
    hear('trading.halted', { ...HALT, scope: `C${index}` })

  await opened.stop()

  const dropped = logged.filter((line) => line.includes('alert.dropped'))
  expect(dropped.map((line) => /"alerts":(\d+)/.exec(line)?.[1])).toEqual(['9900', '100'])
})

function bound(opened: Alerts): Pick<Alerts, 'hear'> {
  return { hear: (event, facts) => opened.hear(event, facts) }
}

function titlesOf(requests: readonly ReceivedRequest[]): readonly string[] {
  return requests.map(({ body }) => (JSON.parse(body) as { title: string }).title)
}

const FILL = { strategy: 'grid', symbol: 'BTCUSDT', side: 'buy', size: '0.002', price: '60000' }
const CLOSED = {
  strategy: 'grid',
  symbol: 'BTCUSDT',
  side: 'long',
  size: '0.002',
  entryPrice: '60000',
  exitPrice: '60160',
  heldMs: 7_500_000,
  reason: 'order',
  net: '0.27',
  coin: 'USDT',
  share: 0.0023,
  uncounted: '',
}

test('fills and closed trades are gathered into one message, for the targets that ask for them', async () => {
  const opened = openAlerts({}, [
    { kind: 'json', least: 'urgent', trades: 'fills' },
    { kind: 'slack', least: 'urgent', trades: 'closed' },
    { kind: 'discord' },
  ])
  opened.watch(watched({}))
  const { hear } = bound(opened)

  for (let fill = 0; fill < 12; fill++) hear('order.fill', FILL)
  hear('trade.closed', CLOSED)
  hear('trade.closed', { ...CLOSED, net: '-1.27', share: -0.0106, uncounted: 'a fee in BGB' })
  expect(await pass(9, 0)).toEqual([])
  const requests = await pass(3, 2)

  expect(requests).toHaveLength(2)
  const textOf = (kind: string): string =>
    (
      JSON.parse(requests.find(({ target }) => target.startsWith(`/${kind}/`))?.body ?? '') as {
        text: string
      }
    ).text
  expect(titlesOf(requests)).toContain('paper (simulator): 2 trades closed: -1.00 USDT, 12 fills')
  const trades = [
    'grid BTCUSDT long 0.002, 60000 to 60160, 2 h 5 min, order: +0.27 USDT (+0.23 %)',
    'grid BTCUSDT long 0.002, 60000 to 60160, 2 h 5 min, order: -1.27 USDT (-1.06 %), a fee in BGB',
  ]
  expect(textOf('slack').split('\n').slice(0, 4)).toEqual([
    'paper (simulator): 2 trades closed: -1.00 USDT',
    ...trades,
    'equity: 10,003.30 USDT',
  ])
  expect(textOf('json').split('\n')).toEqual([
    ...trades,
    ...Array.from({ length: 10 }, () => 'grid BTCUSDT buy 0.002 at 60000'),
    '… and 2 more',
    'equity: 10,003.30 USDT',
    expect.stringMatching(/^at: /),
  ])
})

test('what happens in quiet hours is one message after them', async () => {
  const quiet = { from: '22:00', to: '07:00' }
  const opened = openAlerts({ quiet }, [{ kind: 'json', trades: 'closed' }])
  opened.watch(watched({}))
  time.setClock(Date.UTC(2026, 10, 23, 23))
  for (let trade = 0; trade < 300; trade++) {
    opened.hear('trade.closed', CLOSED)
    if (trade % 50 === 0) expect(await pass(11, 0)).toEqual([])
  }
  time.setClock(Date.UTC(2026, 10, 24, 7, 1))

  const requests = await pass(12, 1)
  expect(titlesOf(requests)).toEqual(['paper (simulator): 300 trades closed: +81.00 USDT'])
  expect(requests[0]?.body).toContain('… and 290 more')
})

test('what is gathered is sent at the stop; where no target asks, nothing is', async () => {
  openAlerts({}).hear('trade.closed', CLOSED)
  expect(await pass(12, 0)).toEqual([])
  await alerts?.stop()

  openAlerts({}, [{ kind: 'json', trades: 'closed' }]).hear('trade.closed', CLOSED)
  const stopped = alerts?.stop()
  expect(titlesOf(await pass(1, 1))).toEqual(['paper (simulator): 1 trade closed: +0.27 USDT'])
  await stopped
  alerts = undefined
})
