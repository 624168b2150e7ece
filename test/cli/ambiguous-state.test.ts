import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { killHere } from '../../src/cli/kill/kill.ts'
import { describeHolder, holdDirectory } from '../../src/assembly/state/state-directory.ts'
import { keepRunningConfig } from '../../src/assembly/state/running-config.ts'
import { asStarted, loadOperated } from '../../src/cli/operator/operated-config.ts'
import { findSocket } from '../../src/cli/operator/find-daemon.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { postCommand } from '../../src/daemon/account/command-inbox.ts'
import { listenToOperator } from '../../src/daemon/account/listen-to-operator.ts'
import { noteRunning } from '../../src/assembly/state/running-files.ts'
import { killFileOf, readKillState } from '../../src/assembly/state/kill-switch.ts'
import type { ProcessLock } from '../../src/lib/process-lock.ts'
import type { EngineCommand } from '../../src/engine/event.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { Workspace } from '../config/workspace.ts'

let workspace: Workspace
let file: string
let held: Map<string, ProcessLock>
const home = process.env['HOME']

beforeEach(() => {
  workspace = new Workspace()
  workspace.fill()
  process.env['HOME'] = workspace.directory
  file = join(workspace.directory, 'config/main.yaml')
  held = new Map()
})
afterEach(() => {
  for (const lock of held.values()) lock.release()
  if (home === undefined) delete process.env['HOME']
  else process.env['HOME'] = home
  workspace.remove()
})

const stateOf = (name: string) => join(workspace.directory, '.intentd/paper', name)

function hold(name: string): void {
  const holder = {
    ...describeHolder('paper', 0),
    pid: held.size + 1,
    command: `run --market ${name}.csv`,
  }
  held.set(name, holdDirectory(stateOf(name), holder))
}

function runWith(...names: readonly string[]) {
  const { config } = loadConfig({ file, cwd: workspace.directory })
  keepRunningConfig(config, { mainFile: file, set: [], params: [], market: [] })
  noteRunning(config, [])
  names.forEach(hold)
  return config
}

test('with two that run with one file every command asks which is meant, and names both', () => {
  runWith('one', 'other')

  for (const ask of [loadOperated, asStarted])
    expect(() => ask({ config: file, set: [] })).toThrow(
      expect.objectContaining({
        code: 'STATE_AMBIGUOUS',
        message: expect.stringMatching(
          /2 daemons[^]*--state \/\S+\/one, started with: intentd run --market one\.csv[^]*\/other,/,
        ),
      }),
    )
  expect(() => loadOperated({ set: [], state: stateOf('..') + '/paper' })).toThrow(
    /STATE_AMBIGUOUS/,
  )
})

test('the one that is named is meant alone, and the other is the only one after it has ended', () => {
  const config = runWith('one', 'other')
  const operate = (state?: string) => loadOperated({ config: file, set: [], state })

  expect(findSocket(operate(stateOf('other')))).toBe(join(stateOf('other'), 'control.sock'))
  expect(operate(stateOf('one')).state.directory).toBe(stateOf('one'))

  held.get('one')?.release()
  held.delete('one')
  expect(operate(stateOf('other')).state.directory).toBe(config.state.directory)
  expect(findSocket(operate())).toBe(join(stateOf('other'), 'control.sock'))
})

test('[RSK3] a kill does not ask: both are killed, and each is named', async () => {
  runWith('one', 'other')
  const said: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said.push(String(text))
    return true
  })

  const code = await killHere({ config: file, set: [], reason: 'drill', wait: 0 })

  spy.mockRestore()
  expect(code).toBe(75)
  for (const name of ['one', 'other']) {
    expect(existsSync(killFileOf(stateOf(name)))).toBe(true)
    expect(said.join('')).toContain(`== ${stateOf(name)}`)
  }
})

test('the state of another configuration below it is another daemon', () => {
  const config = runWith('one', 'below')
  const below = { ...config, state: { ...config.state, directory: stateOf('below') } }
  keepRunningConfig(below, { mainFile: file, set: [], params: [], market: [] })

  expect(loadOperated({ config: file, set: [] }).state.directory).toBe(config.state.directory)
  expect(loadOperated({ set: [], state: stateOf('below') }).state.directory).toBe(stateOf('below'))
})

test('[RSK2] a daemon obeys what is left in its own directory, and says there that a kill is seen', () => {
  const config = runWith('one')
  const obeyed: EngineCommand[] = []
  const { inbox, killSwitch } = listenToOperator(
    {
      config,
      directory: stateOf('one'),
      trusted: { clock: systemClock },
      timers: systemTimers,
      logger: { log: () => {} },
    },
    {
      onCommand: (command) => void obeyed.push(command),
      whenWritten: (done) => done(true),
      killedAt: () => undefined,
    },
  )
  const flatten = { kind: 'flatten', scope: '*', reason: 'drill', by: 'anna' } as const
  for (const directory of [stateOf('one'), stateOf('other'), config.state.directory])
    postCommand(directory, flatten)

  inbox.empty()
  killSwitch.note('seen')

  expect(obeyed).toHaveLength(2)
  for (const directory of [stateOf('one'), config.state.directory])
    expect(readKillState(directory)?.state).toBe('seen')
  expect(readKillState(stateOf('other'))).toBeUndefined()
})
