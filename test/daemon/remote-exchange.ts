import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { buildAccounts } from '../../src/cli/simulate/simulate.ts'
import { loadSimulatorConfig } from '../../src/config/load-simulator-config.ts'
import { type IntentdProcess, type ProcessOptions } from './intentd-process.ts'
import { type Project } from './project.ts'

interface Keys {
  readonly key: string
  readonly secret: string
  readonly passphrase: string
}

/** An exchange in a process of its own, and how its first account is reached. */
export interface RemoteExchange {
  readonly keys: Keys
  readonly url: string
  readonly port: string
  readonly env: Readonly<Record<string, string>>
}

/** A port that was free a moment ago, and the keys that go with the configuration. Nothing listens there yet. */
export async function findExchange(project: Project): Promise<RemoteExchange> {
  const keys = keysOf(project, 0)
  const port = await findPort()
  return { keys, url: `http://127.0.0.1:${port}`, env: toVariables(keys), port }
}

/** Starts it there. Nobody here trades on margin, whose past is most of the work of a start. */
export function startExchange(
  project: Project,
  { port }: RemoteExchange,
  more: readonly string[] = [],
  { env, preload }: Pick<ProcessOptions, 'env' | 'preload'> = {},
): IntentdProcess {
  return project.start(['simulate', '--port', port, '--no-demo-past', ...more], env, preload)
}

/** What `intentd simulate --print-accounts` would print of the account, in the order of the file. */
export function keysOf({ directory }: Project, index: number): Keys {
  const config = loadSimulatorConfig({ file: 'config/simulator.yaml', cwd: directory })
  const { key, secret, passphrase } = buildAccounts(config)[index] ?? {}
  if (key === undefined || secret === undefined || passphrase === undefined) {
    throw new Error(`the simulator has no account ${index}`)
  }
  return { key, secret, passphrase }
}

/** The variables that a daemon reads them from. */
export function toVariables({ key, secret, passphrase }: Keys): Readonly<Record<string, string>> {
  return { INTENTD_API_KEY: key, INTENTD_API_SECRET: secret, INTENTD_API_PASSPHRASE: passphrase }
}

async function findPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}

/** The shipped configuration without the exchange inside, as `config/remote.yaml`. */
export function writeRemote(project: Project): void {
  const paper = project.read('config/paper.yaml')
  const inside = /^simulator:\n(?: .*\n)+/m
  project.write('config/remote.yaml', paper.replace(inside, ''))
}

/** A daemon that trades on an exchange in another process. */
export function startDaemon(
  project: Project,
  { url, env }: RemoteExchange,
  more: readonly string[] = [],
): IntentdProcess {
  writeRemote(project)
  const args = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${url}`, '--summary', 'json']
  return project.run([...args, '--set', 'execution.fillVisibilityMs=600', ...more], env)
}
