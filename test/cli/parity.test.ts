import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type RunSummary } from '../../src/views/summary.ts'
import { describeMadeUp } from '../../src/report/text/figures.ts'
import { readReport } from '../../src/report/read-report.ts'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

async function checkParity(project: Project, ...args: readonly string[]) {
  const compared = project.start(['parity', findRecordings(project), ...args])
  const { code } = await compared.ended
  return { code, text: compared.stdout.join('\n'), errors: compared.stderr.join('\n') }
}

function findRecordings(project: Project): string {
  const environments = join(project.directory, '.intentd')
  const paths = readdirSync(environments, { recursive: true, encoding: 'utf8' })
  return join(environments, paths.find((path) => path.endsWith('recordings')) ?? '')
}

test('a recorded run is set beside a backtest of its prices, and a changed strategy is found', async () => {
  const project = projects.open()
  // Prices that move oftener than a poll in real time would show, in a configuration that is not the folder's paper.yaml.
  project.write('config/other.yaml', project.read('config/paper.yaml'))
  const given = ['record=true', 'simulator.speed=60', 'risk.openOrdersMax=90']
  const options = ['-c', 'config/other.yaml', ...given.flatMap((text) => ['--set', text])]
  const run = project.run(options)
  await run.until('both ladders', () => run.events('batch.sent').length > 1)
  await new Promise((resolve) => setTimeout(resolve, 2000))
  await run.stop()
  // A backtest stops where the first run did.
  const next = project.run(options)
  await next.until('another file', () => next.events('recording.started').length > 0)
  await next.stop()
  const parity = (...args: readonly string[]) => checkParity(project, ...args)

  // The folder's own configuration would do here too: the recorded one is taken.
  project.edit('config/paper.yaml', 'speed: 60', 'speed: nonsense')
  const same = await parity('--out', 'parity')
  project.edit('config/strategies/grid-btc.yaml', 'levels: 8', 'levels: 4')
  const changed = await parity('--set', 'risk.priceCollarRatio=0.04')
  project.edit('config/strategies/grid-btc.yaml', '\nmodule:', '\nenabled: false\nmodule:')
  const other = await parity()

  expect(same.errors).toBe('')
  const reports = ['recorded', 'backtest'].map((place) =>
    readReport(join(project.directory, 'parity', place)),
  )
  // Prices of a seed are marked as such, also where they were recorded.
  expect(reports.map(({ coverage }) => describeMadeUp(coverage)[0])).toEqual([
    expect.stringMatching(/^Made-up prices/),
    expect.stringMatching(/^Made-up prices/),
  ])
  const [recorded, played] = reports.map(({ runs }) => runs[0])
  const fillsOf = (count: string) =>
    Number(new RegExp(`^fills: .*?(\\d+) ${count}`, 'm').exec(same.text)?.[1])
  expect([recorded?.fills.count, played?.fills.count]).toEqual([
    fillsOf('recorded'),
    fillsOf('in the b'),
  ])
  expect([recorded?.restrictions, played?.restrictions]).toEqual([[], []])
  expect(same.text).toMatch(/^configuration: .*config\/other\.yaml$/m)
  expect(same.text).not.toMatch(/no proof|configuration changed/)
  expect(recorded?.series.startAt).toBe(played?.series.startAt)
  const { opening, realised, unrealised, fees, funding, final } = recorded?.money ?? {}
  expect(
    Number(opening) + Number(realised) + Number(unrealised) - Number(fees) + Number(funding),
  ).toBeCloseTo(Number(final), 8)
  for (const id of ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'])
    expect(same.text).toMatch(
      new RegExp(`^${id}: ([1-9]\\d*) changes? of what it wants recorded, \\d+ in the b`, 'm'),
    )
  expect(same.text).toMatch(/^trend-btc: .* all the same$/m)
  const isDifferent =
    /the same, then$|^fills: .*; the first \d+ are the same\n(?! {2}the rest)/m.test(same.text)
  expect(same.code).toBe(isDifferent ? 1 : 0)
  expect(recorded?.ratios.find(({ name }) => name === 'highest margin ratio')?.value).toBeNull()
  const made = run.events('run.summary').at(-1)?.['allRuns'] as RunSummary['allRuns'] | undefined
  // The report counts at the exchange's mark, the daemon at the last price: they agree within 1 USDT.
  expect(Math.abs(Number(unrealised) - Number(made?.unrealisedProfit))).toBeLessThan(1)
  expect(same.text).toMatch(
    /^note: as in the recorded run: .*--set record=true --set simulator\.speed=60 --set risk\.openOrdersMax=90/m,
  )
  const [, second] = readdirSync(findRecordings(project)).toSorted()
  expect(same.text).toContain(
    `note: ${second} begins another run, after a stop: only the files before it are compared (1 of 2)`,
  )
  expect(changed.code).toBe(1)
  expect(changed.text).toMatch(
    /^grid-btc: .*; the first 0 are the same, then\n {2}recorded .*\n(?: {4}.*\n)+ {2}backtest .*\n(?: {4}.*\n)+ {2}why: neither prices, time of decision nor fills/m,
  )
  expect(other.code).toBe(78)
  expect(other.errors).toMatch(/PARITY_CONFIG_OTHER[^]*recorded +grid-btc \(BTCUSDT\)[^]*-c FILE/)
})

test('a run that was restricted is no proof, and one that was reloaded is compared up to there', async () => {
  const project = projects.open()
  const command = async (...args: readonly string[]) => {
    const started = project.start(args)
    expect((await started.ended).code).toBe(0)
  }
  const run = project.run(['--set', 'record=true', '--set', 'simulator.speed=60'])
  await run.until('both ladders', () => run.events('batch.sent').length > 1)
  await command('restrict', '*', 'halted', '--reason', 'a look')
  await command('restrict', 'strategy:trend-eth', 'reducing', '--reason', 'seen enough')
  await command('release', '*', '--reason', 'looked')
  project.edit('config/strategies/grid-btc.yaml', 'levels: 8', 'levels: 4')
  await command('reload')
  await run.until('the new configuration', () => run.events('recording.started').length > 1)
  await run.stop()
  project.edit('config/strategies/grid-btc.yaml', 'levels: 4', 'levels: 8')
  const { code, text, errors } = await checkParity(project, '--out', 'parity')

  expect(errors).toBe('')
  expect(text.split('\n').slice(0, 5)).toEqual([
    'configuration: config/paper.yaml',
    'recorded run only: * halted (operator)',
    'recorded run only: strategy:trend-eth reducing (operator)',
    'recorded run only: * released',
    expect.stringMatching(/^note: one of the two was restricted or released alone, so .* no proof/),
  ])
  expect(code).toBe(1)
  const [, second] = readdirSync(findRecordings(project)).toSorted()
  expect(text).toContain(
    `note: the configuration changed with ${second}, and the backtest needs the one of before (-c FILE): only the files before it are compared (1 of 2)`,
  )
  const [recorded, played] = ['recorded', 'backtest'].map(
    (place) => readReport(join(project.directory, 'parity', place)).runs[0],
  )
  expect(recorded?.restrictions).toEqual([
    expect.stringMatching(
      /^trading of trend-eth ended \d.*, reducing \(operator\): seen enough; \d+ /,
    ),
  ])
  expect(played?.restrictions).toEqual([])
})
