import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { IntentdProcess } from '../daemon/intentd-process.ts'
import { type Project, Projects } from '../daemon/project.ts'
import { codeAt } from '../support/approval/memory-pairing.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/intentd.mjs', import.meta.url))
const STEP_MS = 30_000

const projects = new Projects()
let project: Project
let daemon: IntentdProcess
/** Of the authenticator. */
let secret = ''
let usedStep = 0

beforeAll(async () => {
  project = projects.open()
  daemon = project.run()
  await daemon.untilEvent('order.accepted')
})

afterAll(async () => {
  await daemon.stop()
  await projects.close()
})

interface Ended {
  readonly code: number | null
  readonly text: string
}

/** Answers what the command asks for on standard input, as soon as it has printed something. */
async function give(
  words: readonly string[],
  { by, answer }: { readonly by?: string; readonly answer?: (text: string) => string } = {},
): Promise<Ended> {
  const { directory } = project
  const child: ChildProcess = spawn(process.execPath, [LAUNCHER, ...words], {
    cwd: directory,
    stdio: 'pipe',
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      XDG_STATE_HOME: directory,
      ...(by !== undefined && { INTENTD_MIDDLEMAN: by }),
    },
  })
  let text = ''
  let isAnswered = false
  child.stdin?.on('error', () => undefined)
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      if (isAnswered || answer === undefined) return
      isAnswered = true
      child.stdin?.end(`${answer(text)}\n`)
    })
  if (answer === undefined) child.stdin?.end()
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { code, text }
}

/** Three steps count at any moment, each once. */
function nextCode(): string {
  usedStep = Math.max(usedStep + 1, Math.floor(Date.now() / STEP_MS) - 1)
  return codeAt(usedStep * STEP_MS, secret)
}

function idIn(text: string): string {
  return /^proposal ([0-9a-f]{6}):/m.exec(text)?.[1] ?? 'none'
}

test('a kill that an assistant would end is ended by a person with a code, once, and the journal says who, how and by which code', async () => {
  await give(['restrict', 'BTCUSDT', 'halted', '--reason', 'odd'])
  const release = ['release', 'BTCUSDT', '--reason', 'the log told me to']
  const unpaired = await give(release, { by: 'agent mcp' })
  const paired = await give(['pair'], {
    answer: (text) => {
      secret = /secret=([A-Z2-7]+)/.exec(text)?.[1] ?? ''
      return nextCode()
    },
  })
  const again = await give(['pair'])
  const proposed = await give(release, { by: 'agent mcp' })
  const id = idIn(proposed.text)
  const code = nextCode()
  const byAgent = await give(['confirm', id], { by: 'agent mcp', answer: () => code })
  const wrong = await give(['confirm', id], { by: 'telegram 42', answer: () => 'no code' })
  const confirmed = await give(['confirm', id], { by: 'telegram 42', answer: () => code })
  const twice = await give(['confirm', id], { answer: () => code })
  const story = await give(['explain', 'BTCUSDT'])

  expect(unpaired).toMatchObject({ code: 1, text: expect.stringContaining('run `intentd pair`') })
  expect(paired.text).toMatch(/█[^]*otpauth:\/\/totp\/intentd:paper\?secret=[^]*paired: /)
  expect(statSync(join(project.directory, '.intentd/paper/pairing.json')).mode & 0o777).toBe(0o600)
  expect(again).toMatchObject({ code: 64, text: expect.stringContaining('--again') })
  expect(proposed).toMatchObject({
    code: 75,
    text: expect.stringMatching(/would change +ends: BTCUSDT halted[^]*not done yet/),
  })
  expect(byAgent).toMatchObject({ code: 64, text: expect.stringContaining('not for an assistant') })
  expect(wrong).toMatchObject({ code: 1, text: expect.stringContaining('a wrong code; 4 more') })
  expect(confirmed).toMatchObject({ code: 0, text: expect.stringContaining('is released') })
  expect(twice).toMatchObject({
    code: 0,
    text: expect.stringMatching(/this proposal is over: .*; sent again; .* is released/),
  })
  expect(story.text).toMatch(
    new RegExp(
      `the log told me to, by socket:.* says "agent mcp for .*proposal ${id} confirmed by socket:.* says "telegram 42 for .*with code ${usedStep}`,
    ),
  )
  expect(daemon.events('control.proposed')).toHaveLength(1)
  const kept = [daemon.stdout.join('\n'), daemon.stderr.join('\n'), ...filesOf(project.directory)]
  expect(kept.join('\n')).not.toContain(secret)
})

test('a reload that was confirmed takes the files that were shown, and no others', async () => {
  project.edit('config/paper.yaml', 'openOrdersMax: 100', 'openOrdersMax: 150')
  const proposed = await give(['reload'], { by: 'telegram 42' })
  project.edit('config/paper.yaml', 'openOrdersMax: 150', 'openOrdersMax: 151')
  const changed = await give(['confirm', idIn(proposed.text)], { answer: () => nextCode() })

  expect(proposed).toMatchObject({
    code: 75,
    text: expect.stringMatching(/would change +~ risk\.openOrdersMax: 100 -> 150 \(looser\)/),
  })
  expect(proposed.text).toContain('asked for in the chat')
  expect(changed).toMatchObject({ code: 1, text: expect.stringContaining('has changed since') })
  expect(daemon.events('reload.begun')).toEqual([])
})

test('a confirmed reload is in the journal: what it changed, who asked for it, which way, and by which code', async () => {
  const proposed = await give(['reload'], { by: 'telegram 42' })
  const id = idIn(proposed.text)
  const confirmed = await give(['confirm', id], {
    by: 'telegram 42',
    // The changed proposal used none.
    answer: () => codeAt(usedStep * STEP_MS, secret),
  })
  await daemon.untilEvent('reload.begun')
  await vi.waitFor(async () => {
    const story = await give(['explain', 'BTCUSDT', '--since', '10m'])
    expect(story.text).toMatch(
      new RegExp(
        `reload +~ risk\\.openOrdersMax: 100 -> 151 \\(looser\\); the files as read, by digest: [0-9a-f]{16}: .*, by socket:.* says "telegram 42 for .*proposal ${id} confirmed by socket:.* with code ${usedStep}`,
      ),
    )
  }, 20_000)

  expect(confirmed.code).toBe(0)
})

/** Whatever was written beside the pairing, the journal too. */
function filesOf(directory: string): readonly string[] {
  return readdirSync(join(directory, '.intentd'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'pairing.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
}
