import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const askIn =
  (project: Project, home = project) =>
  async (...words: string[]) => {
    const verb = project.start(words, { HOME: home.directory, XDG_STATE_HOME: home.directory })
    const { code } = await verb.ended
    return { code, said: [...verb.stderr, ...verb.stdout].join('\n') }
  }

test('[RSK3] what another daemon of the folder trades is named, and never looks killed', async () => {
  const project = projects.open()
  project.write(
    'config/mine.yaml',
    project
      .read('config/paper.yaml')
      .replace('name: paper', 'name: mine')
      .replace('.intentd/paper', '.intentd/mine'),
  )
  const ask = askIn(project)
  const mine = project.run(['-c', 'config/mine.yaml', '--summary', 'json'])
  await mine.untilEvent('daemon.running')
  const named = /mine \(pid \d+, intentd run .*-c config\/mine\.yaml/

  const status = await ask('status')
  expect(status.said).toMatch(
    /config\/paper\.yaml, which does not run\. A daemon of this folder runs: mine \(pid \d+, .*Add -c config\/mine\.yaml/,
  )
  const release = ['release', '--reason', "it's checked", '--wait', '0ms']
  const pause = ['pause', 'grid-btc', '--reason', 'drill', '--wait', '0ms']
  for (const words of [release, pause]) {
    const refused = await ask(...words)
    expect(refused.code).toBe(75)
    expect(refused.said).toMatch(named)
    expect(refused.said).toMatch(
      words === release
        ? /nothing was left[^]*intentd release -c config\/mine\.yaml [^\n]*--reason 'it'\\''s checked' /
        : /nothing was left[^]*intentd mode grid-btc halted -c config\/mine\.yaml [^\n]*--reason drill /,
    )
  }
  expect(existsSync(join(project.directory, '.intentd/paper/operator'))).toBe(false)
  const ofPaper = await ask('kill', '-c', 'config/paper.yaml', '--wait', '1s')
  expect(ofPaper.code).toBe(0)
  expect(ofPaper.said).toMatch(/NOT killed: mine .* trades on; `intentd kill -c config\/mine.yaml /)

  const second = project.run([
    '-c',
    'config/mine.yaml',
    '--summary',
    'json',
    '--set',
    'name=second',
    '--set',
    'state.directory=../.intentd/second',
  ])
  await second.untilEvent('daemon.running')
  const several = await ask('kill', '--wait', '1s')
  expect(several.code).toBe(75)
  expect(several.said).toMatch(/NOTHING IS KILLED[^]*intentd kill -c config\/mine\.yaml /)
  expect(existsSync(join(project.directory, '.intentd/mine/KILL'))).toBe(false)
  await second.stop()

  const only = await ask('kill', '--reason', 'drill')
  expect(only.said).toMatch(/kills the one daemon of this folder that does, mine \(pid/)
  expect(only).toMatchObject({ code: 0, said: expect.stringContaining('clean: nothing rests') })
  expect(mine.events('trading.killed')).toHaveLength(1)
  await mine.stop()
})

test('[RSK3] a daemon of a new strategy is killed from its folder, and named in any other', async () => {
  const project = projects.open()
  const ask = askIn(project)
  project.write(
    'strategies/cross.paper.yaml',
    project
      .read('config/paper.yaml')
      .replace('name: paper', 'name: cross')
      .replace('../.intentd/paper', '.intentd/cross')
      .replaceAll('- strategies/', '- ../config/strategies/'),
  )
  const quiet = ['--set', 'control.port=0', '--summary', 'json']
  const cross = project.run(['-c', 'strategies/cross.paper.yaml', ...quiet])
  await cross.untilEvent('daemon.running')

  const elsewhere = projects.open()
  const askElsewhere = askIn(elsewhere, project)
  const command = `intentd kill -c ${project.directory}/strategies/cross.paper.yaml`
  const stopped = ['-c', 'config/paper.yaml']
  for (const { words, code } of [
    { words: [], code: 75 },
    { words: ['--all'], code: 75 },
    { words: stopped, code: 0 },
    { words: ['--all', ...stopped], code: 0 },
  ]) {
    const missed = await askElsewhere('kill', ...words, '--wait', '0s')
    expect([words, missed.code]).toEqual([words, code])
    expect(missed.said).toMatch(/NOT killed: cross \(pid \d+, intentd run /)
    expect(missed.said).toContain(command)
  }
  for (const verb of ['status', 'fills'])
    expect((await askElsewhere(verb)).said).toContain(
      `Add -c ${project.directory}/strategies/cross.paper.yaml`,
    )
  elsewhere.write('config/paper.yaml', 'name: [')
  for (const words of [[], ['-c', 'config/nowhere.yaml'], ['--state', '.intentd/nowhere']]) {
    const lost = await askElsewhere('kill', ...words)
    expect(lost.code).not.toBe(0)
    expect(lost.said).toContain(command)
    expect(lost.said).not.toContain('nothing was started')
    expect((await askElsewhere('status', ...words)).said).toMatch(/cross \(pid [^]*Add -c /)
  }
  expect(cross.events('trading.killed')).toEqual([])

  for (const words of [
    ['status'],
    ['fills'],
    ['flatten', '*', '--reason', 'drill', '--wait', '0s'],
  ])
    expect((await ask(...words)).said).toMatch(
      /A daemon of this folder runs: cross \(pid .*Add -c strategies\/cross\.paper\.yaml/,
    )
  const killed = await ask('kill', '--reason', 'drill')
  expect(killed.said).toMatch(/kills the one daemon of this folder that does, cross \(pid/)
  expect(killed).toMatchObject({ code: 0, said: expect.stringContaining('clean: nothing rests') })
  expect(cross.events('trading.killed')).toHaveLength(1)
  const again = await askElsewhere('kill', '-c', 'config/live.example.yaml', '--wait', '0s')
  expect(again.said).not.toContain('NOT killed: cross')
  await cross.stop()
})
