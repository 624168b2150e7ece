import { afterAll, expect, test } from 'vitest'
import { Projects } from './project.ts'
import { findExchange, startDaemon, startExchange, writeRemote } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

test('symbols alone trade by what the exchange lists, which is kept, compared and shown', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  project.write(
    'config/paper.yaml',
    project
      .read('config/paper.yaml')
      .replace(/^instruments:\n(?: .*\n)+/m, 'instruments: [BTCUSDT, ETHUSDT]\n'),
  )
  writeRemote(project)
  const named = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
  const ask = async (...words: string[]) => {
    const asked = project.start([...words, ...named], place.env)
    const { code } = await asked.ended
    return { code, text: [...asked.stdout, ...asked.stderr].join('\n') }
  }

  const silent = await ask('check')
  const exchange = startExchange(project, place)
  await exchange.untilEvent('simulator.listening')
  const daemon = startDaemon(project, place)
  await daemon.untilEvent('order.accepted')
  project.edit('config/remote.yaml', 'openOrdersMax: 100', 'openOrdersMax: 90')
  const reloaded = await ask('reload')
  await daemon.stop()
  const shown = await ask('instruments')
  await exchange.stop()
  const kept = await ask('instruments', '--json')
  const coarser = startExchange(project, place, ['--set', 'instruments.BTCUSDT.tickSize=7'])
  await coarser.untilEvent('simulator.listening')
  const planned = await ask('plan')
  const checked = await ask('check')
  const doctor = await ask('doctor')
  const refused = startDaemon(project, place)
  const { code } = await refused.ended
  await coarser.stop()

  expect(silent.code).toBe(78)
  expect(silent.text).toMatch(
    /config\/remote\.yaml:\d+:15 instruments\.BTCUSDT: BTCUSDT has no tickSize, .* did not say them \(.*nor were they kept/,
  )
  expect(reloaded).toMatchObject({ code: 0, text: expect.stringContaining('100 -> 90') })
  expect(reloaded.text).not.toContain('instruments.')
  const read = { productType: 'USDT-FUTURES', contracts: 2 }
  expect(daemon.events('contracts.read')).toMatchObject([read, read])
  expect(daemon.events('contract.changed')).toEqual([])
  expect(shown.text).toMatch(/BTCUSDT +0\.1 +0\.001 .* 8 h +<= 125 +normal +exchange\n/)
  expect(JSON.parse(kept.text.slice(0, kept.text.lastIndexOf(']') + 1))).toMatchObject([
    { instruments: [{ symbol: 'BTCUSDT', tickSize: '0.1', origins: { tickSize: 'kept' } }, {}] },
  ])
  expect(planned.text).toContain('instruments.BTCUSDT.tickSize: "0.1" -> "7"')
  expect(checked.text).toMatch(/STATE_GRIDS_CHANGED[^]*BTCUSDT[^]*tickSize 0\.1[^]*tickSize 7/)
  expect(doctor.text).toMatch(/warn +contracts .*has changed tickSize/)
  expect(code).toBe(78)
  expect(refused.events('contract.changed')).toMatchObject([{ symbol: 'BTCUSDT' }])
  expect(refused.stderr.join('\n')).toContain('STATE_GRIDS_CHANGED')
})
