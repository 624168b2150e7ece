import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Acceptance } from '../../src/cli/accept/acceptance.ts'
import { credentialsOf, SIMULATED_UID } from '../../src/assembly/simulator/simulated-exchange.ts'
import { type PositionMode } from '../../src/domain/instrument.ts'
import { holdAccount } from '../../src/assembly/account/account-lock.ts'
import { main } from '../../src/cli/main.ts'
import { type FaultSettings } from '../../src/simulator/wire/faults.ts'
import { type RunningSimulator, startSimulator } from '../../src/simulator/start-simulator.ts'
import { MAIN, SIMULATOR_SECTION, Workspace } from '../config/workspace.ts'
import { shareOf } from '../support/share.ts'

let workspace: Workspace
let written: string[]
let onWritten: (text: string) => void
let simulator: RunningSimulator | undefined
beforeEach(() => {
  workspace = new Workspace()
  written = []
  onWritten = () => undefined
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      onWritten(String(text))
      return written.push(String(text)) > 0
    })
  }
  vi.stubEnv('HOME', workspace.directory)
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  workspace.remove()
  await simulator?.stop()
  simulator = undefined
})

interface Place {
  readonly positionMode?: PositionMode
  readonly balance?: string
  readonly faults?: FaultSettings
}

/** An exchange behind a socket, its keys in the environment, and a configuration for it. */
async function open({
  balance = '10000',
  faults,
  positionMode = 'one_way_mode',
}: Place = {}): Promise<RunningSimulator> {
  simulator = await startSimulator({
    market: { kind: 'seeded' },
    seed: 1,
    accounts: [{ uid: SIMULATED_UID, label: 'one', positionMode, balances: { USDT: balance } }],
    ...(faults && { faults }),
  })
  const keys = credentialsOf(simulator)
  vi.stubEnv('INTENTD_API_KEY', keys.apiKey.reveal())
  vi.stubEnv('INTENTD_API_SECRET', keys.secret.reveal())
  vi.stubEnv('INTENTD_API_PASSPHRASE', keys.passphrase.reveal())
  const outside = MAIN.replace(SIMULATOR_SECTION, '')
  const execution = 'execution: { fillVisibilityMs: 600, acceptanceWindowMs: 1000 }\n'
  workspace.fill({
    'config/main.yaml': `${outside}exchange: { baseUrl: "${simulator.baseUrl}" }\n${execution}`,
  })
  return simulator
}

async function accept(
  ...words: string[]
): Promise<{ readonly code: number; readonly text: string }> {
  written.length = 0
  const code = await main(['accept', join(workspace.directory, 'config/main.yaml'), ...words])
  return { code, text: written.join('') }
}

/** The steps and how they came out: `place FAIL`. */
const stepsOf = (text: string): readonly string[] =>
  text.split('\n').flatMap((line) => {
    const [, state, step] = /^(ok|FAIL) +(\w+(?: \w+)?) {2}/.exec(line) ?? []
    return step === undefined ? [] : [state === 'ok' ? step : `${step} ${state}`]
  })

/** What the exchange itself says of the account: orders that rest and positions that are held. */
const leftAt = (exchange: RunningSimulator): number => {
  const { openOrders, positions } = exchange.ledger(SIMULATED_UID)
  return openOrders.length + positions.length
}

const ACCOUNTS = [
  ['hedge_mode', true],
  ['one_way_mode', false],
] as const

test.each(shareOf(ACCOUNTS, 2))(
  'an exchange that does what it should, in %s: every step, and nothing is left',
  async (mode, isOwn) => {
    const exchange = await open({ positionMode: mode })

    const settings = [`account.positionMode=${mode}`, `account.exclusive=${isOwn}`]
    const { code, text } = await accept('--trade', ...settings.flatMap((one) => ['--set', one]))

    const trading = ['trade', 'kill', 'nothing left']
    expect(stepsOf(text)).toEqual([
      'prices',
      'account',
      'place',
      'same name',
      'open',
      'gone',
      ...trading,
    ])
    const { fills } = exchange.ledger(SIMULATED_UID).counts
    expect({ code, left: leftAt(exchange), fills }).toEqual({ code: 0, left: 0, fills: 2 })
    expect(text).toContain(isOwn ? 'everything of the product type' : 'everything of BTCUSDT')
  },
)

