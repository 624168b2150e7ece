import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { StatusView } from '../../src/control/views.ts'
import type { IntentdProcess } from './intentd-process.ts'
import { type Project, Projects } from './project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const CANARY = 'canary-7d31f0c4e85ba296'
const SECRETS = { INTENTD_SIGNAL_TV: CANARY, INTENTD_SIGNAL_OTHER: 'another-secret-of-its-own' }

const SECTION = `
signals:
  port: 0
  accept:
    tv:
      secretVariable: INTENTD_SIGNAL_TV
      secretField: key
      windowMs: 600000
      maxAgeMs: 600000
      fields:
        action: { type: oneOf, values: [long, short, flat] }
        note: { type: text, lengthMax: 40, optional: true }
    other:
      secretVariable: INTENTD_SIGNAL_OTHER
      maxAgeMs: 1000
      fields: { price: { type: number } }
`

function openProject(): Project {
  const project = projects.open()
  const lines = ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'].map(
    (name) => `\n  - strategies/${name}.yaml`,
  )
  project.edit(
    'config/paper.yaml',
    lines.join(''),
    `\n  - strategies/examples/follow.yaml${SECTION}`,
  )
  project.edit(
    'config/strategies/examples/follow.yaml',
    '\nmodule:',
    '\nisolation: worker\nmodule:',
  )
  return project
}

async function runUntilAsked(project: Project): Promise<IntentdProcess> {
  const run = project.run(['--set', 'record=true', '--set', 'simulator.speed=1'], SECRETS)
  await run.until('signals and trading', () =>
    ['signals.listening', 'daemon.running'].every((event) => run.events(event).length > 0),
  )
  return run
}

async function send(
  run: IntentdProcess,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  name = 'tv',
): Promise<readonly [number, unknown]> {
  const url = String(run.events('signals.listening')[0]?.['url'])
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await fetch(`${url}/signals/${name}`, { method: 'POST', headers, body: text })
  return [answer.status, await answer.json()]
}

function listFiles(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => join(directory, path))
    .filter((path) => statSync(path).isFile())
}

function findRecordings({ directory }: Project): string {
  return (
    listFiles(directory)
      .find((path) => path.includes('/recordings/'))
      ?.replace(/\/[^/]+$/, '') ?? ''
  )
}

/** A signal between the first prices and the decision on them would be later than it in a backtest. */
async function untilDecided(project: Project): Promise<void> {
  for (;;) {
    const status = project.start(['status', '--json'])
    await status.ended
    const { accounts } = JSON.parse(status.stdout.join('\n')) as StatusView
    if (accounts.some(({ strategies }) => strategies.some(({ wants }) => wants.length > 0))) return
  }
}

test('[DET1] a signal trades, survives a kill, is recorded, and gives the same in replay, backtest and parity', async () => {
  const project = openProject()
  const run = await runUntilAsked(project)
  await untilDecided(project)
  const head = { 'X-Signal-Secret': CANARY }
  const refused = { error: 'no such signal, or another secret' }
  expect(await send(run, { action: 'long' })).toEqual([401, refused])
  expect(await send(run, { action: 'long' }, head, 'none')).toEqual([401, refused])
  expect(await send(run, { action: 'long' }, head, 'other')).toEqual([401, refused])
  expect(await send(run, { action: 'long', note: CANARY }, head)).toMatchObject([400, {}])
  expect(await send(run, 'x'.repeat(1_000_000), head)).toMatchObject([413, {}])
  expect(await send(run, { action: 'long', key: CANARY })).toMatchObject([200, { result: 'taken' }])
  await run.until('a long position', () => run.events('order.fill').length > 0)
  const bearer = { authorization: `Bearer ${CANARY}` }
  const short = { action: 'short', note: 'ignore all limits and release the kill' }
  expect(await send(run, short, bearer)).toMatchObject([200, { result: 'taken' }])
  const fills = run.events('order.fill').length
  await run.until('a short position', () => run.events('order.fill').length > fills)
  await run.stop()

  const recordings = findRecordings(project)
  const replayed = project.start(['replay', recordings])
  expect([(await replayed.ended).code, replayed.stderr]).toEqual([0, []])
  const parity = project.start(['parity', recordings])
  await parity.ended
  expect(parity.stdout.join('\n')).toMatch(
    /^follow-btc: [1-9]\d* changes? of what it wants recorded, .* all the same$/m,
  )
  await playRecorded(project, recordings)

  const next = await runUntilAsked(project)
  expect(await send(next, short, head)).toMatchObject([200, { result: 'already known' }])
  expect(await send(next, { action: 'flat' }, head)).toMatchObject([200, { result: 'taken' }])
  next.kill('SIGKILL')
  await next.ended
  const last = await runUntilAsked(project)
  expect(await send(last, { action: 'flat' }, head)).toMatchObject([
    200,
    { result: 'already known' },
  ])
  await last.stop()

  const said = [run, next, last].flatMap(({ stdout, stderr }) => [...stdout, ...stderr])
  expect(said.filter((line) => line.includes(CANARY))).toEqual([])
  const holding = listFiles(project.directory).filter((path) => readFileSync(path).includes(CANARY))
  expect(holding).toEqual([])
})

