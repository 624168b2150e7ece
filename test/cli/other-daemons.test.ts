import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

test('[RSK3] what another daemon of the folder trades is named, and never looks killed', async () => {
  const project = projects.open()
  project.write(
    'config/mine.yaml',
    project
      .read('config/paper.yaml')
      .replace('name: paper', 'name: mine')
      .replace('.intentd/paper', '.intentd/mine'),
  )
  const ask = async (...words: string[]) => {
    const verb = project.start(words)
    const { code } = await verb.ended
    return { code, said: [...verb.stderr, ...verb.stdout].join('\n') }
  }
  const mine = project.run(['-c', 'config/mine.yaml', '--summary', 'json'])
  await mine.untilEvent('daemon.running')
  const named = /mine \(pid \d+, intentd run .*-c config\/mine\.yaml/

  const status = await ask('status')
  expect(status.said).toMatch(
    /config\/paper\.yaml, which does not run\. Another daemon of this folder does: mine \(pid \d+, .*Add -c config\/mine\.yaml/,
  )
  const pause = await ask('pause', 'grid-btc', '--reason', 'drill', '--wait', '0ms')
  expect(pause.said).toMatch(named)
  const ofPaper = await ask('kill', '-c', 'config/paper.yaml', '--wait', '1s')
  expect(ofPaper.said).toMatch(/not killed: mine .* trades on; `intentd kill -c config\/mine.yaml /)

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
