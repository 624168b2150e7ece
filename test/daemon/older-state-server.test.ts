import { afterAll, describe, expect, test } from 'vitest'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { killLeftOver } from './intentd-process.ts'
import { Machines } from './machines.ts'

afterAll(() => killLeftOver())

describe.skipIf(postgresMissing !== undefined)('a journal on a server', () => {
  test('[ORD2] takes over the positions of the exchange, and trades nothing before its release', async () => {
    const machines = await Machines.open((await postgresServer()).newPlace())
    try {
      const first = machines.run('a')
      await Machines.trades(first)
      expect(await first.stop()).toMatchObject({ code: 0 })
      const repair = machines.start('a', ['repair', '--from-exchange'])
      expect([(await repair.ended).code, repair.stderr]).toEqual([0, []])
      expect(repair.stdout.join('\n')).toMatch(/BTCUSDT[^]*ETHUSDT/)

      const next = machines.run('a')
      await next.untilEvent('daemon.running')
      expect(next.events('order.sent')).toEqual([])
      expect(
        (
          await machines.start('a', ['release', '*', '--reason', 'looked at', '--wait', '60s'])
            .ended
        ).code,
      ).toBe(0)
      await Machines.trades(next)
      expect(await next.stop()).toMatchObject({ code: 0 })
    } finally {
      await machines.close()
    }
  })
})
