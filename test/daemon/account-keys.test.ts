import { afterAll, expect, test } from 'vitest'
import { type Project, Projects } from './project.ts'
import { findExchange, keysOf, startDaemon, startExchange, toVariables } from './remote-exchange.ts'
import { shareOf } from '../support/share.ts'

const projects = new Projects()
afterAll(() => projects.close())

async function openExchange(project: Project) {
  const place = await findExchange(project)
  const exchange = startExchange(project, place)
  await exchange.untilEvent('simulator.listening')
  return { place, exchange }
}

const WRONG_KEYS = [
  ['INTENTD_API_KEY', 'wrongkey'],
  ['INTENTD_API_SECRET', 'wrongsecret'],
  ['INTENTD_API_PASSPHRASE', 'wrongpassphrase'],
] as const

test.concurrent.each(shareOf(WRONG_KEYS, 3))(
  'a wrong %s is one error that names it, and the end',
  async (variable, wrong) => {
    const project = projects.open()
    const { place, exchange } = await openExchange(project)

    const daemon = startDaemon(project, { ...place, env: { ...place.env, [variable]: wrong } })
    const { code } = await daemon.ended
    await exchange.stop()

    const troubles = daemon.log.filter(({ level }) => ['warn', 'error', 'fatal'].includes(level))
    expect(code).toBe(78)
    expect(troubles).toMatchObject([{ event: 'account.refused' }])
    expect(String(troubles[0]?.['reason'])).toMatch(new RegExp(`the exchange refuses ${variable}\n`))
    expect([...daemon.stdout, ...daemon.stderr].join('\n')).not.toContain(wrong)
  },
)

test.concurrent('keys of another account on an old state are refused, and a new key of the same one is said how', async () => {
  const project = projects.open()
  const { place, exchange } = await openExchange(project)
  const first = startDaemon(project, place)
  await first.untilEvent('daemon.running')
  await first.stop()

  const other = startDaemon(project, { ...place, env: toVariables(keysOf(project, 3)) })
  const { code } = await other.ended
  const again = startDaemon(project, place)
  await again.untilEvent('daemon.running')
  await again.stop()
  await exchange.stop()

  const reason = String(other.events('account.refused')[0]?.['reason'])
  expect(code).toBe(78)
  expect(reason).toMatch(
    /^STATE_OF_OTHER_KEYS: [^]*INTENTD_API_KEY[^]*state\.directory[^]*account\.fingerprint/,
  )
  expect(other.events('recovery.started')).toEqual([])
  const kept = project.read('.intentd/paper/account.fingerprint')
  expect(kept).toMatch(/^[0-9a-f]{32}\n$/)
})
