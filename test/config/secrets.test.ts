import { join } from 'node:path'
import { format, inspect } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ConfigError, formatProblem } from '../../src/config/yaml/problem.ts'
import { loadCredentials, needsCredentials, type Variables } from '../../src/config/secrets.ts'
import { Secret } from '../../src/lib/secret.ts'
import { FILES, replaceOnce, Workspace } from './workspace.ts'

const CANARY = 'canary-7f3a91c2'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

const demo = { environment: 'demo', exchange: exchange('https://api.exchange.example') } as const
const all = {
  INTENTD_API_KEY: 'key-1',
  INTENTD_API_SECRET: 'secret-1',
  INTENTD_API_PASSPHRASE: 'phrase-1',
}

function exchange(baseUrl?: string) {
  const rest = {
    requestTimeoutMs: 5000,
    answerBytesMax: 65_536,
    locale: 'en-US',
    limitsUse: 1,
    demo: false,
    beyondDocument: false,
    beyondDocumentPrivate: false,
  }
  return baseUrl === undefined ? rest : { ...rest, baseUrl }
}

const load = (variables: Variables) =>
  loadCredentials(demo, { cwd: workspace.directory, variables })

const revealed = (variables: Variables) => {
  const credentials = load(variables)
  return (
    credentials &&
    [credentials.apiKey, credentials.apiSecret, credentials.passphrase].map((secret) =>
      secret.reveal(),
    )
  )
}

const complaints = (variables: Variables): string[] => problemsOf(() => load(variables))

function problemsOf(read: () => unknown): string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(formatProblem)
    throw error
  }
  return []
}

test('credentials come from the environment', () => {
  expect(revealed(all)).toEqual(['key-1', 'secret-1', 'phrase-1'])
})

test('credentials come from files that variables name, without their last line break', () => {
  workspace.write('keys/secret', 'secret#2\n')

  const found = revealed({
    ...all,
    INTENTD_API_SECRET: undefined,
    INTENTD_API_SECRET_FILE: 'keys/secret',
  })

  expect(found).toEqual(['key-1', 'secret#2', 'phrase-1'])
})

test('credentials come from .env, and the environment has the last word', () => {
  workspace.write(
    '.env',
    'INTENTD_API_KEY=key-3\nINTENTD_API_SECRET="secret#3" # mine\nINTENTD_API_PASSPHRASE=phrase-3\n',
  )

  const found = revealed({ INTENTD_API_KEY: 'key-4', INTENTD_API_PASSPHRASE: '' })

  expect(found).toEqual(['key-4', 'secret#3', 'phrase-3'])
})

test('the simulator inside the daemon needs no credentials, one at an address does', () => {
  const embedded = { environment: 'simulator', exchange: exchange() } as const
  const remote = { environment: 'simulator', exchange: exchange('http://127.0.0.1:8700') } as const

  expect(loadCredentials(embedded, { cwd: workspace.directory, variables: {} })).toBeUndefined()
  expect(needsCredentials(remote)).toBe(true)
})

test('[SEC1] everything that is missing is reported at once', () => {
  expect(complaints({ INTENTD_API_KEY: '' })).toEqual([
    'INTENTD_API_KEY: missing: set it in the environment or in .env, or set INTENTD_API_KEY_FILE',
    'INTENTD_API_PASSPHRASE: missing: set it in the environment or in .env, or set INTENTD_API_PASSPHRASE_FILE',
    'INTENTD_API_SECRET: missing: set it in the environment or in .env, or set INTENTD_API_SECRET_FILE',
  ])
})

test('[SEC1] a misspelt name is said, and not what it holds', () => {
  workspace.write('.env', `INTENTD_APIKEY=${CANARY}\n`)

  expect(complaints({ ...all, INTENTD_API_KEY: undefined })).toEqual([
    'INTENTD_API_KEY: missing: set it in the environment or in .env, or set INTENTD_API_KEY_FILE; ' +
      'INTENTD_APIKEY is set: was that meant?',
  ])
})

test('[SEC1] the key of another account is not taken for a misspelt name', () => {
  const named = { ...demo, account: { keys: 'ACC2' } }
  const ask = (keysOfAll: readonly string[]) =>
    problemsOf(() =>
      loadCredentials(named, {
        cwd: workspace.directory,
        keysOfAll,
        variables: {
          INTENTD_ACC1_API_KEY: CANARY,
          INTENTD_ACC2_API_SECRET: 's',
          INTENTD_ACC2_API_PASSPHRASE: 'p',
        },
      }),
    )
  const missing =
    'INTENTD_ACC2_API_KEY: missing: set it in the environment or in .env, or set INTENTD_ACC2_API_KEY_FILE'

  expect(ask(['ACC2'])).toEqual([`${missing}; INTENTD_ACC1_API_KEY is set: was that meant?`])
  expect(ask(['ACC1', 'ACC2'])).toEqual([missing])
})

