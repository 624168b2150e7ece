import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { type Project, Projects } from '../daemon/project.ts'
import { findExchange, writeRemote } from '../daemon/remote-exchange.ts'
import { writeStrategy } from '../support/made-limits.ts'

const projects = new Projects()
afterAll(() => projects.close())

const PAPER = 'config/paper.yaml'
const GRID = 'config/strategies/grid-btc.yaml'
const TREND = 'config/strategies/trend-eth.yaml'
const SIMULATOR = 'config/simulator.yaml'

/** One mistake each, and what the line that tells of it must say. */
const MISTAKES: readonly (readonly [file: string, from: string, to: string, reported: RegExp])[] = [
  [PAPER, 'environment: simulator', 'environment: paper', /environment: expected .*got "paper"/],
  [
    PAPER,
    'productType: USDT-FUTURES',
    'productType: USD-FUTURES',
    /account\.productType: expected/,
  ],
  [
    PAPER,
    'marginMode: crossed',
    'marginMode: cross',
    /account\.marginMode: expected .*got "cross"/,
  ],
  [PAPER, 'tickSize: "0.1"', 'tickSize: "0"', /BTCUSDT\.tickSize: expected/],
  [
    PAPER,
    'requestTimeoutMs: 5000',
    'requestTimeoutMs: 5s',
    /requestTimeoutMs: expected .*got "5s"/,
  ],
  [PAPER, 'limitsUse: 1', 'limitsUse: 2', /limitsUse: expected/],
  [PAPER, 'tickersMs: 100', 'tickerMs: 100', /tickerMs: unknown key; did you mean "tickersMs"/],
  [PAPER, 'positionsMs: 1000', 'positionsMs: 10', /positionsMs: expected/],
  [PAPER, 'timezone: UTC', 'timezone: Mars', /timezone: expected a time zone/],
  [PAPER, 'dayRoll: "0 0 0 * * *"', 'dayRoll: "daily"', /dayRoll: expected a cron pattern/],
  [PAPER, 'dataAgeMaxMs: 5000', 'dataAgeMaxMs: -1', /dataAgeMaxMs: expected/],
  [PAPER, 'openOrdersMax: 100', 'openOrdersMax: many', /openOrdersMax: expected .*got "many"/],
  [PAPER, 'batchOrdersMax: 50', 'batchOrdersMax: 51', /batchOrdersMax: expected .*got 51/],
  [PAPER, 'onStop: leave', 'onStop: stay', /onStop: expected .*got "stay"/],
  [PAPER, 'level: info', 'level: loud', /log\.level: expected/],
  [PAPER, 'counting: sliding', 'counting: guessing', /counting: expected/],
  [PAPER, '- strategies/trend-btc.yaml', '- strategies/trend-bct.yaml', /no such file/],
  [
    GRID,
    'instruments: [BTCUSDT]',
    'instruments: [BTCUSD]',
    /BTCUSD is not listed .*did you mean BTCUSDT/,
  ],
  [GRID, 'orderSizeMax: "0.002"', 'orderSizeMax: 0.002x', /orderSizeMax: expected/],
  [TREND, '../../strategies/trend.ts', '../../strategies/tend.ts', /module: no such file/],
]

async function check(project: Project) {
  const run = project.start(['check'])
  const { code } = await run.ended
  return { code, lines: run.stderr, text: [...run.stdout, ...run.stderr].join('\n') }
}

