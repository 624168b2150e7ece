import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { loadCredentials } from '../../src/config/secrets.ts'
import { accessTo } from '../../src/assembly/account/account-keys.ts'
import { repairFromExchange } from '../../src/daemon/repair-from-exchange.ts'
import { ExchangeClient } from '../../src/exchange/exchange-client.ts'
import { ExchangeClock } from '../../src/exchange/clock/exchange-clock.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { systemTimers, type Timers } from '../../src/lib/timers.ts'
import { CONFIG_FILE, MARKET, STATE, writeCrashConfig } from '../crash/crash-config.ts'
import { CrashExchange } from '../crash/crash-exchange.ts'
import { SCENARIOS } from '../crash/scenario.ts'
import { CALLING } from '../exchange/client-fixture.ts'
import { Projects } from './project.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** Far below the market: it rests. */
const price = String(Number(MARKET.prices.BTCUSDT) * 0.9)
const BUY = { side: 'buy', orderType: 'limit', force: 'gtc', price, size: '0.01' } as const

test('[RSK3] a request of a run that was just killed is waited for, and what it placed is cancelled', async () => {
  const mode = 'one_way_mode'
  const exchange = await CrashExchange.start({
    seed: 3,
    mode,
    reading: 'replay',
    scenario: SCENARIOS.normal,
  })
  const project = projects.open()
  writeCrashConfig(project, {
    mode,
    url: exchange.url,
    size: '0.01',
    policies: { onRestart: 'cancel', onStop: 'cancel' },
  })
  const cwd = project.directory
  const { config } = loadConfig({
    file: CONFIG_FILE,
    cwd,
    overrides: ['exchange.requestTimeoutMs=30000'],
  })
  const credentials = loadCredentials(config, { cwd, variables: exchange.credentials })
  const access = accessTo(config, credentials)
  if (access === undefined) throw new Error('unreachable: it names an exchange')
  const others = new ExchangeClient({
    ...access,
    positionMode: mode,
    clock: systemClock,
    timers: systemTimers,
    offset: new ExchangeClock(),
    ...CALLING,
    requestTimeoutMs: 3e4,
  })
  const place = async (clientOid: string): Promise<void> => {
    const order = { ...BUY, clientOid }
    const { productType, marginCoin, marginMode } = config.account
    const body = { symbol: 'BTCUSDT', productType, marginCoin, marginMode, orderList: [order] }
    const answer = await others.call('batchPlaceOrder', body)
    expect(answer).toMatchObject({ kind: 'accepted', data: { successList: [{ clientOid }] } })
  }
  const placeLate = async (isAccepted: () => void): Promise<void> => {
    await place('late')
    isAccepted()
  }
  const { acceptanceWindowMs } = config.execution
  const waits: number[] = []
  let isWaiting = false
  // The wait is over when what was on its way has been accepted.
  const timers: Timers = {
    after(delayMs, callback) {
      if (!isWaiting || delayMs !== acceptanceWindowMs) return systemTimers.after(delayMs, callback)
      void placeLate(callback)
      return () => undefined
    },
  }

  await place('early')
  const { cancelled, positions } = await repairFromExchange({
    config,
    credentials,
    timers,
    directory: join(project.directory, STATE),
    password: undefined,
    version: '0',
    clock: systemClock,
    configOption: '',
    onWait: (forMs) => {
      waits.push(forMs)
      isWaiting = true
    },
  })
  await others.close()
  await exchange.stop()

  expect(waits).toEqual([acceptanceWindowMs])
  expect(cancelled).toBe(2)
  expect(positions).toEqual([
    { symbol: 'BTCUSDT', held: 'flat', was: 'flat' },
    { symbol: 'ETHUSDT', held: 'flat', was: 'flat' },
  ])
})
