import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { describeHolder, holdDirectory } from '../../../src/assembly/state/state-directory.ts'
import { CONTROL_SOCKET } from '../../../src/assembly/state/state-place.ts'
import { CHAT_QUESTIONS } from '../../../src/cli/chat/questions.ts'
import { main } from '../../../src/cli/main.ts'
import { completeAnswer, describeOlder } from '../../../src/cli/operator/older-answer.ts'
import { tryReload } from '../../../src/cli/reload/plan-change.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { READ_ROUTES } from '../../../src/control/routes.ts'
import { Workspace } from '../../config/workspace.ts'

/** As a daemon of version 0.1.0 answered before there were `waits`, `journal`, `tag` and others. */
function recorded(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8'))
}

const workspace = new Workspace()
const file = join(workspace.directory, 'config/main.yaml')
const answers = new Map<string | undefined, unknown>(
  ['status', 'positions', 'orders', 'reload'].map((name) => [`/v1/${name}`, recorded(name)]),
)
const server = createServer((request, response) => {
  const answer = answers.get(request.url)
  response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(answer ?? { error: 'there is no such path; /docs lists them' }))
})
let release = (): void => undefined

beforeAll(async () => {
  workspace.fill()
  const { directory } = loadConfig({ file, cwd: workspace.directory }).config.state
  mkdirSync(directory, { recursive: true })
  const lock = holdDirectory(directory, describeHolder('older', 0))
  release = () => lock.release()
  await new Promise<void>((done) => {
    server.listen(join(directory, CONTROL_SOCKET), done)
  })
})
afterAll(async () => {
  await new Promise((done) => {
    server.close(done)
  })
  release()
  workspace.remove()
})

interface Said {
  readonly code: number
  readonly out: string
  readonly aside: string
}

async function run(...words: readonly string[]): Promise<Said> {
  const said = { out: '', aside: '' }
  const hear = (kind: keyof typeof said) => (text: string | Uint8Array) => {
    said[kind] += String(text)
    return true
  }
  const out = vi.spyOn(process.stdout, 'write').mockImplementation(hear('out'))
  const aside = vi.spyOn(process.stderr, 'write').mockImplementation(hear('aside'))
  try {
    const code = await main([...words, '-c', file])
    return { code, out: said.out, aside: said.aside.replaceAll(/\s+/g, ' ') }
  } finally {
    out.mockRestore()
    aside.mockRestore()
  }
}

test('status of a daemon that runs an older version shows what it tells, and says what it does not', async () => {
  const { code, out, aside } = await run('status')

  expect({ code, aside }).toEqual({
    code: 0,
    aside: expect.stringMatching(
      /^! the daemon runs an older version \(it says 0\.1\.0\) that does not tell .*accounts\.waits/,
    ),
  })
  expect(out).toMatch(/mode +active, running: nothing is in the way/)
  expect(out).toMatch(/all runs +-0\.10 net: 0\.60 realised, 0\.61 fees/)
  expect(out).toMatch(/all runs with it: -\n/)
  expect(out).toMatch(/BTCUSDT long +0\.006/)
  expect(out).not.toMatch(/NaN|undefined/)
})

test.each([
  ['positions', /BTCUSDT long +0\.006/],
  ['orders', /BTCUSDT +sell +60064\.1/],
])('%s too', async (verb, shown) => {
  const { code, out, aside } = await run(verb)

  expect(code).toBe(0)
  expect(out).toMatch(shown)
  expect(aside).toContain('the daemon runs an older version (it says 0.1.0) that does not tell')
  expect(out + aside).not.toMatch(/NaN|undefined/)
})

test.each(['status', 'positions', 'orders'])(
  '%s --json is what the daemon answered, without anything added',
  async (verb) => {
    expect(JSON.parse((await run(verb, '--json')).out)).toEqual(recorded(verb))
  },
)

test('a command that it does not know is refused with why', async () => {
  const { code, aside } = await run('whatif')

  expect({ code, aside }).toEqual({
    code: 1,
    aside: expect.stringContaining(
      'refused (404): there is no such path; /docs lists them the daemon that runs is of another version, and does not know this command: start it anew',
    ),
  })
})

test('what it says of a reload is taken', async () => {
  const { config } = loadConfig({ file, cwd: workspace.directory })
  const hush = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const tried = await tryReload(config).finally(() => hush.mockRestore())

  expect(tried).toMatchObject({ problems: [], secrets: [] })
})

test('a chat shows it too', () => {
  const shown = (name: string): string | undefined =>
    CHAT_QUESTIONS.find((one) => one.name === name)?.describe(recorded(name))

  expect(shown('status')).toMatch(/^paper: active, running\nequity 9,999\.90 USDT[^]*does not tell/)
  expect(shown('positions')).toMatch(/^BTCUSDT long 0\.006: profit/)
  expect(shown('orders')).toMatch(/60064\.1/)
})

test('what is absent becomes unknown, not zero, and an optional field stays absent', () => {
  const [account = {}] = (recorded('status') as { accounts: Record<string, unknown>[] }).accounts
  const { limits: _limits, equity: _equity, ...older } = account
  const { value, absent } = completeAnswer('/v1/status', { name: 'x', accounts: [older] })

  expect(value).toMatchObject({
    accounts: [
      {
        waits: [],
        equity: null,
        limits: { dataAgeMaxMs: Number.NaN, accountAgeMaxMs: Number.NaN },
        profit: { total: { netWithUnrealised: null } },
      },
    ],
  })
  expect(value).not.toHaveProperty('standby')
  expect(absent).toContain('accounts.limits')
  expect(absent).not.toContain('accounts.limits.dataAgeMaxMs')
  expect(new Set(absent).size).toBe(absent.length)
})

test('a whole answer is left as it is, whatever it has besides', () => {
  const whole = [{ strategy: 'a', symbol: 'b', newer: 1 }]
  const { value, absent } = completeAnswer('/v1/unknown?limit=1', whole)

  expect(value).toBe(whole)
  expect(describeOlder(absent, '1.0.0')).toBeUndefined()
  expect(READ_ROUTES.map(({ path }) => path)).toContain('/v1/whatif')
})
