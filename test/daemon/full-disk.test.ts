import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Projects } from './project.ts'
import { findExchange, startDaemon, startExchange } from './remote-exchange.ts'

const projects = new Projects()
const mounted: string[] = []
afterAll(async () => {
  await projects.close(() => {
    for (const place of mounted) spawnSync('umount', ['-l', place])
  })
})

/** A disk of a few megabytes. False where only an administrator may have one. */
function mountDisk(place: string, megabytes: number): boolean {
  mkdirSync(place, { recursive: true })
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', place])
  if (status === 0) mounted.push(place)
  return status === 0
}

/** Writes until nothing more goes. */
function fillDisk(file: string): void {
  const descriptor = openSync(file, 'w')
  for (let size = 1_048_576; size >= 1;) {
    try {
      if (writeSync(descriptor, Buffer.alloc(size)) < size) size = Math.floor(size / 2)
    } catch {
      size = Math.floor(size / 2)
    }
  }
  closeSync(descriptor)
}

test.concurrent('[ORD1] a disk that fills up: nothing is created any more, what rests is cancelled, and the next run recovers', async ({
  skip,
}) => {
  const project = projects.open()
  const disk = join(project.directory, 'disk')
  if (!mountDisk(disk, 24)) skip('only an administrator may mount a small disk')
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--speed', '300', '--state', 'exchange.sqlite'])
  await exchange.untilEvent('simulator.listening')
  const settings = [
    `state.directory=${disk}`,
    'state.freeBytesMin=10000000',
    'onStop=cancel',
    'onRestart=adopt',
  ]
  const start = () =>
    startDaemon(
      project,
      place,
      settings.flatMap((setting) => ['--set', setting]),
    )

  const first = start()
  await first.untilEvent('order.accepted', 2)
  fillDisk(join(disk, 'filler'))
  const ended = await first.ended
  const second = start()
  await second.untilEvent('daemon.running')
  await second.untilEvent('order.ended')
  await second.untilEvent('intent.denied')
  const stopped = await second.stop()
  rmSync(join(disk, 'filler'))
  const third = start()
  await third.untilEvent('order.accepted')
  await third.stop()
  await exchange.stop()

  expect(ended.code).toBe(70)
  expect(first.events('daemon.broken')[0]?.['reason']).toMatch(/^JOURNAL_POISONED/)
  const broken = first.log.findIndex(({ event }) => event === 'daemon.broken')
  expect(first.log.slice(broken).filter(({ event }) => event === 'order.sent')).toEqual([])
  expect(first.events('retreat.ended')).toMatchObject([{ end: 'cancelled' }])
  expect(stopped.code).toBe(0)
  expect(second.events('disk.low')).toHaveLength(1)
  // What reduces risk may still leave.
  expect(second.events('intent.denied')[0]).toMatchObject({
    detail: 'the disk of the journal is nearly full',
  })
  expect([...second.events('position.adopted'), ...third.events('position.adopted')]).toEqual([])
})

test.concurrent('a state directory that cannot be written is refused, and says so', async ({
  skip,
}) => {
  const project = projects.open()
  const disk = join(project.directory, 'disk')
  if (!mountDisk(disk, 1)) skip('only an administrator may mount a small disk')
  spawnSync('mount', ['-o', 'remount,ro', disk])

  const place = await findExchange(project)
  const run = startDaemon(project, place, ['--set', `state.directory=${disk}`])
  const { code } = await run.ended

  expect(code).toBe(75)
  expect(run.stderr.join('\n')).toMatch(/STATE_UNWRITABLE[^]*read-only file system/i)
})

test.concurrent('[RSK3] a kill where no file can be made goes by the socket, and without a daemon cancels from its own process', async ({
  skip,
}) => {
  const project = projects.open()
  const disk = join(project.directory, 'disk')
  if (!mountDisk(disk, 64)) skip('only an administrator may mount a small disk')
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--speed', '300'])
  await exchange.untilEvent('simulator.listening')
  const state = ['--set', `state.directory=${disk}`, '--set', 'state.freeBytesMin=10000000']
  const run = startDaemon(project, place, state)
  await run.untilEvent('order.accepted', 2)
  const { files, ffree } = statfsSync(disk)
  spawnSync('mount', ['-o', `remount,nr_inodes=${files - ffree}`, disk])
  expect(() => closeSync(openSync(join(disk, 'more'), 'w'))).toThrow('ENOSPC')
  const kill = async () => {
    const named = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
    const command = project.start(['kill', ...named, ...state], place.env)
    const { code } = await command.ended
    return { code, said: [...command.stderr, ...command.stdout].join('\n') }
  }

  const running = await kill()
  await run.stop('SIGKILL')
  const stopped = await kill()
  await exchange.stop()

  expect(running.said).toMatch(/at its socket[^]*clean: nothing rests, twice confirmed/)
  expect(run.events('trading.killed')).toHaveLength(1)
  expect(run.events('kill.clean')).toHaveLength(1)
  expect([running.code, stopped.code]).toEqual([0, 75])
  expect(stopped.said).toContain('nothing rests at the exchange')
  expect(stopped.said).toContain('STATE_UNWRITABLE')
})
