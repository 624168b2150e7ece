import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { findPort } from './free-port.ts'

export const redisMissing =
  spawnSync('redis-server', ['--version']).status === 0 ? undefined : 'no Redis: npm run servers'

export interface RedisSettings {
  /** Folder for its data. Absent: nothing is kept. */
  readonly keptIn?: string
  readonly password?: string
}

interface RedisPlace {
  readonly within: readonly string[]
  readonly bind: string
}

const HERE: RedisPlace = { within: [], bind: '127.0.0.1' }

export class RedisServer {
  static readonly #running = new Set<ChildProcess>()
  readonly port: number
  #process: ChildProcess | undefined

  readonly #place: RedisPlace

  private constructor(port: number, place: RedisPlace) {
    this.port = port
    this.#place = place
  }

  static async start(settings: RedisSettings = {}, place: RedisPlace = HERE): Promise<RedisServer> {
    const server = new RedisServer(await findPort(), place)
    await server.start(settings)
    return server
  }

  static killAll(): void {
    for (const running of RedisServer.#running) running.kill('SIGKILL')
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** 0 where it does not run. */
  get pid(): number {
    return this.#process?.pid ?? 0
  }

  async start({ keptIn, password }: RedisSettings = {}): Promise<void> {
    const kept =
      keptIn === undefined ? ['--appendonly', 'no'] : ['--appendonly', 'yes', '--dir', keptIn]
    const { within, bind } = this.#place
    const settings = ['--port', String(this.port), '--bind', bind, '--save', '', ...kept]
    if (password !== undefined) settings.push('--requirepass', password)
    if (bind !== HERE.bind) settings.push('--protected-mode', 'no')
    const [program = '', ...args] = [...within, 'redis-server', ...settings]
    const running = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    this.#process = running
    RedisServer.#running.add(running)
    running.once('exit', () => RedisServer.#running.delete(running))
    for await (const text of this.#process.stdout ?? []) if (String(text).includes('Ready')) return
    throw new Error('redis-server ended')
  }

  async kill(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined) return
    const ended = once(running, 'exit')
    running.kill('SIGKILL')
    await ended
  }
}
