import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPort } from './free-port.ts'

const PROGRAMS = ['prometheus', 'promtool', 'prometheus-alertmanager', 'amtool']

const lacking = PROGRAMS.filter((program) => spawnSync(program, ['--version']).status !== 0)

export const prometheusMissing =
  lacking.length === 0 ? undefined : `no ${lacking.join(', ')}: npm run servers`

/** Labels, and the value as text. */
export interface QueriedSeries {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [at: number, value: string]
}

export interface QueriedRule {
  readonly name: string
  readonly health: string
  readonly lastError?: string
  readonly alerts: readonly {
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
    readonly state: 'pending' | 'firing'
  }[]
}

export class MonitoringServer {
  static readonly #running = new Set<MonitoringServer>()
  readonly port: number
  readonly #folder = mkdtempSync(join(tmpdir(), 'intentd-monitoring-'))
  readonly #said: string[] = []
  #process: ChildProcess | undefined

  private constructor(port: number) {
    this.port = port
  }

  static async startPrometheus(config: string): Promise<MonitoringServer> {
    return MonitoringServer.#start(({ port, folder }) => [
      'prometheus',
      `--config.file=${config}`,
      `--storage.tsdb.path=${folder}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ])
  }

  /** @param port where Prometheus expects it */
  static async startAlertmanager(config: string, port: number): Promise<MonitoringServer> {
    return MonitoringServer.#start(
      ({ folder }) => [
        'prometheus-alertmanager',
        `--config.file=${config}`,
        `--storage.path=${folder}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--cluster.listen-address=',
      ],
      port,
    )
  }

  static async #start(
    commandOf: (place: { readonly port: number; readonly folder: string }) => readonly string[],
    port?: number,
  ): Promise<MonitoringServer> {
    const server = new MonitoringServer(port ?? (await findPort()))
    MonitoringServer.#running.add(server)
    const [program = '', ...args] = commandOf({ port: server.port, folder: server.#folder })
    const running = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    server.#process = running
    running.stderr.on('data', (text) => server.#said.push(String(text)))
    await server.poll('it is ready', async () => {
      if (running.exitCode !== null) throw new Error(`${program} ended: ${server.#said.join('')}`)
      return (await fetch(`${server.url}/-/ready`).catch(() => undefined))?.ok
    })
    return server
  }

  static async stopAll(): Promise<void> {
    await Promise.all([...MonitoringServer.#running].map((server) => server.stop()))
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** @throws Prometheus's objection to the query */
  async query(expression: string): Promise<readonly QueriedSeries[]> {
    const data = await this.#ask(`/api/v1/query?query=${encodeURIComponent(expression)}`)
    return (data as { result: readonly QueriedSeries[] }).result
  }

  async rules(): Promise<readonly QueriedRule[]> {
    const data = await this.#ask('/api/v1/rules?type=alert')
    const { groups } = data as { groups: readonly { rules: readonly QueriedRule[] }[] }
    return groups.flatMap(({ rules }) => rules)
  }

  /** Repeats until the answer is true. @throws after four minutes, with this server's last words */
  async poll(what: string, ask: () => Promise<boolean | undefined>): Promise<void> {
    for (const endsAt = performance.now() + 240_000; performance.now() < endsAt;) {
      if ((await ask()) === true) return
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    throw new Error(`too long until: ${what}\n${this.#said.slice(-10).join('')}`)
  }

  async stop(): Promise<void> {
    MonitoringServer.#running.delete(this)
    const running = this.#process
    if (running !== undefined && running.exitCode === null) {
      const ended = once(running, 'exit')
      running.kill('SIGKILL')
      await ended
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #ask(path: string): Promise<unknown> {
    const answer = (await (await fetch(`${this.url}${path}`)).json()) as {
      data: unknown
      error?: string
    }
    if (answer.error !== undefined) throw new Error(`${answer.error}: ${decodeURIComponent(path)}`)
    return answer.data
  }
}
