import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { exampleOf, sampleOf, toWords } from '../../src/cli/call/call-samples.ts'
import { callableNames, type CallableName } from '../../src/protocol/endpoints.ts'
import { isGuarded } from '../../src/exchange/client/request-writer.ts'
import {
  envelopeOf,
  jsonAnswer,
  rawAnswer,
  type WireScript,
  WireServer,
} from '../support/wire-server.ts'
import { PAPER, typed } from './call-fixture.ts'

const CANARIES = { key: 'canary-key-1', secret: 'canary-secret-1', passphrase: 'canary-phrase-1' }
const CONSENT: Partial<Record<CallableName, string>> = {
  spotWithdrawal: '12.5USDT',
  createVirtualSubaccounts: '2accounts',
}
const ADDRESS = sampleOf('spotWithdrawal').options['address'] ?? ''

const closing: Array<() => unknown> = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const close of closing.splice(0)) await close()
})

/** A configuration beside the shipped one, with an exchange of its own behind it, and keys. */
async function openExchange(script: WireScript, environment = 'simulator', more = '') {
  const server = new WireServer()
  server.script = script
  const url = await server.start()
  const folder = mkdtempSync(join(tmpdir(), 'intentd-call-'))
  closing.push(
    () => server.stop(),
    () => rmSync(folder, { recursive: true }),
  )
  const shipped = readFileSync(PAPER, 'utf8')
  const baseUrl = environment === 'simulator' ? url : 'https://exchange.example'
  const text = shipped
    .replace(/^simulator:\n(?: .*\n)+/m, '')
    .replace('exchange:\n', `exchange:\n  baseUrl: ${baseUrl}\n  platformCoin: coin\n`)
    .replace('environment: simulator', `environment: ${environment}`)
    .replaceAll('strategies/', `${PAPER.replace('paper.yaml', '')}strategies/`)
  const config = join(folder, 'one.yaml')
  writeFileSync(config, `${text}${more}`)
  vi.stubEnv('INTENTD_API_KEY', CANARIES.key)
  vi.stubEnv('INTENTD_API_SECRET', CANARIES.secret)
  vi.stubEnv('INTENTD_API_PASSPHRASE', CANARIES.passphrase)
  return { server, at: { config, cwd: folder } }
}

const accept: WireScript = (_request, socket) =>
  void socket.write(jsonAnswer(envelopeOf({ orderId: '1' })))
const withdraw = toWords('spotWithdrawal')