test.concurrent('[CFG1] twenty mistakes are twenty lines, each with its place, and nothing starts', async () => {
  const project = projects.open()
  for (const [file, from, to] of MISTAKES) project.edit(file, from, to)

  const { code, lines } = await check(project)
  const run = project.run()
  const refused = await run.ended

  const reported = lines.slice(0, lines.indexOf(''))
  for (const [file, , , pattern] of MISTAKES) {
    const found = reported.filter((line) => line.startsWith(`${file}:`) && pattern.test(line))
    expect(found, String(pattern)).toHaveLength(1)
  }
  for (const line of reported) expect(line).toMatch(/^config\/[\w/.-]+:\d+:\d+ /)
  expect(reported).toHaveLength(MISTAKES.length)
  expect(lines.at(-1)).toMatch(/^20 problems; nothing was started/)
  expect([code, refused.code]).toEqual([78, 78])
  // The advice at the end repeats what the run was given beside.
  expect(run.stderr.slice(0, -1)).toEqual(lines.slice(0, -1))
  expect(run.stdout).toEqual([])
})

test.concurrent('the file stands by itself, as in backtest, or with -c, and not both', async () => {
  const project = projects.open()
  project.write('config/own.yaml', project.read(PAPER))
  const checked = project.start(['check', 'config/own.yaml'])
  const both = project.start(['check', 'config/own.yaml', '-c', PAPER])
  expect((await checked.ended).code).toBe(0)
  expect(checked.stdout.at(-1)).toMatch(/^config\/own\.yaml: nothing wrong/)
  expect((await both.ended).code).toBe(64)
  expect(both.stderr[0]).toBe(
    'error: two configurations: config/own.yaml, and -c config/paper.yaml; name one of them',
  )

  project.edit('config/own.yaml', 'onStop: leave', 'onStop: stay')
  const wrong = project.start(['check', 'config/own.yaml'])
  expect((await wrong.ended).code).toBe(78)
  expect(wrong.stderr.join('\n')).toMatch(
    /config\/own\.yaml:\d+:\d+ onStop: [^]*Check again with: intentd check -c config\/own\.yaml$/,
  )
})

test.concurrent('a file of another kind is one problem, which says what it is and how it is read', async () => {
  const project = projects.open()
  const ask = async (...words: readonly string[]): Promise<readonly string[]> => {
    const run = project.start(words)
    expect((await run.ended).code).toBe(78)
    return run.stderr
  }
  const what = (file: string, is: string) => `${file}: this is ${is}`

  expect(await ask('check', GRID)).toEqual([
    what(
      GRID,
      'the file of a strategy, not the main file of a daemon: name the main file that lists it under `strategies`; the two are read together',
    ),
    '',
    '1 problem; nothing was started. Check again with: intentd check -c MAIN_FILE',
  ])
  const simulator = await ask('check', SIMULATOR)
  expect(simulator).toHaveLength(3)
  expect(simulator[0]).toBe(
    what(
      SIMULATOR,
      'the file of the exchange simulator as a server, not the main file of a daemon: `intentd simulate -c config/simulator.yaml` reads it',
    ),
  )
  expect(await ask('simulate', '-c', PAPER)).toEqual([
    what(
      PAPER,
      'the main file of a daemon, not the file of the exchange simulator as a server: check it with `intentd check -c config/paper.yaml`',
    ),
    '',
    '1 problem; nothing was started. Start again with: intentd simulate',
  ])
})

test.concurrent('an instrument whose prices are made up beside a file of another is named', async () => {
  const project = projects.open()
  const rows = [1748538300000, 1748538360000].map((at) => `${at},1,1,1,1,1\n`)
  project.write('BTCUSDT.csv', `ts_ms,open,high,low,close,volume\n${rows.join('')}`)
  const played = project.start(['check', '--market', 'BTCUSDT=BTCUSDT.csv'])
  const made = project.start(['check'])

  expect([(await played.ended).code, (await made.ended).code]).toEqual([0, 0])
  expect(played.stdout).toContain(
    'no file has prices of ETHUSDT: they are made up (simulator.seed)',
  )
  expect(made.stdout.join('\n')).not.toContain('made up')
})

