import { afterEach, expect, test, vi } from 'vitest'
import { sendCommand } from '../../src/cli/operator/send-command.ts'
import { describeHolder, holdDirectory } from '../../src/assembly/state/state-directory.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { Workspace } from '../config/workspace.ts'

const workspace = new Workspace()
afterEach(() => {
  vi.restoreAllMocks()
  workspace.remove()
})

test('an order that is not answered may be done; a dry run is not', async () => {
  workspace.fill()
  const { config } = loadConfig({ file: 'config/main.yaml', cwd: workspace.directory })
  const lock = holdDirectory(config.state.directory, describeHolder('paper', 0))
  const said: string[] = []
  const take = (text: unknown) => said.push(String(text)) > 0
  vi.spyOn(process.stdout, 'write').mockImplementation(take)
  vi.spyOn(process.stderr, 'write').mockImplementation(take)
  const send = async (dryRun: boolean): Promise<string> => {
    said.length = 0
    const code = await sendCommand(config, {
      key: 'key-0001',
      reason: 'a test',
      order: { kind: 'close', scope: '*', percent: 50, ...(dryRun && { dryRun }) },
      words: { withoutDaemon: 'no daemon', unanswered: 'it may be done all the same' },
    })
    return `${code} ${said.join('')}`
  }
  try {
    const dry = await send(true)
    expect(dry).toMatch(/^75 .*the dry run was not answered; it does nothing, so ask again/s)
    expect(dry).not.toContain('may be done')
    expect(await send(false)).toMatch(/^75 .*may be done all the same: give it again with --key/s)
  } finally {
    lock.release()
  }
})
