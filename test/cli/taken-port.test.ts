import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeHolder, holdDirectory } from '../../src/assembly/state/state-directory.ts'
import { noteRunning } from '../../src/assembly/state/running-files.ts'
import { nameHolder } from '../../src/assembly/state/taken-port.ts'
import { examinePort } from '../../src/cli/doctor/examine-machine.ts'
import { examineSignals } from '../../src/cli/doctor/examine-signals.ts'
import { listPortProblems } from '../../src/cli/run/accept-reload.ts'
import { type DaemonConfig, loadConfig } from '../../src/config/load-config.ts'
import { Workspace } from '../config/workspace.ts'

let other: Server
let taken: number

beforeEach(async () => {
  other = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(other, 'listening')
  taken = (other.address() as AddressInfo).port
})

afterEach(() => void other.close())

function at(port: number | undefined): Pick<DaemonConfig, 'control'> {
  return {
    control: {
      host: '127.0.0.1',
      port,
      readOnly: false,
      agents: { research: false, safer: false, propose: false, http: false },
    },
  }
}

test('a reload to a port that another process has is refused, with the address', async () => {
  expect(await listPortProblems([{ config: at(taken) }], [at(0)])).toEqual([
    expect.stringMatching(
      new RegExp(`^control\\.port: nothing can listen at 127\\.0\\.0\\.1:${taken}: .*EADDRINUSE`),
    ),
  ])
})

test('its own port, any free one and none are no trouble', async () => {
  const next = [at(taken), at(0), at(undefined)].map((config) => ({ config }))
  expect(await listPortProblems(next, [at(taken)])).toEqual([])
  other.close()
  await once(other, 'close')
  expect(await listPortProblems([{ config: at(taken) }], [at(0)])).toEqual([])
})

test.runIf(process.platform === 'linux')(
  'says which program has the port, and of another intentd its name and state',
  async () => {
    const program = new RegExp(`EADDRINUSE.*; \\S+ \\(pid ${process.pid}\\) listens there$`)
    expect(nameHolder('listen EADDRINUSE: address already in use', taken)).toMatch(program)
    expect(nameHolder('listen EACCES: permission denied', taken)).not.toContain('pid')

    const workspace = new Workspace()
    const home = process.env['HOME']
    process.env['HOME'] = workspace.directory
    workspace.fill()
    const { config } = loadConfig({ file: 'config/main.yaml', cwd: workspace.directory })
    const { directory } = config.state
    const lock = holdDirectory(directory, describeHolder('paper', 0))
    try {
      noteRunning(config, [])
      const named = `the intentd paper (pid ${process.pid}, state ${directory}) listens there`
      expect(nameHolder('EADDRINUSE', taken)).toBe(`EADDRINUSE; ${named}`)
      const [own] = await examinePort({ ...at(taken), state: config.state })
      expect([own?.state, own?.found]).toEqual(['ok', expect.stringContaining('of this state')])
      const signals = { host: '127.0.0.1', port: taken, accept: {} }
      const [, ofSignals] = await examineSignals({ signals, state: config.state }, { cwd: '/' })
      expect(ofSignals).toMatchObject({ state: 'ok', what: 'signals port', found: own?.found })
      const elsewhere = { ...config.state, directory: `${directory}/none` }
      const [foreign] = await examinePort({ ...at(taken), state: elsewhere })
      expect([foreign?.state, foreign?.found]).toEqual(['warn', expect.stringContaining(named)])
    } finally {
      lock.release()
      if (home === undefined) delete process.env['HOME']
      else process.env['HOME'] = home
      workspace.remove()
    }
  },
)