test.concurrent('[CFG1] an option that is refused is not advised again', async () => {
  const project = projects.open()
  project.write('BTCUSDT.csv', 'ts_ms,open,high,low,close,volume\n1748538300000,1,1,1,1,1\n')
  const address = 'exchange.baseUrl=http://127.0.0.1:1'
  const run = project.start(['check', '--set', address, '--market', 'BTCUSDT.csv', '--speed', '2'])

  expect((await run.ended).code).toBe(78)
  expect(run.stderr.join('\n')).toContain('leave --market and --speed 2 out')
  expect(run.stderr.at(-1)).toMatch(new RegExp(`Check again with: intentd check --set ${address}$`))
})

test.concurrent('[CFG1] what a strategy says of its own parameters has file and line too', async () => {
  const project = projects.open()
  project.edit(GRID, 'levels: 8', 'levels: -8')
  project.edit(TREND, 'fastSeconds: 60', 'fastSecond: 60')
  // Below it lies a socket, whose path has few bytes.
  project.edit(PAPER, 'directory: ', `directory: ${'deep/'.repeat(30)}`)

  const { code, text } = await check(project)

  expect(code).toBe(78)
  expect(text).toMatch(/config\/strategies\/grid-btc\.yaml:\d+:\d+ params\.levels: expected/)
  expect(text).toMatch(
    /config\/strategies\/trend-eth\.yaml:\d+:\d+ params\.fastSecond: unknown key/,
  )
  expect(text).toMatch(
    /config\/paper\.yaml:\d+:\d+ state\.directory: is too long: .*control\.sock has \d+ bytes/,
  )
})

test.concurrent('a window that is shorter than a few looks at the prices is warned of', async () => {
  const project = projects.open()
  project.edit(TREND, 'fastSeconds: 60', 'fastSeconds: 59')

  const { code, text } = await check(project)

  expect(code).toBe(0)
  expect(text).toMatch(
    /^warning: config\/strategies\/trend-eth\.yaml:\d+:\d+ params\.fastSeconds: 59 is shorter than 4 looks .* 15000 ms \(backtest\.pollMs\)/m,
  )
  expect(text.match(/^warning/gm)).toHaveLength(1)
})

test.concurrent('exits that the exchange keeps are warned of, with their line, unless their fills are adopted', async () => {
  const project = projects.open()
  project.edit(PAPER, '- strategies/grid-btc.yaml', '- strategies/examples/breakout.yaml')

  const warned = await check(project)
  project.edit(PAPER, 'risk:\n', 'risk:\n  foreignFills: adopt\n')
  const adopted = await check(project)

  expect([warned.code, adopted.code]).toEqual([0, 0])
  expect(warned.text).toMatch(
    /^warning: strategies\/breakout\.ts:\d+:\d+: breakout-btc has .* set risk\.foreignFills: adopt in config\/paper\.yaml/m,
  )
  expect(adopted.text).not.toContain('breakout.ts')
})

test.concurrent('[CFG1] stops nearer than one tick are refused, with their line and what to write', async () => {
  const project = projects.open()
  const file = 'config/strategies/trend-btc.yaml'
  const parts =
    'exits: { stop: { distance: 0.000001 }, trailing: { after: 0.01, distance: 0.000001 } }'
  project.edit(file, 'risk:', `${parts}\nrisk:`)
  const { code, lines } = await check(project)
  expect(code).toBe(78)
  const why =
    'BTCUSDT: 0.000001 of about 60,000 is 0.06, less than one tick (0.1), so the first move against the position passes it; write 0.000002 or more'
  const of = (part: string): unknown =>
    expect.stringMatching(new RegExp(`^${file}:\\d+:\\d+ exits\\.${part}\\.distance: `))
  const found = lines.filter((line) => line.endsWith(why))
  expect(found).toEqual([of('stop'), of('trailing')])

  project.edit(file, 'stop: { distance: 0.000001 }', 'stop: { distance: 0.000002 }')
  project.edit(file, 'distance: 0.000001 } }', 'distance: 0.000002 } }')
  expect((await check(project)).code).toBe(0)
})

