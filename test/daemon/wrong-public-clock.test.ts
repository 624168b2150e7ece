import { afterAll, expect, test } from 'vitest'
import { CrashScene } from '../crash/crash-scene.ts'
import { SCENARIOS } from '../crash/scenario.ts'
import { HostileProxy, type Misanswer } from '../support/hostile-proxy.ts'
import { killLeftOver } from './intentd-process.ts'
import { shareOf } from '../support/share.ts'

afterAll(() => killLeftOver())

const HOUR_MS = 3_600_000

/** Public answers as a cache or a proxy on the way gives them: right, but for their time. */
function answerAt(aheadMs: number): Misanswer {
  return (answer, response) => {
    const shifted = answer.replace(
      /"requestTime":(\d+)/,
      (_, time: string) => `"requestTime":${Number(time) + aheadMs}`,
    )
    response.writeHead(200, { 'content-type': 'application/json;charset=UTF-8' }).end(shifted)
  }
}

const CLOCKS = [
  ['an hour ahead', HOUR_MS],
  ['two hours behind', -2 * HOUR_MS],
] as const

test.concurrent.each(shareOf(CLOCKS, 2))(
  '[RSK2] [RSK3] public answers whose clock is %s: a kill cancels everything, and a stop ends in good order',
  async (_, aheadMs) => {
    const scene = await CrashScene.open({
      reading: 'pendingOnly',
      onRestart: 'cancel',
      scenario: SCENARIOS.normal,
      seed: 17,
      mode: 'one_way_mode',
    })
    const proxy = await HostileProxy.start({
      target: scene.exchange.url,
      misanswer: answerAt(aheadMs),
      every: 0,
    })
    scene.tradeAt(proxy.url)
    try {
      const run = scene.start()
      await run.untilEvent('order.accepted')
      proxy.spoilt.set('tickers', Number.POSITIVE_INFINITY)
      await run.until('wrong times', () => proxy.misanswered('tickers') >= 3)
      scene.throwSwitch()
      await run.untilEvent('kill.clean')
      scene.releaseSwitch()
      await run.untilEvent('kill.released')
      const { code } = await run.stop()

      expect(code).toBe(0)
      expect(run.summary).toMatchObject({ clean: true })
      expect(scene.compare(run)).toEqual([])
    } finally {
      await scene.close()
      await proxy.stop()
    }
  },
)