test.each([
  [
    'a file that others may read',
    'INTENTD_API_KEY_FILE: others may read this file: run chmod 600 on it',
    'open',
  ],
  ['a file that is not there', 'INTENTD_API_KEY_FILE: no such file', 'none'],
  ['a directory', 'INTENTD_API_KEY_FILE: not a file', '.'],
  [
    'a file of several words',
    'INTENTD_API_KEY_FILE: expected printable characters without spaces',
    'words',
  ],
  ['an empty file', 'INTENTD_API_KEY_FILE: expected printable characters without spaces', 'empty'],
])('[SEC1] %s is refused without being repeated', (_, expected, file) => {
  workspace.write('open', CANARY, 0o644)
  workspace.write('words', `${CANARY}\n${CANARY}`)
  workspace.write('empty', '')

  const found = complaints({ ...all, INTENTD_API_KEY: undefined, INTENTD_API_KEY_FILE: file })

  expect(found).toEqual([expected])
})

test('[SEC1] a credential that systemd hands over shows a mask where the group stands; others may not read it either', () => {
  workspace.write('handed/api-key', CANARY, 0o440)
  workspace.write('handed/open', CANARY, 0o444)
  const handedOver = (file: string) => ({
    ...all,
    INTENTD_API_KEY: undefined,
    INTENTD_API_KEY_FILE: file,
    CREDENTIALS_DIRECTORY: join(workspace.directory, 'handed'),
  })

  expect(revealed(handedOver('handed/api-key'))).toEqual([CANARY, 'secret-1', 'phrase-1'])
  expect(complaints(handedOver('handed/open'))).toEqual([
    'INTENTD_API_KEY_FILE: others may read this file: run chmod 600 on it',
  ])
})

test('[SEC1] a variable and a file for the same secret are one too many', () => {
  expect(complaints({ ...all, INTENTD_API_KEY_FILE: 'key' })).toEqual([
    'INTENTD_API_KEY: set either this or INTENTD_API_KEY_FILE, not both',
  ])
})

test('[SEC1] a .env that others may read is refused', () => {
  workspace.write('.env', `INTENTD_API_KEY=${CANARY}\n`, 0o640)

  expect(complaints(all)).toEqual(['.env: others may read this file: run chmod 600 on it'])
  // What it holds is not known, so nothing is called missing.
  expect(complaints({ ...all, INTENTD_API_SECRET: undefined })).toEqual(complaints(all))
})

test('[SEC1] a secret that .env would cut at a # is refused', () => {
  workspace.write('.env', `# mine\nINTENTD_API_SECRET=${CANARY}#tail\n`)

  expect(complaints({ ...all, INTENTD_API_SECRET: undefined })).toEqual([
    '.env:2:1: a value with # in it needs quotes, or everything from the # on is lost',
  ])
})

test('[SEC1] certificates must be checked', () => {
  expect(complaints({ ...all, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
    'NODE_TLS_REJECT_UNAUTHORIZED: remove it: whoever is called could be anybody when certificates are not checked',
  ])
})

test('[SEC1] no way of printing a secret shows it', () => {
  const secret = new Secret(CANARY)

  const printed = [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }),
    format('%s %o %j', secret, secret, secret),
  ]

  expect(printed.join('\n')).not.toContain(CANARY)
  expect(structuredClone({ secret })).toEqual({ secret: {} })
  expect(secret.reveal()).toBe(CANARY)
})

/** A pasted secret, wherever it lands: the whole of what is printed must not hold it. */
test.each([
  ['under its own key', 'config/main.yaml', 'name: paper', `name: paper\napiKey: ${CANARY}`],
  [
    'under its own key in a section',
    'config/main.yaml',
    'polling:',
    `exchange: { api_secret: ${CANARY} }\npolling:`,
  ],
  [
    'as a list under its own key',
    'config/main.yaml',
    'polling:',
    `exchange: { passphrase: [${CANARY}] }\npolling:`,
  ],
  ['among params', 'config/strategies/grid.yaml', 'params:', `params:\n  secretKey: ${CANARY}`],
  [
    'in an address',
    'config/main.yaml',
    'polling:',
    `exchange: { baseUrl: "https://me:${CANARY}@host" }\npolling:`,
  ],
  [
    'in an address of a wrong kind',
    'config/main.yaml',
    'polling:',
    `exchange: { baseUrl: "ftp://${CANARY}@host" }\npolling:`,
  ],
  [
    'after a broken quote',
    'config/main.yaml',
    'name: paper',
    `name: paper\napiKey: "${CANARY}" ${CANARY}`,
  ],
  ['as an alias', 'config/main.yaml', 'name: paper', `name: paper\napiKey: *${CANARY}`],
  ['as a tag', 'config/main.yaml', 'name: paper', `name: paper\napiKey: !${CANARY} x`],
  ['as a directive', 'config/main.yaml', 'name: paper', `%${CANARY}\n---\nname: paper`],
])('[SEC1] a secret %s is not repeated by any message', (_, file, from, to) => {
  const text = Object.entries(FILES).find(([path]) => path === file)?.[1] ?? ''
  workspace.fill({ [file]: replaceOnce(text, from, to) })

  const found = workspace.complain()

  expect(found).not.toEqual([])
  expect(found.join('\n')).not.toContain(CANARY)
})

test('[SEC1] a secret on the command line is not repeated by any message', () => {
  workspace.fill()

  const found = workspace.complain([
    CANARY,
    `apiKey=${CANARY}`,
    `exchange.secret=[${CANARY}`,
    `password.x=${CANARY}`,
  ])

  expect(found).not.toEqual([])
  expect(found.join('\n')).not.toContain(CANARY)
})
