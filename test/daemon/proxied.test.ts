import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { CONFIG_FILE } from '../crash/crash-config.ts'
import { CrashScene } from '../crash/crash-scene.ts'
import { SCENARIOS } from '../crash/scenario.ts'
import { EXCHANGE_HOST, opensslMissing, SecureFront, TestProxy } from '../support/forward-proxy.ts'
import { IntentdProcess, killLeftOver } from './intentd-process.ts'

afterAll(() => killLeftOver())

describe.skipIf(opensslMissing !== undefined)('an exchange that only a proxy reaches', () => {
  test('[RSK2] [RSK3] doctor, call, run, kill and stop reach it, all through the proxy', async () => {
    const scene = await CrashScene.open({
      reading: 'pendingOnly',
      onRestart: 'cancel',
      scenario: SCENARIOS.normal,
      seed: 19,
      mode: 'hedge_mode',
    })
    const front = new SecureFront(Number(new URL(scene.exchange.url).port))
    await front.open()
    const proxy = new TestProxy()
    await proxy.open(front.port)
    scene.tradeAt(`https://${EXCHANGE_HOST}`)
    const file = scene.path(CONFIG_FILE)
    const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>
    // The simulator is never called through a proxy: to the daemon this is another exchange.
    Object.assign(config, { environment: 'demo' })
    config['exchange'] = { ...config['exchange'], proxy: proxy.url, requestTimeoutMs: 10_000 }
    writeFileSync(file, JSON.stringify(config))
    writeFileSync(scene.path('ca.pem'), front.certificate)
    const env = { NODE_EXTRA_CA_CERTS: scene.path('ca.pem'), INTENTD_PROXY_LOGIN: 'user:word' }
    const command = async (...words: readonly string[]) => {
      const cwd = scene.path('.')
      const one = new IntentdProcess(words, {
        cwd,
        env: { ...scene.exchange.credentials, HOME: cwd, ...env },
      })
      const { code } = await one.ended
      return { code, said: one.stdout.join('\n') + one.stderr.join('\n') }
    }
    try {
      const examined = await command('doctor', '-c', CONFIG_FILE)
      expect(examined.said).toContain(
        `through the proxy ${proxy.url} (exchange.proxy, with a login)`,
      )
      const asked = await command(
        'call',
        'tickers',
        '--productType',
        'usdt-futures',
        '-c',
        CONFIG_FILE,
      )
      expect(asked).toMatchObject({ code: 0, said: expect.stringContaining('BTCUSDT') })
      const run = scene.start(env)
      await run.untilEvent('order.accepted')
      scene.throwSwitch()
      await run.untilEvent('kill.clean')
      scene.releaseSwitch()
      await run.untilEvent('kill.released')
      const { code } = await run.stop()

      expect(code).toBe(0)
      expect(run.summary).toMatchObject({ clean: true })
      expect([...scene.exchange.truth.open]).toEqual([])
      expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${EXCHANGE_HOST}:443`]))
      expect(new Set(proxy.logins)).toEqual(
        new Set([`Basic ${Buffer.from('user:word').toString('base64')}`]),
      )
      expect(`${examined.said}${run.stderr.join('')}${run.stdout.join('')}`).not.toMatch(
        /user:word/,
      )
    } finally {
      await scene.close()
      await proxy.close()
      await front.close()
    }
  })
})
