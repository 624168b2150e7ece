import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const require = createRequire(import.meta.url)
const PM2 = join(dirname(require.resolve('pm2/package.json')), 'bin', 'pm2')

const LOOK_MS = 50

/** An app as pm2 sees it. */
export interface AppStatus {
  readonly status: string
  readonly pid: number
  readonly exitCode: number | undefined
  readonly restarts: number
}

interface ListedApp {
  readonly pid: number
  readonly pm2_env: {
    readonly status: string
    readonly exit_code?: number
    readonly restart_time: number
  }
}

/** The real pm2 with a home of its own, and the shipped ecosystem file in it. */
export class Pm2 {
  readonly #home = mkdtempSync(join(tmpdir(), 'intentd-pm2-'))
  readonly #env: Readonly<Record<string, string | undefined>>

  constructor(env: Readonly<Record<string, string>>) {
    const { INTENTD_API_KEY: _key, INTENTD_API_SECRET: _secret, ...inherited } = process.env
    this.#env = { ...inherited, PM2_HOME: this.#home, HOME: this.#home, ...env }
  }

  async run(...args: readonly string[]): Promise<string> {
    const options = { cwd: ROOT, env: this.#env, maxBuffer: 16_777_216 }
    const { stdout } = await promisify(execFile)(process.execPath, [PM2, ...args], options)
    return stdout
  }

  async start(ecosystem = join(ROOT, 'ecosystem.config.cjs')): Promise<void> {
    await this.run('start', ecosystem)
  }

  async status(): Promise<AppStatus> {
    const [app] = JSON.parse((await this.run('jlist', '--silent')).trim()) as ListedApp[]
    if (!app) throw new Error('pm2 lists no app')
    const { status, exit_code, restart_time } = app.pm2_env
    return { status, pid: app.pid, exitCode: exit_code, restarts: restart_time }
  }

  /** Asks until it is so; the test's own limit ends the waiting. */
  async until(isSo: (status: AppStatus) => boolean): Promise<AppStatus> {
    for (;;) {
      const status = await this.status()
      if (isSo(status)) return status
    }
  }

  /** What pm2 says of the processes: how each one ended. */
  endings(): string[] {
    return [...this.#said().matchAll(/exited with code \[\S*\] via signal \[\S*\]/g)].map(
      ([ending]) => ending,
    )
  }

  logs(): string {
    const read = (name: string) => readFileSync(this.fileOf('logs', name), 'utf8')
    return `${read('intentd-out.log')}${read('intentd-error.log')}`
  }

  /** A file in pm2's home. */
  fileOf(...path: readonly string[]): string {
    return join(this.#home, ...path)
  }

  /** Kills the daemon and waits until pm2 has it up again. By the files of pm2: asking it costs a process each time. */
  async killOnce(): Promise<void> {
    const ups = this.#countUps()
    process.kill(Number(readFileSync(this.fileOf('pids', 'intentd-0.pid'), 'utf8')), 'SIGKILL')
    while (this.#countUps() === ups) await sleep(LOOK_MS)
  }

  #countUps(): number {
    return this.#said().split('] online').length
  }

  #said(): string {
    return readFileSync(join(this.#home, 'pm2.log'), 'utf8')
  }

  async close(): Promise<void> {
    await this.run('kill')
    rmSync(this.#home, { recursive: true, force: true })
  }
}
