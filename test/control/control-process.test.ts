import { ControlClient } from '../../src/control/control-client.ts'
import { readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { type StatusView } from '../../src/control/views.ts'
import { type WhatIfView } from '../../src/control/what-if-view.ts'
import { type IntentdProcess } from '../daemon/intentd-process.ts'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const FAST = ['--set', 'simulator.speed=600', '--summary', 'json']

/** What a verb printed, and its exit code. */
async function ask(project: Project, ...words: string[]) {
  const verb = project.start(words)
  const { code } = await verb.ended
  const said = [...verb.stderr, ...verb.stdout].join('\n')
  return { code, out: verb.stdout.join('\n'), said }
}

async function startTrading(project: Project, args: readonly string[] = []) {
  const run = project.run([...FAST, ...args])
  await run.untilEvent('order.fill', 2)
  const { url, socket } = run.events('control.listening')[0] as unknown as {
    url: string
    socket: string
  }
  return { run, url, socket, token: readTokenOf(run) }
}

async function commandAtSocket(socket: string, request: object): Promise<unknown> {
  const client = new ControlClient(socket)
  const reply = await client.command(request)
  await client.close()
  return reply.kind === 'answered' ? reply.body : Promise.reject(new Error(reply.reason))
}

/** How often `status` has shown what it shows. */
function screensOf(watch: IntentdProcess): number {
  return watch.stdout.filter((line) => line.includes('mode')).length
}

/** What comes back until the connection is closed from the other side. */
async function answerTo(port: string, request: string): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(request)
  return text(socket)
}

function readTokenOf(run: IntentdProcess): string {
  return readFileSync(String(run.events('control.listening')[0]?.['token']), 'utf8').trim()
}

