// What another user of the machine may do to a daemon's control interface. As root the attacks are made by a user who is
// really another one; without root those that need one are skipped.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { ProposalBench } from '../support/approval/memory-pairing.ts'
import { AnsweredRequests } from '../../src/control/answered-requests.ts'
import { type Controlled } from '../../src/control/controlled.ts'
import { ControlServer } from '../../src/control/control-server.ts'
import { EventHistory } from '../../src/control/event-history.ts'
import { openTokens } from '../../src/control/access/token-file.ts'
import { holdDirectory } from '../../src/assembly/state/state-directory.ts'

const isRoot = process.geteuid?.() === 0
/** Neither is an account of this machine. */
const STRANGER = 4_000_123
const READERS = 4_000_124

const root = mkdtempSync(join(tmpdir(), 'intentd-others-'))
chmodSync(root, 0o755)
afterAll(() => rmSync(root, { recursive: true, force: true }))

interface Opened {
  readonly server: ControlServer
  readonly url: string
  readonly token: string
  readonly readToken: string
  readonly commands: string[]
  readonly refused: string[]
}

async function open(directory: string): Promise<Opened> {
  const commands: string[] = []
  const refused: string[] = []
  const answer = { isObeyed: true, text: 'done', held: [], lifted: [], stillHeld: {} }
  const daemon = {
    events: new EventHistory(10),
    metrics: () => '',
    status: () => ({}) as ReturnType<Controlled['status']>,
    command(request, verified) {
      commands.push(verified)
      return { answer: { ...answer, requestId: request.requestId } }
    },
  } as Partial<Controlled> as Controlled
  const tokens = openTokens({
    full: join(directory, 'control.token'),
    read: join(directory, 'control.read.token'),
  })
  const server = new ControlServer({
    daemon,
    socket: join(directory, 'control.sock'),
    port: { host: '127.0.0.1', number: 0, tokens },
    version: '1.2.3',
    readOnly: false,
    monotonic: () => performance.now(),
    answered: new AnsweredRequests(),
    proposals: new ProposalBench().proposals,
    onRefused: (why) => refused.push(why),
    onBroken: (reason) => refused.push(reason),
    onUnreachable: (address, reason) => refused.push(`${address} ${reason}`),
  })
  await server.start()
  const [token, readToken] = [tokens.full.reveal(), tokens.read.reveal()]
  return { server, url: server.baseUrl ?? '', token, readToken, commands, refused }
}

/** Opens so many connections that begin a request and never end it; says when all were tried, and goes on. */
const SLOW_POSTS = `
  const { connect } = require('node:net')
  const [port, count] = process.argv.slice(1).map(Number)
  let tried = 0
  const head = 'POST /v1/commands HTTP/1.1\\r\\nHost: 127.0.0.1:' + port +
    '\\r\\nContent-Type: application/json\\r\\nContent-Length: 999\\r\\n\\r\\n{'
  const open = () => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head)
      tried += 1
      if (tried === count) console.log('tried')
    })
    socket.on('error', () => {})
  }
  for (let index = 0; index < count; index++) open()
  setInterval(() => {}, 1000)
`

async function starve(port: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ['-e', SLOW_POSTS, port, '200'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(isRoot && { uid: STRANGER, gid: STRANGER }),
  })
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
}

test('[BND1] slow requests of others keep no command out, and are counted', async () => {
  const directory = join(root, 'starved')
  mkdirSync(directory, { mode: 0o700 })
  const { server, url, token, commands, refused } = await open(directory)
  const { port } = new URL(url)
  const relent = await starve(port)
  try {
    const authorization = `Bearer ${token}`
    for (let turn = 0; turn < 5; turn++) {
      const answer = await fetch(`${url}/v1/commands`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({
          requestId: `starved-${turn}`,
          reason: 'drill',
          by: 'anna',
          order: { kind: 'kill' },
        }),
      })
      expect(answer.status).toBe(200)
    }
    expect(commands).toEqual(Array.from({ length: 5 }, () => 'port:control.token'))
    const metrics = await (await fetch(`${url}/metrics`, { headers: { authorization } })).text()
    const closed = Number(
      /^intentd_control_refused_total\{what="connection"\} (\d+)$/m.exec(metrics)?.[1],
    )
    expect(closed).toBeGreaterThan(0)
    expect(refused).toContain('the oldest of more than 32 connections without a token was closed')
  } finally {
    await relent()
    await server.stop()
  }
})

