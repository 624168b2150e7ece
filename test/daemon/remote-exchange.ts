import { type IntentdProcess } from './intentd-process.ts'
import { type Project } from './project.ts'

/** An exchange in a process of its own, and how an account of it is reached. */
export interface RemoteExchange {
  readonly account: { readonly key: string; readonly secret: string; readonly passphrase: string }
  readonly url: string
  readonly port: string
  readonly env: Readonly<Record<string, string>>
}

/** A port that was free a moment ago, and the credentials that go with the configuration. */
export async function findExchange(project: Project): Promise<RemoteExchange> {
  const probe = project.start(['simulate', '--port', '0', '--print-accounts'])
  const listening = await probe.untilEvent('simulator.listening')
  await probe.stop()
  const accounts = JSON.parse(probe.stdout[0] ?? '') as { key: string; secret: string; passphrase: string }[]
  const [account] = accounts
  if (!account) throw new Error('the simulator has no account')
  const url = String(listening['url'])
  const env = {
    INTENTD_API_KEY: account.key,
    INTENTD_API_SECRET: account.secret,
    INTENTD_API_PASSPHRASE: account.passphrase,
  }
  return { account, url, env, port: new URL(url).port }
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