describe('--dry-run', () => {
  it.each(callableNames)(
    '[SEC1] of %s shows the request and no secret, and sends nothing',
    async (name) => {
      const { server, at } = await openExchange(accept)
      const { code, out, err } = await typed([...toWords(name), '--dry-run'], at)

      expect(code).toBe(0)
      expect(out).toMatch(/^(GET|POST) http:\/\/127\.0\.0\.1:\d+\//)
      for (const canary of Object.values(CANARIES)) expect(out + err).not.toContain(canary)
      for (const [, value] of out.matchAll(
        /^(?:ACCESS-(?:KEY|SIGN|PASSPHRASE)|x-api-(?:key|signature)): (.*)$/gm,
      )) {
        expect(value).toBe('[hidden]')
      }
      expect(server.requests).toEqual([])
    },
  )

  it('shows what is then sent, to the letter', async () => {
    const { server, at } = await openExchange(accept)
    for (const name of callableNames) {
      const yes = CONSENT[name] === undefined ? [] : [`--yes=${CONSENT[name]}`]
      const dry = await typed([...toWords(name), '--dry-run', '--json'], at)
      await typed([...toWords(name), ...yes], at)
      const { url, body, method } = JSON.parse(dry.out) as {
        url: string
        body: string
        method: string
      }
      const sent = server.requests.at(-1)
      expect({ method, body, url: url.replace(/^http:\/\/[^/]+/, '') }).toEqual({
        method: sent?.method,
        body: sent?.body,
        url: sent?.target,
      })
    }
    expect(server.requests).toHaveLength(callableNames.length)
  })
})

describe('how a call ends', () => {
  const words = toWords('cancelAllOrders')

  it('0: --json prints the data and nothing else', async () => {
    const { at } = await openExchange((_request, socket) => {
      socket.write(jsonAnswer(envelopeOf({ successList: [{ orderId: '7', clientOid: null }] })))
    })
    const { code, out, err } = await typed([...words, '--json'], at)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toEqual({ successList: [{ orderId: '7', clientOid: null }] })
  })

  it('--json prints the data just as it came: every field, spelling, digit and empty value', async () => {
    const answers: readonly (readonly [CallableName, string])[] = [
      ['cancelAllOrders', '{"successList":[],"failureList":null,"newField":{"a":[1.50,1e3,-0.0]}}'],
      ['orderFills', '{"fillList":null,"endId":null,"total":12345678901234567890.10}'],
      [
        'createVirtualSubaccounts',
        '{"successList":[{"subaAccountUid":"1","subaAccountName":"","x":true}]}',
      ],
      [
        'crossedOpenOrders',
        '{"orderList":[{"symbol":"B","orderId":"1","side":"systemRepay-selll"}],"maxId":""}',
      ],
      ['spotHistoryOrders', '{}'],
      ['convertRecords', '[{"orderId":"1","ctime":"1700000000000","toAmount":"0010.00"}]'],
      ['copyConfigSettingSymbols', '"success"'],
      ['gatewayTest', 'null'],
    ]
    for (const [name, data] of answers) {
      const { at } = await openExchange((_request, socket) => {
        const body = `{"code":"00000","msg":"success","requestTime":1700000000000,"data":${data}}`
        socket.write(rawAnswer({ status: 200, body }))
      })
      const yes = CONSENT[name] === undefined ? [] : [`--yes=${CONSENT[name]}`]
      const { code, out } = await typed([...toWords(name), ...yes, '--json'], at)
      expect([name, code, out]).toEqual([name, 0, `${data}\n`])
    }
  })

  it('1: the exchange refused it, with its code and message, and none of our secrets', async () => {
    const { at } = await openExchange((_request, socket) => {
      const msg = `bad key ${CANARIES.key}`
      socket.write(jsonAnswer({ code: '40006', msg, requestTime: 1, data: null }, 400))
    })
    const { code, out, err } = await typed(words, at)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^40006: bad key \[hidden\]/)
  })

  it('[ORD6] 1: success with a failureList is not success', async () => {
    const { at } = await openExchange((_request, socket) => {
      const failureList = [{ orderId: '7', clientOid: null, errorMsg: 'missing', errorCode: '1' }]
      socket.write(jsonAnswer(envelopeOf({ successList: [], failureList })))
    })
    const { code, out, err } = await typed(words, at)
    expect(code).toBe(1)
    expect(out).toContain('missing')
    expect(err).toContain('1 of its items was refused')
  })

  it('[ORD3] 75: nobody knows what became of it', async () => {
    const { at } = await openExchange((_request, socket) => void socket.resetAndDestroy())
    const { code, err } = await typed(toWords('batchPlaceOrder'), at)
    expect(code).toBe(75)
    expect(err).toContain('it may have been done')
    expect(err).toContain('do not repeat it before you know')
  })

  it('75: a server that failed', async () => {
    const { at } = await openExchange((_request, socket) => {
      socket.write(rawAnswer({ status: 502, body: '<html>' }))
    })
    expect((await typed(words, at)).code).toBe(75)
  })

  it('69: not reachable, nothing was sent', async () => {
    const { server, at } = await openExchange(accept)
    await server.stop()
    const { code, err } = await typed(words, at)
    expect(code).toBe(69)
    expect(err).toContain('nothing was sent')
  })

  it('a public endpoint needs no keys', async () => {
    const { at } = await openExchange(
      (_request, socket) => void socket.write(jsonAnswer(envelopeOf([]))),
    )
    vi.unstubAllEnvs()
    for (const name of ['KEY', 'SECRET', 'PASSPHRASE']) vi.stubEnv(`INTENTD_API_${name}`, '')
    expect(await typed(toWords('tickers'), at)).toEqual({ code: 0, out: '(none)\n', err: '' })
    await expect(typed(words, at)).rejects.toThrow('INTENTD_API_KEY')
  })
})