test('[BND1] whoever only looks takes no place of those who command', async () => {
  const directory = join(root, 'followed')
  mkdirSync(directory, { mode: 0o700 })
  const { server, url, token, readToken } = await open(directory)
  const { port } = new URL(url)
  const followers = Array.from({ length: 32 }, () => connect(Number(port), '127.0.0.1').resume())
  const request = `GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${readToken}\r\n\r\n`
  for (const one of followers) one.write(request)
  await Promise.all(followers.map((one) => once(one, 'data')))

  const follow = async (own: string): Promise<number> => {
    const answer = await fetch(`${url}/v1/events`, { headers: { authorization: `Bearer ${own}` } })
    await answer.body?.cancel()
    return answer.status
  }
  expect(await follow(token)).toBe(200)
  expect(await follow(readToken)).toBe(503)
  for (const one of followers) one.destroy()
  await server.stop()
})

describe.skipIf(!isRoot)(
  'another user (as root only: it takes a user who is really another one)',
  () => {
    /** Which of these another user can do, with one process. */
    function tryAll(
      gid: number,
      attempts: readonly (readonly ['read' | 'write' | 'connect', string])[],
    ) {
      const script = `
      const [fs, net] = ['node:fs', 'node:net'].map(require)
      const acts = {
        read: (path) => fs.readFileSync(path),
        write: (path) => fs.writeFileSync(path, '{}'),
        connect: (path) => new Promise((done, fail) => net.connect(path, done).on('error', fail)),
      }
      const attempt = async ([act, path]) => acts[act](path)
      Promise.allSettled(JSON.parse(process.argv[1]).map(attempt)).then((ends) => {
        console.log(JSON.stringify(ends.map(({ status }) => status === 'fulfilled')))
        process.exit()
      })`
      const child = spawn(process.execPath, ['-e', script, JSON.stringify(attempts)], {
        stdio: ['ignore', 'pipe', 'inherit'],
        uid: STRANGER,
        gid,
      })
      return text(child.stdout).then((printed) => JSON.parse(printed) as boolean[])
    }

    test('reads no token, reaches no socket, and leaves no order in the state directory', async () => {
      const directory = join(root, 'state')
      const holder = { pid: process.pid, since: 0, host: 'here', name: 'paper', command: '' }
      const lock = holdDirectory(directory, holder)
      const { server } = await open(directory)
      mkdirSync(join(directory, 'operator'))
      // Even where a umask left the files themselves open.
      for (const name of ['control.token', 'control.sock', 'operator'])
        chmodSync(join(directory, name), 0o777)

      // The same programs work where nothing is in their way.
      writeFileSync(join(root, 'open.txt'), '')
      const done = await tryAll(STRANGER, [
        ['read', join(directory, 'control.token')],
        ['connect', join(directory, 'control.sock')],
        ['write', join(directory, 'KILL')],
        ['write', join(directory, 'operator', '1-release.json')],
        ['read', join(root, 'open.txt')],
      ])
      expect(done).toEqual([false, false, false, false, true])
      await server.stop()
      lock.release()
    })

    test('of the group of a folder for readers reads the token that looks; one of another group does not', async () => {
      const folder = join(root, 'readers')
      mkdirSync(folder)
      chownSync(folder, 0, READERS)
      chmodSync(folder, 0o2750)
      const state = join(root, 'private')
      mkdirSync(state, { mode: 0o700 })
      const read = join(folder, 'read.token')
      const full = join(state, 'control.token')
      openTokens({ full, read })

      const attempts = [
        ['read', read],
        ['write', read],
        ['read', full],
      ] as const
      const [ofReaders, ofOthers] = await Promise.all([
        tryAll(READERS, attempts),
        tryAll(STRANGER, attempts),
      ])
      expect(ofReaders).toEqual([true, false, false])
      expect(ofOthers).toEqual([false, false, false])
    })

    test('who takes the port of a daemon that is gone has a token of nobody', async () => {
      const directory = join(root, 'taken')
      mkdirSync(directory, { mode: 0o700 })
      const heard = 'a'.repeat(64)
      writeFileSync(join(directory, 'control.token'), `${heard}\n`, { mode: 0o600 })
      const { server, url, token } = await open(directory)

      const ask = (own: string) =>
        fetch(`${url}/v1/status`, { headers: { authorization: `Bearer ${own}` } })
      expect([(await ask(heard)).status, (await ask(token)).status]).toEqual([401, 200])
      await server.stop()
    })
  },
)
