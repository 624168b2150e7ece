import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { findPort } from './free-port.ts'

/** Why tests that want a Redis server are skipped; undefined where they are not. */
export const redisMissing =
  spawnSync('redis-server', ['--version']).status === 0 ? undefined : 'no Redis: npm run servers'

/** A server of a test's own, which keeps nothing on disk. */
export class RedisServer {
  readonly port: number
  #process: ChildProcess | undefined

  private constructor(port: number) {
    this.port = port
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await findPort())
    await server.start()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    const settings = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    this.#process = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'ignore'] })
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