test.concurrent('says whether stops at the exchange are moved with the exits', async () => {
  const project = projects.open()
  const exits = 'exits: { stop: { distance: 0.02, atExchange: true } }\nrisk:'
  project.edit('config/strategies/trend-btc.yaml', 'risk:', exits)
  project.edit(PAPER, 'risk:\n', 'risk:\n  foreignFills: adopt\n')

  const stays = await check(project)
  project.edit(
    PAPER,
    '  beyondDocument: true',
    '  beyondDocumentPrivate: true\n  beyondDocument: true',
  )
  const moves = await check(project)

  expect(stays.text).toMatch(/^stops at the exchange stay where .*: trend-btc$/m)
  expect(stays.text).toMatch(
    /cancelled once it is reducing, in which its exits go on \(trend-btc\)/,
  )
  expect(moves.text).toMatch(/^stops at the exchange are moved with the exits: trend-btc$/m)
})

test.concurrent('a strategy that is no TypeScript is reported in a sentence', async () => {
  const project = projects.open()
  project.write('strategies/trend.ts', 'export default defineStrategy({\n')

  const { code, text } = await check(project)

  expect(code).toBe(78)
  expect(text).toMatch(/config\/strategies\/trend-btc\.yaml:\d+:\d+ module: /)
  expect(text).not.toContain('at async')
})

test.concurrent('where TypeScript is installed, a wrong type is reported with its place', async () => {
  const project = projects.open()
  const packages = new URL('../../node_modules', import.meta.url).pathname
  symlinkSync(packages, join(project.directory, 'node_modules'))
  project.write(
    'tsconfig.json',
    JSON.stringify({
      compilerOptions: { module: 'nodenext', strict: true, allowImportingTsExtensions: true },
    }),
  )
  project.write('strategies/helper.ts', 'export const half = (lots: number): number => lots / 2\n')
  project.write(
    'strategies/trend.ts',
    `${project.read('strategies/trend.ts')}import { half } from './helper.ts'\nhalf('2')\n`,
  )

  const { code, text } = await check(project)

  expect(code).toBe(78)
  expect(text).toMatch(/^strategies\/trend\.ts:\d+:6: TS2345: Argument of type 'string'/m)
})

test.concurrent('a strategy of which no decision succeeds is a problem, one that lacks its feed there a warning', async () => {
  const open = (decide: string, feeds: string): Project => {
    const project = projects.open()
    project.write(
      'strategies/trend.ts',
      `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'trend', params: z.any(), initialState: () => 0,
  decide(snapshot: any) { ${decide}; return { intents: [], state: 0 } },
})
`,
    )
    for (const name of ['trend-btc', 'trend-eth']) {
      const file = `config/strategies/${name}.yaml`
      project.write(file, `${project.read(file)}${feeds}`)
    }
    return project
  }
  const feed =
    'feeds: { ratio: { endpoint: longShortRatio, params: { symbol: BTCUSDT }, everyMs: 60000 } }\n'
  const [wrong, fed] = await Promise.all([
    check(open('snapshot.instrumens.length', '')),
    check(open('snapshot.feed("ratio").value.length', feed)),
  ])

  expect(wrong.code).toBe(78)
  expect(wrong.text).toMatch(
    /trend-btc\.yaml:\d+:\d+ module: on made-up prices every decision fails/,
  )
  expect(fed.text).toMatch(/warning: .* module: on made-up prices every decision fails/)
  expect(fed.code).toBe(0)
})

