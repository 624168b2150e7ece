// No engine starts the containers here: the file is held against the checkout, the image and the program.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { buildAccounts } from '../../src/cli/simulate/simulate.ts'
import { VERBS } from '../../src/cli/main.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { loadSimulatorConfig } from '../../src/config/load-simulator-config.ts'
import { loadCredentials, loadJournalPassword } from '../../src/config/secrets.ts'
import { serverPlaceOf } from '../../src/assembly/state/state-place.ts'
import { Project } from '../daemon/project.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

interface Service {
  readonly image: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly tmpfs?: readonly string[]
  readonly network_mode?: string
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: readonly string[] }
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
}
const serviceNamed = (name: string): Service => {
  const service = services[name]
  if (service === undefined) throw new Error(`no service ${name}`)
  return service
}
const isOurs = ({ image }: Service): boolean => image === 'intentd:trial'

const project = new Project()
afterAll(() => project.remove())

/** What the program takes a command for; an option that it does not know throws. */
async function parseCommand(words: readonly string[]): Promise<Record<string, unknown>> {
  const [verb = ''] = words
  const found = VERBS.find(({ names }) => names.some((name) => name === verb))
  if (found === undefined) throw new Error(`no verb ${verb}`)
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined })
  const add = await found.load()
  add(program, { version: '0', setExit: () => undefined })
  const command = program.commands.find((one) => one.name() === verb)
  let given: Record<string, unknown> = {}
  command?.exitOverride().action((options: Record<string, unknown>) => {
    given = options
  })
  await program.parseAsync([...words], { from: 'user' })
  return given
}

test('services wait for each other, and name images with a version', () => {
  expect(Object.keys(services)).toEqual(['postgres', 'redis', 'exchange', 'one', 'two'])
  for (const { image, depends_on = {}, network_mode } of Object.values(services)) {
    expect(image).toMatch(/^(?:docker\.io\/library\/[a-z]+:\d+-bookworm|intentd:trial)$/)
    for (const [name, { condition }] of Object.entries(depends_on)) {
      expect(condition).toBe('service_healthy')
      expect(serviceNamed(name).healthcheck?.test[0]).toBe('CMD')
    }
    if (network_mode !== undefined) serviceNamed(network_mode.replace('service:', ''))
  }
  const [, ofImage = ''] = /CMD (\["sh", "-c", "find .*\])/.exec(read('Containerfile')) ?? []
  expect(serviceNamed('one').healthcheck?.test).toEqual([
    'CMD',
    ...(JSON.parse(ofImage) as string[]),
  ])
  const { build } = serviceNamed('exchange')
  expect(existsSync(join(ROOT, 'deploy', build?.context ?? '-', build?.dockerfile ?? '-'))).toBe(
    true,
  )
})

test('what is mounted is in the checkout, and there is room for what each writes', () => {
  const containerfile = read('Containerfile')
  const [, uid] = /^USER (\d+):/m.exec(containerfile) ?? []
  const [, home] = /XDG_STATE_HOME=(\S+)/.exec(containerfile) ?? []
  for (const { volumes = [], tmpfs = [] } of Object.values(services).filter(isOurs)) {
    for (const volume of volumes)
      expect(existsSync(join(ROOT, 'deploy', volume.split(':')[0] ?? '-'))).toBe(true)
    expect(tmpfs.some((one) => one.startsWith(`${home}:uid=${uid},`))).toBe(true)
  }
})

test('every command is one that the program knows', async () => {
  for (const { command = [] } of Object.values(services).filter(isOurs)) {
    const { config } = await parseCommand(command)
    expect(existsSync(join(ROOT, String(config)))).toBe(true)
  }
  await expect(parseCommand(['run', '--no-such-option'])).rejects.toThrow('unknown option')
})

test('both daemons have one journal, the keys of an account that the exchange knows, and the servers of the file', async () => {
  const simulator = loadSimulatorConfig({ file: 'config/simulator.yaml', cwd: ROOT })
  const [account] = buildAccounts(simulator)
  const ports = new Set<number | undefined>()
  const places = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const { command = [], environment = {}, network_mode } = serviceNamed(name)
      const { config: file, set } = await parseCommand(command)
      // In a folder without a .env of somebody's.
      const request = { cwd: project.directory, variables: environment }
      const { config } = loadConfig({
        file: join(ROOT, String(file)),
        overrides: set as readonly string[],
        cwd: project.directory,
      })
      const keys = loadCredentials(config, request)
      expect([keys?.apiKey.reveal(), keys?.apiSecret.reveal(), keys?.passphrase.reveal()]).toEqual([
        account?.key,
        account?.secret,
        account?.passphrase,
      ])
      expect([network_mode, config.exchange.baseUrl]).toEqual([
        'service:exchange',
        `http://127.0.0.1:${simulator.port}`,
      ])
      expect(Object.keys(services)).toContain(new URL(config.exchange.shared?.redis ?? '').hostname)
      const { url, schema, password } = serverPlaceOf(config, loadJournalPassword(config, request))
      ports.add(config.control.port)
      return { url, schema, password: password?.reveal() }
    }),
  )
  const { environment = {} } = serviceNamed('postgres')
  expect(places[0]).toEqual(places[1])
  // Of their common network each takes one of its own.
  expect([ports.size, ports.has(undefined)]).toEqual([2, false])
  expect(places[0]).toMatchObject({
    url: `postgresql://${environment['POSTGRES_USER']}@postgres/${environment['POSTGRES_DB']}`,
    password: environment['POSTGRES_PASSWORD'],
  })
})
