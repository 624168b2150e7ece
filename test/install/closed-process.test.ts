// What other users of the machine may not look into: the process that holds the keys. Each way of starting it is tried
// with a real process.

import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { buildInitFiles } from '../../src/cli/setup/init-files.ts'
import { IntentdProcess } from '../daemon/intentd-process.ts'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const LAUNCHER = join(ROOT, 'bin', 'intentd.mjs')
const PINNED = join(ROOT, 'node_modules', '.bin', 'node')
const SECRET = 'no-other-user-may-read-this-0123456789'

/** A Node of the shell that hands over to the pinned one; undefined where the shell has none that is older. */
const olderNode = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find((file) => {
    const version = spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? ''
    return Number(/^v(\d+)/.exec(version)?.[1] ?? 99) < 24
  })

/** Starts this in place of the Node and the launcher that the test would start. */
const instead = (command: readonly string[]) => [
  'sh',
  '-c',
  `shift 2; exec ${command.map((word) => `'${word}'`).join(' ')} "$@"`,
  'sh',
]

interface Way {
  readonly name: string
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

function listWays(): readonly Way[] {
  const ecosystem = createRequire(import.meta.url)(join(ROOT, 'ecosystem.config.cjs')) as {
    readonly apps: readonly {
      readonly interpreter: string
      readonly interpreter_args: readonly string[]
    }[]
  }
  const [app] = ecosystem.apps
  const unit = buildInitFiles('/srv/x').get('intentd.service') ?? ''
  const started = /^ExecStart=(.*) run /m.exec(unit)?.[1] ?? ''
  const options =
    /NODE_OPTIONS="([^"]*)"/.exec(readFileSync(join(ROOT, 'Containerfile'), 'utf8'))?.[1] ?? ''
  return [
    { name: 'node bin/intentd.mjs run', command: [PINNED] },
    { name: 'pm2', command: [app?.interpreter ?? '', ...(app?.interpreter_args ?? [])] },
    {
      name: 'the unit of init',
      command: started
        .split(' ')
        .slice(0, -1)
        .map((word) => word.replaceAll('"', '')),
    },
    { name: 'the container', command: [PINNED], env: { NODE_OPTIONS: options } },
    ...(olderNode === undefined
      ? []
      : [{ name: `an older Node (${olderNode})`, command: [olderNode] }]),
  ]
}

/** @param env Beside the keys. Cores are allowed to it, as far as its start leaves them. */
function start(
  project: Project,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const own = {
    HOME: project.directory,
    XDG_STATE_HOME: project.directory,
    INTENTD_API_SECRET: SECRET,
  }
  return new IntentdProcess(['run', '--set', 'control.port=0'], {
    cwd: project.directory,
    env: { ...own, ...env },
    waitMsMax: 60_000,
    within: ['prlimit', '--core=unlimited:unlimited', ...instead([...command, LAUNCHER])],
  })
}

/** The process and those that it started. */
function familyOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return [
    pid,
    ...children
      .split(' ')
      .filter(Boolean)
      .flatMap((child) => familyOf(Number(child))),
  ]
}

/** Ports that it listens at. */
function portsOf(pid: number): readonly number[] {
  const links = readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)]
    } catch {
      return [] // It was closed meanwhile.
    }
  })
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1)
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(
      ([, , , state, , , , , , inode]) => state === '0A' && links.includes(`socket:[${inode}]`),
    )
    .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16))
}

const mayCore = spawnSync('prlimit', ['--core=unlimited:unlimited', 'true']).status === 0