describe.concurrent('a running daemon', () => {
  test('is looked at from another process, and from its journal when it is gone', async () => {
    const project = projects.open()
    const { run } = await startTrading(project)
    expect(run.events('limits.off')).toMatchObject([
      { account: expect.arrayContaining(['leverageMax', 'selfTrade']), others: expect.any(Number) },
    ])
    const watch = project.start(['status', '--watch', '200ms'])
    const follow = project.start(['events', '--follow', '--json'])
    await Promise.all([
      watch.until('a second screen', () => screensOf(watch) >= 2),
      follow.until('what it had said', () => follow.stdout.length > 0),
    ])
    // What is said from now on reaches whoever follows.
    const before = run.events('order.fill').length
    await run.untilEvent('order.fill', before + 1)
    const tradeId = run.events('order.fill')[before]?.['tradeId']
    await follow.until('the next fill', () =>
      follow.stdout.some((line) => line.includes(`"${String(tradeId)}"`)),
    )
    expect(await follow.stop('SIGINT')).toEqual({ code: 0, signal: null })

    const status = await ask(project, 'status', '--json')
    const view = JSON.parse(status.out) as StatusView
    expect(view).toMatchObject({ pid: run.pid, environment: 'simulator' })
    expect(view.accounts[0]).toMatchObject({
      phase: 'running',
      mode: 'active',
      isTrading: true,
      restrictions: [],
    })

    const whatIf = JSON.parse(
      (await ask(project, 'whatif', '--move', 'BTCUSDT=-20%', '--fill-all', '--json')).out,
    ) as WhatIfView[]
    expect(whatIf[0]?.scenario).toMatchObject({ moves: { BTCUSDT: -0.2, ETHUSDT: 0 }, fill: 'all' })
    expect(whatIf[0]?.scenario.filled).toBeGreaterThan(5)
    expect(Number(whatIf[0]?.equity)).toBeCloseTo(Number(view.accounts[0]?.equity), -2)

    const orders = JSON.parse(
      (await ask(project, 'orders', '--symbol', 'BTCUSDT', '--json')).out,
    ) as {
      symbol: string
    }[]
    expect(new Set(orders.map(({ symbol }) => symbol))).toEqual(new Set(['BTCUSDT']))
    await run.stop()
    expect((await watch.ended).code).toBe(75)
    const [header = '', ...fills] = (await ask(project, 'fills', '--csv')).out.split('\n')
    expect(header.split(',')).toContain('tradeId')
    expect(fills).toHaveLength(run.summary.thisRun.fills)

    const gone = await ask(project, 'status', '--json')
    expect(gone.said).toContain('no daemon runs')
    const stored = JSON.parse(gone.out) as StatusView
    // A fraction of the summary, each exact.
    expect(stored.accounts[0]?.profit.total).toMatchObject({
      fills: run.summary.allRuns.fills,
      realised: run.summary.allRuns.realisedProfit,
      fees: run.summary.allRuns.fees,
    })
    const storedWhatIf = await ask(project, 'whatif')
    expect(storedWhatIf.said).toContain('no daemon runs')
    expect(storedWhatIf.out).toMatch(
      /at prices of 20[^]*\n-20.0 %[^]*if every price moves by -10.0 %/,
    )
    const profit = JSON.parse(
      (await ask(project, 'profit', '--by', 'coin', '--json')).out,
    ) as object[]
    expect(profit).toMatchObject([
      {
        name: 'USDT',
        realised: run.summary.allRuns.realisedProfit,
        fees: run.summary.allRuns.fees,
      },
    ])
    // The daemon is at rest: the file adds up to the summary.
    const [titles = '', ...rows] = (
      await ask(project, 'profit', '--by', 'strategy', '--csv')
    ).out.split('\n')
    expect(titles).toBe('strategy,coin,fills,net,realised,fees,funding,uncounted')
    const traded = rows.reduce((sum, row) => sum + Number(row.split(',')[2] ?? 0), 0)
    expect(traded).toBe(run.summary.allRuns.fills)
    const events = await ask(project, 'events')
    expect([events.code, events.said]).toEqual([75, expect.stringContaining('no daemon runs')])
  })

  test('obeys a command once, says who gave it, and keeps it over a kill -9', async () => {
    const project = projects.open()
    const { run, url, socket, token } = await startTrading(project)
    let baseUrl = url
    let own = token
    const command = (requestId: string, order: Readonly<Record<string, unknown>>) => {
      const request = { requestId, reason: 'drill', by: 'somebody', order }
      // At the port a release is only proposed.
      const asked = /release/i.test(String(order['kind']))
        ? commandAtSocket(socket, request)
        : fetch(`${baseUrl}/v1/commands`, {
            method: 'POST',
            headers: { authorization: `Bearer ${own}`, 'content-type': 'application/json' },
            body: JSON.stringify(request),
          }).then((answer) => answer.json())
      return (
        asked
          .then((answer) => answer as { isObeyed: boolean; text: string })
          // Which of two came first is not known.
          .then((answer) => ({
            ...answer,
            text: answer.text.replace('sent again; when it came first: ', ''),
          }))
      )
    }
    const pause = { kind: 'restrict', scope: 'strategy:grid-btc', mode: 'halted' }
    await Promise.all([
      command('pause-00', pause),
      command('pause-00', pause),
      command('pause-01', pause),
    ])
    // The answer may be here before the line of the log is.
    await run.untilEvent('trading.halted')
    expect(run.events('trading.halted')).toMatchObject([
      { scope: 'strategy:grid-btc', by: 'port:control.token says "somebody"' },
    ])
    expect(await command('wrong-00', { kind: 'flatten', scope: 'BTCUSD' })).toMatchObject({
      isObeyed: false,
      text: expect.stringContaining('BTCUSDT') as string,
    })
    // Each twice, at once; the process dies with the last of them on its way.
    const orders: readonly [string, Readonly<Record<string, unknown>>][] = [
      ['restrict-00', { kind: 'restrict', scope: 'BTCUSDT', mode: 'reducing' }],
      ['release-00', { kind: 'release', scope: 'BTCUSDT' }],
      ['flatten-00', { kind: 'flatten', scope: 'strategy:trend-eth' }],
    ]
    const answers: unknown[] = []
    for (const [id, order] of orders) {
      const [one, other] = await Promise.all([command(id, order), command(id, order)])
      expect(other).toEqual(one)
      expect(one.isObeyed).toBe(true)
      answers.push(one)
    }
    const lost = ['release-01', { kind: 'release', scope: 'strategy:trend-eth' }] as const
    const [cut] = await Promise.allSettled([command(...lost), run.stop('SIGKILL')])

    const next = project.run(FAST)
    const listening = await next.untilEvent('control.listening')
    baseUrl = String(listening['url'])
    // Each run has a token of its own.
    expect(
      (await fetch(`${baseUrl}/v1/status`, { headers: { authorization: `Bearer ${own}` } })).status,
    ).toBe(401)
    own = readTokenOf(next)
    await next.untilEvent('order.fill')
    // After the restart each answers as it did, and does nothing: the release of then does not lift what holds now.
    await command('restrict-01', { kind: 'restrict', scope: 'BTCUSDT', mode: 'reducing' })
    for (const [index, [id, order]] of orders.entries()) {
      const again = await Promise.all([command(id, order), command(id, order)])
      expect(again).toEqual([answers[index], answers[index]])
    }
    const status = JSON.parse((await ask(project, 'status', '--json')).out) as StatusView
    expect(
      status.accounts[0]?.restrictions.filter(({ scope }) => scope === 'BTCUSDT'),
    ).toHaveLength(1)
    // The strictest of account, strategy and instrument.
    const modes = status.accounts[0]?.strategies.map(({ id, mode }) => `${id} ${mode}`)
    expect(modes).toEqual(
      expect.arrayContaining(['grid-btc halted', 'trend-btc reducing', 'grid-eth active']),
    )
    expect(
      next.events('trading.halted').filter(({ scope }) => scope === 'strategy:trend-eth'),
    ).toEqual([])
    // One whose answer was lost was obeyed, or is now: either way it is clear, and nothing is held any more.
    const [first, second] = [await command(...lost), await command(...lost)]
    expect(second).toEqual(first)
    if (cut.status === 'fulfilled') expect(first).toEqual(cut.value)
    expect(first.isObeyed || first.text.startsWith('not done: nothing that a release ends')).toBe(
      true,
    )
    const kills = await Promise.all([
      command('kill-000', { kind: 'kill' }),
      command('kill-000', { kind: 'kill' }),
    ])
    expect(kills[1]).toEqual(kills[0])
    await next.untilEvent('kill.clean')
    const underKill = await command('flatten-02', { kind: 'flatten', scope: 'strategy:trend-btc' })
    expect(underKill.text).toContain('under a kill nothing is: release the kill')
    const killed = JSON.parse((await ask(project, 'status', '--json')).out) as StatusView
    expect(killed.accounts[0]?.kill).toEqual({ phase: 'clean', isReleaseAsked: false })
    const released = { kind: 'releaseKill' }
    const ends = await Promise.all([command('unkill-00', released), command('unkill-00', released)])
    expect(ends[1]).toEqual(ends[0])
    await next.untilEvent('kill.released')
    expect([next.events('trading.killed').length, next.events('kill.released').length]).toEqual([
      1, 1,
    ])
    expect((await ask(project, 'status')).out).toMatch(
      /! strategy:grid-btc\s+halted\s+since[^]*\sby\s+port:control\.token\s+says\s+"somebody"/,
    )
    expect((await ask(project, 'resume', 'grid-btc', '--reason', 'looked')).code).toBe(0)
    await next.untilEvent('trading.released')
    await command('release-02', { kind: 'release', scope: 'strategy:trend-btc' })
    expect((await ask(project, 'pause', 'trend-btc', '--reason', 'odd')).code).toBe(0)
    expect(
      (
        await ask(
          project,
          'mode',
          'strategy:trend-btc',
          'active',
          '--unclaimed',
          '--reason',
          'looked',
        )
      ).code,
    ).toBe(0)
    await next.stop()
  })

  test('has a socket and a token that nobody else may read, is said to stand still where it does, and goes on trading beside slow readers and one that wants its port', async () => {
    const project = projects.open()
    const { run, url, socket, token } = await startTrading(project)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(statSync(String(run.events('control.listening')[0]?.['token'])).mode & 0o777).toBe(0o600)
    expect(token).toMatch(/^[0-9a-f]{64}$/)
    expect((await fetch(`${url}/v1/status`)).status).toBe(401)
    const authorised = await fetch(`${url}/v1/status`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(((await authorised.json()) as StatusView).pid).toBe(run.pid)
    expect((await fetch(`${url}/livez`)).status).toBe(200)

    run.kill('SIGSTOP')
    // What works without it is said.
    const status = await ask(project, 'status')
    expect(status.code).toBe(75)
    expect(status.said).toContain(`pid ${run.pid}`)
    expect(status.said).toContain('`intentd kill` works without it')
    expect((await ask(project, 'fills')).code).toBe(0)
    run.kill('SIGCONT')

    const port = new URL(url).port
    // Three that never read an answer, and two that never end their request, its head and its body.
    const slow = Array.from({ length: 3 }, () => connect(socket))
    for (const reader of slow)
      reader.write('GET /v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const host = `Host: 127.0.0.1:${port}\r\n`
    const body = `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`
    const cutOff = [host, host + body].map((part) =>
      answerTo(port, `POST /v1/commands HTTP/1.1\r\n${part}`),
    )

    const other = projects.open()
    const second = other.run([...FAST, '--set', `control.port=${port}`])
    await second.untilEvent('order.fill')
    expect(second.events('control.notListening')).toMatchObject([
      { address: `127.0.0.1:${port}`, advice: expect.stringContaining('control.port') },
    ])
    const statusOfSecond = async () => (await ask(other, 'status')).out.replaceAll(/\s+/g, ' ')
    expect(await statusOfSecond()).toMatch(`control ! nothing listens at 127.0.0.1:${port} since `)
    for (const answer of await Promise.all(cutOff)) expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    await run.stop()
    // The port is free, and is listened at with the next look.
    await second.until('it listens', () =>
      second.events('control.listening').some((line) => String(line['url']).endsWith(`:${port}`)),
    )
    expect(await statusOfSecond()).not.toContain('nothing listens')
    await second.stop()
    for (const reader of slow) reader.destroy()
    expect(run.summary.clean).toBe(true)
    expect(statSync(socket, { throwIfNoEntry: false })).toBeUndefined()
    // [SEC1] The token is in no line, whatever was asked.
    expect([...run.stdout, ...run.stderr].filter((line) => line.includes(token))).toEqual([])
  })

  test('refuses to start with a token that others may read', async () => {
    const project = projects.open()
    project.write('.intentd/paper/control.token', `${'a'.repeat(64)}\n`)
    const run = project.run(FAST)
    expect((await run.ended).code).not.toBe(0)
    expect(run.stderr.join('\n')).toMatch(/CONTROL_TOKEN_EXPOSED[^]*chmod 600/)
  })
})
