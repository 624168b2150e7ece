/** How an address is reached where a forward proxy stands between this machine and the others. */
import { createRequire } from 'node:module'
import type Undici from 'undici'
import type { Secret } from '../secret.ts'

export interface ForwardProxy {
  /** Scheme, host and port, without a login. */
  readonly url: string
  /** Value of the header Proxy-Authorization. */
  readonly authorization: Secret | undefined
  /** The setting or the variable that names it. */
  readonly from: string
}

/** The proxy for an address; undefined where it is called directly. */
export type ProxyFor = (address: string) => ForwardProxy | undefined

/**
 * Calls addresses through the proxy: a CONNECT, then TLS with the address itself, whose certificate is checked as ever.
 * Until both are done no byte of a request leaves. Each of the two has the time of an attempt to connect.
 */
export function openTunnel(
  { url, authorization }: ForwardProxy,
  { connectTimeoutMs, ...client }: Undici.Pool.Options & { readonly connectTimeoutMs: number },
): Undici.ProxyAgent {
  // With the first proxy: all of it costs a start 60 ms and 14 MB more.
  const { Pool, ProxyAgent } = createRequire(import.meta.url)('undici') as typeof Undici
  const tls = { timeout: connectTimeoutMs, allowH2: false }
  return new ProxyAgent({
    ...client,
    uri: url,
    // Plain http is for this machine alone, which is called directly.
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

/** Nothing but a login, a host and a port. */
export function isProxyUrl({ protocol, pathname, search, hash }: URL): boolean {
  return (protocol === 'http:' || protocol === 'https:') && pathname === '/' && search + hash === ''
}

/**
 * Whether NO_PROXY names a host: a list, separated by commas or spaces, of hosts with their subdomains, each with or
 * without a port. `.example.com` means the same as `example.com`, `*.example.com` only the subdomains, `*` all.
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

/** A host and perhaps a port; an IPv6 address has one only behind brackets. */
const ENTRY = /^(\[[^\]]+\]|[^:]+|[^[]*:[^:]*:.*?)(?::(\d+))?$/
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** Without the brackets of an IPv6 address, and the dot that ends a full name. */
function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.+)\]$/, '$1').replace(/(.)\.$/, '$1')
}