describe.skipIf(process.platform !== 'linux' || !mayCore)(
  'a process that runs (not checked where there is no /proc, or no core can be allowed)',
  () => {
    test.concurrent.each(listWays())(
      'opens no inspector at SIGUSR1, and leaves no core: $name',
      async ({ command, env }) => {
        const project = projects.open()
        const run = start(project, command, env)
        await run.untilEvent('control.listening')
        const family = familyOf(run.pid)
        const before = run.log.length
        const ports = family.flatMap(portsOf)

        for (const pid of family) process.kill(pid, 'SIGUSR1')
        await run.until('a line after the signal', () => run.log.length > before)

        expect(family.flatMap(portsOf)).toEqual(ports)
        expect(run.stderr.join('\n')).not.toMatch(/Debugger listening|Starting inspector/)
        const holder = family.at(-1) ?? 0
        expect(readFileSync(`/proc/${holder}/limits`, 'utf8')).toMatch(
          /^Max core file size +0 +0 /m,
        )
        // As the watchdog ends a loop that hangs.
        process.kill(holder, 'SIGABRT')
        await run.ended
        expect(readdirSync(project.directory).filter((name) => name.startsWith('core'))).toEqual([])
      },
    )

    test.concurrent('[SEC1] shows others no key: not on its command line, not in its variables, not in its log', async () => {
      const project = projects.open()
      const run = start(project, [PINNED])
      await run.untilEvent('control.listening')

      const seen = ['cmdline', 'environ'].map((name) =>
        // No account of this machine; only root can be another user.
        spawnSync('cat', [`/proc/${run.pid}/${name}`], {
          encoding: 'utf8',
          ...(process.geteuid?.() === 0 && { uid: 4_000_123, gid: 4_000_123 }),
        }),
      )
      await run.stop('SIGKILL')

      expect(seen[0]?.stdout).toContain('intentd.mjs')
      expect(seen[0]?.stdout).not.toContain(SECRET)
      if (process.geteuid?.() === 0) expect(seen[1]).toMatchObject({ status: 1, stdout: '' })
      expect([...run.stdout, ...run.stderr].filter((line) => line.includes(SECRET))).toEqual([])
    })

    test.concurrent('leaves a core without memory where there is no prlimit', async () => {
      const project = projects.open()
      const run = start(project, ['/usr/bin/env', 'PATH=/nonexistent', PINNED])
      await run.untilEvent('control.listening')

      expect(readFileSync(`/proc/${run.pid}/coredump_filter`, 'utf8')).toBe('00000000\n')
      run.kill('SIGABRT')
      await run.ended

      for (const name of readdirSync(project.directory).filter((one) => /^core(\.|$)/.test(one))) {
        const core = join(project.directory, name)
        expect(statSync(core).size).toBeLessThan(10_000_000)
        expect(readFileSync(core).includes(SECRET)).toBe(false)
      }
    })
  },
)

test.each([
  ['--heapsnapshot-signal=SIGUSR2'],
  ['--heapsnapshot_near_heap_limit=1'],
  ['--report-on-fatalerror'],
  ['--inspect=0'],
])('is not started with %s, by NODE_OPTIONS or beside them', (flag) => {
  const { INTENTD_DEBUG: _debug, ...env } = process.env
  const inOptions = spawnSync(PINNED, [LAUNCHER, '--version'], {
    env: { ...env, NODE_OPTIONS: flag },
    encoding: 'utf8',
  })
  const beside = spawnSync(PINNED, [flag, LAUNCHER, '--version'], { env, encoding: 'utf8' })

  for (const { status, stderr } of [inOptions, beside]) {
    expect(status).toBe(64)
    expect(stderr).toContain('RUNTIME_EXPOSED')
    expect(stderr).toContain(flag)
  }
  const meant = spawnSync(PINNED, [LAUNCHER, '--version'], {
    env: { ...env, NODE_OPTIONS: flag, INTENTD_DEBUG: '1' },
    encoding: 'utf8',
  })
  expect(meant.status).toBe(0)
})

test('unit, container and pm2 say it too, where the Node that they start is known to understand', () => {
  const unit = readFileSync(join(ROOT, 'deploy', 'intentd.service'), 'utf8')
  expect(unit).toMatch(/^LimitCORE=0$/m)
  // The Node there may be an older one, which would not start.
  expect(unit).not.toMatch(/^[^#].*--disable-sigusr1/m)
  expect(buildInitFiles('/srv/x').get('intentd.service')).toMatch(
    /^ExecStart=.* --disable-sigusr1 /m,
  )
  expect(readFileSync(join(ROOT, 'Containerfile'), 'utf8')).toContain('--disable-sigusr1')
  expect(readFileSync(join(ROOT, 'deploy', 'compose.yaml'), 'utf8')).toContain(
    'ulimits: { core: 0 }',
  )
  expect(existsSync(PINNED)).toBe(true)
})
