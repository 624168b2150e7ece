import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { Projects } from './project.ts'

const BIN = fileURLToPath(new URL('../../bin/intentd.mjs', import.meta.url))
/** What a pipe holds on Linux. */
const PIPE_BYTES = 65_536

const projects = new Projects()
afterAll(() => projects.close())

test('a log that nobody reads stops neither trading nor the end', async () => {
  const project = projects.open()
  // The shell holds both ends of a pipe that is full before the first line, and nobody reads it.
  const script = `mkfifo unread; exec 3<>unread; head -c ${PIPE_BYTES} /dev/zero >&3; "$@" >&3 2>&3; echo "ended with $?"`
  const run = [
    process.execPath,
    BIN,
    'run',
    '--for',
    '3s',
    '--set',
    'execution.acceptanceWindowMs=1000',
  ]
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

/** As a terminal that is closed: from the second line on each write fails. */
const CLOSED_TERMINAL = `
  const { stdout } = process
  const write = stdout._write.bind(stdout)
  stdout._write = (text, encoding, done) => {
    stdout._write = stdout._writev = (_text, _encoding, failed) =>
      (failed ?? _encoding)(Object.assign(new Error('write EIO'), { code: 'EIO' }))
    write(text, encoding, done)
  }
`

test('a terminal that is closed stops neither trading nor the end', async () => {
  const project = projects.open()
  project.write('closed-terminal.mjs', CLOSED_TERMINAL)
  const args = ['run', '--for', '2s', '--set', 'execution.acceptanceWindowMs=1000']
  const run = project.start(args, {}, join(project.directory, 'closed-terminal.mjs'))

  expect(await run.ended).toEqual({ code: 0, signal: null })
  expect(run.stdout).toHaveLength(1)
  expect(run.stderr).toEqual([])
})
