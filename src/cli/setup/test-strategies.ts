import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'

/** With the extension that this file has itself: .ts as it is written, .js when it was compiled. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const HOOKS = new URL(`../../strategy/install-contract${EXTENSION}`, import.meta.url).href
/** The code of this program, and the folder in which it is installed. */
const CODE = fileURLToPath(new URL('../../', import.meta.url))
const INSTALLATION = fileURLToPath(new URL('../../../', import.meta.url))

/** Of the environment, what says how to print and which time it is. */
const VARIABLES = [
  'TERM',
  'COLORTERM',
  'NO_COLOR',
  'FORCE_COLOR',
  'COLUMNS',
  'CI',
  'TZ',
  'LANG',
  'LC_ALL',
]

/** How names begin that are not hidden: Node's permission model takes a path that ends in `*`, and no exceptions. */
const FIRST_LETTERS = Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_')

const PATTERNS = ['strategies/**/*.test.{ts,js}', '*.test.{ts,js}']

/** `intentd test`: Node's own test runner, on the Node that trades, where `#strategy` can be imported. */
export function addTestCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('test')
    .description("run the tests of strategies with Node's test runner, without keys and programs")
    .argument('[files...]', 'files or patterns', PATTERNS)
    .action(async (patterns: readonly string[]) => setExit(await runTests(patterns)))
}

/** Resolves with the exit code: 1 where a test failed, or a file that was named is not there. */
async function runTests(patterns: readonly string[]): Promise<number> {
  const files = [...new Set(patterns.flatMap((pattern) => globSync(pattern)))].toSorted()
  if (files.length === 0) {
    process.stderr.write(`no test file matches ${patterns.join(' ')}\n`)
    return patterns === PATTERNS ? 0 : 1
  }
  const { stdout, env } = process
  const variables = VARIABLES.flatMap((name) =>
    env[name] === undefined ? [] : [[name, env[name]] as const],
  )
  // All in one process, and without `--test`: that starts programs, and searches folders that it may not read.
  const imports = [HOOKS, ...files.map((file) => pathToFileURL(resolve(file)).href)]
  const loads = [...imports.flatMap((url) => ['--import', url]), '--eval', '']
  const child = spawn(
    process.execPath,
    ['--disable-sigusr1', ...listPermissions(files), ...loads],
    {
      stdio: ['inherit', stdout.isTTY ? 'inherit' : 'pipe', 'inherit'],
      env: Object.fromEntries(variables),
    },
  )
  child.stdout?.pipe(stdout)
  // Who reads it may have gone, as `head` does: Node's test runner would end with a stack trace.
  stdout.once('error', () => child.kill())
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}

/**
 * What tests may reach: this program's code, packages, and what is not hidden in the working directory and beside the
 * tests, so not `.env`. No programs, threads and native code.
 */
function listPermissions(files: readonly string[]): readonly string[] {
  const folders = new Set(
    [process.cwd(), ...files.map((file) => dirname(resolve(file)))].map((one) => realpathSync(one)),
  )
  const visible = [...folders].flatMap((folder) =>
    FIRST_LETTERS.map((letter) => join(folder, `${letter}*`)),
  )
  const packages = [...folders, INSTALLATION]
    .flatMap(ancestorsOf)
    .map((folder) => join(folder, 'node_modules'))
    .filter((folder) => existsSync(folder))
    // It may be a link: what is asked for is where it leads.
    .flatMap((folder) => [folder, realpathSync(folder)])
  const read = [CODE, join(INSTALLATION, 'package.json'), ...new Set(packages), ...visible]
  return [
    '--permission',
    ...read.map((path) => `--allow-fs-read=${path}`),
    ...visible.map((path) => `--allow-fs-write=${path}`),
  ]
}

function ancestorsOf(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...ancestorsOf(above)]
}
