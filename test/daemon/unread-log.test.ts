import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { Projects } from './project.ts'

const BIN = fileURLToPath(new URL('../../bin/intentd.mjs', import.meta.url))
/** What a pipe holds on Linux. */
const PIPE_BYTES = 65_536

const projects = new Projects()
afterAll(() => projects.close())

test('a log that nobody reads stops neither trading nor the end', { timeout: 60_000 }, async () => {
  const project = projects.open()
  // The shell holds both ends of a pipe that is full before the first line, and nobody reads it.
  const script = `mkfifo unread; exec 3<>unread; head -c ${PIPE_BYTES} /dev/zero >&3; "$@" >&3 2>&3; echo "ended with $?"`
  const run = [process.execPath, BIN, 'run', '--for', '3s', '--set', 'execution.acceptanceWindowMs=1000']
  const shell = spawn('sh', ['-c', script, 'sh', ...run], {
    cwd: project.directory,
    env: { ...process.env, HOME: project.directory, XDG_STATE_HOME: project.directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  await once(shell, 'close')

  expect(said).toBe('ended with 0\n')
  // What it did is in its journal.
  const fills = project.start(['fills', '--json'])
  await fills.ended
  expect(fills.stdout.length).toBeGreaterThan(0)
})