test.concurrent('[CFG1] a strategy whose instruments are all chosen by a rule is tried on one of them', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  project.write(
    'config/paper.yaml',
    project
      .read('config/paper.yaml')
      .replace(/^instruments:\n(?: .*\n)+/m, '')
      .replace(/^strategies:\n(?: .*\n)+/m, 'strategies: [strategies/chosen.yaml]\n'),
  )
  project.write(
    'config/strategies/chosen.yaml',
    `id: chosen
module: ../../strategies/chosen.ts
universe: { every: 1h, quote: USDT, top: { count: 2, by: volume } }
risk: { positionNotionalMax: "1000", openOrdersMax: 4 }
`,
  )
  project.write(
    'strategies/chosen.ts',
    `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'chosen', params: z.strictObject({}), initialState: () => 0,
  decide(snapshot: any) {
    return { intents: snapshot.instruments.map((market: any) => market.aim(1)), state: 0 }
  },
})
`,
  )
  writeRemote(project)

  const checked = project.start(
    ['check', '-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`],
    place.env,
  )
  const { code } = await checked.ended

  expect(code).toBe(78)
  expect(checked.stderr.join('\n')).toMatch(
    /chosen\.yaml:2:9 module: on made-up prices every decision fails: [^]* aim of an instrument/,
  )
})

