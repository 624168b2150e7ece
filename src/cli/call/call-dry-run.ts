import type { DaemonConfig } from '../../config/load-config.ts'
import {
  type PreparedRequest,
  RequestWriter,
  Signer,
} from '../../exchange/client/request-writer.ts'
import type { Clock } from '../../lib/clock.ts'
import { Secret } from '../../lib/secret.ts'
import { SCHEME_B_HEADERS } from '../../protocol/signing.ts'
import { platformCoinOf } from './call-exchange.ts'
import { CallRefused } from './call-refused.ts'

const HIDDEN = '[hidden]'
const HIDDEN_HEADERS: ReadonlySet<string> = new Set([
  'ACCESS-KEY',
  'ACCESS-SIGN',
  'ACCESS-PASSPHRASE',
  SCHEME_B_HEADERS.apiKey,
  SCHEME_B_HEADERS.signature,
])

/** The simulator's port is only known once it listens. */
const EMBEDDED_URL = 'http://127.0.0.1'

export interface DryRun {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface DryRunOptions {
  readonly prepared: PreparedRequest
  readonly config: DaemonConfig
  readonly clock: Clock
}

/** Needs no keys, so no secret is read. */
export function writeDryRun({ prepared, config, clock }: DryRunOptions): DryRun {
  const nobody = new Secret('dry-run')
  const writer = new RequestWriter({
    signer: new Signer({ apiKey: nobody, secret: nobody, passphrase: nobody }),
    locale: config.exchange.locale,
    isDemo: config.exchange.demo,
    platformCoin: platformCoinOf(config),
  })
  const written = writer.write(prepared, () => clock.now())
  if (written.kind === 'unwritable') {
    throw new CallRefused({ code: written.code, sentence: written.message })
  }
  const { baseUrl = EMBEDDED_URL, gatewayUrl = baseUrl } = config.exchange
  const base = written.host === 'gateway' ? gatewayUrl : baseUrl
  return {
    method: written.method,
    url: `${base.replace(/\/$/, '')}${written.target}`,
    headers: toMaskedHeaders(written.headers),
    body: written.body,
  }
}

export function formatDryRun({ method, url, headers, body }: DryRun): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${url}`, ...lines, ...(body === '' ? [] : ['', body]), ''].join('\n')
}

function toMaskedHeaders(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const name = flat[at] ?? ''
    headers[name] = HIDDEN_HEADERS.has(name) ? HIDDEN : (flat[at + 1] ?? '')
  }
  return headers
}
