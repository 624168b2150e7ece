import { type ForwardProxy, isExempt, isProxyUrl, type ProxyFor } from '../lib/net/proxy.ts'
import { Secret } from '../lib/secret.ts'
import type { DaemonConfig } from './load-config.ts'
import { isLoopback } from './loopback.ts'
import { FROM_ENVIRONMENT, PROXY_LOGIN } from './schema/daemon-schema.ts'
import { loadIfGiven, readVariables, type SecretsRequest, variableProblem } from './secrets.ts'
import { ConfigError } from './yaml/problem.ts'

/**
 * This machine is never called through a proxy.
 * @throws ConfigError for an unusable login or variable
 */
export function loadProxies(
  { exchange }: Pick<DaemonConfig, 'exchange'>,
  request: SecretsRequest = { cwd: process.cwd() },
): ProxyFor {
  const { proxy } = exchange
  if (proxy === undefined) return () => undefined
  if (proxy === FROM_ENVIRONMENT) return fromEnvironment(request)
  const login = loadIfGiven(PROXY_LOGIN, request)
  if (login !== undefined && !login.reveal().includes(':'))
    throw new ConfigError([variableProblem(PROXY_LOGIN, 'expected user:password')])
  const only: ForwardProxy = {
    url: new URL(proxy).origin,
    authorization: login && toAuthorization(login.reveal()),
    from: 'exchange.proxy',
  }
  return (address) => (isLoopback(new URL(address).hostname) ? undefined : only)
}

/** Like in other programs, lower case comes first, and HTTP_PROXY is the last resort for https. */
function fromEnvironment(request: SecretsRequest): ProxyFor {
  const variables = readVariables(request)
  const find = (...names: readonly string[]): ForwardProxy | undefined => {
    const name = names.find((each) => variables[each] !== undefined)
    return name === undefined ? undefined : toProxy(name, variables[name] ?? '')
  }
  const http = find('http_proxy', 'HTTP_PROXY')
  const https = find('https_proxy', 'HTTPS_PROXY') ?? http
  const noProxy = variables['no_proxy'] ?? variables['NO_PROXY'] ?? ''
  return (address) => {
    const url = new URL(address)
    if (isLoopback(url.hostname) || isExempt(noProxy, url)) return undefined
    return url.protocol === 'https:' ? https : http
  }
}

function toProxy(name: string, text: string): ForwardProxy {
  const url = URL.parse(text)
  if (url === null || !isProxyUrl(url)) {
    const message =
      'expected an address such as http://proxy.example:3128, nothing after the host and port'
    throw new ConfigError([variableProblem(name, message)])
  }
  const { origin, username, password } = url
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    url: origin,
    authorization: username === '' ? undefined : toAuthorization(login),
    from: name,
  }
}

function toAuthorization(login: string): Secret {
  return new Secret(`Basic ${Buffer.from(login).toString('base64')}`)
}

/** Empty without a proxy; a login is left out. */
export function describeWay({ exchange }: Pick<DaemonConfig, 'exchange'>, address: string): string {
  if (exchange.proxy === undefined) return ''
  const proxy = loadProxies({ exchange })(address)
  if (proxy !== undefined) {
    const { url, authorization, from } = proxy
    const named = from === 'exchange.proxy' ? from : `${from} of the environment`
    return ` through the proxy ${url} (${named}${authorization === undefined ? '' : ', with a login'})`
  }
  if (isLoopback(new URL(address).hostname))
    return ' directly: this machine is never called through a proxy'
  return ' directly: the environment names no proxy for it (HTTPS_PROXY, HTTP_PROXY, NO_PROXY)'
}
