import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import {
  adviseAgain,
  durationOption,
  parseDayOrInstant,
  parseInstant,
  repeatOptions,
} from '../../src/cli/process/options.ts'
import { Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

test.concurrent.each([
  [['run', '--for', 'soon'], /write a duration such as 500ms, 30s, 5m or 2h/],
  [['run', '--speed', '0'], /write a number above 0/],
  [['run', '--sumary', 'json'], /unknown option '--sumary'\n\(Did you mean --summary\?\)/],
  [['run', '--summary', 'xml'], /Allowed choices are json, text/],
  [['rnu'], /unknown command 'rnu'\n\(Did you mean run\?\)/],
  [['simulate', '--port', '70000'], /write a port/],
  [['stop'], /unknown command 'stop'[^]*a daemon stops by Ctrl-C/],
  [['run', 'config/paper.yaml'], /too many arguments/],
  [['deposit', '5', '--at', 'soon'], /write a day such as 2025-06-02, how far back/],
  [['fills', '--from', 'soon'], /write a day such as 2025-06-02, how far back/],
])('%j is not understood: exit 64, one word of advice, nothing started', async (args, advice) => {
  const run = projects.open().start(args)

  const { code } = await run.ended

  expect(code).toBe(64)
  expect(run.stderr.join('\n')).toMatch(advice)
  expect(run.stdout).toEqual([])
})

/** In this process, in a directory of its own: what it says, and its exit code. */
async function runHere(args: readonly string[]) {
  const said = { out: '', error: '' }
  const keep = (key: keyof typeof said) => (text: string | Uint8Array) => {
    said[key] += String(text)
    return true
  }
  const home = process.cwd()
  onTestFinished(() => {
    vi.restoreAllMocks()
    process.chdir(home)
  })
  process.chdir(projects.open().directory)
  vi.spyOn(process.stdout, 'write').mockImplementation(keep('out'))
  vi.spyOn(process.stderr, 'write').mockImplementation(keep('error'))
  return { code: await main(args), ...said }
}

test.each([
  [
    ['simulate', '--print-accounts', '--env', 'nobody'],
    /SIMULATE_ACCOUNT_UNKNOWN[^]*alice, bob, cara, dave/,
  ],
  [['simulate', '--env', 'bob'], /--env goes with --print-accounts/],
  [['kill', '--all', '--url', 'db.example'], /write a server and a database/],
  [
    ['fleet', 'status', '--url', 'postgresql://intentd@db.example'],
    /write a server and a database/,
  ],
  [
    [
      'sweep',
      'worker',
      '--queue',
      'postgresql://intentd:s3cret@db.example/sweeps?sslmode=verify-full',
    ],
    /^(?![^]*s3cret)[^]*a password does not belong here: .* INTENTD_SWEEP_PASSWORD/,
  ],
  [
    [
      'sweep',
      '--params',
      'sweep.yaml',
      '--queue',
      'postgresql://db.example/sweeps?sslmode=verify-full&password=s3cret',
    ],
    /^(?![^]*s3cret)[^]*a password does not belong here: .* INTENTD_SWEEP_PASSWORD/,
  ],
  ...[
    ['fleet', 'status', '--url'],
    ['fleet', 'alerts', '--url'],
    ['kill', '--all', '--url'],
    ['sweep', 'worker', '--queue'],
  ].flatMap((words): [string[], RegExp][] => [
    [
      [...words, 'postgresql://intentd:s3cret@db.example/intentd?sslmode=require'],
      /^(?![^]*s3cret)[^]*sslmode=require does not say what is checked: write sslmode=verify-full/,
    ],
    [
      [...words, 'postgresql://intentd:s3cret@db.example/intentd'],
      /^(?![^]*s3cret)[^]*this is another machine: write sslmode=verify-full/,
    ],
    [
      [...words, 'mysql://intentd:s3cret@db.example/intentd'],
      /^(?![^]*s3cret)[^]*'--(url|queue) <(address|url)>': write a server and a database, such as/,
    ],
  ]),
  [
    ['kill', '--url', 'intentd:s3cret@db.example/intentd'],
    /^(?![^]*s3cret)[^]*write a server and a database/,
  ],
  [
    ['kill', '--url', 'postgresql://intentd:s3cret%zz@db.example/intentd'],
    /^(?![^]*s3cret)[^]*write %25 for a % itself/,
  ],
  [
    ['fleet', 'status', 'postgresql://intentd:s3cret@db.example/intentd'],
    /^(?![^]*s3cret)[^]*too many arguments .*\[hidden\]@db\.example/,
  ],
  [
    ['fleet', 'postgresql://db.example/intentd?password=s3cret'],
    /^(?![^]*s3cret)[^]*unknown command .*password=\[hidden\]/,
  ],
  [
    ['whatif', '--move', '-0.1'],
    /'-0.1': write a move such as -10% or BTCUSDT=-20%, from -99% to 1000%/,
  ],
  [['whatif', '--move', '-100%'], /from -99% to 1000%/],
  [
    ['whatif', '--move', 'BTCUST=-10%'],
    /BTCUST is not an instrument of this configuration; did you mean BTCUSDT\?/,
  ],
])('%j is not understood: exit 64, one word of advice, and nothing done', async (args, advice) => {
  const { code, out, error } = await runHere(args)

  expect(code).toBe(64)
  expect(error).toMatch(advice)
  expect(out).toBe('')
})

test.concurrent('[SEC1] a password in an override is refused, and not repeated in the advice', async () => {
  const run = projects
    .open()
    .start(['check', '--set', 'journal.url=postgresql://me:s3cret@db.example/x'])
  const { code } = await run.ended
  const said = [...run.stdout, ...run.stderr].join('\n')

  expect(code).toBe(78)
  expect(said).toContain('a password does not belong here')
  expect(said).toContain('//[hidden]@db.example')
  expect(said).not.toContain('s3cret')
})

test.concurrent('broken YAML: exit 78, the place, and nothing started', async () => {
  const project = projects.open()
  project.edit('config/paper.yaml', 'name: paper', 'name: "paper')

  const run = project.start(['run'])
  const { code } = await run.ended

  expect(code).toBe(78)
  expect(run.stderr[0]).toMatch(/^config\/paper\.yaml:\d+:\d+/)
  expect(run.stderr.at(-1)).toMatch(/nothing was started\. Check again with: intentd check$/)
})

test.each([
  [120_000, '2m'],
  [10_000, '10s'],
  [250, '250ms'],
])('the help of an option of %i ms gives its default as it is typed: %s', (ms, text) => {
  const { defaultValue, defaultValueDescription } = durationOption(
    '--wait <duration>',
    'how long',
    ms,
  )
  expect([defaultValue, defaultValueDescription]).toEqual([ms, text])
})

test('a command to be pasted addresses the configuration that was named', () => {
  const set = ['a.b=1', "name=it's here"]

  expect(repeatOptions({ set: [] })).toBe('')
  expect(repeatOptions({ config: 'a.yaml', set })).toBe(
    String.raw` -c a.yaml --set a.b=1 --set 'name=it'\''s here'`,
  )
})

test.each([
  [['run'], 'Check again with: intentd check'],
  [['run', '-c', 'a.yaml', '--for', '1s'], 'Check again with: intentd check -c a.yaml'],
  [
    ['run', '--market', 'x.csv', '--speed', '9'],
    'Check again with: intentd check --market x.csv --speed 9',
  ],
  [['check', '--config=a.yaml'], 'Check again with: intentd check -c a.yaml'],
  [['call', 'tickers', '-ca.yaml'], 'Check again with: intentd check -c a.yaml'],
  [['backtest', 'b.yaml', '--market', 'x.csv'], 'Check again with: intentd check -c b.yaml'],
  [
    ['run', '-c', 'a.yaml', '--set', 'a.b=1', '--param', 'grid.size=1 2'],
    "Check again with: intentd check -c a.yaml --set a.b=1 --param 'grid.size=1 2'",
  ],
  [['simulate', '--port', '0'], 'Start again with: intentd simulate'],
  [['simulate', '--config', 'b.yaml'], 'Start again with: intentd simulate -c b.yaml'],
])('after %j the advice is: %s', (words, advice) => {
  expect(adviseAgain(words)).toBe(advice)
})

test.concurrent('--version and --help are answers, not mistakes', async () => {
  const project = projects.open()
  const [version, help] = [project.start(['--version']), project.start(['--help'])]

  const endings = await Promise.all([version.ended, help.ended])

  expect(endings.map(({ code }) => code)).toEqual([0, 0])
  expect(version.stdout.join()).toMatch(/^\d+\.\d+\.\d+$/)
  for (const verb of ['run', 'check', 'simulate'])
    expect(help.stdout.join('\n')).toContain(`  ${verb} `)
})

test.concurrent('a summary for people is one aligned block', async () => {
  const run = projects.open().run(['--for', '1500ms', '--summary', 'text'])

  const { code } = await run.ended

  expect(code).toBe(0)
  const lines = run.stdout.filter((line) => line !== '')
  // A row has a name, or goes on with the one above.
  for (const line of lines) expect(line).toMatch(/^ {2}[a-z-]+( [a-z-]+)* {2,}\S|^ {33}\S/)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  expect(lines.join('\n')).toMatch(/books agree with the exchange +yes$/)
})

test('how far back may be said with the word that help and docs use', () => {
  const [plain, ago] = [parseInstant('2h'), parseInstant('2h ago')]
  expect(Math.abs(ago - plain)).toBeLessThan(60_000)
  expect(Number(parseDayOrInstant('1d ago'))).toBeLessThan(plain)
  expect(parseDayOrInstant('2025-06-02')).toBe('2025-06-02')
  expect(() => parseInstant('2025-02-30T06:00Z')).toThrow('write')
  expect(parseDayOrInstant('2025-06-02T06:00Z')).toBe(Date.parse('2025-06-02T06:00Z'))
})
