import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'

/** With the extension that this file has itself: .ts as it is written, .js when it was compiled. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const HOOKS = new URL(`../../strategy/install-contract${EXTENSION}`, import.meta.url).href

/** `intentd test`: Node's own test runner, on the Node that trades, where `#strategy` can be imported. */
export function addTestCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('test')
    .description("run the tests of strategies with Node's test runner")
    .argument('[files...]', 'files or patterns', ['strategies/**/*.test.{ts,js}', '*.test.{ts,js}'])
    .action(async (files: readonly string[]) => setExit(await runTests(files)))
}

/** Resolves with the exit code: 1 where a test failed. */
async function runTests(files: readonly string[]): Promise<number> {
  const { stdout } = process
  const flags = ['--disable-sigusr1', '--import', HOOKS]
  const child = spawn(process.execPath, [...flags, '--test', ...files], {
    stdio: ['inherit', stdout.isTTY ? 'inherit' : 'pipe', 'inherit'],
  })
  child.stdout?.pipe(stdout)
  // Who reads it may have gone, as `head` does: Node's test runner would end with a stack trace.
  stdout.once('error', () => child.kill())
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}
