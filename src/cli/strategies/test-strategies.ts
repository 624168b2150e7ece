import { spawn } from 'node:child_process'
import { type Command } from 'commander'

/** `intentd test`: Node's own test runner, which finds `intentd/strategy` and `intentd/testing` wherever the files lie. */
export function addTestCommand(program: Command, setExit: (code: number) => void): void {
  program
    .command('test <files...>')
    .description('run the tests of strategies (node:test)')
    .action(async (files: readonly string[]) => setExit(await runTests(files)))
}

/** @returns 0 when all have passed. */
function runTests(files: readonly string[]): Promise<number> {
  const register = new URL('../../strategy/testing/register.ts', import.meta.url).href
  const child = spawn(process.execPath, ['--import', register, '--test', ...files], { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