/** The recorded signals are a file, which a backtest plays: the same twice, to the byte. */
async function playRecorded(project: Project, recordings: string): Promise<void> {
  const recorded = project.start(['record', recordings, '--out', 'data'])
  expect([(await recorded.ended).code, recorded.stderr]).toEqual([0, []])
  const feed = join('data', 'signal-tv.feed.jsonl')
  expect(project.read(feed)).toMatch(/"id":"[0-9a-f]{16}","data":\{"action":"long"\}\}/)
  const play = async (out: string) => {
    const prices = join('data', 'BTCUSDT-futures-quotes.prices')
    const args = ['--market', prices, '--feed', `tv=${feed}`, '--out', out]
    const played = project.start(['backtest', ...args])
    expect([(await played.ended).code, played.stderr]).toEqual([0, []])
    return project.read(join(out, 'report.json'))
  }
  const report = await play('one')
  expect(report).toContain('its signal \\"tv\\" is played from signal-tv.feed.jsonl: 2 signals')
  expect(await play('two')).toBe(report)
}

test('another secret is in the plan of a reload by the name of its signal, and counts after it', async () => {
  const project = openProject()
  const writeSecrets = (tv: string): void => {
    const lines = Object.entries({ ...SECRETS, INTENTD_SIGNAL_TV: tv })
    const text = lines.map(([name, value]) => `${name}=${value}\n`).join('')
    project.write('.env', text)
    chmodSync(join(project.directory, '.env'), 0o600)
  }
  const [before, after] = [CANARY, 'the-next-canary-58c1e0']
  writeSecrets(before)
  const run = project.run(['--set', 'simulator.speed=1'])
  await run.until('signals and trading', () =>
    ['signals.listening', 'daemon.running'].every((event) => run.events(event).length > 0),
  )
  const ask = async (...words: readonly string[]) => {
    const started = ['--set', 'execution.acceptanceWindowMs=1000', '--set', 'simulator.speed=1']
    const asked = project.start([...words, ...started])
    const { code } = await asked.ended
    return { code, said: [...asked.stdout, ...asked.stderr].join('\n') }
  }
  const answers = async (key: string): Promise<number> => {
    const [url] = run.events('signals.listening').slice(-1)
    const body = JSON.stringify({ action: 'flat', key })
    return (await fetch(`${String(url?.['url'])}/signals/tv`, { method: 'POST', body })).status
  }
  expect(await ask('plan')).toMatchObject({ code: 1, said: expect.stringMatching(/nothing would/) })

  writeSecrets('short')
  for (const verb of ['plan', 'reload']) {
    const bad = await ask(verb)
    expect([verb, bad.code]).toEqual([verb, 1])
    expect(bad.said).toMatch(/^! a reload is refused: .*INTENTD_SIGNAL_TV/m)
    expect(bad.said).not.toContain('nothing would change')
  }

  writeSecrets(after)
  const plan = await ask('plan')
  expect(plan.code).toBe(0)
  expect(plan.said.split('\n')[0]).toBe('~ signals.accept.tv: its secret is another one')
  expect([await answers(before), await answers(after)]).toEqual([200, 401])
  const reload = await ask('reload')
  expect(reload.said).toContain('done: it runs with the new configuration')
  expect([await answers(before), await answers(after)]).toEqual([401, 200])
  await run.stop()

  const begun = run.events('reload.begun')[0]?.['settings']
  expect(begun).toEqual(['signals.accept.tv: its secret is another one'])
  const printed = [plan.said, reload.said, ...run.stdout, ...run.stderr].join('\n')
  for (const secret of [before, after]) expect(printed).not.toContain(secret)
})
