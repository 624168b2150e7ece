import { execFile, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LocalRegistry } from './local-registry.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

/** Without the checkout's own programs: the Node and the npm of this machine. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

const { stdout: MACHINE_NODE } = spawnSync('node', ['--version'], {
  env: { PATH },
  encoding: 'utf8',
})

const folder = mkdtempSync(join(tmpdir(), 'intentd-package-'))
const prefix = join(folder, 'global')
const empty = join(folder, 'empty')
const work = join(folder, 'work')

interface Output {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The installed program, as a shell finds it. */
async function intentd(cwd: string, ...args: readonly string[]): Promise<Output> {
  const env = { PATH: `${join(prefix, 'bin')}${delimiter}${PATH}`, HOME: folder }
  try {
    return { code: 0, ...(await run('intentd', args, { cwd, env, maxBuffer: 16_777_216 })) }
  } catch (error) {
    return error as Output
  }
}

beforeAll(async () => {
  mkdirSync(empty)
  const packed = await run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT })
  const tarball = join(folder, packed.stdout.trim().split('\n').at(-1) ?? '')
  const registry = await LocalRegistry.open()
  try {
    const where = ['--prefix', prefix, '--cache', join(folder, 'cache'), '--registry', registry.url]
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=0']
    await run('npm', ['install', '--global', ...where, ...quiet, tarball], {
      env: { PATH, HOME: folder },
    })
  } finally {
    await registry.close()
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe(`the package, installed globally from its tarball on Node ${MACHINE_NODE.trim()}`, () => {
  test('holds what a user needs, and neither sources nor tests', () => {
    const installed = join(prefix, 'lib', 'node_modules', 'intentd')

    for (const path of [
      'dist/cli/main.js',
      'dist/strategy/contract.d.ts',
      'deploy/intentd.service',
      'SECURITY.md',
    ])
      expect({ path, isThere: existsSync(join(installed, path)) }).toEqual({ path, isThere: true })
    for (const path of ['src', 'test', 'bench', 'conformance', '.env'])
      expect({ path, isThere: existsSync(join(installed, path)) }).toEqual({ path, isThere: false })
  })

  test('names no file by the ending of its source, which the compiler does not change in a URL', () => {
    const dist = join(prefix, 'lib', 'node_modules', 'intentd', 'dist')
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.js'),
    )
    const named = files.filter((name) =>
      /new URL\(\s*['"`][^'"`]*\.ts['"`]/.test(readFileSync(join(dist, name), 'utf8')),
    )

    expect(files).toContain(join('cli', 'main.js'))
    expect(named).toEqual([])
  })

  test('says its version and, where there is no configuration, how to make one', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      version: string
    }

    expect(await intentd(empty, '--version')).toMatchObject({ code: 0, stdout: `${version}\n` })
    expect(await intentd(empty, 'run')).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('`intentd init DIR` makes a working directory') as string,
    })
  })

  test('makes a working directory in which check, test, run, status, backtest and doctor work at once', async () => {
    expect(await intentd(empty, 'init', work)).toMatchObject({ code: 0 })

    expect(await intentd(work, 'check')).toMatchObject({ code: 0, stderr: '' })
    expect(await intentd(work, 'test')).toMatchObject({ code: 0 })
    const ran = await intentd(work, 'run', '--for', '3s', '--summary', 'json')
    expect(ran.code).toBe(0)
    expect(JSON.parse(ran.stdout)).toMatchObject({ clean: true, exchange: { agrees: true } })
    expect(await intentd(work, 'status')).toMatchObject({ code: 0 })
    const tried = await intentd(
      work,
      'backtest',
      'config/paper.yaml',
      '--market',
      'seeded',
      '--days',
      '1',
    )
    expect({ code: tried.code, said: tried.stderr }).toMatchObject({ code: 0 })
    const looked = await intentd(work, 'doctor', '--json')
    expect(looked.code).toBe(0)
    expect(JSON.parse(looked.stdout)).toMatchObject({ findings: expect.any(Array) as unknown[] })
  })

  test('does not touch a directory that holds something', async () => {
    writeFileSync(join(empty, 'kept.txt'), 'mine')

    const refused = await intentd(empty, 'init', '.')

    expect(refused).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('INIT_NOT_EMPTY') as string,
    })
    expect(readFileSync(join(empty, 'kept.txt'), 'utf8')).toBe('mine')
    expect(existsSync(join(empty, 'config'))).toBe(false)
  })
})

const isOld = Number(MACHINE_NODE.slice(1).split('.')[0]) < 24

test.skipIf(!isOld)(
  'without its own Node, on one that is too old, it says so and ends with 71',
  async () => {
    const modules = join(prefix, 'lib', 'node_modules', 'intentd', 'node_modules')
    for (const name of readdirSync(modules).filter(
      (one) => one.startsWith('node-') && one !== 'node-cron',
    ))
      rmSync(join(modules, name), { recursive: true })

    expect(await intentd(empty, '--version')).toMatchObject({
      code: 71,
      stderr: expect.stringContaining('RUNTIME_MISSING') as string,
    })
  },
)

test('no package that is installed runs a script of its own', () => {
  expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toContain('"hasInstallScript"')
})
