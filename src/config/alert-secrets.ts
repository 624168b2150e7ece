import { Secret } from '../lib/secret.ts'
import { isLoopback } from './loopback.ts'
import type { AlertSettings, AlertTargetSettings } from './schema/alerts-schema.ts'
import { loadSecrets, type SecretsRequest, variableProblem } from './secrets.ts'
import { ConfigError } from './yaml/problem.ts'

/** An address is secret too, because it alone allows writing. */
export interface AlertTarget extends Pick<
  AlertTargetSettings,
  'name' | 'kind' | 'least' | 'chat' | 'trades'
> {
  readonly url: Secret
  readonly token: Secret | undefined
}

export interface AlertSecrets {
  readonly targets: readonly AlertTarget[]
  readonly heartbeatUrl: Secret | undefined
}

const TELEGRAM_URL = 'https://api.telegram.org'

/** @throws ConfigError with everything missing or unsafe */
export function loadAlertSecrets(settings: AlertSettings, request: SecretsRequest): AlertSecrets {
  const { targets, heartbeat } = settings
  const named = targets.flatMap(({ variable, tokenVariable }) => [variable, tokenVariable])
  const names = new Set([...named, heartbeat?.variable].filter((name) => name !== undefined))
  const secrets = loadSecrets([...names], request)
  const read = (name: string) => secrets.get(name) ?? new Secret('')
  const addressed = [...targets.filter(({ kind }) => kind !== 'telegram'), heartbeat]
  const addresses = addressed.flatMap((place) => place?.variable ?? [])
  const problems = addresses
    .filter((name) => !isSafeAddress(read(name).reveal()))
    .map((name) => variableProblem(name, 'expected an https address (http only on this machine)'))
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    targets: targets.map((target) => ({
      ...target,
      url:
        target.kind === 'telegram'
          ? telegramUrl(target, read(target.variable))
          : read(target.variable),
      token: target.tokenVariable === undefined ? undefined : read(target.tokenVariable),
    })),
    heartbeatUrl: heartbeat && read(heartbeat.variable),
  }
}

/** @see https://core.telegram.org/bots/api#making-requests */
function telegramUrl({ apiUrl = TELEGRAM_URL }: AlertTargetSettings, token: Secret): Secret {
  return new Secret(`${apiUrl.replace(/\/$/, '')}/bot${token.reveal()}/sendMessage`)
}

function isSafeAddress(address: string): boolean {
  const url = URL.parse(address)
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
}
