import { afterAll, expect, test, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { Projects } from '../daemon/project.ts'
import { IntentdProcess } from '../daemon/intentd-process.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** Writes the address of every module to standard error at the end. */
const WRITE_MODULES = `
import { registerHooks } from 'node:module'
const urls = []
registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
process.on('exit', () => process.stderr.write(urls.join('\\n')))`

test('a daemon is loaded without the simulator and without indicators: only one that needs them loads them', async () => {
  const { directory } = projects.open()
  const preload = `data:text/javascript,${encodeURIComponent(WRITE_MODULES)}`
  const run = new IntentdProcess(['run', '--help'], { cwd: directory, preload, waitMsMax: 60_000 })
  await run.ended

  const loaded = (file: string) => run.stderr.some((url) => url.endsWith(`/src/${file}`))
  expect(loaded('daemon/open-daemon.ts')).toBe(true)
  expect(loaded('strategy/indicators/indicator-values.ts')).toBe(true)
  expect(loaded('simulator/start-simulator.ts')).toBe(false)
  expect(run.stderr.filter((url) => url.includes('/trading-signals/'))).toEqual([])
})

test.each(['status', 'orders', 'positions', 'whatif'])(
  '%s is loaded without the core and the journal: a running daemon answers by itself',
  async (verb) => {
    const { directory } = projects.open()
    const preload = `data:text/javascript,${encodeURIComponent(WRITE_MODULES)}`
    const run = new IntentdProcess([verb, '--help'], { cwd: directory, preload, waitMsMax: 60_000 })
    await run.ended

    const own = run.stderr.flatMap((url) => /\/src\/(.*)$/.exec(url)?.[1] ?? [])
    expect(own).toContain('cli/operator/find-daemon.ts')
    expect(own).not.toContain('engine/engine.ts')
    expect(own).not.toContain('journal/sqlite-journal.ts')
    expect(own).not.toContain('views/account-view.ts')
  },
)

test('each verb of the help is found under its name, and by the code that adds it', async () => {
  const written: string[] = []
  const write = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => written.push(String(text)) > 0)
  try {
    expect(await main(['--help'])).toBe(0)
    const verbs = [...written.join('').matchAll(/^ {2}([a-z][a-z-]*) (?:\[|<)/gm)].map(
      ([, verb = '']) => verb,
    )
    expect(verbs.length).toBeGreaterThan(30)
    for (const verb of verbs.filter((name) => name !== 'help')) {
      written.length = 0
      expect([verb, await main([verb, '--help'])]).toEqual([verb, 0])
      expect(written.join('')).toContain(`intentd ${verb} `)
    }
  } finally {
    write.mockRestore()
  }
})