test('[SEC1] files that others may replace are refused before anything is sent, as for call', async () => {
  const exchange = await open()
  const config = join(workspace.directory, 'config/main.yaml')
  chmodSync(config, 0o666)
  const position = '--symbol BTCUSDT --product-type USDT-FUTURES --margin-coin USDT'.split(' ')
  const call = (...words: string[]) =>
    main(['call', 'singlePosition', ...position, '--config', config, ...words])

  const refused = await accept()
  const called = await call()
  const said = written.join('')
  const sent = exchange.ledger(SIMULATED_UID).counts.fills
  const trusted = await call('--trust-files')

  expect([refused.code, called, trusted, sent]).toEqual([78, 78, 0, 0])
  for (const text of [refused.text, said])
    expect(text).toMatch(/chmod go-w .*main\.yaml[^]*--trust-files/)
})

test('stopped by a signal it takes away what it has placed', async () => {
  const exchange = await open()
  onWritten = (text) => {
    if (stepsOf(text).includes('place')) process.emit('SIGINT')
  }

  const { code, text: said } = await accept()

  expect(stepsOf(said)).toEqual(['prices', 'account', 'place', 'same name FAIL', 'nothing left'])
  expect({ code, left: leftAt(exchange) }).toEqual({ code: 1, left: 0 })
})

test('orders that are refused and keys that are wrong: which step, and what to do', async () => {
  const exchange = await open({ balance: '0' })
  const refused = await accept()

  vi.stubEnv('INTENTD_API_SECRET', 'wrongsecret')
  const wrong = await accept('--json')

  expect(stepsOf(refused.text)).toEqual(['prices', 'account', 'place FAIL', 'nothing left'])
  expect(refused.text).toContain('-> pay in margin coin')
  const { hasFailed, isClean, steps } = JSON.parse(
    wrong.text.slice(wrong.text.indexOf('{')),
  ) as Acceptance
  expect({ hasFailed, isClean }).toEqual({ hasFailed: true, isClean: true })
  expect(steps.map(({ what, state }) => [what, state])).toEqual([
    ['prices', 'ok'],
    ['account', 'fail'],
    ['nothing left', 'ok'],
  ])
  expect(steps[1]?.advice).toContain('INTENTD_API_SECRET')
  expect(wrong.text).not.toContain('wrongsecret')
  expect([refused.code, wrong.code, leftAt(exchange)]).toEqual([1, 1, 0])
})

test('an order whose answer is lost is taken away when it can appear no more', async () => {
  const exchange = await open({
    faults: { probability: { answerLost: 1 }, endpoints: ['batchPlaceOrder'] },
  })

  const { code, text } = await accept()

  expect(stepsOf(text)).toEqual(['prices', 'account', 'place FAIL', 'nothing left'])
  expect({
    code,
    left: leftAt(exchange),
    orders: exchange.ledger(SIMULATED_UID).counts.ordersAccepted,
  }).toEqual({
    code: 1,
    left: 0,
    orders: 1,
  })
})

test('an order that cannot be cancelled is not called nothing, and the exit code says to look', async () => {
  const exchange = await open({
    faults: { probability: { gatewayErrorBefore: 1 }, endpoints: ['cancelAllOrders'] },
  })

  const { code, text } = await accept()

  expect(stepsOf(text).slice(-2)).toEqual(['open FAIL', 'nothing left FAIL'])
  expect({ code, left: leftAt(exchange) }).toEqual({ code: 75, left: 1 })
})

test('real money wants a word, and an account that a daemon trades is left alone', async () => {
  const exchange = await open()
  const live = ['--set', 'environment=live', '--set', 'confirmLive=true']
  const invalid = ['--set', 'exchange.baseUrl=https://exchange.invalid']
  const undecided = await accept(...live, ...invalid)
  const asked = await accept(...live, ...invalid, '--set', 'risk.losses=none')
  const unknown = await accept('--symbol', 'DOGEUSDT')
  const access = { baseUrl: exchange.baseUrl, credentials: credentialsOf(exchange) }
  const holder = { pid: 1, since: 0, host: 'here', name: 'other', command: 'run' }
  const lock = holdAccount({ access, holder, onUnlocked: () => expect.unreachable() })
  const held = await accept()
  lock.release()

  expect([undecided.code, asked.code, unknown.code, held.code]).toEqual([78, 64, 64, 75])
  expect(undecided.text).toContain('say what the account may lose at most')
  expect(asked.text).toContain('--yes=live')
  expect(held.text).toContain('ACCOUNT_HELD')
})
