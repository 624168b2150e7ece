import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'
import { CONFIG_FILE } from '../crash/crash-config.ts'
import { CrashScene } from '../crash/crash-scene.ts'
import { SCENARIOS } from '../crash/scenario.ts'
import { HostileProxy, MISANSWERS } from '../support/hostile-proxy.ts'
import { type IntentdProcess, killLeftOver } from './intentd-process.ts'

afterAll(() => killLeftOver())

const UNRESOLVED = new URL('./unresolved-name.ts', import.meta.url).href

interface Stage {
  readonly scene: CrashScene
  readonly proxy: HostileProxy
}

interface Outage {
  readonly begin: (stage: Stage) => void
  readonly end: (stage: Stage) => void
  /** What the daemon says of it. */
  readonly reason: RegExp
}

const relay = ({ proxy }: Stage): void => {
  proxy.withholds = () => false
}

function refuse(response: ServerResponse): boolean {
  response.writeHead(429, { 'content-type': 'application/json;charset=UTF-8' })
  response.end('{"code":"429","msg":"Too Many Requests","requestTime":0,"data":null}')
  return true
}

const isPrivate = ({ headers }: IncomingMessage): boolean => headers['access-key'] !== undefined

const OUTAGES: Readonly<Record<string, Outage>> = {
  'of all calls, which are refused with 429': {
    begin: ({ proxy }) => {
      proxy.withholds = (_, response) => refuse(response)
    },
    end: relay,
    reason: /429/,
  },
  'of private endpoints alone, whose connections end': {
    begin: ({ proxy }) => {
      proxy.withholds = (request) => isPrivate(request) && request.destroy() === request
    },
    end: relay,
    reason: /TRANSPORT|connection|socket|UND_ERR|ECONN/i,
  },
  'of the name service': {
    begin: ({ scene, proxy }) => {
      writeFileSync(scene.path('no-names'), '')
      proxy.cutConnections()
    },
    end: ({ scene }) => rmSync(scene.path('no-names')),
    reason: /ENOTFOUND/,
  },
}

async function openStage(): Promise<Stage> {
  const scene = await CrashScene.open({
    seed: 23,
    mode: 'one_way_mode',
    reading: 'pendingOnly',
    onRestart: 'cancel',
    scenario: SCENARIOS.normal,
  })
  const target = scene.exchange.url
  const proxy = await HostileProxy.start({ target, misanswer: MISANSWERS.garbage, every: 0 })
  scene.tradeAt(proxy.url.replace('127.0.0.1', 'localhost'))
  // An answer that is slow to come on a busy machine is no outage of its own.
  const file = scene.path(CONFIG_FILE)
  const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>
  writeFileSync(
    file,
    JSON.stringify({ ...config, exchange: { ...config['exchange'], requestTimeoutMs: 2000 } }),
  )
  return { scene, proxy }
}

/** Restrictions that stand, each as its scope and its code. */
function listRestricted(run: IntentdProcess): readonly string[] {
  const restricted = new Set<string>()
  for (const { event, scope, code } of run.log) {
    const name = `${String(scope)} ${String(code)}`
    if (['trading.halted', 'trading.reducing', 'trading.killed'].includes(event))
      restricted.add(name)
    if (event === 'trading.released') restricted.delete(name)
  }
  return [...restricted]
}

describe('[ORD3] [MKT3] an outage', () => {
  test.each(Object.entries(OUTAGES))(
    '%s is said and heals by itself: nothing stays halted, no order is doubled',
    async (_, { begin, end, reason }) => {
      const stage = await openStage()
      const { scene, proxy } = stage
      try {
        const run = scene.start({}, UNRESOLVED)
        await run.untilEvent('order.accepted')
        begin(stage)
        const silent = await run.untilEvent('exchange.silent')
        const acceptedBefore = run.events('order.accepted').length
        end(stage)
        await run.untilEvent('exchange.answers')
        await run.until('orders again', () => run.events('order.accepted').length > acceptedBefore)
        await run.until('nothing restricted', () => listRestricted(run).length === 0)

        expect(String(silent['reason'])).toMatch(reason)
        expect(await run.stop()).toEqual({ code: 0, signal: null })
        expect(scene.compare(run)).toEqual([])
        const names = [...scene.exchange.truth.orders.values()].map(({ clientOid }) => clientOid)
        expect(names.length).toBe(new Set(names).size)
      } finally {
        await scene.close()
        await proxy.stop()
      }
    },
  )
})