test.concurrent('types that cannot be checked are a problem of the settings, not silence', async () => {
  const settings = { compilerOptions: { module: 'nodenext', types: ['no-such-types'] } }
  const open = (compiler: string | undefined): Project => {
    const project = projects.open()
    project.write('tsconfig.json', JSON.stringify(settings))
    // A file of one's own: shipped strategies are not checked.
    project.write('strategies/trend.ts', project.read('strategies/trend.ts'))
    if (compiler !== undefined) project.write('node_modules/typescript/bin/tsc', compiler)
    else
      symlinkSync(
        new URL('../../node_modules', import.meta.url).pathname,
        join(project.directory, 'node_modules'),
      )
    return project
  }
  const bare = projects.open()
  bare.write('strategies/trend.ts', bare.read('strategies/trend.ts'))
  const [wrong, broken, untyped, absent] = await Promise.all([
    check(open(undefined)),
    check(open("throw new Error('no such platform')")),
    open("throw new Error('no such platform')").start(['check', '--no-types']).ended,
    check(bare),
  ])

  expect([wrong.code, broken.code, untyped.code]).toEqual([78, 78, 0])
  expect(absent.code).toBe(0)
  expect(absent.text).toMatch(
    /^types of strategies were not checked: TypeScript is not installed here \(npm install/m,
  )
  expect(wrong.text).toMatch(/^tsconfig\.json: TS2688: .*no-such-types/m)
  expect(broken.text).toMatch(
    /^tsconfig\.json: types were not checked \(--no-types .*no such platform$/m,
  )
})

test.concurrent('[CFG1] code of a strategy that throws while it is loaded, or some time after, has file and line too', async () => {
  const project = projects.open()
  const code = (
    params: string,
    rest: string,
  ) => `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'own', params: ${params}, initialState: () => ({}),
  decide: (market, { state }) => ({ intents: [], state }),
})
${rest}
`
  const NONE = 'z.strictObject({})'
  project.write('own/late.ts', code(NONE, "setTimeout(() => { throw new Error('late') }, 20)"))
  project.write('own/schema.ts', code(`${NONE}.transform(() => { throw new Error('in it') })`, ''))
  project.write('own/top.ts', code(NONE, "throw new Error('at the top')"))
  for (const [id, file] of Object.entries({
    'trend-btc': 'late',
    'grid-btc': 'schema',
    'grid-eth': 'top',
  }))
    project.write(
      `config/strategies/${id}.yaml`,
      writeStrategy({
        id,
        module: `../../own/${file}.ts`,
        instruments: [id.endsWith('btc') ? 'BTCUSDT' : 'ETHUSDT'],
      }),
    )

  const checked = await check(project)

  expect(checked.code).toBe(78)
  expect(checked.text).toMatch(
    /trend-btc\.yaml:2:9 module: the strategy failed while it was being loaded: Error: late \(.*own\/late\.ts:6:\d+\)\); a strategy starts nothing/,
  )
  expect(checked.text).toMatch(
    /grid-btc\.yaml:\d+:\d+ params: the schema of the strategy's params threw: Error: in it \(.*own\/schema\.ts:3:\d+\)\)?; it has to be/,
  )
  expect(checked.text).toMatch(
    /thrown +Error: at the top \(.*own\/top\.ts:6:7\)\n +hint +fix that line/,
  )
})

test.concurrent('the shipped configuration has nothing wrong', async () => {
  const { code, text } = await check(projects.open())

  expect(code).toBe(0)
  expect(text).toMatch(
    /^limits that are off: (?:[a-zA-Z.]+(?: \((?:account|\d+ instruments?|\d+ strateg(?:y|ies)|, )+\))?(?:, |\n))+(?:largest positions: grid-btc 0\.06 BTC, about [\d,.]+ USDT at [\d,.]+; .*\n)?orders from the largest long to the largest short \(orderSizeMax\): grid-btc \d+, .*\nfunding is paid at 00:00, 08:00 and 16:00 UTC \(calendar\.funding\)\norders of a strategy that fails \(onFailure\): cancelled once it is halted \(grid-btc, .*\)\ntypes of strategies were not checked: TypeScript is not installed here .*\nconfig\/paper\.yaml: nothing wrong; 4 strategies$/,
  )
})

test.concurrent('counts in every line the strategies that run, and names those that do not', async () => {
  const project = projects.open()
  project.write(TREND, `${project.read(TREND)}\nenabled: false\n`)
  const run = project.start([
    'check',
    '--set',
    'manual={orderNotionalMax: "1000", positionNotionalMax: "2000"}',
  ])

  expect((await run.ended).code).toBe(0)
  const text = run.stdout.join('\n')
  expect(text).toContain('losses.daily (2 instruments, 3 strategies, manual)')
  expect(text).toMatch(
    /\(onFailure\): cancelled once it is halted \(grid-btc, grid-eth, trend-btc\)/,
  )
  expect(text.match(/\d+ strateg(?:y|ies)\b/g)?.every((count) => count.startsWith('3 '))).toBe(true)
  expect(run.stdout.at(-1)).toBe(
    `${PAPER}: nothing wrong; 3 strategies, and 1 more that is not enabled: trend-eth`,
  )
})

/** What only the operator knows. */
const DECIDED = [
  'exchange.baseUrl=https://api.exchange.example',
  'account.capital=1000',
  'risk.losses.daily=50',
  'alerts.targets.0.kind=slack',
].flatMap((text) => ['--set', text])

/** In this process: what is printed, and the exit code. */
async function call(...words: string[]): Promise<{ code: number; text: string }> {
  const written: string[] = []
  const spies = [process.stderr, process.stdout].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((text) => written.push(String(text)) > 0),
  )
  try {
    return { code: await main(words), text: written.join('') }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

const EXAMPLE = ['-c', 'config/live.example.yaml', ...DECIDED]

test.each([['run'], ['standby'], ['handover'], ['check', '--no-secrets']])(
  '[CFG1] %s refuses real money while nobody has said what the account may lose',
  async (...words) => {
    const missing = await call(...words, ...EXAMPLE, '--set', 'risk.losses={}')
    const warnsOnly = await call(
      ...words,
      ...EXAMPLE,
      '--set',
      'risk.losses={drawdown: {warn: 0.1}}',
    )

    expect([missing.code, warnsOnly.code]).toEqual([78, 78])
    for (const { text } of [missing, warnsOnly])
      expect(text).toMatch(
        /--set risk\.losses: this limits nothing: .* or losses: none, if it may lose every/,
      )
  },
)

test('a size that was meant as money is said in words, and warned of', async () => {
  const project = projects.open()
  project.edit(GRID, 'positionMax: "0.06"', 'positionMax: "1000"')
  const run = project.start([
    'check',
    '--set',
    'simulator.market.startPrices={BTCUSDT: "60000", ETHUSDT: "3000"}',
  ])
  const { code } = await run.ended
  const text = run.stdout.join('\n')

  expect(code).toBe(0)
  expect(text).toMatch(
    /warning: config\/strategies\/grid-btc\.yaml:\d+:\d+ risk\.positionMax: grid-btc 1000 BTC, about 60,000,000 USDT at 60,000: positionNotionalMax 9000 is reached first/,
  )
  expect(text).toMatch(/largest positions: grid-btc 1000 BTC, about 60,000,000 USDT at 60,000; /)
})

test('limits are judged by the last price of the files, and what nobody trades needs no price', async () => {
  const project = projects.open()
  project.edit(
    PAPER,
    'instruments:\n',
    `instruments:\n  XRPUSDT: { tickSize: "0.0001", lotSize: "1", minSize: "1", minNotional: "5" }\n`,
  )
  const rows = [60_000, 100_000].map(
    (price, minute) => `${1_748_822_400_000 + minute * 60_000},${`${price},`.repeat(4)}5\n`,
  )
  const header = 'ts_ms,open,high,low,close,volume\n'
  project.write('BTCUSDT-1m.csv', header + rows.join(''))
  project.write('ETHUSDT-1m.csv', header + rows.join(''))
  const run = project.start(['check', '--market', 'BTCUSDT-1m.csv', '--market', 'ETHUSDT-1m.csv'])
  const { code } = await run.ended
  const text = [...run.stdout, ...run.stderr].join('\n')

  expect(text).toMatch(/largest positions: grid-btc 0\.06 BTC, about 6,000 USDT at 100,000; /)
  expect(text).toContain('nothing has prices of XRPUSDT, which no strategy trades')
  expect(code).toBe(0)
})

test('losses: none is taken, and warned of', async () => {
  const { code, text } = await call(
    'check',
    '--no-secrets',
    ...EXAMPLE,
    '--set',
    'risk.losses=none',
  )

  expect(code).toBe(0)
  expect(text).toMatch(/warning: --set risk\.losses: the account may lose everything that it holds/)
  expect(text).toContain('losses.daily (account, ')
})

test.concurrent('[CFG1] keys that a start would miss are problems too', async () => {
  const run = projects.open().start(['check', ...EXAMPLE])
  const { code } = await run.ended

  expect(run.stderr.join('\n')).toMatch(/INTENTD_API_KEY: missing/)
  expect(code).toBe(78)
})

test.concurrent('keys that are elsewhere, as under systemd, can be left out of it', async () => {
  const run = projects.open().start(['check', '--no-secrets', ...EXAMPLE])
  const { code } = await run.ended

  expect(run.stdout.join('\n')).toContain('nothing wrong')
  expect(run.stdout).toContain(
    'limits of strategies that one of the account is below: grid-btc positionNotionalMax 9000 (risk.grossNotionalMax 3000)',
  )
  expect(code).toBe(0)
})

test.each([
  ['grid-btc.levels=many', /^--param grid-btc\.levels: expected a whole number .*got "many"/],
  ['nobody.size=1', /--param nobody: no such strategy/],
])(
  '[CFG1] a parameter of the command line, %s, is checked as those of the files are',
  async (param, says) => {
    const written: string[] = []
    const write = vi
      .spyOn(process.stderr, 'write')
      .mockImplementation((text) => written.push(String(text)) > 0)
    try {
      expect(await main(['check', '--param', param])).toBe(78)
    } finally {
      write.mockRestore()
    }
    expect(written.join('')).toMatch(says)
  },
)

test.each([
  ['run'],
  ['check', '--no-secrets'],
  ['repair'],
  ['archive', '--before', '2025-06-02'],
  ['journal', 'copy', '--to', 'file'],
])('[CFG1] %s refuses --speed where the prices come from an exchange outside', async (...words) => {
  const written: string[] = []
  const write = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation((text) => written.push(String(text)) > 0)
  try {
    expect(await main([...words, ...EXAMPLE, '--speed', '60'])).toBe(78)
  } finally {
    write.mockRestore()
  }
  expect(written.join('')).toMatch(/exchange\.baseUrl: .*leave --speed 60 out/)
})
