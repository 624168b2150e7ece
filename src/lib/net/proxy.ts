import { createRequire } from 'node:module'
import type Undici from 'undici'
import type { Secret } from '../secret.ts'

export interface ForwardProxy {
  readonly url: string
  readonly authorization: Secret | undefined
  readonly from: string
}

/** Undefined: the address is called directly. */
export type ProxyFor = (address: string) => ForwardProxy | undefined

/** No byte of a request leaves before TLS with the address itself. */
export function openTunnel(
  { url, authorization }: ForwardProxy,
  { connectTimeoutMs, ...client }: Undici.Pool.Options & { readonly connectTimeoutMs: number },
): Undici.ProxyAgent {
  // All of undici costs a start 60 ms and 14 MB, so it is loaded with the first proxy.
  const { Pool, ProxyAgent } = createRequire(import.meta.url)('undici') as typeof Undici
  const tls = { timeout: connectTimeoutMs, allowH2: false }
  return new ProxyAgent({
    ...client,
    uri: url,
    // Only this machine has plain http, and it is called directly.
    proxyTunnel: true,
    connectTimeout: connectTimeoutMs,
    requestTls: tls,
    proxyTls: tls,
    clientFactory: (address, options) =>
      new Pool(address, {
        ...options,
        headersTimeout: connectTimeoutMs,
        bodyTimeout: connectTimeoutMs,
      }),
    ...(authorization && { token: authorization.reveal() }),
  })
}

export function isProxyUrl({ protocol, pathname, search, hash }: URL): boolean {
  return (protocol === 'http:' || protocol === 'https:') && pathname === '/' && search + hash === ''
}

/**
 * `.example.com` equals `example.com`, `*.example.com` only the subdomains, `*` all. Hosts have
 * optional ports, separated by commas or spaces.
 */
export function isExempt(noProxy: string, { hostname, port, protocol }: URL): boolean {
  const host = bareHost(hostname)
  const calledPort = port === '' ? DEFAULT_PORTS[protocol] : port
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, name = '', namedPort] = ENTRY.exec(entry) ?? []
      if (namedPort !== undefined && namedPort !== calledPort) return false
      if (name === '*') return true
      const suffix = bareHost(name.replace(/^\*?\./, ''))
      return (!name.startsWith('*') && host === suffix) || host.endsWith(`.${suffix}`)
    })
}

/** An IPv6 address has a port only behind brackets. */
const ENTRY = /^(\[[^\]]+\]|[^:]+|[^[]*:[^:]*:.*?)(?::(\d+))?$/
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.+)\]$/, '$1').replace(/(.)\.$/, '$1')
}
