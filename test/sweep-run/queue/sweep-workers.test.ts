import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SweepReport } from '../../../src/sweep/sweep-report.ts'
import { postgresMissing } from '../../support/postgres-server.ts'
import { newQueue, says, SweepScene } from './sweep-scene.ts'

const FILES = ['sweep.json', 'trials.csv', 'sweep.html']

describe.skipIf(postgresMissing !== undefined)('a sweep over several machines', () => {
  let scene: SweepScene

  beforeAll(() => {
    scene = new SweepScene()
    scene.write(
      'sweep.yaml',
      'method: halving\nfolds: 1\nparams:\n  scripted: { everyMinutes: [30], lots: [5, 7, 9, 11] }\n',
    )
  })
  afterAll(() => scene.close())

  test('[DET1] ends with the files of one machine, though a worker was killed, one had another file that the strategy imports, and one lacked a file', async () => {
    const here = scene.start(scene.words('here', '--jobs', '1'))
    const queue = await newQueue()
    const worker = (directory: string) =>
      scene.start(['sweep', 'worker', '--queue', queue, '--threads', '1'], directory)
    const sweep = scene.start(scene.words('there', '--queue', queue))
    const changed = scene.copy()
    scene.change(changed, 'clock.ts', (text) => text.replace('60_000', '61_000'))
    const lacking = scene.copy()
    rmSync(join(lacking, 'BTCUSDT.csv'))
    const [other, poor] = [worker(changed), worker(lacking)]
    await Promise.all([says(other, 'left to others'), says(poor, 'left to others')])
    const held = worker(scene.copy({ hold: '' }))
    await says(held, 'takes its trials')
    const good = worker(scene.copy())
    await says(good, 'takes its trials')

    held.kill('SIGKILL')
    const [{ code }, alone] = await Promise.all([sweep.ended, here.ended])
    const ends = await Promise.all([other, poor, good].map((one) => one.stop()))

    // On a busy machine trials wait for a while beside workers that refuse them, and that is said.
    const complaints = sweep.stderr.filter(
      (line) => !/^\d+ trials wait, \d+ workers? connected/.test(line),
    )
    expect([alone.code, here.stderr, code, complaints]).toEqual([0, [], 0, []])
    for (const name of FILES) expect(scene.read('there', name)).toBe(scene.read('here', name))
    expect(ends).toEqual(Array.from({ length: 3 }, () => ({ code: 0, signal: null })))
    const [said, ...more] = other.stderr.filter((line) => line.includes('left to others'))
    expect([said, more]).toEqual([
      expect.stringMatching(/strategies\.scripted\.clock\.ts is "\w+… here, "\w+… there/),
      [],
    ])
    expect(poor.stderr.join()).toMatch(/BTCUSDT\.csv/)
    expect(good.stderr.at(-1)).toMatch(/^ended; \d+ trials were computed$/)
    const report = JSON.parse(scene.read('there', 'sweep.json')) as SweepReport
    expect(report.trials).toHaveLength(4)
    expect(report.trials.find(({ params }) => params['scripted.lots'] === '7')?.failed).toMatch(
      /too much for scripted\.ts \(.*[ (]scripted\.ts:\d+:\d+\)/,
    )
  })
})
