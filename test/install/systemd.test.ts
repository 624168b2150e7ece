import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createSupervisor } from '../../src/cli/process/supervisor.ts'
import { type Project, Projects } from '../daemon/project.ts'
import { ManualTime } from '../support/manual-time.ts'
import { DatagramSocket } from './datagram-socket.ts'

const projects = new Projects()
const sockets: DatagramSocket[] = []
afterAll(async () => {
  await Promise.all(sockets.map((socket) => socket.close()))
  await projects.close()
})

const lacks = (...programs: readonly string[]): boolean =>
  programs.some((program) => spawnSync(program, ['--version']).error !== undefined)

/** A working directory of `intentd init`, whose unit names paths that are there. */
async function makeWorkingDirectory(project: Project): Promise<string> {
  const run = project.start(['init', 'work'])
  expect(await run.ended).toEqual({ code: 0, signal: null })
  return join(project.directory, 'work')
}

async function openSocket(): Promise<{ socket: DatagramSocket; path: string; project: Project }> {
  const project = projects.open()
  const path = join(project.directory, 'notify.sock')
  const socket = await DatagramSocket.open(path)
  sockets.push(socket)
  return { socket, path, project }
}

describe.skipIf(lacks('systemd-analyze'))(
  'the systemd unit (not checked where there is no systemd-analyze)',
  () => {
    test('is without a fault, and its exposure is small', async () => {
      const unit = join(await makeWorkingDirectory(projects.open()), 'intentd.service')

      const verified = spawnSync('systemd-analyze', ['verify', '--recursive-errors=no', unit], {
        encoding: 'utf8',
      })
      const security = execFileSync(
        'systemd-analyze',
        ['security', '--offline=yes', '--threshold=25', unit],
        {
          encoding: 'utf8',
        },
      )

      expect({ status: verified.status, said: verified.stderr }).toEqual({ status: 0, said: '' })
      expect(security).toMatch(/Overall exposure level for intentd\.service: [0-2]\.\d OK/)
    })
  },
)

test('init as root names a user of its own in the unit, with the commands that make it', async () => {
  const project = projects.open()
  const run = project.start(['init', 'work'])
  await run.ended

  const user = /^User=(.*)$/m.exec(project.read('work/intentd.service'))?.[1]
  const said = run.stderr.join('\n')
  const directory = join(project.directory, 'work')
  if (process.geteuid?.() !== 0) {
    expect([user, said]).toEqual([userInfo().username, expect.not.stringContaining('useradd')])
    return
  }
  expect(user).toBe('intentd')
  expect(said).toContain(
    `useradd --system --home-dir ${directory} --shell /usr/sbin/nologin intentd`,
  )
  expect(said).toContain(`chown -R intentd: ${directory}`)
})

test('the systemd unit names what the document of stops says, and nothing that V8 does not survive', () => {
  const unit = readFileSync('deploy/intentd.service', 'utf8')

  expect(unit).toMatch(/^Type=notify$/m)
  expect(unit).toMatch(/^TimeoutStopSec=120$/m)
  expect(unit).toMatch(/^Restart=on-failure$/m)
  expect(unit).toMatch(/^RestartPreventExitStatus=64 65 66 71 78$/m)
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute/m)
})

test('the file of a health check is written while the trading loop goes round, and then no more', async () => {
  const file = join(projects.open().directory, 'heartbeat')
  const time = new ManualTime(0)
  let heartbeat = 1
  const supervisor = createSupervisor({
    variables: { INTENTD_HEARTBEAT_FILE: file },
    timers: time,
    heartbeat: () => heartbeat,
    onTrouble: (reason) => expect.unreachable(reason),
  })
  const written = async () => vi.waitUntil(() => existsSync(file))

  supervisor.ready()
  await written()
  rmSync(file)
  await time.pass(60_000)
  expect(existsSync(file)).toBe(false)
  heartbeat = 2
  await time.pass(5000)
  await written()
  supervisor.close()

  expect(time.timersWaiting).toBe(0)
})

describe.skipIf(lacks('systemd-notify', 'python3'))(
  'notifications (not checked where systemd-notify or python3 is missing)',
  () => {
    test.concurrent('a real run says that it is ready, feeds the watchdog, and says that it stops', async () => {
      const { socket, path, project } = await openSocket()
      const run = project.run([], { NOTIFY_SOCKET: path, WATCHDOG_USEC: '600000' })

      await socket.until(
        (messages) => messages.filter((one) => one.includes('WATCHDOG=1')).length >= 2,
      )
      run.kill('SIGTERM')
      await socket.until((messages) => messages.some((one) => one.includes('STOPPING=1')))
      await run.ended

      const said = socket.messages.filter((message) => !message.startsWith('BARRIER=1'))
      expect(said.some((message) => message.includes('READY=1'))).toBe(true)
      expect(said.findIndex((message) => message.includes('READY=1'))).toBeGreaterThan(0)
    })

    test.concurrent('a trading loop that stands still is not fed for', async () => {
      const { socket, path } = await openSocket()
      const time = new ManualTime(0)
      let heartbeat = 1
      const supervisor = createSupervisor({
        variables: { ...process.env, NOTIFY_SOCKET: path, WATCHDOG_USEC: '3000000' },
        timers: time,
        heartbeat: () => heartbeat,
        onTrouble: (reason) => expect.unreachable(reason),
      })
      const fed = () => socket.messages.filter((message) => message.includes('WATCHDOG=1')).length

      supervisor.ready()
      await socket.until(() => fed() === 1)
      await time.pass(5000)
      heartbeat = 2
      await time.pass(1000)
      await socket.until(() => fed() >= 2)
      supervisor.stopping()
      supervisor.close()
      await socket.until((messages) => messages.some((message) => message.includes('STOPPING=1')))

      expect(fed()).toBe(2)
    })
  },
)