describe('what moves money out or makes accounts', () => {
  it.each([
    ['spotWithdrawal', `this would send 12.5 USDT to ${ADDRESS} on chain erc20`, '--yes=12.5USDT'],
    ['createVirtualSubaccounts', 'this would create 2 sub-accounts', '--yes=2accounts'],
  ] as const)('%s wants it said', async (name, sentence, consent) => {
    const { server, at } = await openExchange(accept)
    const { code, err } = await typed(toWords(name), at)
    expect(code).toBe(64)
    expect(err).toContain(sentence)
    expect(err).toContain(`add ${consent}`)
    expect(server.requests).toEqual([])
  })

  it.each(['--yes=', '--yes=yes', '--yes=125USDT', '--yes=12.5BTC', '--yes=12.50USDT'])(
    '%s is not what would be sent',
    async (yes) => {
      const { server, at } = await openExchange(accept)
      const { code, err } = await typed([...withdraw, yes], at)
      expect(code).toBe(64)
      expect(err).toContain('if you mean the above, write --yes=12.5USDT')
      expect(server.requests).toEqual([])
    },
  )

  it('on a simulated exchange any address is allowed, and that is said', async () => {
    const { server, at } = await openExchange(accept)
    const { code, err } = await typed([...withdraw, '--yes', '12.5 usdt'], at)
    expect(code).toBe(0)
    expect(err).toContain('does not list this address: allowed, because')
    expect(server.requests).toHaveLength(1)
  })

  const entry = (text: string) => `withdrawal:\n  addresses:\n    - { ${text} }\n`
  it.each([
    ['no list', ''],
    ['another address', entry('address: "0xbb"')],
    ['another chain', entry(`address: "${ADDRESS}", chain: trc20`)],
    ['another coin', entry(`address: "${ADDRESS}", coin: BTC`)],
    ['a tag', entry(`address: "${ADDRESS}", tag: "7"`)],
  ])('elsewhere %s refuses, even with consent, even a dry run', async (_title, more) => {
    const { at } = await openExchange(accept, 'demo', more)
    for (const words of [
      [...withdraw, '--yes=12.5USDT'],
      [...withdraw, '--dry-run'],
    ]) {
      const { code, err } = await typed(words, at)
      expect(code).toBe(64)
      expect(err).toContain('CALL_ADDRESS_NOT_LISTED')
    }
  })

  it('elsewhere a listed address passes', async () => {
    const { at } = await openExchange(accept, 'demo', entry(`address: "${ADDRESS}", chain: erc20`))
    const { code, out } = await typed([...withdraw, '--dry-run'], at)
    expect(code).toBe(0)
    expect(out).toMatch(/^POST https:\/\/exchange\.example\//)
  })

  it.each([
    ['uid:12345678', ['--address=12345678'], 0],
    ['12345678', ['--address=12345678'], 64],
    ['mobile:49:12345678', ['--inner-to-type=mobile', '--area-code=49', '--address=12345678'], 0],
    ['mobile:49:12345678', ['--inner-to-type=mobile', '--area-code=1', '--address=12345678'], 64],
    ['mobile:49:12345678', ['--address=12345678'], 64],
    ['email:a@b.example', ['--inner-to-type=email', '--address=a@b.example'], 0],
  ])('an internal transfer to %s by %j ends with %i', async (listed, words, wanted) => {
    const { at } = await openExchange(accept, 'demo', entry(`address: "${listed}"`))
    const internal = ['--coin=USDT', '--transfer-type=internal_transfer', '--size=1', '--dry-run']
    const { code } = await typed(['spotWithdrawal', ...internal, ...words], at)
    expect(code).toBe(wanted)
  })

  it.each([
    [`withdrawal.addresses=[{ address: "${ADDRESS}" }]`],
    [` withdrawal.addresses.0={ address: "${ADDRESS}" }`],
    ['environment=simulator'],
    ['exchange.baseUrl=http://127.0.0.1:9'],
    ['exchange={ baseUrl: "http://127.0.0.1:9" }'],
    ['account.keys=BOB'],
    ['exchange.limitsUse=1'],
    ['nonsense'],
  ])('nothing that it goes by can be given on the command line: --set %j', async (set) => {
    const { server, at } = await openExchange(accept)
    for (const words of [
      [...withdraw, '--yes=12.5USDT'],
      [...withdraw, '--dry-run'],
      [...toWords('createVirtualSubaccounts'), '--yes=2accounts'],
    ]) {
      const { code, err } = await typed([...words, '--set', set], at)
      expect(code).toBe(64)
      expect(err).toContain('CALL_SETTINGS_FROM_FILE')
    }
    expect(server.requests).toEqual([])
  })

  it.each(['INTENTD_API_KEY', 'INTENTD_API_SECRET_FILE'])(
    'nor can keys beside those of .env: %s',
    async (name) => {
      const { server, at } = await openExchange(accept)
      vi.unstubAllEnvs()
      const lines = ['KEY', 'SECRET', 'PASSPHRASE'].map(
        (each) => `INTENTD_API_${each}=from-the-file`,
      )
      writeFileSync(join(at.cwd, '.env'), lines.join('\n'), { mode: 0o600 })
      vi.stubEnv(name, 'of-another-account')

      const { code, err } = await typed([...withdraw, '--yes=12.5USDT'], at)

      expect(code).toBe(64)
      expect(err).toContain('CALL_KEYS_OVERRIDDEN')
      expect(err).toContain(name)
      expect(err).not.toMatch(/from-the-file|of-another-account/)
      expect(server.requests).toEqual([])
    },
  )

  it('is exactly what asks for consent', () => {
    expect(callableNames.filter(isGuarded)).toEqual(Object.keys(CONSENT))
  })
})

describe('against the simulator, without keys', () => {
  /** On a fresh exchange there is no such order. */
  const REFUSED: Partial<Record<CallableName, RegExp>> = {
    cancelAllOrders: /^22001: /,
    modifyPlanOrder: /^43025: /,
    modifyTpslOrder: /^43025: /,
    isolatedBatchCancelOrders: /1 of its items was refused/,
  }

  it.each(callableNames)('%s is carried out, or refused by name', async (name) => {
    const yes = CONSENT[name] === undefined ? [] : [`--yes=${CONSENT[name]}`]
    const { code, out, err } = await typed([...toWords(name), ...yes])

    const refused = REFUSED[name]
    if (refused === undefined) {
      expect(code).toBe(0)
      expect(err).toMatch(name === 'spotWithdrawal' ? /^withdrawal\.addresses does not list/ : /^$/)
    } else expect(err).toMatch(refused)
    expect(code === 0 && out === '').toBe(false)
  })

  it('an address that is not listed there is refused', async () => {
    const words = toWords('spotWithdrawal', { address: `0x${'a'.repeat(40)}` })
    const { code, err } = await typed([...words, '--yes=12.5USDT'])
    expect(code).toBe(1)
    expect(err).toMatch(/^11000: /m)
  })

  it('keeps its state from call to call when asked to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'intentd-call-'))
    closing.push(() => rmSync(folder, { recursive: true }))
    const state = ['--state', join(folder, 'exchange.sqlite')]
    const placed = await typed([...toWords('batchPlaceOrder'), ...state])
    const cancelled = await typed([...toWords('cancelAllOrders'), ...state, '--json'])
    const afresh = await typed([...toWords('cancelAllOrders'), '--json'])
    expect([placed.code, cancelled.code]).toEqual([0, 0])
    expect((JSON.parse(cancelled.out) as { successList: unknown[] }).successList).toHaveLength(1)
    expect(afresh).toMatchObject({ code: 1, out: '' })
  })
})

it('the examples are the samples', () => {
  expect(exampleOf('tickers')).toBe('intentd call tickers --product-type USDT-FUTURES')
})
