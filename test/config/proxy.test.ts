import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadProxies } from '../../src/config/proxy.ts'
import { isExempt } from '../../src/lib/net/proxy.ts'
import { MAIN, replaceOnce, Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

const EXCHANGE = 'https://api.exchange.example'

/** The proxy for an address with this setting and these variables. */
function proxyFor(
  proxy: string | undefined,
  variables: Record<string, string> = {},
  address = EXCHANGE,
) {
  const exchange = {
    requestTimeoutMs: 1,
    answerBytesMax: 1,
    locale: 'en-US',
    limitsUse: 1,
    demo: false,
    beyondDocument: false,
    beyondDocumentPrivate: false,
    proxy,
  }
  return loadProxies({ exchange }, { cwd: workspace.directory, variables })(address)
}

test('without the setting nothing goes through a proxy, whatever the environment says', () => {
  expect(proxyFor(undefined, { HTTPS_PROXY: 'http://proxy.example:3128' })).toBeUndefined()
})

test('the proxy that is named is used, with the login of its variable, never for this machine', () => {
  const named = proxyFor('http://proxy.example:3128', { INTENTD_PROXY_LOGIN: 'user:pa:ss' })

  expect(named).toMatchObject({ url: 'http://proxy.example:3128', from: 'exchange.proxy' })
  expect(named?.authorization?.reveal()).toBe(
    `Basic ${Buffer.from('user:pa:ss').toString('base64')}`,
  )
  // Nothing of the login is shown.
  expect(JSON.stringify(named)).not.toMatch(/user|pa:ss|Basic/)
  for (const own of ['http://127.0.0.1:8700', 'http://localhost:1', 'https://[::1]:2'])
    expect(proxyFor('http://proxy.example:3128', {}, own)).toBeUndefined()
})

test.each([
  ['HTTPS_PROXY', { HTTPS_PROXY: 'http://one.example:1', HTTP_PROXY: 'http://two.example:2' }],
  ['https_proxy', { https_proxy: 'http://one.example:1', HTTPS_PROXY: 'http://two.example:2' }],
  ['HTTP_PROXY', { HTTP_PROXY: 'http://one.example:1' }],
])('environment: %s counts', (from, variables) => {
  expect(proxyFor('environment', variables)).toMatchObject({ url: 'http://one.example:1', from })
})

test('environment: it may also stand in .env, with its login, which is hidden', () => {
  workspace.write('.env', "HTTPS_PROXY='http://us%65r:p%40ss@proxy.example:3128'\n")

  const found = proxyFor('environment')

  expect(found?.url).toBe('http://proxy.example:3128')
  expect(found?.authorization?.reveal()).toBe(
    `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
  )
  expect(`${JSON.stringify(found)}`).not.toMatch(/p%40ss|p@ss|Basic/)
})

test('environment: without a variable, and where NO_PROXY names the exchange, it is called directly', () => {
  const HTTPS_PROXY = 'http://proxy.example:3128'

  expect(proxyFor('environment')).toBeUndefined()
  expect(proxyFor('environment', { HTTPS_PROXY, NO_PROXY: 'exchange.example' })).toBeUndefined()
  expect(proxyFor('environment', { HTTPS_PROXY, NO_PROXY: 'other.example' })).toBeDefined()
  expect(proxyFor('environment', { HTTPS_PROXY }, 'http://127.0.0.1:1')).toBeUndefined()
})

test.each(['proxy.example:3128', 'socks5://proxy.example:1', 'http://proxy.example/path', '::'])(
  '[SEC1] a variable that is no address of a proxy, %s, is refused by its name and not shown',
  (text) => {
    expect(() => proxyFor('environment', { HTTPS_PROXY: text })).toThrow(
      'HTTPS_PROXY: expected an address such as http://proxy.example:3128, nothing after the host and port',
    )
  },
)

test.each([
  ['exchange.example', true],
  ['.exchange.example', true],
  ['*.exchange.example', true],
  ['api.exchange.example', true],
  ['API.Exchange.Example', true],
  ['*.api.exchange.example', false],
  ['api.exchange.example:443', true],
  ['api.exchange.example:8443', false],
  ['xapi.exchange.example', false],
  ['change.example', false],
  ['other.example, exchange.example', true],
  ['other.example exchange.example.', true],
  ['*', true],
  ['*:80', false],
  ['', false],
])('NO_PROXY %j: called directly %s', (noProxy, expected) => {
  expect(isExempt(noProxy, new URL(EXCHANGE))).toBe(expected)
})

test.each([
  ['2001:db8::1', true],
  ['[2001:db8::1]', true],
  ['[2001:db8::1]:443', true],
  ['[2001:db8::1]:80', false],
  ['2001:db8::2', false],
])('NO_PROXY %j: an IPv6 address is called directly %s', (noProxy, expected) => {
  expect(isExempt(noProxy, new URL('https://[2001:db8::1]'))).toBe(expected)
})

test.each([
  [
    'http://user:secret@proxy.example:3128',
    /exchange\.proxy: a login does not belong in YAML: .*INTENTD_PROXY_LOGIN/,
  ],
  [
    'http://proxy.example:3128/x',
    /exchange\.proxy: expected an address with nothing but a host and a port/,
  ],
  ['proxy.example:3128', /exchange\.proxy: expected "environment", or an address such as "http:/],
])('[CFG1][SEC1] exchange.proxy %s is refused, and no login is repeated', (proxy, says) => {
  workspace.fill({
    'config/main.yaml': replaceOnce(
      MAIN,
      'polling:\n',
      `exchange: { proxy: "${proxy}" }\npolling:\n`,
    ),
  })

  const problems = workspace.complain()

  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(says)
  expect(problems[0]).not.toContain('secret')
})
