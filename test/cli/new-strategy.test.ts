import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { IntentdProcess } from '../daemon/intentd-process.ts'
import { Projects } from '../daemon/project.ts'

const LIBRARY = join(import.meta.dirname, '../../strategies')

const projects = new Projects()
afterAll(() => projects.close())

async function run(cwd: string, ...args: readonly string[]) {
  const made = new IntentdProcess([...args], { cwd, waitMsMax: 120_000 })
  const { code } = await made.ended
  return { code, stdout: made.stdout.join('\n'), stderr: made.stderr.join('\n') }
}

test('a new strategy passes its test and the check, and trades in a backtest, from any folder', async () => {
  const { directory } = projects.open()
  const written = await run(directory, 'new-strategy', 'my-rsi', '--dir', 'mine')
  expect(written).toMatchObject({ code: 0 })
  expect(readdirSync(`${directory}/mine`).toSorted()).toEqual([
    'my-rsi.paper.yaml',
    'my-rsi.test.ts',
    'my-rsi.ts',
    'my-rsi.yaml',
  ])

  const tested = await run(directory, 'test', 'mine/my-rsi.test.ts')
  expect(tested.stdout).toMatch(/pass 3/)
  expect(tested.code).toBe(0)

  const config = 'mine/my-rsi.paper.yaml'
  expect(await run(directory, 'check', '--config', config)).toMatchObject({ code: 0, stderr: '' })

  const played = await run(
    directory,
    'backtest',
    config,
    '--market',
    'seeded',
    '--days',
    '1',
    '--out',
    'out',
  )
  expect(played).toMatchObject({ code: 0 })
  expect(played.stdout).toMatch(/fills/)
})

test('one that comes with intentd can be copied, from any folder, and passes the check', async () => {
  const { directory } = projects.open()
  for (const like of ['breakout', 'grid', 'pair']) {
    const written = await run(directory, 'new-strategy', `my-${like}`, '--like', like)
    expect([written.code, written.stdout]).toEqual([
      0,
      expect.stringContaining(`${like} as it comes`),
    ])
    expect(await run(directory, 'check', '-c', `my-${like}.paper.yaml`)).toMatchObject({
      code: 0,
      stderr: '',
    })
    const config = readFileSync(join(directory, `my-${like}.paper.yaml`), 'utf8')
    expect(config.includes('foreignFills: adopt')).toBe(like === 'breakout')
  }
})

test('every strategy that comes with intentd can be copied', async () => {
  const { directory } = projects.open()
  const names = readdirSync(LIBRARY).map((file) => file.replace(/\.ts$/, ''))
  expect(names.length).toBeGreaterThan(10)

  const { stderr } = await run(directory, 'new-strategy', 'mine', '--like', 'none')

  const choices = / Allowed choices are (?<names>.*)\./.exec(stderr)?.groups?.['names']?.split(', ')
  expect(choices?.toSorted()).toEqual(names.toSorted())
})

test('a copy that follows a signal has a configuration that takes it', async () => {
  const { directory } = projects.open()
  const written = await run(directory, 'new-strategy', 'mine', '--like', 'follow')
  expect(written).toMatchObject({ code: 0, stdout: expect.stringContaining('INTENTD_SIGNAL_TV=') })
  const check = async () => await run(directory, 'check', '--config', 'mine.paper.yaml')

  const unready = await check()
  expect(unready).toMatchObject({ code: 78 })
  expect(unready.stderr).toMatch(/^INTENTD_SIGNAL_TV: missing: .*\n\n1 problem;/)

  writeFileSync(join(directory, '.env'), 'INTENTD_SIGNAL_TV=0123456789abcdef\n', {
    mode: 0o600,
  })
  expect(await check()).toMatchObject({ code: 0, stderr: '' })
})

test('in a folder of init a strategy goes to the others, and passes the check there', async () => {
  const { directory } = projects.open()
  await run(directory, 'init', 'work')
  const work = join(directory, 'work')
  const written = await run(work, 'new-strategy', 'my-rsi')

  expect(readdirSync(join(work, 'strategies'))).toEqual(
    expect.arrayContaining(['my-rsi.ts', 'my-rsi.paper.yaml']),
  )
  expect(readdirSync(work).filter((name) => name.startsWith('my-rsi'))).toEqual([])
  expect(written.stdout).toContain('check --config strategies/my-rsi.paper.yaml')
  expect(await run(work, 'check', '--config', 'strategies/my-rsi.paper.yaml')).toMatchObject({
    code: 0,
    stderr: '',
  })
})

test('what is there already is not written over', async () => {
  const { directory } = projects.open()
  await run(directory, 'new-strategy', 'twice')
  const again = await run(directory, 'new-strategy', 'twice')
  expect(again.code).not.toBe(0)
  expect(again.stderr).toMatch(/NEW_STRATEGY_EXISTS.*twice\.ts/s)
})

test('nothing is written through a link that leads nowhere', async () => {
  const { directory } = projects.open()
  symlinkSync(join(directory, 'elsewhere.yaml'), join(directory, 'linked.yaml'))
  const refused = await run(directory, 'new-strategy', 'linked')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toMatch(/NEW_STRATEGY_EXISTS.*linked\.yaml/s)
  expect(existsSync(join(directory, 'elsewhere.yaml'))).toBe(false)
  expect(existsSync(join(directory, 'linked.ts'))).toBe(false)
})
